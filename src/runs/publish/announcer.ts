import { asFault, type GitHubOrigin, isOver, type RunId, type RunState } from '../../core/model/index.ts';
import { statusComment } from '../../core/reports/index.ts';
import type { Artifacts, Clock, GitHub, Log, Publisher, RunRecord, Store } from '../../ports/index.ts';
import { type Announcer, handleOf, type World } from '../context.ts';
import { closeQuestions, findOwnComment, type OwnComment } from '../questions/index.ts';
import { idempotentWrite } from '../stage.ts';
import { isQueued, viewOf } from '../view.ts';
import { acknowledge, acknowledgeQueued, close, removeSpentLabel } from './labels.ts';

/**
 * Milliseconds between the first two edits of a status comment, and at most; each time lasts a tenth longer than the one
 * before. Our defaults: all runs of an organization have 400 writes an hour together, and a comment that is edited like
 * this costs 36 of them in 20 minutes instead of 240.
 */
const FIRST_EDIT_MS = 5_000;
const MAX_EDIT_MS = 60_000;
const editEveryMs = (edits: number): number => Math.min(MAX_EDIT_MS, FIRST_EDIT_MS * 1.1 ** edits);
/** Milliseconds for which the token of one update is kept for the next one. Our default. */
const TOKEN_KEPT_MS = 60_000;
const ALONE = { candidate: undefined, stage: undefined, command: undefined, delivery: undefined } as const;

interface AnnouncerPorts {
  readonly artifacts: Artifacts;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly github?: GitHub;
  readonly diskSpace?: NonNullable<World['diskSpace']>;
  readonly publicUrl?: string;
}

/** The edits of one run, in sequence. */
interface RunUpdates {
  /** Earliest time of the next edit, by the monotonic clock. */
  next: number;
  work: Promise<void>;
  waiting: boolean;
  /** Edits that `soon` has made. */
  edits: number;
  /** Kept for the next update in the same state of the run, so that not each of them makes a token and gives it back. */
  kept: { readonly state: RunState; readonly publisher: Publisher } | null;
  /** Aborts the waits between edits when the run or this process ends. */
  readonly hurry: AbortController;
}

/** Creates the announcer of this process. Does nothing for local runs, which have no comments. */
export function openAnnouncer(parts: AnnouncerPorts): Announcer {
  const lanes = new Map<RunId, RunUpdates>();

  const lane = (runId: RunId) => {
    const known = lanes.get(runId) ?? {
      next: 0,
      work: Promise.resolve(),
      waiting: false,
      edits: 0,
      kept: null,
      hurry: new AbortController(),
    };
    lanes.set(runId, known);
    return known;
  };
  const enqueue = (runId: RunId, work: () => Promise<void>): Promise<void> => {
    const own = lane(runId);
    // Logged apart from the caller's stage, candidate or command.
    own.work = parts.log.within({ ...ALONE, run: runId }, () =>
      own.work.then(work).catch((thrown: unknown) => {
        parts.log.warn({ err: thrown }, 'the status comment could not be written');
      }),
    );
    return own.work;
  };
  const releaseLater = async (runId: RunId, own: RunUpdates): Promise<void> => {
    if (own.kept === null) return;
    const { edits } = own;
    await parts.clock.sleep(TOKEN_KEPT_MS, own.hurry.signal);
    if (own.edits === edits) await enqueue(runId, () => release(own));
  };

  return {
    soon(runId) {
      const own = lane(runId);
      if (!parts.github || own.waiting) return;
      own.waiting = true;
      void enqueue(runId, async () => {
        await parts.clock.sleep(Math.max(0, own.next - parts.clock.elapsed()), own.hurry.signal);
        own.waiting = false;
        own.next = parts.clock.elapsed() + editEveryMs(own.edits);
        own.edits += 1;
        await announce(parts, runId, own, 'update');
        void releaseLater(runId, own);
      });
    },
    async finish(runId) {
      if (!parts.github) return;
      const own = lane(runId);
      own.hurry.abort();
      await enqueue(runId, () => announceEnd(parts, runId, own));
      await enqueue(runId, () => release(own));
      lanes.delete(runId);
    },
    async idle() {
      for (const own of lanes.values()) own.hurry.abort();
      await Promise.all([...lanes].map(([runId, own]) => enqueue(runId, () => release(own))));
    },
  };
}

const END_ANNOUNCED_KEY = 'said';

/** Runs that ended since then without a current announcement, because of a crash or an outage of GitHub. */
export const unannouncedSince = (
  store: Pick<Store, 'endedWithout'>,
  since: number,
  limit: number,
): Promise<readonly RunRecord[]> => store.endedWithout(END_ANNOUNCED_KEY, since, limit);

/** What an earlier announcement said is not true any more, or something of it is missing: upkeep announces the run. */
export async function announceLater(store: Pick<Store, 'fulfil' | 'intend'>, runId: RunId): Promise<void> {
  await store.intend(runId, END_ANNOUNCED_KEY);
  await store.fulfil(runId, END_ANNOUNCED_KEY, false);
}

/** Ends the wait for a pick, which was announced, so that this is too if the process ends before the caller does it. */
export async function leaveWait(
  { clock, store }: Pick<World, 'clock' | 'store'>,
  runId: RunId,
  to: 'closed' | 'published',
  cause: string,
): Promise<void> {
  await announceLater(store, runId);
  await store.transition(runId, to, cause, clock.now());
}

/** Refused writes are not retried: the App may have been uninstalled, and only its owner can restore access. */
async function announceEnd(parts: AnnouncerPorts, runId: RunId, own: RunUpdates): Promise<void> {
  await announceLater(parts.store, runId);
  try {
    await announce(parts, runId, own, 'end');
  } catch (thrown) {
    if (asFault(thrown).code === 'GITHUB_REFUSED') await parts.store.fulfil(runId, END_ANNOUNCED_KEY, true);
    throw thrown;
  }
  await parts.store.fulfil(runId, END_ANNOUNCED_KEY, true);
}

async function release(own: RunUpdates): Promise<void> {
  const { kept } = own;
  own.kept = null;
  await kept?.publisher.close();
}

async function announce(
  parts: AnnouncerPorts,
  runId: RunId,
  own: RunUpdates,
  when: 'update' | 'end',
): Promise<void> {
  const run = await parts.store.run(runId);
  if (run?.origin.kind !== 'github' || !parts.github) return;
  if (when === 'update' && isBeingPublished(run, parts.clock.now())) return release(own);
  const { origin } = run;
  // Before admission, the requester's permission may be unknown (I4, I9), and a refusal posts its own message: labels
  // and status belong to the active run. A fault during admission is still reported, because otherwise the label would
  // stay without a reaction.
  const tells = run.task || run.state === 'failed' || (await mayAnnounceQueued(parts, run, origin));
  const isWithdrawn = run.state === 'cancelled' && run.queueEntry !== undefined;
  if (!tells && !isWithdrawn) return;
  // No token outlives the stage that it was made for (I3).
  if (own.kept?.state !== run.state) await release(own);
  own.kept ??= { state: run.state, publisher: await parts.github.publisher(handleOf(origin)) };
  const { publisher } = own.kept;
  try {
    if (!tells) return await removeSpentLabel(parts, publisher, run, origin);
    if (isQueued(run)) await acknowledgeQueued(parts, publisher, run, origin);
    else if (!isOver(run.state)) await acknowledge(parts, publisher, run, origin);
    try {
      await closeQuestions(parts, publisher, run);
      await writeStatus(parts, parts.github, publisher, run, origin);
    } finally {
      // The comment may have been deleted: labels and reaction still show the outcome.
      if (isOver(run.state)) await close(parts, publisher, run, origin);
    }
  } catch (thrown) {
    // What is wrong may be its token, or where it writes.
    await release(own);
    throw thrown;
  }
}

/** Milliseconds that publishing usually takes. If it takes longer, the status comment says why it waits. */
const PUBLISHING_MS = 30_000;

/** Writes come a second apart: the pull request does not wait for an edit that the end of the run replaces at once. */
const isBeingPublished = ({ state, stages }: RunRecord, now: number): boolean =>
  !isOver(state) &&
  stages.some(
    ({ stage, startedAt, endedAt }) =>
      stage === 'publish' && endedAt === undefined && now - startedAt < PUBLISHING_MS,
  );

/**
 * Whether to announce a run that has not begun: while it is queued (only permitted runs are), and when it ends there.
 * Of two runs on one issue only the older is announced, because the younger is refused when its turn comes.
 */
async function mayAnnounceQueued(
  parts: AnnouncerPorts,
  run: RunRecord,
  origin: GitHubOrigin,
): Promise<boolean> {
  if (!run.queueEntry) return false;
  if (!isQueued(run)) return isOver(run.state) && (await parts.store.intent(run.id, 'status')) !== null;
  const active = await parts.store.activeRuns(origin.repositoryId, origin.issue);
  return active.find((one) => !isOver(one.state))?.id === run.id;
}

/** URL of the status comment; null before it is written. */
export async function statusUrl(store: Pick<Store, 'intent'>, runId: RunId): Promise<string | null> {
  const intent = await store.intent(runId, 'status');
  return intent?.state === 'done' ? (intent.result as OwnComment).url : null;
}

async function writeStatus(
  parts: AnnouncerPorts,
  github: GitHub,
  publisher: Publisher,
  run: RunRecord,
  origin: GitHubOrigin,
): Promise<void> {
  const { body } = statusComment(await viewOf(parts, run));
  let fresh = false;
  const comment = await idempotentWrite(parts.store, run.id, 'status', {
    look: async () =>
      findOwnComment(github, await github.reader(handleOf(origin)), origin.issue, {
        kind: 'status',
        run: run.id,
      }),
    write: async () => {
      fresh = true;
      return publisher.comment(origin.issue, body);
    },
  });
  if (!fresh) await publisher.editComment(comment.id, body);
}
