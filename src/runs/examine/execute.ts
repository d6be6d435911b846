import {
  Fault,
  isCrash,
  machineFaultOn,
  programKilled,
  type RunId,
  SETTINGS_FILE,
  type SignsOfWork,
  showsKill,
  USUAL_SURROUNDINGS,
} from '../../core/model/index.ts';
import { roleOf } from '../../core/patches/index.ts';
import { failureLines, tailOf } from '../../core/reports/index.ts';
import {
  ciJob,
  isRunByCi,
  isTypeCheckStep,
  packageFiles,
  reportPlan,
  serviceNotes,
  servicePlan,
  stepFiles,
  typeChecks,
  venvPath,
  withNodeHeaders,
  workflowFiles,
  workspaceGraph,
} from '../../core/settings/index.ts';
import type { ExecResult, Limits, RegistryAccess, WorkArea } from '../../ports/index.ts';
import { rememberAnswers } from '../ask-model.ts';
import { absentContentAt, applyPatchIn, baseDamaged, type OnBaseStep, prepareBase } from '../base/index.ts';
import {
  allowedHosts,
  checkLimits,
  patchReader,
  readTextAt,
  recordSandbox,
  sourceOf,
  taskOf,
  type World,
} from '../context.ts';
import { cancelledError, type RunContext } from '../stage.ts';
import {
  type BuiltArea,
  type CheckArea,
  type CheckPorts,
  type CheckRunner,
  EndedBySignal,
  KillShown,
  rememberInMemory,
} from './areas.ts';
import { planOfNamedPackages } from './base-plan.ts';

/** Dependencies of running a repository's checks. */
export type CheckRunnerPorts = CheckPorts & Pick<World, 'clock' | 'github' | 'store'>;

/** Where a runner writes its report: the area's own home, which the host never reads. */
const REPORT_FOLDER = USUAL_SURROUNDINGS.home;

export async function openCheckRunner(
  world: CheckRunnerPorts,
  { run, signal }: RunContext,
  onStep?: OnBaseStep,
): Promise<CheckRunner> {
  await recordSandbox(world, run.id);
  const task = taskOf(run);
  const source = await sourceOf(world, task);
  const base = await prepareBase(world, task, { source, signal, ...(onStep ? { onStep } : {}) });
  const asked = [task.title, task.body, ...task.comments.map(({ body }) => body)].join('\n');
  const remember = rememberInMemory(rememberAnswers(world, run.id));
  const declared = run.brief?.changedTests ?? [];
  const from = run.checks?.from?.types;
  const detectedTypes = from !== undefined && from !== SETTINGS_FILE;
  return checkRunnerOn(world, { task, source, base, asked, declared, remember, signal, detectedTypes });
}

/** Whether the repository's CI runs the type check. */
async function isTypeCheckOfCi(
  world: CheckPorts,
  { source, task }: Pick<CheckRunner, 'source' | 'task'>,
  { baseFiles, texts }: Pick<CheckRunner, 'baseFiles'> & { readonly texts: Readonly<Record<string, string>> },
): Promise<boolean> {
  const workflows: string[] = [];
  for (const path of workflowFiles(baseFiles))
    workflows.push((await readTextAt(world, source, task.base.sha, path)) ?? '');
  return isRunByCi(task.settings.checks.types ?? '', workflows, texts);
}

/** Creates a runner over a prepared base. */
export async function checkRunnerOn(
  world: CheckPorts,
  on: Pick<CheckRunner, 'task' | 'source' | 'base' | 'binds' | 'asked' | 'declared' | 'signal'> &
    Partial<Pick<CheckRunner, 'remember'>> & {
      /** `checks.types` was detected, not written by a person. */
      readonly detectedTypes?: boolean;
    },
): Promise<CheckRunner> {
  const { source, task } = on;
  const { sha } = task.base;
  const baseFiles = await world.workspaces.listFiles(source, sha);
  const texts: Record<string, string> = {};
  const read = async (paths: readonly string[]) => {
    for (const path of paths) {
      const text = await readTextAt(world, source, sha, path);
      if (text !== null) texts[path] = text;
    }
  };
  await read(stepFiles(baseFiles));
  await read(packageFiles(baseFiles, texts));
  const { test = '', packages } = task.settings.checks;
  const isAdvisory = on.detectedTypes === true && !(await isTypeCheckOfCi(world, on, { baseFiles, texts }));
  const types = typeChecks(task.settings.checks, texts, isAdvisory);
  const apart = types.length === 0 ? undefined : isTypeCheckStep;
  const { plan, notes } = planOfNamedPackages(reportPlan(test, texts, REPORT_FOLDER, apart), packages);
  const found = on.base.tools?.services ?? [];
  await read(workflowFiles(baseFiles));
  const job = test === '' ? null : ciJob(texts);
  const services = servicePlan(job, found);
  return {
    remember: rememberInMemory(),
    ...on,
    world,
    baseFiles,
    testFiles: baseFiles.filter((path) => roleOf(path) !== 'production'),
    readPatch: patchReader(world.artifacts, { baseFiles }),
    packages: workspaceGraph(texts),
    plan,
    types,
    services,
    notes: [
      ...(await absentContentAt(world, source, on.base)),
      ...notes,
      ...serviceNotes(job, found, services),
    ],
  };
}

/** The same runner with an area's files as its topmost read-only layer. */
export function withTopLayer(runner: CheckRunner, built: BuiltArea): CheckRunner {
  const own = built.ownPackages ? withoutPackages(runner) : runner;
  const home = built.ownPackages ? { home: built.home } : {};
  const codeRan = runner.codeRan || built.ownPackages === true || Boolean(runner.task.settings.checks.build);
  return { ...own, codeRan, base: { ...own.base, ...home, layers: [built.upper, ...own.base.layers] } };
}

/** The same runner over the base commit without what set-up installed there. */
export function withoutPackages(runner: CheckRunner): CheckRunner {
  const { home: _home, ...base } = runner.base;
  return { ...runner, base: { ...base, layers: [] } };
}

/** Ids of a run's `examine` areas, which are removed together when the run ends. */
export const areaId = (runId: RunId, ...parts: readonly string[]): string => [runId, 'x', ...parts].join('-');

interface CheckCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly limits?: Limits;
  readonly egress?: readonly string[];
  /** Package registries that it may reach, without the operator's logins. */
  readonly registries?: RegistryAccess;
  readonly signsOfWork?: Partial<SignsOfWork>;
  /** Name of a program of Runoff's own that executes nothing of the repository or a candidate; starts a sentence. */
  readonly own?: string;
  /** Code of a candidate may have run in the area before, whatever `CheckRunner.codeRan` says. */
  readonly codeRan?: boolean;
}

/**
 * Runs a command of the repository, or one of Runoff's own. Rejects with AbortError when the run was cancelled; for a
 * program of Runoff's own also with PROGRAM_KILLED or another outage, if it was killed or the machine failed it. Where
 * code of a candidate has run, only a kill counts: a link to /proc/self/mem or a full quota leads to the words of a
 * failing machine.
 */
export async function runCommand(
  runner: CheckRunner,
  area: CheckArea,
  command: CheckCommand,
): Promise<ExecResult> {
  const { surroundings } = runner;
  const { registries } = command;
  const binds = [...(runner.binds ?? []), ...(registries?.folders ?? [])];
  const result = await runner.world.sandbox.exec({
    area,
    argv: command.argv,
    env: { ...(surroundings ? {} : { CI: 'true' }), ...registries?.env, ...command.env },
    ...(registries ? { registries: registries.hosts, files: registries.files } : {}),
    ...command.signsOfWork,
    ...(surroundings ? { surroundings } : {}),
    ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
    ...(command.egress?.length ? { egress: command.egress } : {}),
    ...(binds.length > 0 ? { binds } : {}),
    limits: command.limits ?? checkLimits(runner.task),
    signal: runner.signal,
  });
  if (result.stopped === 'cancelled') throw cancelledError();
  const codeRan = command.codeRan ?? runner.codeRan ?? false;
  const failure = command.own === undefined ? null : machineFailure(command.own, command, result, codeRan);
  if (failure) throw failure;
  if (area.repeatable && result.exitCode === null && result.stopped === null) throw new EndedBySignal();
  if (result.exitCode !== 0 && !(await runner.world.workspaces.isWhole(runner.base))) throw baseDamaged();
  return result;
}

/** The machine's fault that ended a program of Runoff's own; null for a result, such as a crash by what it reads. */
function machineFailure(
  own: string,
  { stdin = '' }: CheckCommand,
  result: ExecResult,
  codeRan: boolean,
): Fault | null {
  const { exitCode, stopped, signal, stderr } = result;
  if (exitCode === 0 || stopped !== null) return null;
  // Each command has a sandbox of its own, so no process of a candidate can have sent the signal.
  if (exitCode === null)
    return isCrash(signal) ? null : programKilled(own, { kind: 'lost', how: 'was killed' });
  const code = codeRan ? null : machineFaultOn(stderr, stdin);
  return code === null ? null : new Fault(code, `${own} failed: ${tailOf(stderr, 3)}`);
}

/**
 * Runs a command of the repository that is run once and not again to confirm its result, such as a build. If its output
 * shows that a program inside was killed, the work is repeated in another area, once.
 */
export async function runOnce(
  runner: CheckRunner,
  area: CheckArea,
  command: CheckCommand,
): Promise<ExecResult> {
  const result = await runCommand(runner, area, command);
  const { exitCode, stopped } = result;
  const output = `${result.stdout}\n${result.stderr}`;
  if (area.repeatableIfShown && stopped === null && showsKill({ exitCode, output })) throw new KillShown();
  return result;
}

/** Applies a patch's text inside the sandbox. Returns null on success, else git's message. */
export const applyPatch = (
  { world, base, codeRan = false, signal }: CheckRunner,
  area: WorkArea,
  text: string,
): Promise<string | null> => applyPatchIn(world, { base, area, codeRan }, text, signal);

/**
 * Reads `{ path: text }` from standard input and writes each file below the current folder. What stands there is removed
 * first, because code of a candidate may have put a link or a pipe in its place, and what was written is read again.
 */
const WRITE_FILES_SCRIPT = `
const { chmodSync, lstatSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } = require('node:fs');
const { dirname } = require('node:path');
for (const [path, text] of Object.entries(JSON.parse(readFileSync(0, 'utf8')))) {
  mkdirSync(dirname(path), { recursive: true });
  const before = lstatSync(path, { throwIfNoEntry: false });
  if (before) unlinkSync(path);
  writeFileSync(path, text, { flag: 'wx' });
  if (before?.isFile()) chmodSync(path, before.mode & 0o777);
  if (readFileSync(path, 'utf8') !== text) throw new Error(path + ' does not hold what was written to it');
}`;

/**
 * Writes files into an area from inside the sandbox, so that links cannot lead outside. Returns null on success, else
 * the reason: a candidate may have created a folder at a file's path.
 */
export async function writeFiles(
  runner: CheckRunner,
  area: WorkArea,
  files: Readonly<Record<string, string>>,
): Promise<string | null> {
  const argv = ['/opt/toolchain/bin/node', '-e', WRITE_FILES_SCRIPT] as const;
  const own = 'The program that writes test files';
  const result = await runCommand(runner, area, { argv: [...argv], stdin: JSON.stringify(files), own });
  return result.exitCode === 0 ? null : tailOf(result.stderr, 5) || `exit code ${result.exitCode}`;
}

/** Build and tests have no network access unless the repository requests it. */
export const egressOf = ({ task }: CheckRunner): readonly string[] =>
  task.settings.network.checks ? allowedHosts(task) : [];

/** A build that did not end with exit code 0. */
export interface BuildFailure {
  readonly exitCode: number | null;
  readonly stopped: ExecResult['stopped'];
  /** Lines of its output that explain the failure. */
  readonly errors: readonly string[];
  readonly tail: string;
}

/** Runs the build command, if there is one. Returns null on success, else the end of its output. */
export async function build(runner: CheckRunner, area: WorkArea): Promise<BuildFailure | null> {
  const { checks } = runner.task.settings;
  if (!checks.build) return null;
  const argv = ['sh', '-c', venvPath(checks, checks.build) + withNodeHeaders(checks.build)] as const;
  const { exitCode, stopped, ...result } = await runOnce(runner, area, { argv, egress: egressOf(runner) });
  if (exitCode === 0 && !stopped) return null;
  const output = `${result.stdout}\n${result.stderr}`;
  const tail = `${stopped ? `stopped: ${stopped}\n` : ''}${tailOf(output, 20)}`;
  return { exitCode, stopped, errors: failureLines(output), tail };
}
