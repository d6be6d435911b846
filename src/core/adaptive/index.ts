export { AGREES, agreeEarly, type EarlyAgreement, type EarlyField, type Finisher } from './early.ts';
export { whatFailed } from './failed.ts';
export {
  furtherAliases,
  type NextRound,
  nextRound,
  type RoundFacts,
  type Runner,
  roundWords,
} from './next-round.ts';
