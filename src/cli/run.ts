import { resolve } from 'node:path';
import { pickOf } from '../core/decision/index.ts';
import { Fault, type RunId } from '../core/model/index.ts';
import type { RunView } from '../core/reports/index.ts';
import { flows, type Overrides, startLocalRun, startRun, type World } from '../pipeline/index.ts';
import { follow, viewById } from './follow.ts';
import { printReport } from './print.ts';
import { jsonText, runJson } from './render/index.ts';
import { EXIT, type Screen, type Shell } from './runtime.ts';
import { listenForStop, type Stopping } from './stopping.ts';

export interface RunOptions {
  readonly file?: string;
  readonly repo: string;
  readonly base?: string;
  readonly overrides: Overrides;
  readonly json: boolean;
}

/** `runoff run`: the whole pipeline on a local repository. */
export async function runHere(
  shell: Shell,
  prompt: string | undefined,
  options: RunOptions,
): Promise<number> {
  const body = await taskText(shell, prompt, options.file);
  const runId = shell.newRunId();
  const path = resolve(shell.cwd, options.repo);
  return withEngine(shell, runId, options.json, async (world) => {
    const { top } = await world.workspaces.describe(path);
    await startLocalRun(world, {
      runId,
      origin: { kind: 'local', path: top },
      title: titleOf(body),
      body,
      overrides: options.overrides,
      ...(options.base ? { base: options.base } : {}),
    });
  });
}

/** `runoff resume`: goes on with a run whose process ended; finished candidates are not coded again. */
export function resume(shell: Shell, runId: RunId, json: boolean): Promise<number> {
  return withEngine(shell, runId, json, async (world) => {
    const view = await viewById(world, runId);
    if (view.origin.kind === 'github') {
      throw new Fault(
        'RUN_UNKNOWN',
        `Run ${runId} belongs to the GitHub App; \`runoff serve\` goes on with it by itself.`,
      );
    }
    await startRun(world, runId);
  });
}

async function taskText(shell: Shell, prompt: string | undefined, file: string | undefined): Promise<string> {
  const text = file ? await textOf(shell, file) : (prompt ?? '');
  if (text.trim() === '') throw new Fault('PROMPT_EMPTY', 'There is no task: the prompt is empty.');
  return text;
}

async function textOf(shell: Shell, file: string): Promise<string> {
  try {
    return await shell.readText(resolve(shell.cwd, file));
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `there is no file ${file}` : message;
    throw new Fault('PROMPT_EMPTY', `There is no task: ${why}.`, { cause: thrown });
  }
}

const titleOf = (text: string): string =>
  (text.trim().split('\n')[0] ?? '').replace(/^#+\s*/, '').slice(0, 120);

async function withEngine(
  shell: Shell,
  runId: RunId,
  json: boolean,
  begin: (world: World) => Promise<void>,
): Promise<number> {
  const stopping = listenForStop(shell, runId);
  try {
    const runtime = await shell.open({ executor: `cli-${runId}` });
    stopping.opened(runtime);
    try {
      // Nothing has begun: a run that was to be resumed stays as it was.
      if (stopping.wanted()) return EXIT.cancelled;
      await runtime.world.engine.launch(flows(runtime.world));
      await begin(runtime.world);
      const view = await followed(runtime.world, runId, json ? quiet(shell.screen) : shell.screen, stopping);
      if (json) shell.screen.out(`${jsonText(runJson(view))}\n`);
      else await printReport(runtime.world, view, shell);
      return exitCode(view);
    } finally {
      await runtime.close();
    }
  } finally {
    stopping.deaf();
  }
}

/** The run as it is when all of it has ended: the candidates of one that is cancelled end a moment after it. */
async function followed(world: World, runId: RunId, screen: Screen, stopping: Stopping): Promise<RunView> {
  stopping.begun();
  await follow(world, runId, screen);
  await world.engine.settled(runId);
  await stopping.idle();
  return viewById(world, runId);
}

const quiet = (screen: Screen): Screen => ({ ...screen, width: null });

export function exitCode(view: RunView): number {
  switch (view.state) {
    case 'published':
    case 'merged':
    case 'closed':
      return pickOf(view.decision) !== null ? EXIT.done : EXIT.nothingSurvived;
    case 'cancelled':
      return EXIT.cancelled;
    default:
      return EXIT.failed;
  }
}
