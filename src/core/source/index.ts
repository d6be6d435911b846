export * from './expressions.ts';
export { introducesName } from './functions.ts';
export * from './tree.ts';
export * from './uses.ts';
export { type Exported, moduleName, UNKNOWN_MODULE, UNKNOWN_TEST } from './values.ts';
