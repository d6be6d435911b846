import type * as Pages from './local-pages.ts';
import type * as App from './serve.ts';
import type * as Worker from './worker.ts';

// Loaded on demand: each command is a process, and most of them neither serve pages nor receive webhooks. What that
// takes is a sixth of all modules.
const serveOnDemand: typeof App.serve = async (...how) => (await import('./serve.ts')).serve(...how);
export const startApp: typeof App.startApp = async (...how) => (await import('./serve.ts')).startApp(...how);
const workOnDemand: typeof Worker.work = async (...how) => (await import('./worker.ts')).work(...how);
export const openWorker: typeof Worker.openWorker = async (...how) =>
  (await import('./worker.ts')).openWorker(...how);
export const showLocalPages: typeof Pages.showLocalPages = async (...how) =>
  (await import('./local-pages.ts')).showLocalPages(...how);
export const openRunPage: typeof Pages.openRunPage = async (...how) =>
  (await import('./local-pages.ts')).openRunPage(...how);
export { serveOnDemand as serve, workOnDemand as work };
