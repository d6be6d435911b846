export { holdsTests, readTests, type TestView } from './assertions.ts';
export {
  type Change,
  excerpt,
  type Finding,
  type Suspicion,
  TAMPERING_KINDS,
  type TamperingKind,
} from './finding.ts';
export { suspiciousCode } from './suspicious-code.ts';
export {
  attributeTricks,
  changedRunner,
  changedSupport,
  ignoredTests,
  isCode,
  isSupport,
  setVariables,
  shadowingFile,
} from './test-environment.ts';
export { comparedTests } from './tests.ts';
export { firstChange, type Look, lookAt, type PatchTexts, textsOf } from './view.ts';
