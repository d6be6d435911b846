export { attributeTricks, ignoredTests } from './attributes.ts';
export {
  type Change,
  excerpt,
  type Finding,
  type Suspicion,
  TAMPERING_KINDS,
  type TamperingKind,
} from './finding.ts';
export { holdsTests, readTests, type TestView } from './reading.ts';
export { changedRunner, setVariables, shadowingFile } from './runner.ts';
export { changedSupport, isSupport } from './support.ts';
export { suspiciousCode } from './suspicious-code.ts';
export { comparedTests } from './tests.ts';
export { firstChange, type Look, lookAt } from './view.ts';
