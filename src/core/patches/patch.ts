import type { Hunk } from './diff.ts';

/** Limits above which a patch is rejected without parsing. Defaults, to be tuned on dev data. */
export interface PatchLimits {
  readonly files: number;
  /** Characters of the patch text. */
  readonly textLength: number;
  /** UTF-8 bytes of one path component; the limit of ext4 and most file systems. */
  readonly componentBytes: number;
  /** UTF-8 bytes of a whole path. */
  readonly pathBytes: number;
  /** Maximum reasons listed in a rejection; the rest is counted. */
  readonly reasons: number;
}

/** The purpose of a changed file; determines whether the base version replaces it during evaluation. */
type FileRole = 'production' | 'test' | 'runner';

export interface PatchFile {
  readonly path: string;
  readonly change: 'added' | 'modified' | 'deleted' | 'type-changed';
  readonly oldMode: string;
  readonly newMode: string;
  /** `runner`: snapshots, test-runner and coverage configuration, CI. */
  readonly role: FileRole;
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
  /** None for a binary file or a change of mode alone. */
  readonly hunks: readonly Hunk[];
  /** This file's part of the patch text, including its `diff --git` line; can be applied by itself. */
  readonly section: string;
}

/** A candidate's change, parsed once on input (I12) and passed on in this form. */
export interface Patch {
  /** For `git apply`. */
  readonly text: string;
  readonly files: readonly PatchFile[];
  /** The part that is judged; test and runner files have their base version meanwhile. */
  readonly production: readonly PatchFile[];
  /** Test files, fixtures and recorded snapshots, without runner configuration. */
  readonly tests: readonly PatchFile[];
}

const CODE_EXTENSIONS =
  '(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|rb|java|kt|kts|scala|groovy|cs|fs|swift|php|dart|exs?|erl|clj[cs]?|c|cc|cpp|cxx|h|hpp|lua|pl|t|sh|bats|zig|nim|elm|hs)';
const RUNNERS =
  '(?:vitest|jest|playwright|cypress|karma|ava|wdio|nightwatch|protractor|jasmine|mocha|testcafe|web-test-runner|stryker|tap|nyc|c8|codecov|phpunit|nextest)';

/** Names of files that determine which tests run, how, and what counts as a pass. */
const RUNNER_NAMES: readonly RegExp[] = [
  new RegExp(`^\\.?${RUNNERS}(?:[.-][\\w.-]+)?\\.(?:[cm]?[jt]sx?|json5?|ya?ml|toml|xml|xml\\.dist)$`, 'i'),
  new RegExp(`^\\.(?:${RUNNERS}rc|taprc)(?:\\.[\\w.]+)?$`, 'i'),
  /^\.(?:coveragerc|rspec|simplecov)$/i,
  /^(?:\.?pytest\.(?:ini|toml)|conftest\.py|tox\.ini|noxfile\.py|mocha\.opts|(?:site|user)customize\.py|[\w.-]+\.pth)$/i,
  /^(?:setup[-_.]?(?:tests?|jest|vitest|mocha)|(?:tests?|jest|vitest)[-_.](?:setup|env|environment|preload|global-?setup))\.[cm]?[jt]sx?$/i,
  /^(?:bunfig\.toml|node\.config\.json|xunit\.runner\.json|junit-platform\.properties|testng\.xml|[\w.-]+\.runsettings)$/i,
  /^\.env\.(?:test|testing|ci)(?:\.[\w.-]+)?$/i,
  /^tsconfig[.-](?:.*[.-])?(?:test|tests|spec|vitest|jest|e2e)\.json$/i,
  /^(?:\.gitlab-ci\.ya?ml|\.travis\.ya?ml|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.?appveyor\.ya?ml|jenkinsfile|\.drone\.ya?ml|\.woodpecker\.ya?ml|\.cirrus\.ya?ml)$/i,
];
const RUNNER_FOLDERS: ReadonlySet<string> = new Set([
  '.github',
  '.circleci',
  '.buildkite',
  '.woodpecker',
  // Settings that Cargo and Maven read automatically; both can replace a test by another program.
  '.cargo',
  '.mvn',
]);

const TEST_FOLDERS: ReadonlySet<string> = new Set([
  'test',
  'tests',
  '__tests__',
  '__test__',
  '__mocks__',
  '__fixtures__',
  'testdata',
  'e2e',
  'androidtest',
  'integrationtest',
  'unittest',
  'unittests',
  'cypress',
]);
/** Folders of test support code; below `packages` and similar folders they are products themselves. */
const SUPPORT_FOLDER = /^tests?[-_]?(?:utils?|helpers?|support)$/;
const PRODUCT_FOLDERS: ReadonlySet<string> = new Set(['packages', 'crates', 'modules', 'libs', 'plugins']);
/** A folder of this name below these contains a command called `test`, not tests. */
const COMMAND_FOLDERS: ReadonlySet<string> = new Set(['command', 'commands', 'cmd']);
/** `spec` is a folder of tests, except among product code. */
const SOURCE_FOLDERS: ReadonlySet<string> = new Set(['src', 'lib', 'app']);

const TEST_NAMES: readonly RegExp[] = [
  new RegExp(`[._-](?:test|tests|spec|specs|e2e|cy|test-d)\\.${CODE_EXTENSIONS}$`, 'i'),
  /^test_.*\.py$/,
  /^tests\.(?:py|rs)$/,
  /[a-z0-9](?:Tests?|TestCase|IT|Spec|Specs)\.(?:java|kt|scala|groovy|cs|fs|swift|php)$/,
  /^Test[A-Z].*\.(?:java|kt|scala|groovy)$/,
  /^test_.*\.(?:rb|c|cc|cpp|cxx)$/,
  /\.(?:bats|feature)$/,
];
/** Test support code, by name. */
const SUPPORT_NAMES = new RegExp(
  `^(?:tests?|spec)[-_.]?(?:utils?|helpers?|support|harness|fixtures?|mocks?)\\.${CODE_EXTENSIONS}$`,
  'i',
);
/** Names by which Node's own runner finds tests. */
const NODE_TEST = /^test-.*\.[cm]?[jt]s$/i;

/** Snapshots. */
export function isSnapshot(path: string): boolean {
  const parts = path.split('/');
  return (
    parts.slice(0, -1).some((part) => part === '__snapshots__' || part === '__image_snapshots__') ||
    parts.slice(0, -1).some((part) => /\.[cm]?[jt]sx?-snapshots$/.test(part)) ||
    /\.(?:snap|ambr|golden)$/i.test(parts.at(-1) ?? '') ||
    /\.(?:approved|verified)\.\w+$/i.test(parts.at(-1) ?? '')
  );
}

/** Whether a file contains tests according to its name. Fixtures and helpers in test folders do not. */
export function isTestNamed(path: string): boolean {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  if (TEST_NAMES.some((pattern) => pattern.test(name))) return true;
  if (parts.length === 1 && /^tests?\.(?:[cm]?[jt]sx?|py|rb|sh)$/i.test(name)) return true;
  return NODE_TEST.test(name) && !parts.slice(0, -1).some((part) => SOURCE_FOLDERS.has(part.toLowerCase()));
}

/**
 * The purpose of a file, by the conventions of common ecosystems. `package.json`, `pyproject.toml`, `setup.cfg` and
 * makefiles are production; the gate `untampered` compares their test-related parts.
 */
export function roleOf(path: string): FileRole {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  if (isSnapshot(path) || RUNNER_FOLDERS.has(parts.length > 1 ? (parts[0] as string).toLowerCase() : ''))
    return 'runner';
  if (RUNNER_NAMES.some((pattern) => pattern.test(name))) return 'runner';
  if (isTestNamed(path) || SUPPORT_NAMES.test(name)) return 'test';
  return parts.slice(0, -1).some((folder, i) => isTestFolder(folder, parts.slice(0, i)))
    ? 'test'
    : 'production';
}

function isTestFolder(folder: string, above: readonly string[]): boolean {
  const name = folder.toLowerCase();
  if (COMMAND_FOLDERS.has((above.at(-1) ?? '').toLowerCase())) return false;
  if (SUPPORT_FOLDER.test(name)) return !PRODUCT_FOLDERS.has((above.at(-1) ?? '').toLowerCase());
  if (TEST_FOLDERS.has(name) || /[.a-z](?:Tests|UnitTests)$/.test(folder)) return true;
  return (
    (name === 'spec' || name === 'specs') && !above.some((part) => SOURCE_FOLDERS.has(part.toLowerCase()))
  );
}

/**
 * Whether one of the globs matches the path. `**` matches any number of folders, `*` and `?` match characters within
 * one component; everything else is literal and case-sensitive, and names that begin with a dot are not special. A
 * glob that ends in `/` matches everything below. No backtracking: time is at most the product of the two lengths.
 */
export const matchesAny = (globs: readonly string[], path: string): boolean => {
  const parts = path.split('/');
  return globs.some((glob) => matchesParts(globParts(glob), parts));
};

function globParts(glob: string): readonly string[] {
  const trimmed = glob.replace(/^(?:\.?\/)+/, '');
  const whole = trimmed.endsWith('/') ? `${trimmed}**` : trimmed;
  const parts: string[] = [];
  for (const part of whole.split('/')) if (part !== '**' || parts.at(-1) !== '**') parts.push(part);
  return parts;
}

/** `reach[i]`: the parts of the path read so far match the first i parts of the glob. */
function matchesParts(glob: readonly string[], path: readonly string[]): boolean {
  let reach = closure([true, ...glob.map(() => false)], glob);
  for (const [read, part] of path.entries()) {
    const next = [false];
    for (const [i, pattern] of glob.entries()) {
      const stays = pattern === '**' && (reach[i + 1] === true || reach[i] === true);
      next[i + 1] = stays || (pattern !== '**' && reach[i] === true && matchesPart(pattern, part));
    }
    reach = closure(next, glob);
    if (read < path.length - 1 && !reach.includes(true)) return false;
  }
  // A final `**` matches what is below a folder, not the folder itself.
  return reach[glob.length] === true;
}

/** `**` also matches nothing, unless it is the last part. */
function closure(reach: readonly boolean[], glob: readonly string[]): boolean[] {
  const closed = [...reach];
  for (const [i, pattern] of glob.entries()) {
    if (pattern === '**' && i < glob.length - 1 && closed[i]) closed[i + 1] = true;
  }
  return closed;
}

/** One component, with the standard algorithm that remembers only the last `*`. */
function matchesPart(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
