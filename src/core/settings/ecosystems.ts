import { autotools, meson } from './autotools-and-meson.ts';
import { cargo, cmake, go } from './compiled-ecosystems.ts';
import { deno, isDenoTest } from './deno-ecosystem.ts';
import { dotnet } from './dotnet-ecosystem.ts';
import { gradle, maven } from './jvm-ecosystems.ts';
import { nodeInstall, nodeManager } from './node-managers.ts';
import { noxTests } from './noxfile.ts';
import { type PackageFacts, readPackage } from './package-scripts.ts';
import { type LeanSetup, PYTEST_ALONE, pythonSetup } from './python-setup.ts';
import { djangoTest, isForPytest, testSamples, unittestCommands } from './python-tests.ts';
import { type Ecosystem, type RepositorySnapshot, SAMPLE_FOLDERS } from './repository-recipe.ts';
import { php, ruby } from './ruby-and-php.ts';
import { toxEnvironment, toxTests } from './tox.ts';
import { inVenv } from './virtual-environment.ts';
import { workspaceGraph } from './workspace-graph.ts';

/** The commands of each ecosystem that the repository uses. */
export const ecosystemsOf = (repository: RepositorySnapshot): readonly Ecosystem[] =>
  DETECTORS.flatMap(([detect, tests]) => {
    const found = detect(repository);
    return found === null ? [] : [{ ...found, tests }];
  });

/**
 * The same with the main one first: of those that are sure, the one with most test files. A package.json may be there
 * for the assets or the website of a project in Python. One that is only defined below the top, such as a client in
 * another language, hides none, and neither do tests in Python of a program that is built at the top. One whose tests are
 * a convention, such as Django's, hides one that is sure only with many times as many test files, and is sure then.
 */
export function mainFirst(found: readonly Ecosystem[], files: ReadonlySet<string>): readonly Ecosystem[] {
  const paths = [...files].filter((path) => !SAMPLE_FOLDERS.test(path));
  const [first, ...others] = found
    .filter((one) => one.test !== undefined)
    .map((one) => ({
      one,
      sure: isSure(one),
      top: isAtTop(one, files),
      count: paths.filter((path) => one.tests?.(path)).length,
    }))
    .toSorted((a, b) => Number(b.sure) - Number(a.sure) || Number(b.top) - Number(a.top));
  if (!first?.sure) return found;
  const main = others
    .filter(({ top }) => top)
    .reduce(
      (best, next) => (next.count > best.count * (best.sure && !next.sure ? MANY_TIMES : 1) ? next : best),
      first,
    );
  const { guessed: _guessed, ...chosen } = main.one;
  return [main.sure ? main.one : chosen, ...found.filter((one) => one !== main.one)];
}

/** How many times as many test files make up for a command that is a convention. Our default. */
const MANY_TIMES = 10;

const PYTHON_AT_TOP = /^(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|[\w-]*requirements[\w-]*\.txt)$/;

const isAtTop = ({ file }: Ecosystem, files: ReadonlySet<string>): boolean =>
  !file.includes('/') || (/\.(?:py|ini)$/.test(file) && [...files].some((path) => PYTHON_AT_TOP.test(path)));

/** Its test command is defined by the repository, not a convention. */
export const isSure = ({ test, guessed }: Ecosystem): boolean => test !== undefined && !guessed;

/** Files by their names, or by a folder and an ending: one pattern for both takes quadratic time for deep paths. */
const testFiles =
  (name: RegExp | null, folder?: RegExp, end?: RegExp) =>
  (path: string): boolean =>
    name?.test(path) || (end?.test(path) && folder?.test(path)) || false;
const NODE_TESTS = testFiles(
  /[.-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)test(?:-[^/]*)?\.[cm]?[jt]sx?$/,
  /(?:^|\/)(?:tests?|specs?|__tests?__)\//,
  /\.[cm]?[jt]sx?$/,
);
const JVM_TESTS = testFiles(null, /(?:^|\/)src\/\w*[tT]est\//, /\.(?:java|kt|groovy|scala)$/);
const NO_TESTS = (): boolean => false;

const DETECTORS: readonly (readonly [
  detect: (repository: RepositorySnapshot) => Ecosystem | null,
  tests: (path: string) => boolean,
])[] = [
  [node, NODE_TESTS],
  [deno, isDenoTest],
  [python, testFiles(/(?:^|\/)(?:test_[^/]*|tests)\.py$|_test\.py$/, /(?:^|\/)tests?\//, /\.py$/)],
  [go, testFiles(/_test\.go$/)],
  [cargo, testFiles(null, /(?:^|\/)tests\//, /\.rs$/)],
  [maven, JVM_TESTS],
  [gradle, JVM_TESTS],
  [ruby, testFiles(/_(?:spec|test)\.rb$/, /(?:^|\/)test\//, /(?:^|\/)test_[^/]*\.rb$/)],
  [php, testFiles(/Test\.php$/, /(?:^|\/)tests?\//, /\.php$/)],
  [cmake, NO_TESTS],
  [meson, NO_TESTS],
  [autotools, NO_TESTS],
  [make, NO_TESTS],
  [dotnet, testFiles(/Tests?\.(?:cs|fs|vb)$/, /Tests?\//, /\.(?:cs|fs|vb)$/)],
];

function make({ read }: RepositorySnapshot): Ecosystem | null {
  const file = ['GNUmakefile', 'makefile', 'Makefile'].find((one) => read[one] !== undefined);
  if (file === undefined || !/^test[ \t]*:(?!=)/m.test(read[file] ?? '')) return null;
  return { file, test: 'make test', guessed: true };
}

/** `npm init` writes this script into every new project. */
const PLACEHOLDER = /no test specified/;

function node({ files, read }: RepositorySnapshot): Ecosystem | null {
  const facts = readPackage(read['package.json'] ?? '');
  if (!facts) return null;
  const manager = nodeManager(facts, files);
  const script = facts.scripts.get('test');
  const hasTestScript = script !== undefined && !PLACEHOLDER.test(script);
  const ofPackages = hasTestScript ? null : workspaceTest(manager, facts, { files, read });
  const test = hasTestScript
    ? manager === 'bun'
      ? 'bun run test'
      : `${manager} test`
    : (ofPackages ?? guessedTest(facts, files, manager));
  const builds = facts.scripts.has('build');
  if (!test && !builds) return null;
  // The packages of a workspace have dependencies of their own, and find each other by links that are installed.
  const needs =
    facts.packages.size > 0 || facts.hasWorkspaces || ofPackages !== null || files.has('pnpm-workspace.yaml');
  return {
    file: 'package.json',
    guessed: !hasTestScript,
    ...(ofPackages === null ? {} : { ofPackages: true }),
    ...(needs ? { setup: nodeInstall(facts, files) } : { complete: true }),
    ...(builds ? { build: `${manager} run build` } : {}),
    ...(test ? { test } : {}),
  };
}

/** Runners, and what configures them at the top. */
const NODE_RUNNERS: readonly (readonly [name: string, configuration: RegExp])[] = [
  ['vitest', /^vitest\.(?:config|workspace|projects)\.\w+$/],
  ['jest', /^jest\.config\.\w+$/],
  ['mocha', /^\.mocharc\.\w+$/],
];

/**
 * The scripts `test` of the packages of a workspace; null if none of those that were read has one, or if the runner
 * that the top configures tests the packages, whose scripts start others.
 */
function workspaceTest(
  manager: string,
  facts: PackageFacts,
  { files, read }: RepositorySnapshot,
): string | null {
  const scripts = workspaceGraph(read).flatMap(({ kind, folder }) => {
    const script =
      kind === 'node' ? readPackage(read[`${folder}/package.json`] ?? '')?.scripts.get('test') : undefined;
    return script === undefined || PLACEHOLDER.test(script) ? [] : [script];
  });
  if (scripts.length === 0) return null;
  const [runner, configuration] = NODE_RUNNERS.find(([name]) => facts.packages.has(name)) ?? [];
  const isConfigured = configuration !== undefined && [...files].some((path) => configuration.test(path));
  if (isConfigured && !scripts.some((script) => script.includes(runner ?? ''))) return null;
  switch (manager) {
    case 'pnpm':
      return 'pnpm -r test';
    case 'yarn':
      return files.has('.yarnrc.yml') ? 'yarn workspaces foreach -A run test' : 'yarn workspaces run test';
    case 'bun':
      return "bun run --filter '*' test";
    default:
      return 'npm test --workspaces --if-present';
  }
}

/** Bun has a runner of its own, whose tests import `bun:test`, and needs no script for it. */
const BUN_TEST = /[._](?:test|spec)\.[cm]?[jt]sx?$/;

function guessedTest(facts: PackageFacts, files: ReadonlySet<string>, manager: string): string | null {
  const [runner] = NODE_RUNNERS.find(([name]) => facts.packages.has(name)) ?? [];
  if (runner !== undefined) return runner === 'vitest' ? 'npx vitest run' : `npx ${runner}`;
  if (manager === 'bun' && [...files].some((path) => BUN_TEST.test(path))) return 'bun test';
  return [...files].some(isNodeTest) ? NODE_TEST : null;
}

export const NODE_TEST = 'node --test';

/** Whether the runner of Node finds a file. */
export const isNodeTest = (path: string): boolean =>
  /(?:^|\/)(?:[^/]+[.-](?:test|spec)|test-[^/]+)\.[cm]?js$|^test\/.*\.[cm]?js$/.test(path);

/** `lean`: with fewer packages, see `pythonSetup`. */
export function python(repository: RepositorySnapshot, lean: LeanSetup = {}): Ecosystem | null {
  const { files, read } = repository;
  const texts = ['pyproject.toml', 'setup.cfg', 'tox.ini', 'requirements.txt', 'requirements-dev.txt'];
  const mentioned = texts.find((file) => /\bpytest\b/.test(read[file] ?? ''));
  const named = [...files].find((path) => /(?:^|\/)(?:conftest|pytest\.ini)(?:\.py)?$/.test(path));
  const tests = [...files].find((path) => /(?:^|\/)test_[^/]*\.py$/.test(path));
  const tool = (mentioned ?? named) === undefined ? (toxTests(read) ?? noxTests(read['noxfile.py'])) : null;
  // No file requires pytest, but tests are written for it: set-up installs it.
  const written = tool === null ? testSamples([...files]).find((path) => isForPytest(read[path])) : undefined;
  const file = mentioned ?? named ?? written;
  const django = file === undefined && tool === null ? djangoTest(repository) : null;
  const own = tool ?? django;
  if (file === undefined && tests === undefined && own === null) return null;
  const more = file === undefined ? [] : ['pytest'];
  const setup = pythonSetup(repository, more, lean) ?? (file === undefined ? null : PYTEST_ALONE);
  const usual = file === undefined ? unittestCommands(files) : ['python3 -m pytest'];
  const set = toxEnvironment(read)
    .variables.map((one) => `${one} `)
    .join('');
  const test = (own === null ? usual : [own.command])
    .map((command) => command.replace(/^(?:\(cd \S+ && )?/, (folder) => `${folder}${set}`))
    .join(' && ');
  return {
    file: file ?? own?.file ?? (tests as string),
    ...(setup ? { setup } : {}),
    test: setup ? inVenv(test) : test,
    guessed: (mentioned ?? named) === undefined && tool === null,
  };
}
