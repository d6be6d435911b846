export { type Seat, seatsOf } from './critics.ts';
export { changedSections, type Difference, differenceOf, sectionsOf } from './difference.ts';
export { answer, isOpen, type Raised, raise, type Scope, unsettled } from './ledger.ts';
export { acceptanceLine, questionsOf } from './outcome.ts';
export {
  applyEdits,
  firstQuestion,
  GROWTH_FLOOR,
  type Later,
  laterQuestion,
  longest,
  MOST_GROWTH,
  MOST_SPEC,
  type Patched,
  type PatchRules,
  pressedQuestion,
  type Shown,
  synthesisQuestion,
} from './questions.ts';
export { hasConsensus, MOST_UPHELD, SETTLED, type StopParts, stopOf, toAnswer } from './rule.ts';
export {
  AcceptanceTest,
  type Cost,
  Critique,
  type Debate,
  type DebateRound,
  type Fate,
  type Hearing,
  Issue,
  type LedgerEntry,
  type Memory,
  MOST_ISSUES,
  NO_COST,
  Pressed,
  STOPS,
  type Stop,
  Synthesis,
} from './types.ts';
