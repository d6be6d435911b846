export { type BubblewrapOptions, openBubblewrap } from './bubblewrap.ts';
export { type ContainerOptions, openContainer } from './container/index.ts';
export { openUnguarded, type UnguardedOptions } from './none/index.ts';
export type { Owner } from './owner.ts';
export { prepareToolchain, type Toolchain } from './toolchain.ts';
