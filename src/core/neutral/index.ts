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
export { aimOf } from './aim.ts';
export { writersInOrder } from './choice.ts';
export { customsOf, looksLikeTest, placesFor, type TestCustom } from './custom.ts';
export { type Import, importsOf } from './imports.ts';
export { type Reading, readAlone, readTogether, tellsFiles } from './reading.ts';
export { type NeutralReport, neutralReport } from './report.ts';
export * from './types.ts';
