import { canRun, missingNamesIn, type TestRun } from '../../core/evidence/index.ts';
import { Fault, programKilled, type RunId } from '../../core/model/index.ts';
import { failureLines, tailOf } from '../../core/reports/index.ts';
import { plainCommand, type ReportSource, reportPlan, type TestCommand } from '../../core/settings/index.ts';
import { readTestReport } from '../../core/test-reports/index.ts';
import type { ExecResult, Limits, WorkArea } from '../../ports/index.ts';
import {
  allowedHosts,
  checkLimits,
  prepareBase,
  recordSandbox,
  sourceOf,
  taskOf,
  type World,
} from '../context.ts';
import { rememberAnswers } from '../restore.ts';
import { cancelledError, type RunContext } from '../stage.ts';
import {
  type CheckArea,
  type CheckPorts,
  type CheckRunner,
  EndedBySignal,
  rememberInMemory,
} from './areas.ts';

/** What running a repository's checks takes. */
export type CheckRunnerPorts = CheckPorts & Pick<World, 'clock' | 'github' | 'store'>;

/** Where a runner writes its report: the area's own home, which nothing on the host reads. */
const REPORT_FOLDER = '/home/agent';

export async function openCheckRunner(
  world: CheckRunnerPorts,
  { run, signal }: RunContext,
): Promise<CheckRunner> {
  await recordSandbox(world, run.id);
  const task = taskOf(run);
  const source = await sourceOf(world, task);
  const base = await prepareBase(world, task, { source, signal });
  const asked = [task.title, task.body, ...task.comments.map(({ body }) => body)].join('\n');
  const remember = rememberInMemory(rememberAnswers(world, run.id));
  const declared = run.brief?.changedTests ?? [];
  return checkRunnerOn(world, { task, source, base, asked, declared, remember, signal });
}

/** A runner over a base that is prepared already. */
export async function checkRunnerOn(
  world: CheckPorts,
  on: Pick<CheckRunner, 'task' | 'source' | 'base' | 'binds' | 'asked' | 'declared' | 'signal'> &
    Partial<Pick<CheckRunner, 'remember'>>,
): Promise<CheckRunner> {
  const { source, task } = on;
  const { sha } = task.base;
  const packageJson = await world.workspaces.readFile(source, sha, 'package.json');
  return {
    remember: rememberInMemory(),
    ...on,
    world,
    baseFiles: await world.workspaces.listFiles(source, sha),
    plan: reportPlan(task.settings.checks.test ?? '', packageJson ?? undefined, REPORT_FOLDER),
  };
}

/** The same runner, with the command as the repository gives it and its exit code for an answer. */
export const byExitCode = (runner: CheckRunner): CheckRunner => ({
  ...runner,
  plan: { ...plainCommand(runner.task.settings.checks.test ?? ''), focus: () => null },
});

/** The same runner, which runs no test command. */
const withoutCommand = (runner: CheckRunner): CheckRunner => ({
  ...runner,
  plan: { ...plainCommand(''), focus: () => null },
});

/** How candidates are tested, so that they are asked for no more than the base gives: a report, an exit code, or nothing. */
export function asOnBase(runner: CheckRunner, onBase: TestRun): CheckRunner {
  if (!canRun(onBase)) return withoutCommand(runner);
  return onBase.source === 'report' ? runner : byExitCode(runner);
}

/** The same runner, with an area's files as its topmost read-only layer. */
export const withTopLayer = (runner: CheckRunner, built: WorkArea): CheckRunner => ({
  ...runner,
  base: { ...runner.base, layers: [built.upper, ...runner.base.layers] },
});

/** `examine` areas of a run: swept together when the run ends. */
export const areaId = (runId: RunId, ...parts: readonly string[]): string => [runId, 'x', ...parts].join('-');

/** Runs one of the repository's own commands. Rejects with AbortError when the run was cancelled. */
export async function runCommand(
  runner: CheckRunner,
  area: CheckArea,
  command: {
    readonly argv: readonly [string, ...string[]];
    readonly env?: Readonly<Record<string, string>>;
    readonly stdin?: string;
    readonly limits?: Limits;
    readonly egress?: readonly string[];
  },
): Promise<ExecResult> {
  const result = await runner.world.sandbox.exec({
    area,
    argv: command.argv,
    env: { CI: '1', ...command.env },
    ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
    ...(command.egress?.length ? { egress: command.egress } : {}),
    ...(runner.binds ? { binds: runner.binds } : {}),
    limits: command.limits ?? checkLimits(runner.task),
    signal: runner.signal,
  });
  if (result.stopped === 'cancelled') throw cancelledError();
  if (area.repeatable && result.exitCode === null && result.stopped === null) throw new EndedBySignal();
  if (result.exitCode !== 0 && !(await runner.world.workspaces.isWhole(runner.base))) throw baseDamaged();
  return result;
}

/** What a command met on files that are not the repository's says nothing about anybody. */
const baseDamaged = (): Fault =>
  new Fault(
    'STORED_DATA_DAMAGED',
    'The checkout that the checks stand on is not as it was prepared; it is made again.',
  );

/** Applies patch text inside the sandbox; null when it applied, else git's own words. */
export async function applyPatch(runner: CheckRunner, area: WorkArea, text: string): Promise<string | null> {
  if (text === '') return null;
  const argv = ['git', 'apply', '--whitespace=nowarn', '-'] as const;
  const result = await runCommand(runner, area, { argv: [...argv], stdin: text });
  return result.exitCode === 0
    ? null
    : tailOf(result.stderr, 5) || `git apply ended with exit code ${result.exitCode}`;
}

/** Reads `{ path: text }` from standard input and writes each file below the current folder. */
const WRITE_FILES_SCRIPT = `
const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname } = require('node:path');
const files = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}`;

/**
 * Writes files into an area from inside the sandbox: where a link leads there, it leads nowhere else. Null when all are
 * written, else why not: a candidate can have put a folder where a file is to stand.
 */
export async function writeFiles(
  runner: CheckRunner,
  area: WorkArea,
  files: Readonly<Record<string, string>>,
): Promise<string | null> {
  const argv = ['/opt/runoff/bin/node', '-e', WRITE_FILES_SCRIPT] as const;
  const result = await runCommand(runner, area, { argv: [...argv], stdin: JSON.stringify(files) });
  return result.exitCode === 0 ? null : tailOf(result.stderr, 5) || `exit code ${result.exitCode}`;
}

/** Build and tests reach nothing unless the repository asked for it. */
const egressOf = ({ task }: CheckRunner): readonly string[] =>
  task.settings.network.checks ? allowedHosts(task) : [];

/** A build that did not end with exit code 0. */
export interface BuildFailure {
  readonly exitCode: number | null;
  readonly stopped: ExecResult['stopped'];
  /** The lines of its output that say why. */
  readonly errors: readonly string[];
  readonly tail: string;
}

/** Runs the build command, if there is one; null when it passed, else the end of its output. */
export async function build(runner: CheckRunner, area: WorkArea): Promise<BuildFailure | null> {
  const command = runner.task.settings.checks.build;
  if (!command) return null;
  const result = await runCommand(runner, area, { argv: ['sh', '-c', command], egress: egressOf(runner) });
  if (result.exitCode === 0 && !result.stopped) return null;
  const { exitCode, stopped } = result;
  const output = `${result.stdout}\n${result.stderr}`;
  const tail = `${stopped ? `stopped: ${stopped}\n` : ''}${tailOf(output, 20)}`;
  return { exitCode, stopped, errors: failureLines(output), tail };
}

const NOT_RUN: TestRun = { source: 'none', exitCode: null, stopped: null, ms: 0, tests: {}, tail: '' };

/**
 * Runs the tests and reads the runner's report, if it can write one; without `commands`, the whole suite. An empty command
 * runs nothing, and its answer says so.
 */
export async function runTests(
  runner: CheckRunner,
  area: WorkArea,
  commands: readonly TestCommand[] = [runner.plan],
): Promise<TestRun> {
  const runs: TestRun[] = [];
  for (const command of commands)
    runs.push(command.command === '' ? NOT_RUN : await runCommandOfTests(runner, area, command));
  return mergeTestRuns(runs);
}

/** Runs the tests of these files only, where the runner is known to do so; else the whole suite. */
export async function runFiles(
  runner: CheckRunner,
  area: WorkArea,
  files: readonly string[],
): Promise<{ readonly run: TestRun; readonly focused: boolean }> {
  const commands = runner.plan.focus(files);
  return { run: await runTests(runner, area, commands ?? undefined), focused: commands !== null };
}

async function runCommandOfTests(
  runner: CheckRunner,
  area: WorkArea,
  command: TestCommand,
): Promise<TestRun> {
  const { report } = command;
  // What an earlier command left there, the build of a candidate among them, is no report of this one.
  const clean = report?.source === 'file' ? `rm -f ${report.file}; ` : '';
  const result = await runCommand(runner, area, {
    argv: ['sh', '-c', `${clean}${command.command}`, 'sh', ...command.args],
    env: command.env,
    egress: egressOf(runner),
    limits: {
      ...checkLimits(runner.task),
      ...(report && isOnStream(report) ? { outputBytes: REPORT_BYTES } : {}),
    },
  });
  const text = report ? await readReport(runner, area, report, result) : null;
  const read = report && text !== null ? readTestReport(report.format, text) : null;
  const output = `${result.stdout}\n${result.stderr}`;
  const missingNames = result.exitCode === 0 ? [] : missingNamesIn(output);
  return {
    source: read?.kind === 'ok' ? 'report' : 'exit-code',
    exitCode: result.exitCode,
    stopped: result.stopped,
    ms: result.ms,
    tests: read?.kind === 'ok' ? prefixed(read.tests, command.prefix) : {},
    tail: tailOf(output, 40),
    ...(read?.kind === 'ok' ? { messages: prefixed(read.messages, command.prefix) } : {}),
    ...(result.exitCode === 0 ? {} : { errors: failureLines(output) }),
    ...(missingNames.length > 0 ? { missingNames } : {}),
  };
}

const prefixed = <T>(byId: Readonly<Record<string, T>>, prefix: string): Readonly<Record<string, T>> =>
  prefix === ''
    ? byId
    : Object.fromEntries(Object.entries(byId).map(([id, value]) => [`${prefix} > ${id}`, value]));

/** Runs of several commands as one; what one of them reports, is reported. */
function mergeTestRuns(runs: readonly TestRun[]): TestRun {
  const [first, ...more] = runs;
  if (!first) throw new RangeError('There is no command to run tests with.');
  return more.reduce((a, b): TestRun => {
    const missingNames = [...(a.missingNames ?? []), ...(b.missingNames ?? [])];
    return {
      source: a.source === 'report' || b.source === 'report' ? 'report' : 'exit-code',
      exitCode: a.exitCode === 0 ? b.exitCode : a.exitCode,
      stopped: a.stopped ?? b.stopped,
      ms: a.ms + b.ms,
      tests: { ...a.tests, ...b.tests },
      tail: tailOf(`${a.tail}\n${b.tail}`, 40),
      messages: { ...a.messages, ...b.messages },
      ...(missingNames.length > 0 ? { missingNames } : {}),
    };
  }, first);
}

const REPORT_BYTES = 32 * 2 ** 20;
const READ_REPORT_MS = 20_000;

const isOnStream = (report: ReportSource): boolean => report.source !== 'file' || report.orStdout === true;

/** A report leaves the sandbox as output, of a second command for a file: the host opens no file that a candidate could have made. */
async function readReport(
  runner: CheckRunner,
  area: WorkArea,
  report: ReportSource,
  result: ExecResult,
): Promise<string | null> {
  const onStream = result.truncated ? null : report.source === 'stderr' ? result.stderr : result.stdout;
  if (report.source !== 'file') return onStream;
  const limits = { ...checkLimits(runner.task), wallMs: READ_REPORT_MS, outputBytes: REPORT_BYTES };
  const file = await runCommand(runner, area, { argv: ['cat', report.file], limits });
  // No process of a candidate is there any more, so that it can only have been killed from outside.
  if (file.exitCode === null && file.stopped === null)
    throw programKilled('The program that reads test reports', { kind: 'lost', how: 'was killed' });
  if (file.exitCode === 0) return file.truncated ? null : file.stdout;
  return report.orStdout ? onStream : null;
}
