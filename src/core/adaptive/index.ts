export { AGREES, agreeEarly, type EarlyAgreement, type EarlyField, type Finisher } from './early.ts';
export { whatFailed } from './failed.ts';
export { type NextRound, nextRound, type RoundFacts, type Runner } from './next-round.ts';
export { furtherAliases, roundWords } from './words.ts';
