export { type BubblewrapOptions, openBubblewrap } from './bubblewrap.ts';
export { type ContainerOptions, openContainer } from './container/index.ts';
export { maxTasks } from './kernel-tables.ts';
export { commandEnd, type Owner, runCommand } from './processes.ts';
export { discardFolder, ownFolder, removeOrphans } from './scratch.ts';
export { prepareToolchain } from './toolchain.ts';
export {
  credentialIn,
  credentialsInUsr,
  findHostTool,
  type InstallPackage,
  openToolchains,
  type ToolchainsOptions,
} from './tools/index.ts';
export { openUnsandboxed } from './unsandboxed/index.ts';
