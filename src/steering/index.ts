export { type CommentEvent, commented, type Heeded } from './commented.ts';
export { type LabelEvent, labelled } from './labelled.ts';
export { type PullEvent, pullClosed } from './pull-closed.ts';
export type { Speaker } from './speaker.ts';
export { type EditEvent, ticked } from './ticked.ts';
export { type StopEvent, withdrawn } from './withdrawn.ts';
