export {
  CLEAR,
  chosenOf,
  type DecideOptions,
  type Decision,
  decide,
  LIKELY,
  leftToPerson,
  type Picked,
  pickable,
  pickOf,
} from './decision.ts';
export {
  AGREEMENT_THRESHOLD,
  type AgreementContext,
  decideEarlyStop,
  type EarlyStopDecision,
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
export {
  type Metrics,
  type Ranked,
  SEPARATORS,
  type Separator,
  SIGNALS,
  type Signal,
  type Signals,
  signalsOf,
  supportOf,
} from './odds.ts';
export {
  isOverruledBy,
  type RankingOptions,
  rank,
  rankingOptionsOf,
  STRATEGIES,
  type Strategy,
  UNDECIDED_MARGIN,
  undecided,
} from './ranking.ts';
export { failedGate, someTests, whatFailed } from './reasons.ts';
export * from './stored-patches.ts';
