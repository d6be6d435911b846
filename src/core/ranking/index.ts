export type { Metrics, Ranked, Separator } from './ranked.ts';
export { rank } from './ranking.ts';
export { failedGate, someTests } from './reasons.ts';
