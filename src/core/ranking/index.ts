export { chosenOf, type Decision, decide, leftToPerson, type Picked, pickable, pickOf } from './decision.ts';
export {
  AGREEMENT_THRESHOLD,
  type AgreementContext,
  decideEarlyStop,
  type FinishedCandidate,
} from './early-stop.ts';
export {
  furtherAliases,
  type NextRound,
  nextRound,
  type RoundCandidate,
  type RoundFacts,
  roundText,
} from './next-round.ts';
export { CALIBRATION, type Calibration, type Ranked, type Separator, SIGNALS, type Signal } from './odds.ts';
export { rank, undecidedBefore } from './ranking.ts';
export { executedFaults, failedGate, whatFailed } from './reasons.ts';
export * from './select-request.ts';
export {
  correctionChance,
  firstInSequence,
  NOTICED_SHARE,
  nextInSequence,
  type SequenceFacts,
  type SpentTurn,
} from './sequence.ts';
export * from './stored-patches.ts';
export {
  isOverruledBy,
  mayWriteTests,
  type RankingOptions,
  rankingOptionsOf,
  wantsJudges,
} from './strategies.ts';
