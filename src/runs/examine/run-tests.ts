import {
  belowCoverageOf,
  brokenRules,
  exitCodeOf,
  failedForCoverage,
  hangs,
  isUnread,
  joinedRules,
  mergeAssertionRecords,
  missingNamesIn,
  type PackageRun,
  succeeded,
  type TestedCommand,
  type TestRun,
  withFilesOfAva,
} from '../../core/evidence/index.ts';
import {
  asInUsual,
  type Patience,
  SETUP_PATIENCE,
  type Surroundings,
  signsOfWork,
  USUAL_SURROUNDINGS,
} from '../../core/model/index.ts';
import type { PatchFile } from '../../core/patches/index.ts';
import { failureLines, tailOf } from '../../core/reports/index.ts';
import { freshReports, type ReportSource, type TestCommand, venvPath } from '../../core/settings/index.ts';
import { readTestReport } from '../../core/test-reports/index.ts';
import type { ExecResult, WorkArea } from '../../ports/index.ts';
import { checkLimits } from '../context.ts';
import type { CheckArea, CheckRunner } from './areas.ts';
import { lockingPrefix, readRecords } from './assertion-lock.ts';
import { egressOf, runCommand } from './execute.ts';
import { isOnStream, REPORT_BYTES, readReport, removeReports } from './report-files.ts';
import { mayLackService, repeatIfNotStarted } from './services.ts';
import { patchedTexts, writtenIn } from './test-files.ts';

const NOT_RUN: TestRun = { source: 'none', exitCode: null, stopped: null, ms: 0, tests: {}, tail: '' };

interface RunTestsOptions {
  /** Absent: the whole suite. */
  readonly commands?: readonly TestCommand[] | undefined;
  /** Milliseconds after which no further package of a workspace is started; absent: no limit. */
  readonly packagesMs?: number | undefined;
}

/**
 * Runs the tests and reads the runner's report, if it can write one. An empty command runs nothing, which the result
 * states.
 */
export async function runTests(
  runner: CheckRunner,
  area: WorkArea,
  { commands = runner.plan.commands, packagesMs = Number.POSITIVE_INFINITY }: RunTestsOptions = {},
): Promise<TestRun> {
  const done: CommandRun[] = [];
  const tested: TestedCommand[] = [];
  const late = new Set<string>();
  let spent = 0;
  for (const command of commands) {
    const { package: folder } = command;
    const isBegun = done.some((one) => one.command.package === folder);
    if (folder !== undefined && !isBegun && spent > packagesMs) late.add(folder);
    if (folder !== undefined && late.has(folder)) continue;
    const run = await runCommandOfTests(runner, area, command);
    spent += run.ms;
    tested.push(...testedCommand(command, run));
    done.push({ command, run: withExitCodeOfPackage(command, run) });
  }
  const runs = done.flatMap(({ command, run }) => (command.check === undefined ? [run] : []));
  const checks = done.flatMap(({ command, run }) =>
    command.check === undefined ? [] : [asTest(command.check, run)],
  );
  const merged = withChecks(runs.length > 0 ? mergeTestRuns(runs) : NOT_RUN, checks);
  const whole = tested.some((one) => isUnread(one) || hangs(one)) ? { ...merged, commands: tested } : merged;
  const isByPackage = commands.some((command) => command.package !== undefined);
  const run = isByPackage ? { ...whole, packages: packagesOf(done) } : whole;
  return withFilesOfAva(run, runner.baseFiles, runner.baseTests);
}

/**
 * The same, and then lists the base's test files that were written since the area was opened; of `patched`, which a patch
 * has changed there before, those that have another content now.
 */
export async function runWatchedTests(
  runner: CheckRunner,
  area: WorkArea,
  options: RunTestsOptions = {},
  patched: readonly PatchFile[] = [],
): Promise<TestRun> {
  const run = await runTests(runner, area, options);
  if (!runner.testFiles || run.source === 'none') return run;
  const own = new Set(patched.map(({ path }) => path));
  const others = runner.testFiles.filter((path) => !own.has(path));
  const written = await writtenIn(runner, area, others, { patched: await patchedTexts(runner, patched) });
  return { ...run, rewrites: written?.map(({ path }) => path) ?? null };
}

function testedCommand({ command, check }: TestCommand, run: TestRun): readonly TestedCommand[] {
  if (check !== undefined || run.source === 'none') return [];
  const { exitCode, stopped } = run;
  const passes = Object.values(run.tests).includes('passed');
  return [{ command, exitCode, stopped, hasReport: run.source === 'report', passes }];
}

interface CommandRun {
  readonly command: TestCommand;
  readonly run: TestRun;
}

/** A package without a report counts as one test with its own exit code: the run's exit code covers all packages. */
function withExitCodeOfPackage({ package: folder, check }: TestCommand, run: TestRun): TestRun {
  if (folder === undefined || check !== undefined || run.source !== 'exit-code') return run;
  return asTest(exitCodeOf(folder), run);
}

/** Results by package, and of commands that belong to none. */
function packagesOf(done: readonly CommandRun[]): readonly PackageRun[] {
  const folders = [...new Set(done.map(({ command }) => command.package ?? null))];
  return folders.map((folder) => {
    const own = done.filter(({ command }) => (command.package ?? null) === folder);
    const tests = own.flatMap(({ command, run }) => (command.check === undefined ? [run] : []));
    const { exitCode, stopped, source } = tests.length > 0 ? mergeTestRuns(tests) : NOT_RUN;
    return {
      ...{ folder, exitCode, stopped, source },
      ms: own.reduce((sum, { run }) => sum + run.ms, 0),
      steps: own.flatMap(({ command }) => command.check ?? []),
    };
  });
}

/** Runs only these test files if the runner supports it, else the whole suite. */
export async function runFiles(
  runner: CheckRunner,
  area: WorkArea,
  files: readonly string[],
): Promise<{ readonly run: TestRun; readonly focused: boolean }> {
  const commands = runner.plan.focus(files);
  return { run: await runTests(runner, area, commands ? { commands } : {}), focused: commands !== null };
}

async function runCommandOfTests(
  runner: CheckRunner,
  area: WorkArea,
  command: TestCommand,
): Promise<TestRun> {
  if (command.command === '') return NOT_RUN;
  return runPlaced(runner, area, placedIn(command, runner.surroundings));
}

/** Reports are written below the home folder, which differs in other surroundings. */
function placedIn(command: TestCommand, surroundings: Surroundings | undefined): TestCommand {
  if (!surroundings) return command;
  const placed = (text: string) => text.replaceAll(USUAL_SURROUNDINGS.home, surroundings.home);
  const { report } = command;
  return {
    ...command,
    command: placed(command.command),
    args: command.args.map(placed),
    env: Object.fromEntries(Object.entries(command.env).map(([name, value]) => [name, placed(value)])),
    ...(report ? { report: placedReport(report, placed) } : {}),
  };
}

function placedReport(report: ReportSource, placed: (text: string) => string): ReportSource {
  if (report.source === 'folder') return { ...report, folder: placed(report.folder) };
  if (report.source !== 'file') return report;
  const second = report.second === undefined ? {} : { second: placed(report.second) };
  return { ...report, file: placed(report.file), ...second };
}

/** Milliseconds for which a command of tests may do nothing, if its time limit is not four times as long. Our default. */
const MIN_IDLE_MS = 120_000;

/**
 * A runner waits until its time limit for a server that a failing test left open. A quarter of that limit is more than a
 * candidate's whole run should take, for a suite that waits and, as with our report of mocha, prints nothing until its
 * end. What a refused host means is for tests to say.
 */
const patienceFor = (wallMs: number): Patience => ({
  ...SETUP_PATIENCE,
  silenceMs: Math.max(MIN_IDLE_MS, wallMs / 4),
  computingMs: Number.POSITIVE_INFINITY,
});

async function runPlaced(runner: CheckRunner, area: CheckArea, command: TestCommand): Promise<TestRun> {
  const { report } = command;
  // A linter needs no services.
  const services = command.check === undefined ? runner.services : null;
  const path = venvPath(runner.task.settings.checks, command.command);
  const script = `${services?.script ?? ''}${freshReports(report)}${lockingPrefix(runner, command)}${path}${command.command}`;
  const isFresh = report?.source !== 'tree' || (await removeReports(runner, area, report.pattern));
  const outputBytes = report && isOnStream(report) ? { outputBytes: REPORT_BYTES } : {};
  const checked = { ...checkLimits(runner.task), ...outputBytes };
  const { limits, onRefusedHost: _, ...signs } = signsOfWork(checked, patienceFor(checked.wallMs));
  const result = await runCommand(runner, area, {
    argv: ['sh', '-c', script, 'sh', ...command.args],
    env: { ...services?.env, ...command.env },
    egress: egressOf(runner),
    limits,
    signsOfWork: signs,
  });
  if (services && services.script !== '' && mayLackService(result))
    await repeatIfNotStarted(runner, area, services);
  const assertions = await readRecords(runner, area);
  const written = report && isFresh ? await readReport(runner, area, report, result) : null;
  return { ...testRunOf(runner, command, result, written), ...(assertions ? { assertions } : {}) };
}

/** The result of a test command; `written` is its report, null without one. */
function testRunOf(
  runner: CheckRunner,
  command: TestCommand,
  result: ExecResult,
  written: string | null,
): TestRun {
  const { report, prefix, check } = command;
  // Test ids are the same in all surroundings.
  const text = written !== null && runner.surroundings ? asInUsual(written, runner.surroundings) : written;
  const read = report && text !== null ? readTestReport(report.format, text) : null;
  const output = `${result.stdout}\n${result.stderr}`;
  const missingNames = result.exitCode === 0 ? [] : missingNamesIn(output);
  const tests = read?.kind === 'ok' ? prefixed(read.tests, prefix) : {};
  const passes = read?.kind === 'ok' && !Object.values(tests).includes('failed');
  const isRead = command.lints && result.exitCode !== 0 && result.stopped === null && !result.truncated;
  const rules = isRead ? brokenRules(output) : null;
  const isBelow = passes && result.stopped === null && failedForCoverage(result.exitCode, output);
  return {
    source: read?.kind === 'ok' ? 'report' : 'exit-code',
    exitCode: result.exitCode,
    stopped: result.stopped,
    ms: result.ms,
    tests,
    tail: tailOf(output, 40),
    ...(read?.kind === 'ok' ? { messages: prefixed(read.messages, prefix) } : {}),
    ...(result.exitCode === 0 ? {} : { errors: failureLines(output) }),
    ...(missingNames.length > 0 ? { missingNames } : {}),
    ...(isBelow ? { belowCoverage: true } : {}),
    ...(rules && check !== undefined ? { brokenRules: { [check]: rules } } : {}),
  };
}

/** Some runners name files relative to the repository's root, others relative to the folder that is the prefix. */
const prefixed = <T>(byId: Readonly<Record<string, T>>, prefix: string): Readonly<Record<string, T>> => {
  if (prefix === '') return byId;
  const within = (id: string) => (id.startsWith(`${prefix}/`) ? id.slice(prefix.length + 1) : id);
  return Object.fromEntries(Object.entries(byId).map(([id, value]) => [`${prefix} > ${within(id)}`, value]));
};

/** Treats a command as one test with its exit code as the result. */
const asTest = (id: string, run: TestRun): TestRun => ({
  ...run,
  tests: { [id]: succeeded(run) ? 'passed' : 'failed' },
  ...(succeeded(run) ? {} : { messages: { [id]: run.tail } }),
});

/** Merges runs of several commands: reported tests are kept, and of two results for a test the worse one counts. */
function mergeTestRuns(runs: readonly TestRun[]): TestRun {
  const [first, ...more] = runs;
  if (!first) throw new RangeError('There is no command to run tests with.');
  return more.reduce((a, b): TestRun => {
    const missingNames = [...(a.missingNames ?? []), ...(b.missingNames ?? [])];
    const errors = a.errors ?? b.errors;
    const assertions = [a.assertions ?? [], b.assertions ?? []].flat();
    const failed = Object.entries(a.tests).filter(([, outcome]) => outcome === 'failed');
    return {
      source: a.source === 'report' || b.source === 'report' ? 'report' : 'exit-code',
      exitCode: a.exitCode === 0 ? b.exitCode : a.exitCode,
      stopped: a.stopped ?? b.stopped,
      ms: a.ms + b.ms,
      tests: { ...a.tests, ...b.tests, ...Object.fromEntries(failed) },
      tail: tailOf(`${a.tail}\n${b.tail}`, 40),
      messages: { ...a.messages, ...b.messages },
      ...(errors ? { errors } : {}),
      ...(assertions.length > 0 ? { assertions: mergeAssertionRecords(assertions) } : {}),
      ...(missingNames.length > 0 ? { missingNames } : {}),
      ...belowCoverageOf([a, b]),
    };
  }, first);
}

/** Adds the results of linters, which affect neither the exit code nor the report of the tests. */
function withChecks(run: TestRun, checks: readonly TestRun[]): TestRun {
  if (checks.length === 0) return run;
  const messages = Object.assign({}, run.messages, ...checks.map((one) => one.messages));
  const failing = checks.filter((one) => !succeeded(one)).map((one) => tailOf(one.tail, 10));
  return {
    ...run,
    ...joinedRules(checks),
    ms: checks.reduce((sum, one) => sum + one.ms, run.ms),
    tests: Object.assign({}, run.tests, ...checks.map((one) => one.tests)),
    steps: checks.flatMap((one) => Object.keys(one.tests)),
    tail: tailOf([...failing, run.tail].join('\n'), 40),
    ...(Object.keys(messages).length > 0 ? { messages } : {}),
  };
}
