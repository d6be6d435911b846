import {
  isSnapshot,
  type PatchFile,
  READ_LIMITS,
  type ReadFile,
  roleOf,
  shortenedHunk,
} from '../patches/index.ts';

/** The purpose of a changed file. Only `source` is compared between candidates. */
type FileKind = 'source' | 'test' | 'docs' | 'config' | 'scratch';

const CODE_NAME =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|pyi?|pyx|pxd|rs|go|java|kts?|scala|groovy|c|h|cc|cpp|cxx|hpp|hh|m|mm|cs|fs|vb|swift|dart|rb|php|pl|pm|lua|r|jl|exs?|erl|clj[cs]?|hs|elm|ml|nim|zig|sh|bash|css|scss|less|html?|sql|graphql|proto)$/i;
const PROSE_NAME = /\.(?:md|mdx|markdown|rst|txt|adoc|changes)$/i;
const DOC_FOLDERS = /(?:^|\/)(?:docs?|documentation|changelogs?|newsfragments|\.changesets?)\//i;
const SETTINGS_NAME =
  /\.(?:lock|toml|ya?ml|json[c5]?|cfg|ini|xml|gradle|properties|env|conf)$|^(?:package-lock\.json|go\.(?:mod|sum)|gemfile|rakefile|makefile|dockerfile|\.[\w.-]+)$/i;
const TEST_LIKE_FOLDER =
  /(?:^|\/)(?:testing|specs?|fixtures?|test-?data|ui[-_]tests?|test[-_]suite|testsuite|testcases?)\//i;
const TEST_LIKE_NAME = /^tests?[-_]|[-_.]tests?\./i;
const LEFTOVER_NAME = /\.(?:orig|rej|bak|backup|old|swp|log|tmp|pyc|class|o|rlib)$|~$/i;
const BUILD_OUTPUT_PATH = /(?:^|\/)(?:node_modules|target|__pycache__|\.pytest_cache|dist|build)\//;
/** Names that agents give to files for experiments. */
const TRIAL_NAME =
  /^(?:repro|reproduc|debug|demo|example_?test|test_?fix|check_|verify|tmp|temp|scratch|run_|fix_|simple_|final_|validate)/i;

/**
 * The purpose of a changed file, by its name. Scratch files are leftovers of an agent's work, so only created files
 * qualify. Code at the top of a repository counts as scratch, too, unless `classifyFiles` finds a reference to it in
 * other source.
 */
export function fileKindOf(path: string, created: boolean): FileKind {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  if (created && (LEFTOVER_NAME.test(name) || BUILD_OUTPUT_PATH.test(path))) return 'scratch';
  if (created && parts.length <= 2 && TRIAL_NAME.test(name)) return 'scratch';
  const role = roleOf(path);
  if (role === 'test' || isSnapshot(path)) return 'test';
  if (created && parts.length === 1 && CODE_NAME.test(name)) return 'scratch';
  if (role === 'runner') return 'config';
  if (TEST_LIKE_FOLDER.test(path) || TEST_LIKE_NAME.test(name)) return 'test';
  if (PROSE_NAME.test(name) || (DOC_FOLDERS.test(path) && !CODE_NAME.test(name))) return 'docs';
  return SETTINGS_NAME.test(name) ? 'config' : 'source';
}

export interface ClassifiedFile extends ReadFile {
  readonly fileKind: FileKind;
}

/** The files of a patch that is parsed already, with their real names, else as `readDiff` reads them of its text. */
export const comparableFiles = (files: readonly PatchFile[]): readonly ReadFile[] =>
  files.slice(0, READ_LIMITS.files).flatMap(({ path, change, binary, hunks }) => {
    const read = { path, from: null, binary, created: change === 'added', deleted: change === 'deleted' };
    if (change !== 'type-changed') return [{ ...read, hunks: hunks.map(shortenedHunk) }];
    // Git writes a change of type as two files: the old one is deleted, the new one created.
    const half = (deleted: boolean): ReadFile => ({
      ...read,
      deleted,
      created: !deleted,
      hunks: hunks.filter(({ newCount }) => (newCount === 0) === deleted).map(shortenedHunk),
    });
    return [half(true), half(false)];
  });

/** Maximum scratch files that are searched for in a patch's source. */
const MAX_SOUGHT_FILES = 20;
const MIN_STEM_CHARS = 3;

/** The files of a patch with their purposes. */
export function classifyFiles(read: readonly ReadFile[]): readonly ClassifiedFile[] {
  const files = read.map((file) => ({ ...file, fileKind: fileKindOf(file.path, file.created) }));
  const sought = files
    .filter(({ path, fileKind }) => fileKind === 'scratch' && CODE_NAME.test(path))
    .slice(0, MAX_SOUGHT_FILES);
  const spokenOf = new Set(
    sought.filter((file) =>
      files.some((other) => other.fileKind === 'source' && mentions(other, stemOf(file))),
    ),
  );
  return files.map((file) => (spokenOf.has(file) ? { ...file, fileKind: 'source' } : file));
}

/** `helper` of `lib/helper.test.js`: the name used by imports in most languages. */
const stemOf = ({ path }: ReadFile): string => path.slice(path.lastIndexOf('/') + 1).replace(/\..*$/s, '');

const mentions = ({ hunks }: ReadFile, stem: string): boolean =>
  stem.length >= MIN_STEM_CHARS &&
  hunks.some(({ lines }) => lines.some(({ kind, text }) => kind === 'added' && text.includes(stem)));
