export type { Webhook, WebhookMiddleware } from './deliveries.ts';
export type { Figures } from './figures.ts';
export { type Credentials, fileKeeper, type Keeper, type Kept, withLines } from './keeper.ts';
export { type Manifest, type ManifestUrls, manifestFrom } from './manifest.ts';
export type { Page } from './page.ts';
export { type Health, startWeb, type Web, type WebLimits, type WebOptions } from './server.ts';
export { openSetup, type Setup, type SetupOptions, type SetupPages } from './setup.ts';
