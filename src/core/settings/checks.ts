import { type PackageFacts, readPackage } from './package-scripts.ts';

/** Files at the top of a repository whose text `detectChecks` wants to see. */
export const CHECK_FILES: readonly string[] = [
  'package.json',
  'go.mod',
  'Cargo.toml',
  'pyproject.toml',
  'setup.cfg',
  'tox.ini',
  'pytest.ini',
  'requirements.txt',
  'requirements-dev.txt',
  'Makefile',
  'makefile',
  'GNUmakefile',
];

/** Shell commands; absent where the repository shows none. */
export interface DetectedChecks {
  readonly setup?: string;
  readonly build?: string;
  readonly test?: string;
}

interface Repository {
  readonly files: ReadonlySet<string>;
  readonly read: Readonly<Record<string, string>>;
}

/**
 * How a repository is set up, built and tested, from its list of files and the text of some (`CHECK_FILES`). The first
 * ecosystem that names a test command wins: package.json, Python, Go, Cargo, Maven, Gradle, Ruby, PHP, .NET, a makefile;
 * where none does, the first that names a build.
 */
export function detectChecks(repository: {
  readonly files: readonly string[];
  readonly read: Readonly<Record<string, string>>;
}): DetectedChecks {
  const seen: Repository = { files: new Set(repository.files), read: repository.read };
  const found = DETECTORS.flatMap((detect) => detect(seen) ?? []);
  return found.find(({ test }) => test) ?? found[0] ?? {};
}

const DETECTORS: readonly ((repository: Repository) => DetectedChecks | null)[] = [
  node,
  python,
  go,
  cargo,
  maven,
  gradle,
  ruby,
  php,
  dotnet,
  make,
];

function go({ files, read }: Repository): DetectedChecks | null {
  if (!files.has('go.mod')) return null;
  const needs = /^\s*require\b/m.test(read['go.mod'] ?? '') && !files.has('vendor/modules.txt');
  return { ...(needs ? { setup: 'go mod download' } : {}), build: 'go build ./...', test: 'go test ./...' };
}

function cargo({ files, read }: Repository): DetectedChecks | null {
  if (!files.has('Cargo.toml')) return null;
  const needs =
    files.has('Cargo.lock') ||
    /^\[(?:[\w.'"()-]+\.)?(?:dev-|build-)?dependencies\b/m.test(read['Cargo.toml'] ?? '');
  const locked = files.has('Cargo.lock') ? ' --locked' : '';
  return { ...(needs ? { setup: `cargo fetch${locked}` } : {}), build: 'cargo build', test: 'cargo test' };
}

/** Set-up runs the whole life cycle with a test that does not exist: Maven loads the provider of the tests only then. */
function maven({ files }: Repository): DetectedChecks | null {
  if (!files.has('pom.xml')) return null;
  const command = `${files.has('mvnw') ? 'sh ./mvnw' : 'mvn'} -q -B`;
  const noTest = '-Dtest=None -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false';
  return {
    setup: `${command} ${noTest} package`,
    build: `${command} -o -DskipTests package`,
    test: `${command} -o test`,
  };
}

function gradle({ files }: Repository): DetectedChecks | null {
  if (!files.has('build.gradle') && !files.has('build.gradle.kts')) return null;
  const command = files.has('gradlew') ? 'sh ./gradlew' : 'gradle';
  return { build: `${command} assemble`, test: `${command} test` };
}

function ruby({ files }: Repository): DetectedChecks | null {
  if (!files.has('Gemfile')) return null;
  const specs = files.has('.rspec') || [...files].some((path) => /^spec\/.*_spec\.rb$/.test(path));
  const test = specs ? 'bundle exec rspec' : files.has('Rakefile') ? 'bundle exec rake test' : null;
  return test === null
    ? null
    : { setup: 'bundle config set --local path vendor/bundle && bundle install', test };
}

function php({ files }: Repository): DetectedChecks | null {
  if (!files.has('composer.json')) return null;
  if (!files.has('phpunit.xml') && !files.has('phpunit.xml.dist')) return null;
  return { setup: 'composer install --no-interaction --no-progress', test: 'vendor/bin/phpunit' };
}

function dotnet({ files }: Repository): DetectedChecks | null {
  if (![...files].some((path) => /^[^/]+\.slnx?$/.test(path))) return null;
  return { setup: 'dotnet restore', build: 'dotnet build --no-restore', test: 'dotnet test --no-build' };
}

function make({ read }: Repository): DetectedChecks | null {
  const text = read.GNUmakefile ?? read.makefile ?? read.Makefile ?? '';
  return /^test[ \t]*:(?!=)/m.test(text) ? { test: 'make test' } : null;
}

const LOCKS: readonly (readonly [file: string, manager: string, setup: string])[] = [
  ['pnpm-lock.yaml', 'pnpm', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', 'yarn', 'yarn install --frozen-lockfile'],
  ['bun.lock', 'bun', 'bun install --frozen-lockfile'],
  ['bun.lockb', 'bun', 'bun install --frozen-lockfile'],
  ['package-lock.json', 'npm', 'npm ci --no-audit --no-fund'],
  ['npm-shrinkwrap.json', 'npm', 'npm ci --no-audit --no-fund'],
];

/** `npm init` writes this script into every new project. */
const PLACEHOLDER = /no test specified/;

function node({ files, read }: Repository): DetectedChecks | null {
  const facts = readPackage(read['package.json'] ?? '');
  if (!facts) return null;
  const lock = LOCKS.find(([file]) => files.has(file));
  const manager = facts.manager ?? lock?.[1] ?? 'npm';
  const test = nodeTest(facts, manager, files);
  const builds = facts.scripts.has('build');
  if (!test && !builds) return null;
  const setup = lock?.[1] === manager ? lock[2] : `${manager} install`;
  // Yarn 2 and later call it otherwise.
  const install = manager === 'yarn' && files.has('.yarnrc.yml') ? 'yarn install --immutable' : setup;
  return {
    ...(facts.packages.size > 0 ? { setup: install } : {}),
    ...(builds ? { build: `${manager} run build` } : {}),
    ...(test ? { test } : {}),
  };
}

function nodeTest(facts: PackageFacts, manager: string, files: ReadonlySet<string>): string | null {
  const script = facts.scripts.get('test');
  if (script && !PLACEHOLDER.test(script)) return manager === 'bun' ? 'bun run test' : `${manager} test`;
  if (facts.packages.has('vitest')) return 'npx vitest run';
  if (facts.packages.has('jest')) return 'npx jest';
  if (facts.packages.has('mocha')) return 'npx mocha';
  const named = [...files].some((path) =>
    /(?:^|\/)(?:[^/]+[.-](?:test|spec)|test-[^/]+)\.[cm]?js$|^test\/.*\.[cm]?js$/.test(path),
  );
  return named ? 'node --test' : null;
}

function python(repository: Repository): DetectedChecks | null {
  const { files, read } = repository;
  const texts = ['pyproject.toml', 'setup.cfg', 'tox.ini', 'requirements.txt', 'requirements-dev.txt'];
  const mentioned = texts.some((file) => /\bpytest\b/.test(read[file] ?? ''));
  const named = [...files].some((path) => /(?:^|\/)(?:conftest|pytest\.ini)(?:\.py)?$/.test(path));
  const tests = [...files].some((path) => /(?:^|\/)test_[^/]*\.py$/.test(path));
  if (!mentioned && !named && !tests) return null;
  const setup = pythonSetup(repository, mentioned || named);
  const runner = mentioned || named ? 'pytest' : 'unittest discover';
  return { ...(setup ? { setup } : {}), test: `${setup ? VENV : 'python3'} -m ${runner}` };
}

const VENV = '.venv/bin/python';
/** Where projects write down what their tests need besides what the package needs. */
const REQUIREMENTS =
  /^(?:(?:dev|test|tests)[-_])?requirements(?:[-_](?:dev|test|tests|testing))?\.(?:txt)$|^requirements\/(?:dev|test|tests|testing|base)\.txt$/;
const FOR_TESTS = /^(?:tests?|testing|dev|development)$/;

/**
 * Everything goes into a virtual environment of the repository, which sees the packages of the host. Where the index cannot
 * be reached, what is there already may do.
 */
function pythonSetup({ files, read }: Repository, pytest: boolean): string | null {
  if (files.has('uv.lock')) return 'uv sync --frozen --all-extras --all-groups';
  const project = read['pyproject.toml'] ?? '';
  const isPackage = files.has('setup.py') || /^\[(?:project|build-system|tool\.poetry)\]/m.test(project);
  const lists = [...files].filter((path) => REQUIREMENTS.test(path)).sort();
  if (!isPackage && lists.length === 0) return null;
  const extras = keysOf(project, 'project.optional-dependencies').filter((name) => FOR_TESTS.test(name));
  const groups = keysOf(project, 'dependency-groups').filter((name) => FOR_TESTS.test(name));
  const wanted = [
    ...(isPackage ? [`-e '.${extras.length > 0 ? `[${extras.join(',')}]` : ''}'`] : []),
    ...lists.map((path) => `-r ${path}`),
    ...groups.map((name) => `--group ${name}`),
    ...(pytest ? ['pytest'] : []),
  ];
  const newer = groups.length > 0 ? [`${VENV} -m pip install --upgrade pip`] : [];
  const install = [...newer, `${VENV} -m pip install ${wanted.join(' ')}`].join(' && ');
  const enough = pytest ? ` || ${VENV} -m pytest --version` : '';
  return `python3 -m venv --system-site-packages .venv && { ${install}${enough}; }`;
}

/** Names in one table of a TOML file whose values are lists; our own reading, good for the tables that are written by hand. */
function keysOf(toml: string, table: string): readonly string[] {
  const [, body = ''] = toml.split(`\n[${table}]`);
  const [own = ''] = body.split(/\n\[/);
  return [...own.matchAll(/^\s*"?([\w.-]+)"?\s*=\s*\[/gm)].map(([, name = '']) => name);
}
