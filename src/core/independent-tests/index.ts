export {
  type Accepted,
  accept,
  DistinguishingTest,
  formFault,
  type Ground,
  hasSurface,
  importedFiles,
  isQuoted,
  MOST_BYTES,
  MOST_TESTS,
  surfaceOf,
  WrittenTest,
  WrittenTests,
  wordsOf,
} from './accept.ts';
export { admit, inQuestion, joinAdmissions, joinTests, NO_ADMISSION, REPEATS } from './admission.ts';
export { customsOf, type Import, importsOf, looksLikeTest, placesFor, type TestCustom } from './custom.ts';
export { type Reading, readAlone, readTogether, tellsFiles } from './reading.ts';
export * from './types.ts';
export { aimOf, type IndependentTestReport, independentTestReport, writersInOrder } from './types.ts';
