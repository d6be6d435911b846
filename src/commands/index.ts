export { type LabelEvent, labelled } from './labelled.ts';
export {
  type GoneEvent,
  gone,
  lookForEndedChoices,
  lookForLabels,
  lookForWithdrawn,
  type StopEvent,
  withdrawn,
} from './lost.ts';
export { type PullEvent, pullClosed } from './pull-closed.ts';
export type { Speaker } from './speaker.ts';
export { type CommentEvent, type Heeded, openSteering, type Steering } from './steering.ts';
export type { EditEvent } from './ticked.ts';
