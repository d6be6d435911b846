export { credentialIn } from './credentials.ts';
export { findHostTool, type HostTool } from './host.ts';
export type { InstallPackage } from './packages.ts';
export { openToolchains, type ToolchainsOptions } from './provide.ts';
