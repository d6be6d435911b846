import { cargo, cmake, fillCaches, go } from './compiled-ecosystems.ts';
import { type PackageFacts, readPackage } from './package-scripts.ts';
import {
  inVenv,
  isForPytest,
  type LeanSetup,
  PYTEST_ALONE,
  pythonSetup,
  testSamples,
  UNITTEST,
} from './python-setup.ts';
import type { Ecosystem, RepositorySnapshot } from './repository-recipe.ts';
import { toxEnvironment, toxTests } from './tox.ts';

/** The commands of each ecosystem that the repository uses. */
export const ecosystemsOf = (repository: RepositorySnapshot): readonly Ecosystem[] =>
  DETECTORS.flatMap(([detect, tests]) => {
    const found = detect(repository);
    return found === null ? [] : [{ ...found, tests }];
  });

/**
 * The same with the main one first: of those that are sure, the one with most test files. A package.json may be there
 * for the assets or the website of a project in Python.
 */
export function mainFirst(found: readonly Ecosystem[], files: ReadonlySet<string>): readonly Ecosystem[] {
  const sure = found.filter(isSure);
  if (sure.length < 2) return found;
  const paths = [...files].filter((path) => !SAMPLE_FOLDERS.test(path));
  const counts = new Map(sure.map((one) => [one, paths.filter((path) => one.tests?.test(path)).length]));
  return found.toSorted((a, b) => (counts.get(b) ?? -1) - (counts.get(a) ?? -1));
}

/** Its test command is defined by the repository, not a convention. */
export const isSure = ({ test, guessed }: Ecosystem): boolean => test !== undefined && !guessed;

/** Files that tests read, or people. */
const SAMPLE_FOLDERS =
  /(?:^|\/)(?:fixtures?|examples?|samples?|templates?|vendor|third[-_]party|node_modules)\//i;
const NO_TESTS = /^(?!)/;
const NODE_TESTS = /[.-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)(?:tests?|specs?|__tests?__)\/.*\.[cm]?[jt]sx?$/;
const JVM_TEST_FILES = /(?:^|\/)src\/\w*[tT]est\/.*\.(?:java|kt|groovy|scala)$/;

const DETECTORS: readonly (readonly [
  detect: (repository: RepositorySnapshot) => Ecosystem | null,
  tests: RegExp,
])[] = [
  [node, NODE_TESTS],
  [python, /(?:^|\/)test_[^/]*\.py$|_test\.py$|(?:^|\/)tests?\/.*\.py$/],
  [go, /_test\.go$/],
  [cargo, /(?:^|\/)tests\/.*\.rs$/],
  [maven, JVM_TEST_FILES],
  [gradle, JVM_TEST_FILES],
  [ruby, /_(?:spec|test)\.rb$|(?:^|\/)test\/(?:.*\/)?test_[^/]*\.rb$/],
  [php, /Test\.php$|(?:^|\/)tests?\/.*\.php$/],
  [cmake, NO_TESTS],
  [make, NO_TESTS],
  [dotnet, /Tests?\.(?:cs|fs|vb)$|Tests?\/.*\.(?:cs|fs|vb)$/],
];

/**
 * Set-up runs the whole life cycle, because Maven downloads the program that runs the tests only when it starts it. So
 * it must find classes of tests, but none of their methods. It prints each download; build and tests are quiet.
 */
function maven({ files }: RepositorySnapshot): Ecosystem | null {
  if (!files.has('pom.xml')) return null;
  const program = files.has('mvnw') ? 'sh ./mvnw' : 'mvn';
  const command = `${program} -q -B`;
  const noTest =
    "'-Dtest=*#runoffNone' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -Dmaven.test.failure.ignore=true";
  return {
    file: 'pom.xml',
    setup: `${program} -B ${noTest} package`,
    build: `${command} -o -DskipTests package`,
    test: `${command} -o test`,
  };
}

const GRADLE_FILES = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];

/** What Gradle is asked to do, by the source sets that modules have. */
const GRADLE_TASKS = {
  plain: { compile: 'assemble testClasses', build: 'assemble', test: 'test' },
  // `assemble` of Kotlin Multiplatform needs the compilers of all systems; such modules have no task `test`.
  multiplatform: { compile: 'jvmJar jvmTestClasses', build: 'jvmJar', test: 'jvmTest' },
  both: {
    compile: 'jvmJar jvmTestClasses classes testClasses',
    build: 'jvmJar classes',
    test: 'jvmTest test',
  },
} as const;

function gradleTasks(files: ReadonlySet<string>) {
  const has = (set: RegExp): boolean => [...files].some((path) => set.test(path));
  if (!has(/(?:^|\/)src\/jvm(?:Main|Test)\/.*\.kt$/)) return GRADLE_TASKS.plain;
  return has(/(?:^|\/)src\/test\/.*\.(?:kt|java)$/) ? GRADLE_TASKS.both : GRADLE_TASKS.multiplatform;
}

/**
 * Set-up ends with tests that do not exist, because Gradle downloads the tests' runtime dependencies only when it
 * runs some.
 */
function gradle({ files }: RepositorySnapshot): Ecosystem | null {
  const file = GRADLE_FILES.find((one) => files.has(one));
  if (file === undefined) return null;
  const command = `${files.has('gradlew') ? 'sh ./gradlew' : 'gradle'} --no-daemon`;
  const { compile, build, test } = gradleTasks(files);
  const none = test.replace(/\w+/g, '$& --tests runoff.None');
  const loaded = `{ ${command} --continue ${none} || true; }`;
  return {
    file,
    setup: `${command} ${compile} && ${loaded}`,
    build: `${command} --offline ${build}`,
    test: `${command} --offline ${test}`,
  };
}

/** What a Rakefile that defines a task `test`, or loads tasks from elsewhere, contains. */
const RAKE_TEST = /\btests?\b|TestTask|\bHoe\b|\b(?:load|load_tasks|import|require_relative)\b/;

function ruby({ files, read }: RepositorySnapshot): Ecosystem | null {
  if (!files.has('Gemfile')) return null;
  const all = [...files];
  const specs = files.has('.rspec') || all.some((path) => /^spec\/.*_spec\.rb$/.test(path));
  const rake =
    files.has('Rakefile') &&
    (all.some((path) => path.endsWith('.rake')) || RAKE_TEST.test(read.Rakefile ?? 'test'));
  const test = specs ? 'bundle exec rspec' : rake ? 'bundle exec rake test' : null;
  if (test === null) return null;
  const setup = 'bundle config set --local path vendor/bundle && bundle install';
  // An extension in C, which the tests load.
  const build =
    files.has('Rakefile') && all.some((path) => /^ext\/.*extconf\.rb$/.test(path))
      ? 'bundle exec rake compile'
      : null;
  return build === null
    ? { file: 'Gemfile', setup, test }
    : { file: 'Gemfile', setup: `${setup} && ${fillCaches(build)}`, build, test };
}

/** Older packages expect the machine to have PHPUnit, and do not require it. PHPUnit does not run tests of Pest. */
function php({ files, read }: RepositorySnapshot): Ecosystem | null {
  const manifest = read['composer.json'];
  if (!files.has('composer.json')) return null;
  if (!files.has('phpunit.xml') && !files.has('phpunit.xml.dist')) return null;
  const requires = manifest === undefined || /"[\w.-]+\/(?:[\w.-]*phpunit|pest)[\w.-]*"\s*:/i.test(manifest);
  const pest = files.has('tests/Pest.php') || /"pestphp\/pest"\s*:\s*"/.test(manifest ?? '');
  return {
    file: 'composer.json',
    setup: 'composer install --no-interaction --no-progress',
    test: pest
      ? files.has('bin/pest')
        ? 'php bin/pest'
        : 'vendor/bin/pest'
      : requires
        ? 'vendor/bin/phpunit'
        : 'phpunit',
  };
}

/** A project of tests below the top, or a list of projects; its path needs no quotes. */
const DOTNET_TESTS = /^[\w.-]+(?:\/[\w.-]+)*\/(?:[\w.-]*Tests?\.(?:cs|fs|vb)proj|[\w.-]+\.slnx?)$/;

/** What builds a program in C or C++, whose project files for Visual Studio lie in a folder. */
const C_BUILDS = ['CMakeLists.txt', 'GNUmakefile', 'makefile', 'Makefile', 'configure.ac', 'meson.build'];

function dotnet({ files }: RepositorySnapshot): Ecosystem | null {
  const all = [...files].toSorted();
  // Visual Studio has such files for programs in C and C++, too.
  if (!all.some((path) => /\.(?:cs|fs|vb)proj$/.test(path))) return null;
  // If nothing stands at the top, dotnet must be told which project it is.
  const top = [/^[^/]+\.slnx?$/, /^[^/]+\.(?:cs|fs|vb)proj$/].map((sign) =>
    all.find((path) => sign.test(path)),
  );
  const file = top.find((one) => one !== undefined) ?? all.find((path) => DOTNET_TESTS.test(path));
  if (file === undefined) return null;
  const isTop = top.includes(file);
  const of = isTop ? '' : ` ${file}`;
  return {
    file,
    setup: `dotnet restore${of}`,
    build: `dotnet build${of} --no-restore`,
    test: `dotnet test${of} --no-build`,
    ...(!isTop && C_BUILDS.some((name) => files.has(name)) ? { guessed: true } : {}),
  };
}

function make({ read }: RepositorySnapshot): Ecosystem | null {
  const file = ['GNUmakefile', 'makefile', 'Makefile'].find((one) => read[one] !== undefined);
  if (file === undefined || !/^test[ \t]*:(?!=)/m.test(read[file] ?? '')) return null;
  return { file, test: 'make test', guessed: true };
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

/** The package manager that runs the scripts of package.json. */
export const nodeManager = (facts: PackageFacts, files: ReadonlySet<string>): string =>
  facts.manager ?? LOCKS.find(([file]) => files.has(file))?.[1] ?? 'npm';

function node({ files, read }: RepositorySnapshot): Ecosystem | null {
  const facts = readPackage(read['package.json'] ?? '');
  if (!facts) return null;
  const lock = LOCKS.find(([file]) => files.has(file));
  const manager = nodeManager(facts, files);
  const script = facts.scripts.get('test');
  const hasTestScript = script !== undefined && !PLACEHOLDER.test(script);
  const test = hasTestScript
    ? manager === 'bun'
      ? 'bun run test'
      : `${manager} test`
    : guessedTest(facts, files);
  const builds = facts.scripts.has('build');
  if (!test && !builds) return null;
  const setup = lock?.[1] === manager ? lock[2] : `${manager} install`;
  // Yarn 2 and later use another name.
  const install = manager === 'yarn' && files.has('.yarnrc.yml') ? 'yarn install --immutable' : setup;
  // The packages of a workspace have dependencies of their own.
  const needs =
    facts.packages.size > 0 ||
    (lock !== undefined && facts.hasWorkspaces) ||
    files.has('pnpm-workspace.yaml');
  return {
    file: 'package.json',
    guessed: !hasTestScript,
    ...(needs ? { setup: install } : { complete: true }),
    ...(builds ? { build: `${manager} run build` } : {}),
    ...(test ? { test } : {}),
  };
}

function guessedTest(facts: PackageFacts, files: ReadonlySet<string>): string | null {
  if (facts.packages.has('vitest')) return 'npx vitest run';
  if (facts.packages.has('jest')) return 'npx jest';
  if (facts.packages.has('mocha')) return 'npx mocha';
  const named = [...files].some((path) =>
    /(?:^|\/)(?:[^/]+[.-](?:test|spec)|test-[^/]+)\.[cm]?js$|^test\/.*\.[cm]?js$/.test(path),
  );
  return named ? 'node --test' : null;
}

/** `lean`: with fewer packages, see `pythonSetup`. */
export function python(repository: RepositorySnapshot, lean: LeanSetup = {}): Ecosystem | null {
  const { files, read } = repository;
  const texts = ['pyproject.toml', 'setup.cfg', 'tox.ini', 'requirements.txt', 'requirements-dev.txt'];
  const mentioned = texts.find((file) => /\bpytest\b/.test(read[file] ?? ''));
  const named = [...files].find((path) => /(?:^|\/)(?:conftest|pytest\.ini)(?:\.py)?$/.test(path));
  const tests = [...files].find((path) => /(?:^|\/)test_[^/]*\.py$/.test(path));
  const tox = (mentioned ?? named) === undefined ? toxTests(read) : null;
  // No file requires pytest, but tests are written for it: set-up installs it.
  const written = tox === null ? testSamples([...files]).find((path) => isForPytest(read[path])) : undefined;
  const file = mentioned ?? named ?? written;
  if (file === undefined && tests === undefined && tox === null) return null;
  const more = file === undefined ? [] : ['pytest'];
  const setup = pythonSetup(repository, more, lean) ?? (file === undefined ? null : PYTEST_ALONE);
  const command = tox?.command ?? (file === undefined ? UNITTEST : 'python3 -m pytest');
  const test = [...toxEnvironment(read).variables, command].join(' ');
  return {
    file: file ?? tox?.file ?? (tests as string),
    ...(setup ? { setup } : {}),
    test: setup ? inVenv(test) : test,
    guessed: (mentioned ?? named) === undefined && tox === null,
  };
}
