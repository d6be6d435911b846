export { type BubblewrapOptions, openBubblewrap } from './bubblewrap.ts';
export { type ContainerOptions, openContainer } from './container/index.ts';
export type { Owner } from './host-programs.ts';
export { prepareToolchain, type Toolchain } from './toolchain.ts';
export {
  credentialIn,
  findHostTool,
  type HostTool,
  type InstallPackage,
  openToolchains,
  type ToolchainsOptions,
} from './tools/index.ts';
export { openUnsandboxed, type UnsandboxedOptions } from './unsandboxed/index.ts';
