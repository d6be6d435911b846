export {
  type AppliedForm,
  appliedForm,
  type DiffLine,
  type Hunk,
  READ_LIMITS,
  type ReadFile,
  readDiff,
  shortenedHunk,
} from './diff.ts';
export {
  NPM_LOCK,
  NPM_RECORD,
  npmLockPackages,
  packageFolders,
  staleNpmPackage,
} from './installed-packages.ts';
export { changedPackageFiles, isPackageFile, notable, notableGroups } from './notable.ts';
export {
  joinSections,
  PATCH_LIMITS,
  type ParsedPatch,
  type ParseOptions,
  parsePatch,
  parseRaw,
  patchedText,
  productionLines,
  type RawEntry,
  summarise,
} from './parse.ts';
export * from './patch.ts';
export { type FileBetween, filesBetween } from './patch-comparison.ts';
export { pathFaults, quotedPath } from './paths.ts';
