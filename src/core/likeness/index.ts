export { changeKey } from './change-key.ts';
export * from './compare.ts';
export { fileKindOf } from './file-kinds.ts';
export { staticScore } from './static-score.ts';
