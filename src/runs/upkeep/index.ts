export { keepDueOutcomes, settleOutcomes } from './outcomes.ts';
export {
  announceEndedRuns,
  awaitedInquiry,
  cancelRun,
  closeUnpicked,
  isWaiting,
  reconcile,
  reply,
  startLocalRun,
  startRun,
  sweepEnded,
} from './reconcile.ts';
export { type RetentionTimes, type Retired, retire } from './retire.ts';
