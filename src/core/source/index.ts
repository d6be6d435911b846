export { type Exported, exportsOf, type FileExport, NO_EXPORTS } from './exports.ts';
export * from './expressions.ts';
export { introducesName } from './functions.ts';
export { type NestedParts, nestedParts } from './nested-parts.ts';
export { PrintedTree, parsedText, syntaxTrees } from './printed-tree.ts';
export * from './tree.ts';
export * from './uses.ts';
export { moduleName, UNKNOWN_MODULE, UNKNOWN_TEST } from './values.ts';
