export { type Metrics, type Ranked, SEPARATORS, type Separator } from './ranked.ts';
export { type Ranking, rank, STRATEGIES, type Strategy, UNDECIDED } from './ranking.ts';
export { failedGate, someTests } from './reasons.ts';
export { type Signals, signalsOf, supportOf } from './support.ts';
