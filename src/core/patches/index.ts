export type { DiffLine, Hunk } from './diff.ts';
export { matchesAny } from './glob.ts';
export { notable, notableGroups } from './notable.ts';
export { PATCH_LIMITS, type ParsedPatch, type ParseOptions, type PatchLimits, parsePatch } from './parse.ts';
export {
  hunksOf,
  joinSections,
  type PatchedText,
  patchedText,
  productionLines,
  productionPart,
  summarise,
  testPart,
} from './parts.ts';
export * from './patch.ts';
export { pathFaults } from './paths.ts';
export { isSnapshot, isTestNamed, roleOf } from './roles.ts';
export { READ_LIMITS, type ReadFile, type ReadHunk, type ReadLine, readDiff } from './tolerant.ts';
