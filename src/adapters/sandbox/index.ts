export { type BubblewrapOptions, openBubblewrap } from './bubblewrap.ts';
export { type ContainerOptions, openContainer } from './container/index.ts';
export type { Owner } from './host-programs.ts';
export { prepareToolchain, type Toolchain } from './toolchain.ts';
export { openUnguarded, type UnguardedOptions } from './unsandboxed/index.ts';
