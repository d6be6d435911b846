import { givenFilesOnly, overruledStop } from './chosen-tests.ts';
import { optionsOf, type Recognised, type RunnerName, unquoted } from './command-kinds.ts';
import { isOfTestingPlatform } from './dotnet-ecosystem.ts';
import {
  endingIdleTests,
  inOneProcess,
  isBetterNodeTest,
  labTests,
  nodeOptions,
  withoutReporters,
} from './node-reporters.ts';
import type { TestCommandLine } from './package-scripts.ts';
import { ADDED, ALWAYS, appended, pytestOptions, rspecOptions, withOptions } from './report-options.ts';
import type { ReportSource } from './report-source.ts';
import { anyReports, anyRunnerOptions, NAMES_OF_RUBY } from './reports-of-any-runner.ts';
import type { Exiting } from './test-command.ts';

/** How to make a runner write a report. */
export interface RunnerForm extends Exiting {
  readonly env: Readonly<Record<string, string>>;
  /** Arguments for the end of the command; may be empty. */
  readonly append: string;
  /** Replaces the last command if an argument must be in its middle. */
  readonly rewritten?: string;
  readonly report: ReportSource | null;
}

/** How to make a runner run some files only. */
export interface FocusForm extends Exiting {
  /** Replaces the last command; the files are `"$@"`. */
  readonly command: string;
  /** Files that can hold its tests. */
  readonly takes: RegExp;
  /** One file at a time: in a shared process, a file that cannot be loaded fails the others. */
  readonly apart: boolean;
  /** The same with all files in one process, where this one starts a process for each. */
  readonly inOneProcess?: string;
  /** The arguments for the files. */
  readonly argsOf?: (files: readonly string[]) => readonly string[];
  readonly report?: ReportSource;
}

/** Where a report is written, and for which repository. */
export interface ReportPlace {
  readonly folder: string;
  /** Texts of the base commit (`stepFiles`). */
  readonly files: Readonly<Record<string, string>>;
}

/** How a runner exits after its last test. Versions of mocha before 4 do so in any case. */
function exitOf({ runner, words }: Recognised): Exiting {
  if (runner === 'jest') return { exit: (command) => `${command} --forceExit` };
  if (runner === 'mocha') return { exit: (command) => `${command} --exit` };
  const exit = runner === 'node-test' ? endingIdleTests(words) : null;
  return exit === null ? {} : { exit, reportsLast: true };
}

/**
 * Null if the runner cannot write a report this way. A run that the project lets end at the first failing test goes on.
 */
export function runnerForm(found: Recognised, line: TestCommandLine, place: ReportPlace): RunnerForm | null {
  const form = formOf(found, line, place);
  if (!form) return null;
  const append = `${overruledStop(found.runner, place.files)} ${form.append}`.trim();
  return { ...form, ...exitOf(found), append };
}

function formOf(found: Recognised, line: TestCommandLine, { folder, files }: ReportPlace): RunnerForm | null {
  const { runner, words } = found;
  const own = REPORTS[runner](folder);
  const plain = { env: {}, append: '', report: own };
  switch (runner) {
    case 'node-test':
      // With several reporters, Node needs a destination for each.
      return words.some((word) => word.startsWith('--test-reporter'))
        ? { ...plain, env: nodeOptions(`${folder}/report.xml`), rewritten: withoutReporters(words).join(' ') }
        : { ...plain, env: nodeOptions(`${folder}/report.xml`, { hasReporter: isBetterNodeTest(words) }) };
    case 'pytest':
      return { ...plain, env: { PYTEST_ADDOPTS: pytestOptions(`${folder}/report.xml`) } };
    case 'rspec':
      return { ...plain, env: { SPEC_OPTS: rspecOptions(`${folder}/report.json`) } };
    case 'rake':
      return { ...plain, env: NAMES_OF_RUBY, append: startsRailsTests(found) ? '-v' : '' };
    case 'dotnet':
      return {
        ...plain,
        append: isOfTestingPlatform(files) ? ADDED.testingPlatform : ADDED.dotnet,
        env: { DOTNET_CLI_UI_LANGUAGE: 'en' },
      };
    case 'maven':
      // Otherwise modules that depend on one with failing tests are not tested.
      return { ...plain, append: '-Dmaven.test.failure.ignore=true' };
    case 'gradle':
      return { ...plain, append: words.includes('--continue') ? '' : '--continue' };
    case 'tape':
    case 'qunit':
    case 'uvu':
    case 'meson':
      return plain;
    case 'script':
      return { ...plain, env: anyRunnerOptions(folder) };
    case 'lab':
      return { ...plain, rewritten: labTests(found, words.slice(found.at + 1), folder) };
    case 'go':
    case 'cargo':
      return { ...plain, rewritten: withOptions(found) };
    case 'unittest':
      if (words.some((word) => DJANGO.test(word))) return { ...plain, append: '-v 2' };
      return { ...plain, append: words.includes(ADDED.unittest) ? '' : ADDED.unittest };
    case 'ava':
    case 'tap':
      return { ...plain, ...ALWAYS[runner], append: words.includes(ADDED[runner]) ? '' : ADDED[runner] };
    default:
      return line.last === null ? null : { ...plain, append: appended(runner, words, folder) };
  }
}

/** A command of Rails, not tasks of Rake (`rails db:prepare test`), to which options at the end would not get. */
const startsRailsTests = ({ words, at }: Recognised): boolean =>
  /(?:^|\/)rails$/.test(unquoted(words[at - 1] ?? ''));

/** Programs of Django, which number how much they print: 2 is what unittest prints with `-v`. */
const DJANGO = /(?:^|\/)(?:(?:manage|runtests)\.py|django(?:-admin)?)$/;

const REPORTS: Readonly<Record<RunnerName, (folder: string) => ReportSource>> = {
  vitest: (folder) => ({
    source: 'file',
    file: `${folder}/report.xml`,
    format: 'vitest',
    second: `${folder}/report.json`,
  }),
  pytest: xml,
  'node-test': xml,
  deno: xml,
  bun: xml,
  borp: xml,
  lab: xml,
  phpunit: xml,
  ctest: xml,
  rspec: (folder) => ({ source: 'file', file: `${folder}/report.json`, format: 'rspec-json' }),
  rake: () => ({ source: 'stdout', format: 'minitest-text' }),
  dotnet: () => ({ source: 'stdout', format: 'dotnet-text' }),
  jest: (folder) => ({ source: 'file', file: `${folder}/report.json`, format: 'jest-json' }),
  // mocha knows the option `output` since 9.2.
  mocha: (folder) => ({
    source: 'file',
    file: `${folder}/report.json`,
    format: 'mocha-json',
    orStdout: true,
  }),
  ava: tap,
  tape: tap,
  tap,
  qunit: tap,
  script: anyReports,
  uvu: () => ({ source: 'stdout', format: 'uvu-text' }),
  maven: () => mavenReport(),
  gradle: () => ({
    source: 'tree',
    pattern: String.raw`(?:^|/)build/test-results/(?:[^/]+/)?TEST-[^/]+\.xml$`,
    format: 'junit-files',
  }),
  meson: () => ({
    source: 'tree',
    pattern: String.raw`(?:^|/)meson-logs/testlog\.junit\.xml$`,
    format: 'junit-files',
  }),
  go: () => ({ source: 'stdout', format: 'go-json' }),
  cargo: () => ({ source: 'stdout', format: 'cargo-text' }),
  unittest: () => ({ source: 'stderr', format: 'unittest-text' }),
};

function xml(folder: string): ReportSource {
  return { source: 'file', file: `${folder}/report.xml`, format: 'junit' };
}

function tap(): ReportSource {
  return { source: 'stdout', format: 'tap' };
}

/** The reports of these modules; absent: of all. */
export const mavenReport = (modules?: readonly string[]): ReportSource => ({
  source: 'tree',
  pattern: `${modules ? `^(?:${modules.map(RegExp.escape).join('|')})/` : '(?:^|/)'}target/(?:surefire|failsafe)-reports/TEST-[^/]+\\.xml$`,
  format: 'junit-files',
});

const SCRIPTS = /\.[cm]?[jt]sx?$/;

/** Null for a runner without a known option of this kind. */
export function focusForm(found: Recognised, { folder, files }: ReportPlace): FocusForm | null {
  const { runner, words } = found;
  const only = givenFilesOnly(found, files, folder);
  if (only === null) return null;
  const start = `${only.before}${runnerStart(found)}${only.options}`;
  const form = { takes: SCRIPTS, apart: false, ...exitOf(found) };
  switch (runner) {
    case 'vitest':
    case 'deno':
    case 'bun':
    case 'borp':
      return { ...form, command: `${start} ${appended(runner, words, folder)} "$@"` };
    case 'jest':
      return { ...form, command: `${start} ${appended(runner, words, folder)} --runTestsByPath "$@"` };
    case 'mocha':
      return { ...form, apart: true, command: `${start} ${appended(runner, words, folder)} "$@"` };
    case 'lab':
      return { ...form, command: `${labTests(found, optionsOf(found), folder)} "$@"` };
    case 'ava':
    case 'tap':
      return { ...form, apart: runner === 'ava', command: `${start} ${ADDED[runner]} "$@"` };
    case 'tape':
    case 'qunit':
    case 'script':
      return { ...form, apart: true, command: `${start} "$@"` };
    case 'node-test':
      return { ...form, command: `${start} "$@"`, ...inOneProcess(words, start) };
    case 'pytest':
      return { takes: /\.py$/, apart: false, command: `${start} "$@"` };
    case 'go':
      return { takes: /_test\.go$/, apart: false, command: `${start} -json "$@"`, argsOf: foldersOf };
    case 'rspec':
      return words.some((word) => /rake$/.test(word))
        ? null
        : { takes: /_spec\.rb$/, apart: false, command: `${start} "$@"` };
    case 'phpunit':
      return { takes: /\.php$/, apart: true, command: `${start} ${appended(runner, words, folder)} "$@"` };
    case 'maven':
    case 'gradle':
      return jvmFocus(runner, words);
    case 'cargo':
    case 'uvu':
    case 'unittest':
    case 'rake':
    case 'dotnet':
    case 'ctest':
    case 'meson':
      return null;
  }
}

/** The command up to the runner with its options, without what it tests. */
const runnerStart = (found: Recognised): string =>
  withoutReporters([...found.words.slice(0, found.at + 1), ...optionsOf(found)]).join(' ');

function jvmFocus(runner: 'maven' | 'gradle', words: readonly string[]): FocusForm | null {
  const form = { takes: JVM_TESTS, apart: false };
  if (runner === 'maven') {
    return {
      ...form,
      command: `${words.join(' ')} ${ANY_TESTS} -Dmaven.test.failure.ignore=true "$@"`,
      argsOf: (files) => [`-Dtest=${classesOf(files).join(',')}`],
    };
  }
  // Only the task itself supports the option, which must follow it.
  const task = words.at(-1) ?? '';
  if (words.filter((word) => GRADLE_TEST.test(word)).join(' ') !== task) return null;
  return {
    ...form,
    command: `${words.slice(0, -1).join(' ')} --continue ${task} "$@"`,
    argsOf: (files) => classesOf(files).flatMap((name) => ['--tests', `*${name}`]),
  };
}

const GRADLE_TEST = /^(?:jvmT|t)est$/;
const JVM_TESTS = /(?:^|\/)src\/(?:test|jvmTest|commonTest)\/.*\/?[\w$]+\.(?:java|kt|groovy|scala)$/;
/** Modules without matching tests are not failures; the option's name depends on the version of Surefire. */
const ANY_TESTS = '-DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false';

const classesOf = (files: readonly string[]): readonly string[] => [
  ...new Set(files.map((file) => file.replace(/^.*\//s, '').replace(/\.\w+$/, ''))),
];

const foldersOf = (files: readonly string[]): readonly string[] => [
  ...new Set(files.map((file) => `./${file.split('/').slice(0, -1).join('/')}`)),
];
