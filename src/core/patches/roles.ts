import type { FileRole } from './patch.ts';

const CODE_EXTENSIONS =
  '(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|rb|java|kt|kts|scala|groovy|cs|fs|swift|php|dart|exs?|erl|clj[cs]?|c|cc|cpp|cxx|h|hpp|lua|pl|t|sh|bats|zig|nim|elm|hs)';
const RUNNERS =
  '(?:vitest|jest|playwright|cypress|karma|ava|wdio|nightwatch|protractor|jasmine|mocha|testcafe|web-test-runner|stryker|tap|nyc|c8|codecov|phpunit|nextest)';

/** Names of files that decide which tests run, how, and what counts as a pass. */
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
  // Settings that Cargo and Maven read by themselves; both can put another program in the place of a test.
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
/** Folders of code that tests build on; below `packages` and its like they are products of their own. */
const SUPPORT_FOLDER = /^tests?[-_]?(?:utils?|helpers?|support)$/;
const PRODUCT_FOLDERS: ReadonlySet<string> = new Set(['packages', 'crates', 'modules', 'libs', 'plugins']);
/** A folder of this name below these holds a command called `test`, not tests. */
const COMMAND_FOLDERS: ReadonlySet<string> = new Set(['command', 'commands', 'cmd']);
/** `spec` is a folder of tests, except where product code stands. */
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
/** Code that tests build on, by its name. */
const SUPPORT_NAMES = new RegExp(
  `^(?:tests?|spec)[-_.]?(?:utils?|helpers?|support|harness|fixtures?|mocks?)\\.${CODE_EXTENSIONS}$`,
  'i',
);
/** The names by which Node's own runner finds tests. */
const NODE_TEST = /^test-.*\.[cm]?[jt]s$/i;

/** Recorded output that a test compares with. */
export function isSnapshot(path: string): boolean {
  const parts = path.split('/');
  return (
    parts.slice(0, -1).some((part) => part === '__snapshots__' || part === '__image_snapshots__') ||
    parts.slice(0, -1).some((part) => /\.[cm]?[jt]sx?-snapshots$/.test(part)) ||
    /\.(?:snap|ambr|golden)$/i.test(parts.at(-1) ?? '') ||
    /\.(?:approved|verified)\.\w+$/i.test(parts.at(-1) ?? '')
  );
}

/** Does its name say that a file holds tests? Fixtures and helpers in folders of tests do not. */
export function isTestNamed(path: string): boolean {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  if (TEST_NAMES.some((pattern) => pattern.test(name))) return true;
  if (parts.length === 1 && /^tests?\.(?:[cm]?[jt]sx?|py|rb|sh)$/i.test(name)) return true;
  return NODE_TEST.test(name) && !parts.slice(0, -1).some((part) => SOURCE_FOLDERS.has(part.toLowerCase()));
}

/**
 * What a file is for, by the customs of common ecosystems. `package.json`, `pyproject.toml`, `setup.cfg` and
 * makefiles are production; the parts of them that decide about tests are compared by the gate `untampered`.
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
