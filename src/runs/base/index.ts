export { absentContentAt } from './content.ts';
export { type OnBaseStep, prepareBase } from './prepare-base.ts';
export { applyPatchIn, type RestorePorts, restoreTree } from './restore.ts';
export { toolsAt, withTools } from './toolchains.ts';
