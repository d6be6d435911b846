export type { EditEvent } from './checkboxes.ts';
export type { CancelPorts, CommentEvent, EventActor, IntakeResult } from './context.ts';
export { type LabelEvent, type PullEvent, recordPullClosed, startFromLabel } from './events.ts';
export { type CommandIntake, openCommandIntake } from './intake.ts';
export {
  type AccessRemovedEvent,
  findMissedLabels,
  findMissedPickEnds,
  findMissedStops,
  type StopEvent,
  stopRunsOfIssue,
  stopRunsWithoutAccess,
} from './missed-events.ts';
