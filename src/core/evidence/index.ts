export { addedTests, compareBase, EXIT_CODE, peerTests } from './compare.ts';
export * from './evidence.ts';
export {
  isSurvivor,
  ownTestsGate,
  SCOPE_LIMITS,
  type ScopeLimits,
  type StaticOptions,
  staticGates,
  testsRunGate,
} from './gates.ts';
export { type Finding, findTampering } from './tampering.ts';
export { watchedFiles } from './watched.ts';
