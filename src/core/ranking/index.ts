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
export { AGREES, agreeEarly, type EarlyAgreement, type EarlyField, type Finisher } from './early-stop.ts';
export {
  furtherAliases,
  type NextRound,
  nextRound,
  type RoundFacts,
  type Runner,
  roundWords,
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
  orderOf,
  type Ranking,
  rank,
  STRATEGIES,
  type Strategy,
  UNDECIDED,
  undecided,
  yieldsTo,
} from './ranking.ts';
export { failedGate, someTests, whatFailed } from './reasons.ts';
export * from './stored-patches.ts';
