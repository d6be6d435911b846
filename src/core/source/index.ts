export * from './chains.ts';
export * from './tokens.ts';
export * from './tree.ts';
export * from './uses.ts';
