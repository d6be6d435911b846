import { asFault, type GitHubOrigin, isOver, type RunId } from '../../core/model/index.ts';
import { statusComment } from '../../core/reports/index.ts';
import type { Clock, GitHub, Log, Publisher, RunRecord, Store } from '../../ports/index.ts';
import { type Announcer, handleOf, type World } from '../context.ts';
import { closeQuestions, findOwnComment, type OwnComment } from '../questions/index.ts';
import { idempotentWrite } from '../stage.ts';
import { isQueued, LABEL, RUNNING_LABEL, viewOf } from '../view.ts';

/** Minimum time between two edits of a status comment, to stay far below GitHub's rate limits. */
const EDIT_EVERY_MS = 5_000;
const OUTCOMES = {
  won: 'auto-dev:done',
  none: 'auto-dev:none',
  pick: 'auto-dev:pick',
  failed: 'auto-dev:failed',
} as const;

const ALONE = { candidate: undefined, stage: undefined, command: undefined, delivery: undefined } as const;

interface AnnouncerPorts {
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
  /** Aborts the wait between edits when the run is over. */
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

  return {
    soon(runId) {
      const own = lane(runId);
      if (!parts.github || own.waiting) return;
      own.waiting = true;
      void enqueue(runId, async () => {
        await parts.clock.sleep(Math.max(0, own.next - parts.clock.elapsed()), own.hurry.signal);
        own.waiting = false;
        own.next = parts.clock.elapsed() + EDIT_EVERY_MS;
        await announce(parts, runId);
      });
    },
    async finish(runId) {
      if (!parts.github) return;
      lane(runId).hurry.abort();
      await enqueue(runId, () => announceEnd(parts, runId));
      lanes.delete(runId);
    },
    async idle() {
      await Promise.all([...lanes.values()].map((own) => own.work));
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

/** Refused writes are not retried: the App may have been uninstalled, and only its owner can restore access. */
async function announceEnd(parts: AnnouncerPorts, runId: RunId): Promise<void> {
  await parts.store.intend(runId, END_ANNOUNCED_KEY);
  await parts.store.fulfil(runId, END_ANNOUNCED_KEY, false);
  try {
    await announce(parts, runId);
  } catch (thrown) {
    if (asFault(thrown).code === 'GITHUB_REFUSED') await parts.store.fulfil(runId, END_ANNOUNCED_KEY, true);
    throw thrown;
  }
  await parts.store.fulfil(runId, END_ANNOUNCED_KEY, true);
}

async function announce(parts: AnnouncerPorts, runId: RunId): Promise<void> {
  const run = await parts.store.run(runId);
  if (run?.origin.kind !== 'github' || !parts.github) return;
  const { origin } = run;
  // Before admission, the requester's permission may be unknown (I4, I9), and a refusal posts its own message: labels
  // and status belong to the active run. A fault during admission is still reported, because otherwise the label would
  // stay without a reaction.
  if (!run.task && run.state !== 'failed' && !(await mayAnnounceQueued(parts, run, origin))) return;
  const publisher = await parts.github.publisher(handleOf(origin));
  try {
    if (isQueued(run)) await acknowledgeQueued(parts, publisher, run, origin);
    else if (!isOver(run.state)) await acknowledge(parts, publisher, run, origin);
    try {
      await closeQuestions(parts, publisher, run);
      await writeStatus(parts, parts.github, publisher, run, origin);
    } finally {
      // The comment may have been deleted: labels and reaction still show the outcome.
      if (isOver(run.state)) await close(parts, publisher, run, origin);
    }
  } finally {
    await publisher.close();
  }
}

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

/** Sets the 👀 reaction alone: the triggering label stays until the run begins, since admission checks for it. */
async function acknowledgeQueued(
  parts: AnnouncerPorts,
  publisher: Publisher,
  run: RunRecord,
  origin: GitHubOrigin,
): Promise<void> {
  await idempotentWrite(parts.store, run.id, 'greet-in-line', {
    look: async () => null,
    write: async () => {
      await publisher.react({ issue: origin.issue }, 'eyes');
      return true;
    },
  });
}

/** URL of the status comment; null before it is written. */
export async function statusUrl(store: Pick<Store, 'intent'>, runId: RunId): Promise<string | null> {
  const intent = await store.intent(runId, 'status');
  return intent?.state === 'done' ? (intent.result as OwnComment).url : null;
}

/** Sets the 👀 reaction and the label of an active run. Idempotent. */
async function acknowledge(
  parts: AnnouncerPorts,
  publisher: Publisher,
  run: RunRecord,
  origin: GitHubOrigin,
): Promise<void> {
  const nothing = async () => null;
  await idempotentWrite(parts.store, run.id, 'greet', {
    look: nothing,
    write: async () => {
      await publisher.react({ issue: origin.issue }, 'eyes');
      // The triggering label is removed once the run has begun.
      await publisher.setLabels(origin.issue, {
        add: [RUNNING_LABEL],
        remove: [LABEL, ...Object.values(OUTCOMES)],
      });
      return true;
    },
  });
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

type RunConclusion = keyof typeof OUTCOMES | 'quiet';

const REACTIONS = { won: 'rocket', none: 'confused', failed: 'confused', pick: null, quiet: null } as const;

function endingOf(run: RunRecord): RunConclusion {
  switch (run.state) {
    case 'awaiting_pick':
      return 'pick';
    case 'published':
    case 'merged':
      return run.outcome?.kind === 'pull' ? 'won' : 'none';
    case 'failed':
      return 'failed';
    // `closed`: no candidate was picked, or the pull request was closed.
    default:
      return 'quiet';
  }
}

/** Sets the label and reaction for the outcome; once per outcome, since a pick can follow an earlier one. */
async function close(
  parts: AnnouncerPorts,
  publisher: Publisher,
  run: RunRecord,
  origin: GitHubOrigin,
): Promise<void> {
  if (await isSuperseded(parts.store, run, origin)) return;
  const ending = endingOf(run);
  const label = ending === 'quiet' ? null : OUTCOMES[ending];
  const reaction = REACTIONS[ending];
  await idempotentWrite(parts.store, run.id, `close:${ending}`, {
    look: async () => null,
    write: async () => {
      await publisher.setLabels(origin.issue, {
        add: label ? [label] : [],
        remove: [RUNNING_LABEL, ...Object.values(OUTCOMES).filter((one) => one !== label)],
      });
      if (reaction) await publisher.react({ issue: origin.issue }, reaction);
      return true;
    },
  });
}

/** Labels of an issue reflect its newest run only. */
async function isSuperseded(store: Store, self: RunRecord, origin: GitHubOrigin): Promise<boolean> {
  const runs = await store.runsAt(origin.repositoryId, origin.issue);
  return runs.some(
    (run) =>
      run.task !== undefined &&
      run.createdAt > self.createdAt &&
      run.origin.kind === 'github' &&
      run.origin.issue === origin.issue,
  );
}
