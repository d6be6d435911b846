export { type Metrics, type Ranked, SEPARATORS, type Separator } from './ranked.ts';
export { type Ranking, rank, STRATEGIES, type Strategy, strategiesOf, UNDECIDED } from './ranking.ts';
export { failedGate, someTests } from './reasons.ts';
export { SIGNALS, type Signal, type Signals, signalsOf, supportOf } from './support.ts';
export { undecided } from './undecided.ts';
