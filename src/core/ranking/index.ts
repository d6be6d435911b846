export { type Metrics, type Ranked, SEPARATORS, type Separator } from './ranked.ts';
export {
  orderOf,
  type Ranking,
  rank,
  STRATEGIES,
  type Strategy,
  UNDECIDED,
  undecided,
  yieldsTo,
} from './ranking.ts';
export { failedGate, someTests } from './reasons.ts';
export { SIGNALS, type Signal, type Signals, signalsOf, supportOf } from './support.ts';
