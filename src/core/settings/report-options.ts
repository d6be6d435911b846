import { isAngularTest, type Recognised, unreadRunner } from './command-kinds.ts';
import { inWorkers } from './node-reporters.ts';
import type { TestCommandLine } from './package-scripts.ts';

export const ADDED = {
  ava: '--tap',
  tap: '--reporter=tap',
  unittest: '-v',
  dotnet: '--logger "console;verbosity=normal"',
  testingPlatform: '--output Detailed --no-progress',
} as const;
/** Since version 18, tap fails unless all code is covered, which the base's tests cannot do for a candidate (0212). */
export const ALWAYS = { ava: {}, tap: { env: { TAP_DISABLE_COVERAGE: '1' } }, unittest: {} } as const;

type AppendedTo = 'vitest' | 'jest' | 'mocha' | 'deno' | 'bun' | 'borp' | 'phpunit' | 'ctest';

export function appended(runner: AppendedTo, words: readonly string[], folder: string): string {
  switch (runner) {
    case 'vitest':
      // In its JUnit file, a test that did not run looks like one that passed. Not `--bail=0`: before 0.31, vitest refuses it.
      return `${onceOnly(runner, words)}--reporter=default --reporter=junit --outputFile.junit=${folder}/report.xml --reporter=json --outputFile.json=${folder}/report.json`;
    case 'jest':
      return `${onceOnly(runner, words)}${inWorkers(words)}--bail=0 --ci --json --outputFile=${folder}/report.json`;
    case 'mocha':
      // The last reporter counts. Every version supports `-O`, but not the long name.
      return `--reporter json -O output=${folder}/report.json`;
    case 'deno':
      return `--junit-path=${folder}/report.xml`;
    case 'bun':
      return `--reporter=junit --reporter-outfile=${folder}/report.xml`;
    case 'borp':
      return `--reporter=spec --reporter=junit:${folder}/report.xml`;
    case 'phpunit':
      return `--log-junit ${folder}/report.xml`;
    case 'ctest':
      return `--output-junit ${folder}/report.xml`;
  }
}

/** Against an option or a verb that waits for changes of files, and never ends. The last value counts. */
function onceOnly(runner: 'jest' | 'vitest', words: readonly string[]): string {
  const watches = words.some((word) => /^--watch(?:All)?(?:=true)?$/.test(word));
  if (runner === 'jest') return watches ? '--watch=false --watchAll=false ' : '';
  return watches || words.some((word) => /^(?:-w|watch|dev)$/.test(word)) ? '--run ' : '';
}

/** The same for a runner without a report that Runoff reads. */
export const endingCommand = (command: string): string =>
  isAngularTest(command) && !/[|<>]| --watch\b/.test(command) ? `${command} --watch=false` : command;

/** A command whose script starts such a runner. */
export function endingLine(command: string, { last, inner, joint }: TestCommandLine): string {
  const option = endingCommand(last ?? inner).slice((last ?? inner).length);
  return option === '' || last === null || joint === null ? command : `${command}${joint}${option.trim()}`;
}

/**
 * xunit1 is the variant that includes each test's file. A suite with another name would count as a level of its own.
 * Otherwise one file that cannot be imported, such as a benchmark without its package, would keep all others from running,
 * and with `-x` in the configuration one failing test would.
 */
export const pytestOptions = (file: string): string =>
  `--junitxml=${file} -o junit_family=xunit1 -o junit_suite_name=pytest --continue-on-collection-errors --maxfail=0`;

export const rspecOptions = (file: string): string =>
  `--no-fail-fast --format progress --format json --out ${file}`;

/** `go test` and `cargo test` take their options directly after the verb. */
export function withOptions({ runner, words, at }: Recognised): string {
  const [before, after] = [words.slice(0, at + 1), words.slice(at + 1)];
  if (runner === 'go') return [...before, ...(after.includes('-json') ? [] : ['-json']), ...after].join(' ');
  // Without it, cargo stops at the first failing target. Target names are printed to standard error.
  const all = after.includes('--no-fail-fast') ? [] : ['--no-fail-fast'];
  return `${[...before, ...all, ...after].join(' ')} 2>&1`;
}

const TAP_HELPS = 'A test runner that prints TAP to standard output would show each test.';

/** Why only the exit code counts of a command that passes, and whose runner Runoff knows. */
export const NO_REPORT = `The test command passed without a test report that Runoff reads, so only its exit code counts. ${TAP_HELPS}`;

/** Why only the exit code of a command counts. */
export function hintFor(command: string): { readonly hint: string } {
  const name = unreadRunner(command);
  return {
    hint: name
      ? `Runoff reads no report of ${name}, so only the exit code of the tests counts. A reporter of ${name} that prints TAP to standard output would show each test.`
      : `Runoff knows no report of this test command, so only its exit code counts. ${TAP_HELPS}`,
  };
}
