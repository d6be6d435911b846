import { type PackageFacts, readPackage } from './test-runners.ts';

/** Files at the top of a repository whose text `detectChecks` wants to see. */
export const CHECK_FILES: readonly string[] = [
  'package.json',
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
 * ecosystem that names a test command wins: package.json, pytest, Go, Cargo, Maven, Gradle, a makefile.
 */
export function detectChecks(repository: {
  readonly files: readonly string[];
  readonly read: Readonly<Record<string, string>>;
}): DetectedChecks {
  const seen: Repository = { files: new Set(repository.files), read: repository.read };
  for (const detect of DETECTORS) {
    const checks = detect(seen);
    if (checks?.test) return checks;
  }
  return {};
}

const DETECTORS: readonly ((repository: Repository) => DetectedChecks | null)[] = [
  node,
  python,
  ({ files }) => (files.has('go.mod') ? { build: 'go build ./...', test: 'go test ./...' } : null),
  ({ files }) => (files.has('Cargo.toml') ? { build: 'cargo build', test: 'cargo test' } : null),
  ({ files }) => (files.has('pom.xml') ? maven(files.has('mvnw') ? 'sh ./mvnw' : 'mvn') : null),
  gradle,
  make,
];

const maven = (command: string): DetectedChecks => ({
  build: `${command} -q -B -DskipTests package`,
  test: `${command} -q -B test`,
});

function gradle({ files }: Repository): DetectedChecks | null {
  if (!files.has('build.gradle') && !files.has('build.gradle.kts')) return null;
  const command = files.has('gradlew') ? 'sh ./gradlew' : 'gradle';
  return { build: `${command} assemble`, test: `${command} test` };
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
  if (!test) return null;
  const setup = lock?.[1] === manager ? lock[2] : `${manager} install`;
  return {
    ...(facts.packages.size > 0 ? { setup } : {}),
    ...(facts.scripts.has('build') ? { build: `${manager} run build` } : {}),
    test,
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

function python({ files, read }: Repository): DetectedChecks | null {
  const texts = ['pyproject.toml', 'setup.cfg', 'tox.ini', 'requirements.txt', 'requirements-dev.txt'];
  const mentioned = texts.some((file) => /\bpytest\b/.test(read[file] ?? ''));
  const named = [...files].some((path) => /(?:^|\/)(?:conftest|pytest\.ini)(?:\.py)?$/.test(path));
  if (mentioned || named) return { test: 'python3 -m pytest' };
  const tests = [...files].some((path) => /(?:^|\/)test_[^/]*\.py$/.test(path));
  return tests ? { test: 'python3 -m unittest discover' } : null;
}
