import { resolve } from 'node:path';
import { Fault, type LocalOrigin, type RunId } from '../core/model/index.ts';
import { pickOf } from '../core/ranking/index.ts';
import type { RunView } from '../core/reports/index.ts';
import {
  cancelRun,
  exposureOfLocal,
  flows,
  type Overrides,
  startLocalRun,
  startRun,
  type World,
} from '../runs/index.ts';
import {
  EXIT,
  onPresses,
  type Runtime,
  type Screen,
  type Shell,
  type Terminal,
  type TerminalRuntime,
} from '../shell.ts';
import { follow, printReport, viewById } from './inspect.ts';
import { jsonText, runJson, trustText } from './render/index.ts';

interface RunOptions {
  readonly file?: string;
  readonly repo: string;
  readonly base?: string;
  readonly overrides: Overrides;
  readonly json: boolean;
  /** The person agrees to the checks of this repository, whatever they are, for this run (`--trust-checks`). */
  readonly trustChecks: boolean;
}

/** `runoff run`: the whole pipeline on a local repository. */
export async function runHere(
  shell: Shell,
  prompt: string | undefined,
  options: RunOptions,
): Promise<number> {
  const body = await promptText(shell, prompt, options.file);
  const runId = shell.newRunId();
  const path = resolve(shell.cwd, options.repo);
  return withEngine(shell, runId, options.json, async (runtime) => {
    const { world } = runtime;
    const { top, dirty, branch } = await world.workspaces.describe(path);
    if (dirty && !options.base) {
      shell.screen.err(
        `Note: ${top} has uncommitted changes. The coders start from the last commit${branch ? ` of ${branch}` : ''} and do not see them.\n`,
      );
    }
    const request = {
      runId,
      origin: { kind: 'local', path: top },
      overrides: options.overrides,
      ...(options.base ? { base: options.base } : {}),
    } as const;
    const trustedChecks = await trustedDigest(shell, runtime, request, options);
    if (trustedChecks === 'declined') return 'declined';
    const trust = trustedChecks === null ? {} : { trustedChecks };
    await startLocalRun(world, { ...request, ...trust, title: titleOf(body), body });
    return 'begun';
  });
}

/**
 * Digest of the checks that may run without the full sandbox; null if there are none. Asks in the terminal unless
 * consent was given before. Fault: CHECKS_UNTRUSTED if there is no terminal.
 */
async function trustedDigest(
  { screen, confirm }: Shell,
  { world, trusted }: TerminalRuntime,
  request: Parameters<typeof exposureOfLocal>[2] & { readonly origin: LocalOrigin },
  { trustChecks, json }: RunOptions,
): Promise<string | null | 'declined'> {
  const { path } = request.origin;
  const exposure = await exposureOfLocal(world, request.origin, request);
  if (exposure === null) return null;
  if (trustChecks || (await trusted.has(path, exposure))) return exposure.digest;
  screen.err(trustText(path, exposure));
  if (confirm === null || json) {
    throw new Fault(
      'CHECKS_UNTRUSTED',
      `Runoff did not run the checks of ${path}: they need your agreement on this machine, and there is no terminal to ask for it.`,
    );
  }
  if (!(await confirm('Run them, now and in later runs? [y/N] '))) return 'declined';
  await trusted.keep(path, exposure);
  return exposure.digest;
}

/** `runoff resume`: continues a run whose process ended; finished candidates are not coded again. */
export function resume(shell: Shell, runId: RunId, json: boolean): Promise<number> {
  return withEngine(shell, runId, json, async ({ world }) => {
    const view = await viewById(world, runId);
    if (view.origin.kind === 'github') {
      throw new Fault(
        'RUN_UNKNOWN',
        `Run ${runId} belongs to the GitHub App; \`runoff serve\` resumes it automatically.`,
      );
    }
    await startRun(world, runId);
    return 'begun';
  });
}

async function promptText(
  shell: Shell,
  prompt: string | undefined,
  file: string | undefined,
): Promise<string> {
  const text = file ? await promptFromFile(shell, file) : (prompt ?? '');
  if (text.trim() === '') throw new Fault('PROMPT_EMPTY', 'The prompt is empty.');
  return text;
}

async function promptFromFile(shell: Shell, file: string): Promise<string> {
  try {
    return await shell.readText(resolve(shell.cwd, file));
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `there is no file ${file}` : message;
    throw new Fault('PROMPT_EMPTY', `Cannot read the task: ${why}.`, { cause: thrown });
  }
}

const titleOf = (text: string): string =>
  (text.trim().split('\n')[0] ?? '').replace(/^#+\s*/, '').slice(0, 120);

async function withEngine(
  shell: Shell,
  runId: RunId,
  json: boolean,
  begin: (runtime: TerminalRuntime) => Promise<'begun' | 'declined'>,
): Promise<number> {
  const stopping = listenForInterrupt(shell, runId);
  try {
    const runtime = await shell.open({ role: 'standalone', executor: `cli-${runId}` });
    stopping.opened(runtime);
    try {
      // Nothing has begun yet: the run to be resumed stays unchanged.
      if (stopping.wanted()) return EXIT.cancelled;
      await runtime.world.engine.launch(flows(runtime.world));
      if ((await begin(runtime)) === 'declined') {
        shell.screen.err('Run not started.\n');
        return EXIT.cancelled;
      }
      const view = await followed(runtime.world, runId, json ? quiet(shell.screen) : shell.screen, stopping);
      if (json) shell.screen.out(`${jsonText(runJson(view))}\n`);
      else await printReport(runtime.world, view, { screen: shell.screen, cwd: shell.cwd });
      return exitCode(view);
    } finally {
      await runtime.close();
    }
  } finally {
    stopping.dispose();
  }
}

/** The run after everything in it has ended: the candidates of a cancelled run end a moment after the run. */
async function followed(
  world: Pick<World, 'clock' | 'diskSpace' | 'engine' | 'store'>,
  runId: RunId,
  screen: Screen,
  stopping: InterruptListener,
): Promise<RunView> {
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

/** Milliseconds for an orderly end after a second interrupt. Our default. */
const EXIT_GRACE_MS = 3_000;

/** Handles Ctrl-C while a run is followed. The first one cancels the run, the second one exits in any case. */
interface InterruptListener {
  /** Whether a stop was requested, even if nothing has begun yet. */
  wanted(): boolean;
  opened(runtime: Runtime): void;
  /** The run is stored and can be cancelled from now on; an earlier request to stop takes effect now. */
  begun(): void;
  /** Waits for a cancellation that is in progress. */
  idle(): Promise<void>;
  /** Stops listening. */
  dispose(): void;
}

export function listenForInterrupt({ screen, onInterrupt, exit }: Terminal, runId: RunId): InterruptListener {
  let wanted = false;
  let runtime: Runtime | null = null;
  let world: World | null = null;
  let cancelling: Promise<void> | null = null;

  function cancel(): Promise<void> {
    if (world === null) return Promise.resolve();
    cancelling ??= cancelRun(world, runId, 'stopped from the terminal').then(
      () => undefined,
      (thrown: unknown) => {
        cancelling = null;
        screen.err(`Cancelling the run failed: ${String(thrown)}\n`);
      },
    );
    return cancelling;
  }

  async function leave(): Promise<void> {
    screen.err(`\nExiting now. Run \`runoff cancel ${runId}\` to clean up.\n`);
    const orderly = cancel().then(() => runtime?.close());
    // A failure cannot be handled any more; the next start of Runoff repairs it.
    const patience = new Promise((resolve) => setTimeout(resolve, EXIT_GRACE_MS));
    await Promise.race([Promise.allSettled([orderly]), patience]);
    exit(EXIT.cancelled);
  }

  const dispose = onPresses(onInterrupt, (press) => {
    if (press > 1) return void leave();
    wanted = true;
    screen.err('\nStopping: ending the coders and keeping finished work …\n');
    void cancel();
  });

  return {
    wanted: () => wanted,
    opened(given) {
      runtime = given;
    },
    begun() {
      world = runtime?.world ?? null;
      if (wanted) void cancel();
    },
    idle: async () => cancelling ?? undefined,
    dispose,
  };
}
