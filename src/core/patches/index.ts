export type { DiffLine, Hunk } from './diff.ts';
export { notable, notableGroups } from './notable.ts';
export { PATCH_LIMITS, type ParsedPatch, type ParseOptions, parsePatch } from './parse.ts';
export {
  joinSections,
  type PatchedText,
  patchedText,
  productionLines,
  summarise,
} from './parts.ts';
export * from './patch.ts';
export { isSnapshot, isTestNamed, matchesAny, type PatchLimits, roleOf } from './patch.ts';
export { pathFaults } from './paths.ts';

export { READ_LIMITS, type ReadFile, type ReadHunk, type ReadLine, readDiff } from './tolerant.ts';
