export { fileCredentialStore, manifestFrom, withLines } from './credentials.ts';
export type { WebhookMiddleware } from './deliveries.ts';
export {
  beforeDeadline,
  type Health,
  startWeb,
  type WebLimits,
  type WebOptions,
  type WebServer,
} from './server.ts';

export { openSetup, type Setup, type SetupOptions } from './setup.ts';
