export {
  type CredentialStore,
  type Credentials,
  fileCredentialStore,
  type Manifest,
  type ManifestUrls,
  manifestFrom,
  type SavedCredentials,
  withLines,
} from './credentials.ts';
export type { Webhook, WebhookMiddleware } from './deliveries.ts';
export type { Page } from './pages.ts';
export {
  type Health,
  type MetricsPage,
  startWeb,
  type WebLimits,
  type WebOptions,
  type WebServer,
} from './server.ts';

export { openSetup, type Setup, type SetupOptions, type SetupPages } from './setup.ts';
