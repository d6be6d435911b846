export * from './chains.ts';
export * from './tree.ts';
export * from './uses.ts';
