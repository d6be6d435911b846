import { matchReply, type NewReply, openInquiry } from '../../core/brief/index.ts';
import {
  ACTIVE_STATES,
  isOver,
  type LocalOrigin,
  type RunId,
  type RunState,
} from '../../core/model/index.ts';
import type { RunRecord } from '../../ports/index.ts';
import type { RunRequest } from '../admit/index.ts';
import { loadRun, type World } from '../context.ts';
import { announceEnding, endWithFault, type PublishPorts, unannouncedSince } from '../publish/index.ts';
import { REPLY_TOPIC } from '../questions/index.ts';

/** Dependencies of `reconcile`. */
type ReconcilePorts = Pick<World, 'announcer' | 'clock' | 'engine' | 'store' | 'workspaces'>;

/**
 * Maximum age of an ending that is still announced, in milliseconds. Our default: longer than most outages of GitHub.
 */
const ANNOUNCE_WITHIN_MS = 24 * 60 * 60_000;
/**
 * Maximum number of endings announced per pass; the next pass is a few minutes later. Our default: a tenth of the
 * hourly write limit.
 */
const MAX_ANNOUNCEMENTS = 40;

/**
 * Reconciles the store and the engine at start-up and every few minutes: runs that were accepted but never started,
 * runs whose flow ended without the run, runs that were not notified of a reply, areas that no active run owns. Local
 * runs are handled by their own process.
 */
export async function reconcile(world: ReconcilePorts): Promise<void> {
  for (const run of await world.store.runsIn(ACTIVE_STATES)) {
    if (run.origin.kind === 'github') await reconcileRun(world, run);
  }
  await sweepEnded(world);
}

/** The first group: of a call, which may be a command to a run that is over. */
const RUN_AREA = /^(call-)?(r[0-9a-z]{10})-/;

/**
 * Milliseconds that an area of a run that is not stored is kept, our default: `runoff prepare` stores none, and with
 * `--shell` a person works there. It removes its areas itself, unless it is killed.
 */
const NOT_STORED_MS = 24 * 60 * 60_000;

/**
 * Deletes areas of ended runs, and old ones of runs that are not stored, or no longer, and of calls about these. A call
 * about a stored run removes its area itself, or opens it again after a crash. Areas are listed before runs are looked
 * up, so that a run that begins meanwhile keeps its own.
 */
export async function sweepEnded(
  world: Pick<World, 'clock'> & {
    readonly store: Pick<World['store'], 'run'>;
    readonly workspaces: Pick<World['workspaces'], 'sweep'>;
  },
): Promise<void> {
  const seen = new Map<string, number>();
  await world.workspaces.sweep((area, usedAt) => {
    seen.set(area, usedAt);
    return true;
  });
  const unused = new Map<string, number>();
  for (const [area, usedAt] of seen) {
    const [, ofCall, runId] = RUN_AREA.exec(area) ?? [];
    if (runId === undefined) continue;
    const run = await world.store.run(runId);
    const isOld = world.clock.now() - usedAt > NOT_STORED_MS;
    if (run ? isOver(run.state) && ofCall === undefined : isOld) unused.set(area, usedAt);
  }
  // Not one that was opened again under the same name.
  await world.workspaces.sweep((area, usedAt) => unused.get(area) !== usedAt);
}

/** Announces run endings that were missed because of a crash or an outage of GitHub. Idempotent. */
export async function announceEndedRuns(world: PublishPorts & Pick<World, 'announcer'>): Promise<void> {
  const since = world.clock.now() - ANNOUNCE_WITHIN_MS;
  for (const { id } of await unannouncedSince(world.store, since, MAX_ANNOUNCEMENTS))
    await announceEnding(world, id);
}

async function reconcileRun(world: ReconcilePorts, { id }: RunRecord): Promise<void> {
  const flow = await world.engine.status(id);
  // Read after its flow: a run before this one may have waited for GitHub while this one ended.
  const run = await world.store.run(id);
  if (!run || isOver(run.state)) return;
  switch (flow.kind) {
    case 'running':
      return wakeIfReplied(world, run);
    case 'unknown':
      return startRun(world, run.id);
    case 'cancelled':
      await storeCancelled(world, run.id, 'it was being cancelled when Runoff stopped');
      return;
    case 'failed':
    case 'done': {
      const why = flow.kind === 'failed' ? flow.why : 'its flow ended before its state was stored';
      await endCandidates(world.store, run.id, 'interrupted');
      const quiet = run.task === undefined ? 'quietly' : 'aloud';
      await endWithFault(
        world,
        run.id,
        { code: 'INTERNAL', message: `The run was interrupted: ${why}` },
        quiet,
      );
    }
  }
}

/** Starts a stored run in the durable engine. Idempotent: a second start joins the first. */
export async function startRun(world: Pick<World, 'engine' | 'store'>, runId: RunId): Promise<void> {
  const { request } = await loadRun(world, runId);
  await world.engine.start(runId, request);
}

/** The name under which a command at a terminal executes a run; while it does, no other process can. */
export const executorOfRun = (runId: RunId): string => `cli-${runId}`;

/** The local runs whose process ended before the run: by Ctrl-C, a crash, or with its machine. */
export async function stoppedRuns(
  { engine }: { readonly engine: Pick<World['engine'], 'activeExecutors'> },
  runs: readonly {
    readonly id: RunId;
    readonly origin: { readonly kind: string };
    readonly state: RunState;
  }[],
): Promise<ReadonlySet<RunId>> {
  const open = runs.filter(({ origin, state }) => origin.kind === 'local' && !isOver(state));
  const ids = open.map(({ id }) => id);
  const active = await engine.activeExecutors(ids.map(executorOfRun));
  return new Set(ids.filter((id) => !active.has(executorOfRun(id))));
}

/** Starts a run on a local repository. Its text is stored as an artifact, so that its length is not limited. */
export async function startLocalRun(
  world: Pick<World, 'artifacts' | 'clock' | 'engine' | 'store'>,
  options: {
    origin: LocalOrigin;
    runId: RunId;
    title: string;
    body: string;
    base?: string;
    uncommitted?: true;
    overrides: RunRequest['overrides'];
    trustedChecks?: string;
  },
): Promise<void> {
  const { runId, origin, title, overrides } = options;
  const at = world.clock.now();
  const text = { title, body: await world.artifacts.put(options.body) };
  const request: RunRequest = {
    runId,
    text,
    triggeredAt: at,
    overrides,
    ...(options.base ? { base: options.base } : {}),
    ...(options.uncommitted ? { uncommitted: true } : {}),
    ...(options.trustedChecks ? { trustedChecks: options.trustedChecks } : {}),
  };
  await world.store.createRun({ id: runId, origin, title, request, at });
  await startRun(world, runId);
}

type ReplyResult =
  | { readonly kind: 'taken' }
  /** A sentence for the author of the reply. */
  | { readonly kind: 'not-waiting'; readonly why: string }
  | { readonly kind: 'unfit'; readonly why: string };

/**
 * Records a reply to a waiting run and wakes the run. The reply is stored first: `reconcile` completes it after a crash
 * in between. Idempotent per key. The caller checks the author's permission. `to`: number of the inquiry; absent: the
 * open one.
 */
export async function reply(
  world: Pick<World, 'engine' | 'store'>,
  runId: RunId,
  key: string,
  newReply: NewReply,
  to?: number,
): Promise<ReplyResult> {
  const run = await loadRun(world, runId);
  const open = awaitedInquiry(run);
  if (!open)
    return { kind: 'not-waiting', why: `Run ${runId} ${stateWords(run)} and is not waiting for a reply.` };
  if (to !== undefined && open.number !== to)
    return { kind: 'unfit', why: 'The question has changed in the meantime.' };
  const fit = matchReply(open, newReply);
  if (fit.kind === 'unfit') return fit;
  await world.store.addReply(runId, key, newReply);
  await world.engine.signal(runId, REPLY_TOPIC, key);
  return { kind: 'taken' };
}

function stateWords({ state }: RunRecord): string {
  if (state === 'failed') return 'has failed';
  if (state === 'awaiting_pick') return 'is waiting for a pick';
  return isOver(state) ? `is ${state}` : 'is in progress';
}

/** The inquiry that a reply would settle now. */
export const awaitedInquiry = (run: Pick<RunRecord, 'dialogue' | 'state'>) =>
  isWaiting(run) && run.dialogue ? openInquiry(run.dialogue) : null;

export const isWaiting = ({ state }: Pick<RunRecord, 'state'>): boolean =>
  !isOver(state) && (state === 'awaiting_answer' || state === 'awaiting_approval');

/** Wakes a run with unread replies, in case the wake-up was lost after they were stored. */
async function wakeIfReplied(world: Pick<World, 'engine' | 'store'>, run: RunRecord): Promise<void> {
  if (!isWaiting(run) || !run.dialogue) return;
  const last = (await world.store.replies(run.id)).at(-1);
  if (last && last.number > run.dialogue.lastReply) {
    await world.engine.signal(run.id, REPLY_TOPIC, `unheard:${last.number}`);
  }
}

/**
 * Cancels a run: no further step starts, coders are killed, results so far are kept. Returns false if the run was
 * already over, or its result is already stored and about to be shown in full (0228).
 */
export async function cancelRun(
  world: Pick<World, 'announcer' | 'clock' | 'engine' | 'store'>,
  runId: RunId,
  cause: string,
): Promise<boolean> {
  const run = await loadRun(world, runId);
  if (isOver(run.state) || run.outcome !== undefined) return false;
  await world.engine.cancel(runId);
  return (await storeCancelled(world, runId, cause)) === 'cancelled';
}

/**
 * Stores that a run was cancelled whose flow is, and announces it. Its candidates come first: after a crash in between,
 * `reconcile` still finds the run active and repeats this.
 */
async function storeCancelled(
  world: Pick<World, 'announcer' | 'clock' | 'store'>,
  runId: RunId,
  cause: string,
): Promise<RunState> {
  await endCandidates(world.store, runId, 'cancelled');
  const state = await world.store.transition(runId, 'cancelled', cause, world.clock.now());
  await world.announcer.finish(runId);
  return state;
}

/** Nobody works on the candidates of a run whose flow has ended. One that was being examined keeps its patch. */
async function endCandidates(store: World['store'], runId: RunId, note: string): Promise<void> {
  for (const { alias } of await store.candidates(runId)) {
    // Read again just before the write: a candidate that has just ended keeps its patch.
    const candidate = (await store.candidates(runId)).find((one) => one.alias === alias);
    if (candidate?.state === 'queued' || candidate?.state === 'coding')
      await store.putCandidate({ ...candidate, state: 'cancelled', note });
    else if (candidate?.state === 'examining') await store.putCandidate({ ...candidate, state: 'coded' });
  }
}
