export {
  type AcceptanceContext,
  type AcceptedTests,
  acceptTests,
  DistinguishingTest,
  declarationsOf,
  fileProblem,
  identifiersIn,
  importedFiles,
  isQuoted,
  knowsDeclarations,
  MAX_TEST_BYTES,
  MAX_WRITTEN_TESTS,
  WrittenTest,
  WrittenTests,
} from './accept.ts';
export {
  admitVotes,
  joinAdmissions,
  joinTests,
  NO_ADMISSION,
  stillAdmissible,
  TEST_REPEATS,
} from './admission.ts';
export {
  type Import,
  importsOf,
  looksLikeTest,
  newTestPaths,
  type TestNaming,
  testNamings,
} from './custom.ts';
export { namesFiles, type RunContextOfTests, trialFromOwnRun, trialsFromSharedRun } from './reading.ts';
export * from './types.ts';
export { type IndependentTestReport, independentTestReport, taskKindOf, writersInOrder } from './types.ts';
