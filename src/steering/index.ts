export { type LabelEvent, labelled } from './labelled.ts';
export { type PullEvent, pullClosed } from './pull-closed.ts';
export { type StopEvent, withdrawn } from './withdrawn.ts';
