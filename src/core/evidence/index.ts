export { type Behaving, type Behaviour, compareBehaviour, type Telling } from './behaviour.ts';
export { compareBase, EXIT_CODE, outcomeIn, succeeded } from './compare.ts';
export { contest, contestedTests } from './contested.ts';
export * from './evidence.ts';
export { type Examples, examplesOf } from './examples.ts';
export {
  affordable,
  BASE_RUNS,
  doubtful,
  newlyFailing,
  REPEAT_BUDGET_MS,
  SUSPECT_RUNS,
  settleSuspects,
  steady,
  withoutTests,
} from './flakes.ts';
export {
  isSurvivor,
  ownTestsGate,
  SCOPE_LIMITS,
  type ScopeLimits,
  type StaticOptions,
  staticGates,
  testsRunGate,
} from './gates.ts';
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
export {
  type Finding,
  findTampering,
  TAMPERING_KINDS,
  type TamperingKind,
  type TamperingOptions,
} from './tampering.ts';
export { watchedFiles } from './watched.ts';
