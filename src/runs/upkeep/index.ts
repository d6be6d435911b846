export { keepDueOutcomes, settleOutcomes } from './outcomes.ts';
export {
  announceEndedRuns,
  awaitedInquiry,
  cancelRun,
  closeUnpicked,
  executorOfRun,
  isWaiting,
  reconcile,
  reply,
  startLocalRun,
  startRun,
  stoppedRuns,
  sweepEnded,
} from './reconcile.ts';
export { type RetentionTimes, type Retired, retire } from './retire.ts';
