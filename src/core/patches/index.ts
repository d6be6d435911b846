export { type DiffLine, type Hunk, READ_LIMITS, type ReadFile, readDiff } from './diff.ts';
export { notable, notableGroups } from './notable.ts';
export {
  PATCH_LIMITS,
  type ParsedPatch,
  type ParseOptions,
  parsePatch,
  parseRaw,
  type RawEntry,
} from './parse.ts';
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
