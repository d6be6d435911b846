export { absentContentAt } from './content.ts';
export {
  type BareBase,
  type BaseTask,
  type OnBaseStep,
  openBase,
  prepareBase,
  setUpBase,
} from './prepare-base.ts';
export { applyPatchIn, type RestorePorts, restoreTree } from './restore.ts';
export { toolsAt, withTools } from './toolchains.ts';
