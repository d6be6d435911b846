export type { DiffLine, Hunk } from './diff.ts';
export { matchesAny } from './glob.ts';
export { PATCH_LIMITS, type PatchLimits } from './limits.ts';
export { notable, notableGroups } from './notable.ts';
export { type ParsedPatch, type ParseOptions, parsePatch } from './parse.ts';
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
