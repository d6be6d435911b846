export { keepDueOutcomes, settleOutcomes } from './outcomes.ts';
export { followPull, type PullState } from './pulls.ts';
export {
  announceEndedRuns,
  awaitedInquiry,
  cancelRun,
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
