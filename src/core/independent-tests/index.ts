export {
  type AcceptanceContext,
  type AcceptedTests,
  acceptTests,
  DistinguishingTest,
  declarationsOf,
  fileProblem,
  importedFiles,
  isQuoted,
  knowsDeclarations,
  MAX_WRITTEN_TESTS,
  WrittenTest,
  WrittenTests,
} from './accept.ts';
export {
  admitVotes,
  joinAdmissions,
  NO_ADMISSION,
  stillAdmissible,
  TEST_REPEATS,
} from './admission.ts';
export { importsOf, looksLikeTest, newTestPaths, type TestNaming, testNamings } from './custom.ts';
export * from './independent-test.ts';
