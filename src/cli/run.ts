import { resolve } from 'node:path';
import { Fault, isOver, type LocalOrigin, type RunId, type RunState } from '../core/model/index.ts';
import { chosenOf } from '../core/ranking/index.ts';
import type { RunView } from '../core/reports/index.ts';
import {
  executorOfRun,
  exposureOfLocal,
  flows,
  type Overrides,
  requireNamed,
  startLocalRun,
  startRun,
  type World,
} from '../runs/index.ts';
import { EXIT, onPresses, type Shell, type TerminalRuntime } from '../shell.ts';
import { follow, viewById } from './follow.ts';
import { type InterruptListener, listenForInterrupt } from './interrupt.ts';
import { checkingOptions } from './options.ts';
import { offerPick } from './pick.ts';
import { includedText, jsonText, runJson, stoppedText, trustText } from './render/index.ts';
import { printReport } from './show.ts';

interface RunOptions {
  readonly file?: string;
  readonly repo: string;
  readonly base?: string;
  /** Starts from the working tree as it is, not from its last commit. */
  readonly includeChanges: boolean;
  readonly overrides: Overrides;
  readonly json: boolean;
  /** Shows the page of the run in a browser. */
  readonly open: boolean;
  /** The person agrees to the checks of this repository, whatever they are, for this run (`--trust-checks`). */
  readonly trustChecks: boolean;
  /** File for its trace. */
  readonly trace?: string;
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
  const asks = options.overrides.ask !== false;
  const { json, open, trace } = options;
  const how = { json, asks, open, ...(trace ? { trace } : {}) };
  return withEngine(shell, runId, how, async (runtime) => {
    const { world } = runtime;
    const request = {
      runId,
      overrides: options.overrides,
      ...(await startingPoint(shell, world, path, options)),
    };
    await checkingOptions(['MODEL_UNKNOWN', 'SETTINGS_INVALID'], () =>
      requireNamed(world, request.origin, request),
    );
    const trustedChecks = await trustedDigest(shell, runtime, request, options);
    if (trustedChecks === 'declined') return 'declined';
    const trust = trustedChecks === null ? {} : { trustedChecks };
    await startLocalRun(world, { ...request, ...trust, title: titleOf(body), body });
    return 'begun';
  });
}

/** The repository and the commit that the coders start from; says what becomes of uncommitted changes. */
async function startingPoint(
  { screen }: Pick<Shell, 'screen'>,
  { workspaces, clock }: Pick<World, 'clock' | 'workspaces'>,
  path: string,
  { base, includeChanges }: Pick<RunOptions, 'base' | 'includeChanges'>,
) {
  const { top, dirty, branch } = await workspaces.describe(path);
  const origin = { kind: 'local', path: top } as const;
  if (base) return { origin, base };
  const last = `the last commit${branch ? ` of ${branch}` : ''}`;
  if (!includeChanges) {
    if (dirty)
      screen.err(
        `Note: ${top} has uncommitted changes. The coders start from ${last} and do not see them. To take them along: --include-changes\n`,
      );
    return { origin };
  }
  const kept = dirty ? await workspaces.keepChanges(top, clock.now()) : null;
  if (kept === null || kept.changes.length === 0) {
    screen.err(`Note: ${top} has no uncommitted changes to include. The coders start from ${last}.\n`);
    return { origin };
  }
  screen.err(includedText(kept.changes));
  return { origin, base: kept.sha, uncommitted: true } as const;
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
  return withEngine(shell, runId, { json, asks: true, open: false }, async ({ world }) => {
    const view = await viewById(world, runId);
    if (view.origin.kind === 'github') {
      throw new Fault(
        'RUN_UNKNOWN',
        `Run ${runId} belongs to the GitHub App; \`runoff serve\` resumes it automatically.`,
      );
    }
    await startRun(world, runId);
    return isOver(view.state) ? { over: view.state } : 'begun';
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

interface FollowOptions {
  readonly json: boolean;
  /** Whether the person at the terminal may be asked to pick. */
  readonly asks: boolean;
  readonly open: boolean;
}

async function withEngine(
  shell: Shell,
  runId: RunId,
  { trace, ...how }: FollowOptions & { readonly trace?: string },
  begin: (runtime: TerminalRuntime) => Promise<'begun' | 'declined' | { readonly over: RunState }>,
): Promise<number> {
  const stopping = listenForInterrupt(shell, runId);
  // The database alone may take some seconds to start.
  if (shell.screen.width !== null) shell.screen.err('Starting …\n');
  try {
    const runtime = await shell.open({
      role: 'standalone',
      executor: executorOfRun(runId),
      ...(trace ? { traceFile: resolve(shell.cwd, trace) } : {}),
    });
    stopping.opened(runtime);
    try {
      // Nothing has begun yet: the run to be resumed stays unchanged.
      if (stopping.wanted()) return EXIT.stopped;
      await runtime.world.engine.launch(flows(runtime.world));
      const begun = await begin(runtime);
      if (begun === 'declined') {
        shell.screen.err('Run not started.\n');
        return EXIT.stopped;
      }
      shell.screen.err(begun === 'begun' ? startedText(runId) : overText(runId, begun.over));
      stopping.begun();
      return await followWithPage(shell, runtime.world, runId, how, stopping);
    } finally {
      await runtime.close();
    }
  } finally {
    stopping.dispose();
  }
}

const startedText = (runId: RunId): string =>
  `Run ${runId}. Ctrl-C stops it; \`runoff resume ${runId}\` continues it.
In another terminal: \`runoff status ${runId}\`, or in a browser: \`runoff ui ${runId} --open\`

`;

/** Before the report of a run that is over, which says why. */
function overText(runId: RunId, state: RunState): string {
  const how = { failed: 'has failed', refused: 'was refused', cancelled: 'was cancelled' };
  if (state === 'failed' || state === 'refused' || state === 'cancelled')
    return `Run ${runId} ${how[state]} and cannot be resumed. \`runoff run\` with the same task starts a new run.\n\n`;
  if (state === 'awaiting_pick')
    return `Run ${runId} waits for a person: \`runoff pick ${runId} LETTER\` picks a candidate.\n\n`;
  return `Run ${runId} has ended, so there is nothing to resume.\n\n`;
}

/** The page stays after the run has ended, until Ctrl-C. */
async function followWithPage(
  shell: Shell,
  world: World,
  runId: RunId,
  how: FollowOptions,
  stopping: InterruptListener,
): Promise<number> {
  const page = how.open ? await shell.openRunPage(world, runId) : null;
  try {
    const code = await followToEnd(shell, world, runId, how, stopping);
    if (page === null || stopping.wanted()) return code;
    stopping.dispose();
    shell.screen.err('The page stays open until you press Ctrl-C.\n');
    await new Promise<void>((resolve) => {
      const stopListening = onPresses(shell.onInterrupt, () => {
        stopListening();
        resolve();
      });
    });
    // Somebody may have picked on the page.
    return exitCode(await viewById(world, runId));
  } finally {
    await page?.close();
  }
}

/** Follows the run until it ends, or until somebody stops this process: then it can be resumed. */
async function followToEnd(
  shell: Shell,
  world: World,
  runId: RunId,
  { json, asks }: FollowOptions,
  stopping: InterruptListener,
): Promise<number> {
  const { screen, cwd } = shell;
  const { state } = await follow(
    world,
    runId,
    json ? { ...screen, width: null, live: null } : screen,
    stopping.wanted,
  );
  if (isOver(state)) await world.engine.settled(runId);
  else await world.engine.shutdown(STOP_GRACE_MS);
  const view = await viewById(world, runId);
  if (json) screen.out(`${jsonText(runJson(view))}\n`);
  if (isOver(view.state)) {
    if (!json) await printReport(world, view, { screen, cwd });
    // The run is over: a press of Ctrl-C leaves the question.
    if (asks && !json) await offerPick(shell, world, view);
    return exitCode(await viewById(world, runId));
  }
  screen.err(`${stoppedText(view).join('\n')}\n`);
  return EXIT.stopped;
}

/** Milliseconds for steps other than coders to end after an interrupt; what does not is repeated on resume. Our default. */
const STOP_GRACE_MS = 2_000;

/** Of a run as it is now: a person's last pick counts, else what Runoff put first, sure or not. */
export function exitCode(view: RunView): number {
  switch (view.state) {
    case 'published':
    case 'merged':
    case 'closed':
      return chosenOf(view) !== null ? EXIT.done : EXIT.nothingSurvived;
    case 'cancelled':
      return EXIT.stopped;
    default:
      return EXIT.failed;
  }
}
