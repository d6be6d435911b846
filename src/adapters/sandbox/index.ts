export { type BubblewrapOptions, openBubblewrap } from './bubblewrap.ts';
export type { Owner } from './owner.ts';
export { prepareToolchain, type Toolchain } from './toolchain.ts';
