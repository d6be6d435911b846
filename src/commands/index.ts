export type { EditEvent } from './checkboxes.ts';
export type { CancelPorts, EventActor, IntakeResult } from './context.ts';
export { type CommandIntake, openCommandIntake, recordPullState, startFromLabel } from './intake.ts';
export { openLocalCommands, type PageCommands } from './local.ts';
export {
  findMissedLabels,
  findMissedPickEnds,
  findMissedStops,
  stopRunsOfIssue,
  stopRunsWithoutAccess,
} from './missed-events.ts';
export { type PageCommand, pageCommandId } from './pages.ts';
export { type MadeToken, makeToken, makeTokenFor, revokeToken } from './tokens.ts';
