export { type BaseFacts, baseFacts, type SetAside } from './base-facts.ts';
export { type Behaviour, compareBehaviour, type Telling } from './behaviour.ts';
export * from './evidence.ts';
export { type Examples, examplesOf } from './examples.ts';
export {
  gateSources,
  isSurvivor,
  ownTestsGate,
  SCOPE_LIMITS,
  type ScopeLimits,
  type StaticOptions,
  staticGates,
  testsRunGate,
} from './gates.ts';
export { NEEDS, type Need } from './needs.ts';
export {
  DerivedTests,
  ProbeOutput,
  type ProbeRun,
  readProbeRun,
} from './observations.ts';
export {
  type Authored,
  type AuthorMarks,
  type AuthorTests,
  authorTests,
  type Introduces,
  introducedBy,
  lackedNames,
  type Mark,
  marksOn,
  NO_TESTS,
  type OnTree,
  peerTestsOn,
} from './peers.ts';
export { canRun, type Silence, silenceOf } from './silence.ts';
export {
  type Finding,
  findTampering,
  type PatchTexts,
  sourcesOf,
  TAMPERING_KINDS,
  type TamperingKind,
  type TamperingOptions,
} from './tampering.ts';
export {
  affordable,
  BASE_RUNS,
  compareBase,
  contest,
  contestedTests,
  doubtful,
  EXIT_CODE,
  newlyFailing,
  outcomeIn,
  REPEAT_BUDGET_MS,
  SUSPECT_RUNS,
  settleSuspects,
  steady,
  succeeded,
  withoutTests,
} from './test-runs.ts';
export type { Behaving } from './votes.ts';
export { watchedFiles } from './watched.ts';
