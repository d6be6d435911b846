import { lackedNames, type TestRun } from '../../core/evidence/index.ts';
import { Fault, programKilled, type RunId, type Task } from '../../core/model/index.ts';
import {
  plainCommand,
  type ReportPlan,
  type ReportSource,
  reportPlan,
  type TestCommand,
} from '../../core/policy/index.ts';
import { tailOf } from '../../core/reports/index.ts';
import type {
  BaseCheckout,
  ExecResult,
  ExecSpec,
  Limits,
  RepositorySource,
  WorkArea,
} from '../../ports/index.ts';
import { cancelled } from '../guard.ts';
import { rememberAnswers } from '../remember-answers.ts';
import { checkLimits, hostsOf, loadRun, loadTask, prepareBase, sourceOf } from '../task.ts';
import { noteSandbox } from '../where.ts';
import type { World } from '../world.ts';
import { type CheckArea, EndedBySignal } from './in-area.ts';
import { type Remember, rememberHere } from './remember.ts';

/** What executing takes of the world: neither GitHub nor a database is near it. */
export type Tools = Pick<World, 'artifacts' | 'workspaces' | 'sandbox' | 'reports' | 'parallelChecks'>;

/** What executing takes of a task. */
export type Work = Pick<Task, 'runId' | 'base' | 'settings'>;

/** One place where commands of a run are executed: a fresh overlay over `base`. */
export interface Bench {
  readonly world: Tools;
  readonly task: Work;
  readonly source: RepositorySource;
  readonly base: BaseCheckout;
  /** Paths of all files of the base commit. */
  readonly baseFiles: readonly string[];
  readonly plan: ReportPlan;
  /** What was executed once on a tree is not executed on an equal one. */
  readonly remember: Remember;
  /** The task's own words, where they are known: a name that stands in them is nobody's private one. */
  readonly asked?: string;
  /** Test files of the base that the brief says must change; absent where there is no brief. */
  readonly declared?: readonly string[];
  /** Host folders that every command sees, read-only, below /opt. */
  readonly binds?: ExecSpec['binds'];
  readonly signal: AbortSignal;
}

/** Where a runner writes its report: the area's own home, which nothing on the host reads. */
const REPORTS = '/home/agent';

export async function openBench(world: World, runId: RunId, signal: AbortSignal): Promise<Bench> {
  await noteSandbox(world, runId);
  const task = await loadTask(world, runId);
  const source = await sourceOf(world, task);
  const base = await prepareBase(world, task, { source, signal });
  const asked = [task.title, task.body, ...task.comments.map(({ body }) => body)].join('\n');
  const remember = rememberHere(rememberAnswers(world, runId));
  const declared = (await loadRun(world, runId)).brief?.changedTests ?? [];
  return benchOver(world, { task, source, base, asked, declared, remember, signal });
}

/** A bench over a base that is prepared already. */
export async function benchOver(
  world: Tools,
  on: Pick<Bench, 'task' | 'source' | 'base' | 'binds' | 'asked' | 'declared' | 'signal'> &
    Partial<Pick<Bench, 'remember'>>,
): Promise<Bench> {
  const { source, task } = on;
  const { sha } = task.base;
  const packageJson = await world.workspaces.readFile(source, sha, 'package.json');
  return {
    remember: rememberHere(),
    ...on,
    world,
    baseFiles: await world.workspaces.listFiles(source, sha),
    plan: reportPlan(task.settings.checks.test ?? '', packageJson ?? undefined, REPORTS),
  };
}

/** The same bench, with the command as the repository gives it and its exit code for an answer. */
export const byExitCode = (bench: Bench): Bench => ({
  ...bench,
  plan: { ...plainCommand(bench.task.settings.checks.test ?? ''), focus: () => null },
});

/** The same bench, with an area's files as its topmost read-only layer. */
export const over = (bench: Bench, built: WorkArea): Bench => ({
  ...bench,
  base: { ...bench.base, layers: [built.upper, ...bench.base.layers] },
});

/** `examine` areas of a run: swept together when the run ends. */
export const areaId = (runId: RunId, ...parts: readonly string[]): string => [runId, 'x', ...parts].join('-');

/** Runs one of the repository's own commands. Rejects with AbortError when the run was cancelled. */
export async function runCommand(
  bench: Bench,
  area: CheckArea,
  command: {
    readonly argv: readonly [string, ...string[]];
    readonly env?: Readonly<Record<string, string>>;
    readonly stdin?: string;
    readonly limits?: Limits;
    readonly egress?: readonly string[];
  },
): Promise<ExecResult> {
  const result = await bench.world.sandbox.exec({
    area,
    argv: command.argv,
    env: { CI: '1', ...command.env },
    ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
    ...(command.egress?.length ? { egress: command.egress } : {}),
    ...(bench.binds ? { binds: bench.binds } : {}),
    limits: command.limits ?? checkLimits(bench.task),
    signal: bench.signal,
  });
  if (result.stopped === 'cancelled') throw cancelled();
  if (area.repeatable && result.exitCode === null && result.stopped === null) throw new EndedBySignal();
  if (result.exitCode !== 0 && !(await bench.world.workspaces.isWhole(bench.base))) throw baseDamaged();
  return result;
}

/** What a command met on files that are not the repository's says nothing about anybody. */
const baseDamaged = (): Fault =>
  new Fault(
    'STORED_DATA_DAMAGED',
    'The checkout that the checks stand on is not as it was prepared; it is made again.',
  );

/** Applies patch text inside the sandbox; null when it applied, else git's own words. */
export async function applyPatch(bench: Bench, area: WorkArea, text: string): Promise<string | null> {
  if (text === '') return null;
  const argv = ['git', 'apply', '--whitespace=nowarn', '-'] as const;
  const result = await runCommand(bench, area, { argv: [...argv], stdin: text });
  return result.exitCode === 0
    ? null
    : tailOf(result.stderr, 5) || `git apply ended with exit code ${result.exitCode}`;
}

/** Reads `{ path: text }` from standard input and writes each file below the current folder. */
const LAY = `
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
export async function layFiles(
  bench: Bench,
  area: WorkArea,
  files: Readonly<Record<string, string>>,
): Promise<string | null> {
  const argv = ['/opt/runoff/bin/node', '-e', LAY] as const;
  const result = await runCommand(bench, area, { argv: [...argv], stdin: JSON.stringify(files) });
  return result.exitCode === 0 ? null : tailOf(result.stderr, 5) || `exit code ${result.exitCode}`;
}

/** Build and tests reach nothing unless the repository asked for it. */
const egressOf = ({ task }: Bench): readonly string[] => (task.settings.network.checks ? hostsOf(task) : []);

/** A build that did not end with exit code 0. */
export interface Broken {
  readonly exitCode: number | null;
  readonly tail: string;
}

/** Runs the build command, if there is one; null when it passed, else the end of its output. */
export async function build(bench: Bench, area: WorkArea): Promise<Broken | null> {
  const command = bench.task.settings.checks.build;
  if (!command) return null;
  const result = await runCommand(bench, area, { argv: ['sh', '-c', command], egress: egressOf(bench) });
  if (result.exitCode === 0 && !result.stopped) return null;
  const stopped = result.stopped ? `stopped: ${result.stopped}\n` : '';
  return { exitCode: result.exitCode, tail: `${stopped}${tailOf(`${result.stdout}\n${result.stderr}`, 20)}` };
}

/** Runs the tests and reads the runner's report, if it can write one; without `commands`, the whole suite. */
export async function runTests(
  bench: Bench,
  area: WorkArea,
  commands: readonly TestCommand[] = [bench.plan],
): Promise<TestRun> {
  const runs: TestRun[] = [];
  for (const command of commands) runs.push(await runCommandOfTests(bench, area, command));
  return joined(runs);
}

/** Runs the tests of these files only, where the runner is known to do so; else the whole suite. */
export async function runFiles(
  bench: Bench,
  area: WorkArea,
  files: readonly string[],
): Promise<{ readonly run: TestRun; readonly focused: boolean }> {
  const commands = bench.plan.focus(files);
  return { run: await runTests(bench, area, commands ?? undefined), focused: commands !== null };
}

async function runCommandOfTests(bench: Bench, area: WorkArea, command: TestCommand): Promise<TestRun> {
  const { report } = command;
  // What an earlier command left there, the build of a candidate among them, is no report of this one.
  const clean = report?.source === 'file' ? `rm -f ${report.file}; ` : '';
  const result = await runCommand(bench, area, {
    argv: ['sh', '-c', `${clean}${command.command}`, 'sh', ...command.args],
    env: command.env,
    egress: egressOf(bench),
    limits: {
      ...checkLimits(bench.task),
      ...(report && isOnStream(report) ? { outputBytes: REPORT_BYTES } : {}),
    },
  });
  const text = report ? await readReport(bench, area, report, result) : null;
  const read = report && text !== null ? bench.world.reports.readTests(report.format, text) : null;
  const output = `${result.stdout}\n${result.stderr}`;
  const lacks = result.exitCode === 0 ? [] : lackedNames(output);
  return {
    source: read?.kind === 'ok' ? 'report' : 'exit-code',
    exitCode: result.exitCode,
    stopped: result.stopped,
    ms: result.ms,
    tests: read?.kind === 'ok' ? prefixed(read.tests, command.prefix) : {},
    tail: tailOf(output, 40),
    ...(read?.kind === 'ok' ? { said: prefixed(read.said, command.prefix) } : {}),
    ...(lacks.length > 0 ? { lacks } : {}),
  };
}

const prefixed = <T>(byId: Readonly<Record<string, T>>, prefix: string): Readonly<Record<string, T>> =>
  prefix === ''
    ? byId
    : Object.fromEntries(Object.entries(byId).map(([id, value]) => [`${prefix} > ${id}`, value]));

/** Runs of several commands as one; what one of them reports, is reported. */
function joined(runs: readonly TestRun[]): TestRun {
  const [first, ...more] = runs;
  if (!first) throw new RangeError('There is no command to run tests with.');
  return more.reduce((a, b): TestRun => {
    const lacks = [...(a.lacks ?? []), ...(b.lacks ?? [])];
    return {
      source: a.source === 'report' || b.source === 'report' ? 'report' : 'exit-code',
      exitCode: a.exitCode === 0 ? b.exitCode : a.exitCode,
      stopped: a.stopped ?? b.stopped,
      ms: a.ms + b.ms,
      tests: { ...a.tests, ...b.tests },
      tail: tailOf(`${a.tail}\n${b.tail}`, 40),
      said: { ...a.said, ...b.said },
      ...(lacks.length > 0 ? { lacks } : {}),
    };
  }, first);
}

const REPORT_BYTES = 32 * 2 ** 20;
const READ_MS = 20_000;

const isOnStream = (report: ReportSource): boolean => report.source !== 'file' || report.orStdout === true;

/** A report leaves the sandbox as output, of a second command for a file: the host opens no file that a candidate could have made. */
async function readReport(
  bench: Bench,
  area: WorkArea,
  report: ReportSource,
  result: ExecResult,
): Promise<string | null> {
  const onStream = result.truncated ? null : report.source === 'stderr' ? result.stderr : result.stdout;
  if (report.source !== 'file') return onStream;
  const limits = { ...checkLimits(bench.task), wallMs: READ_MS, outputBytes: REPORT_BYTES };
  const file = await runCommand(bench, area, { argv: ['cat', report.file], limits });
  // No process of a candidate is there any more, so that it can only have been killed from outside.
  if (file.exitCode === null && file.stopped === null)
    throw programKilled('The program that reads test reports', { kind: 'lost', how: 'was killed' });
  if (file.exitCode === 0) return file.truncated ? null : file.stdout;
  return report.orStdout ? onStream : null;
}
