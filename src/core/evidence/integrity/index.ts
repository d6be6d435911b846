export { holdsTests, readTests, type TestView } from './assertions.ts';
export { declaredTests } from './cases.ts';
export {
  type Change,
  EXPECTATION_KINDS,
  excerpt,
  SEVERITIES,
  SEVERITY_OF_KIND,
  type Severity,
  type Suspicion,
  TAMPERING_KINDS,
  type TamperingFinding,
  type TamperingKind,
} from './finding.ts';
export { attributeTricks, ignoredTests } from './git-files.ts';
export { baseTextOf, parsedFiles, readableFiles, sourcesOf, unreadCode } from './reading.ts';
export { wholeFileChanges } from './removed-tests.ts';
export { exportedLibraries, suspiciousCode } from './suspicious-code.ts';
export {
  changedRunner,
  changedSupport,
  isCode,
  isSupport,
  setVariables,
  shadowingFile,
} from './test-environment.ts';
export { comparedTests, isStillRun, testNameStyle } from './tests.ts';
export { firstChange, type InspectedFile, inspectFile, type PatchTexts } from './view.ts';
