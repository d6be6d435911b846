export { assertionFindings } from './assertion-findings.ts';
export {
  type AssertionChange,
  type AssertionRecords,
  assertionChanges,
  changesAgain,
  mergeAssertionRecords,
  NO_RECORDS,
  readAssertionRecords,
  showsLock,
  UNREADABLE_RECORDS,
} from './assertion-records.ts';
export { withFilesOfAva } from './ava-names.ts';
export {
  type BaseFacts,
  baseFacts,
  canRun,
  type ExcludedTests,
  failedForCoverage,
  HOW_STOPPED,
  mayLackPackages,
  type Need,
  type SetUpObstacle,
  type Silence,
  silenceOf,
  withPackagesNote,
} from './base-facts.ts';
export { mergeBaseRuns } from './base-runs.ts';
export { type Behaviour, type ContestedInput, compareBehaviour } from './behaviour.ts';
export { namesOfBase, withNamesOf } from './changing-names.ts';
export { checkerQuestions } from './checker-configuration.ts';
export * from './evidence.ts';
export {
  EXTRA_WORK,
  type ExaminationCut,
  type ExtraWork,
  examinationBudget,
  type LeftOut,
  LONG_SUITE_MS,
  lacksComparison,
} from './examination-time.ts';
export { admitExamples, type IssueExamples } from './examples.ts';
export {
  confirmedByOthers,
  findingsOf,
  findingText,
  questionsOf,
  settledByOthers,
  settledByTests,
  withMoreFindings,
  withoutSuperseded,
} from './findings.ts';
export { gateSources, isSurvivor, ownTestsGate, staticGates, testsRunGate } from './gates.ts';
export * from './independent-results.ts';
export { declaredTests } from './integrity/index.ts';
export { type Language, languageOf } from './languages.ts';
export {
  brokenLinks,
  type ChangedDocument,
  documentReader,
  isMarkdown,
  LINK_LIMITS,
  linkedDocuments,
} from './links.ts';
export { comparedByRules, joinedRules, withKnownRules } from './lint-comparison.ts';
export { brokenRules } from './lint-rules.ts';
export {
  baseTestsThatCount,
  controlOf,
  filesUnderTest,
  isCaught,
  type Mutant,
  mutantsOf,
  type ParsedSource,
  testsThatCount,
  withoutTextTests,
} from './mutants.ts';
export {
  DerivedTests,
  isSameRun,
  joinedRun,
  ProbeOutput,
  type ProbeRun,
  readProbeRun,
} from './observations.ts';
export {
  joinPackages,
  ofModules,
  ofPackages,
  packagesIn,
  packagesLeftOut,
  packagesMs,
  packagesOfAll,
  silentPackages,
  soundPackages,
  suiteFits,
  withoutSilentPackages,
} from './package-runs.ts';
export { changeClasses, type SameSetTests, sameSetTests, separatedByProbes } from './peer-matrix.ts';
export {
  type AuthorResults,
  type AuthorRuns,
  type AuthorTests,
  authorTests,
  type IntroducesName,
  introducedBy,
  missingNamesIn,
  type PeerTestResult,
  peerTestsOn,
  resultsOn,
  type TreeTestResult,
  unlessRewritten,
} from './peers.ts';
export {
  findingsElsewhere,
  rewriteFindings,
  type WrittenTestFile,
} from './rewritten-tests.ts';
export { separatedByTests } from './separated-by-tests.ts';
export * from './steadiness.ts';
export {
  findTampering,
  type PatchTexts,
  SEVERITIES,
  type Severity,
  sourcesOf,
  TAMPERING_KINDS,
  type TamperingFinding,
  type TamperingKind,
  type TamperingOptions,
} from './tampering.ts';
export { type KindOfTask, type TaskKind, taskKindOf } from './task-kind.ts';
export {
  BASE_RUNS,
  belowCoverageOf,
  compareBase,
  contestedTests,
  EXIT_CODE,
  exitCodeOf,
  fitsRepeatBudget,
  hangs,
  isExitCode,
  isTestOf,
  isUnread,
  joinedRewrites,
  newFailures,
  outcomeIn,
  packageOfTest,
  REPEAT_BUDGET_MS,
  resolveSuspects,
  SUSPECT_RUNS,
  succeeded,
  testsAlone,
  undecidedSuspects,
  withoutContestedTests,
  withoutTests,
  withTestsOfFiles,
} from './test-runs.ts';
export {
  type DifferingInput,
  outputOf,
  type TestMark,
  type TestOutputs,
  type TestTable,
  tellsApart,
  testTable,
} from './test-table.ts';
export { compareTypeChecks, leftOutTypeCheck } from './type-comparison.ts';
export { typeFindings } from './type-findings.ts';
export type { ProbedCandidate } from './votes.ts';
export { filesToCompare } from './watched.ts';
