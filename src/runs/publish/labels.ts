import { asFault, type GitHubOrigin, isOver } from '../../core/model/index.ts';
import type { Publisher, Reaction, RunRecord, Store } from '../../ports/index.ts';
import type { World } from '../context.ts';
import { idempotentWrite } from '../stage.ts';
import { LABEL, OUTCOME_LABELS, RUNNING_LABEL } from '../view.ts';

/** Sets the 👀 reaction alone: the triggering label stays until the run begins, since admission checks for it. */
export async function acknowledgeQueued(
  { store }: Pick<World, 'store'>,
  publisher: Publisher,
  run: RunRecord,
  origin: GitHubOrigin,
): Promise<void> {
  await idempotentWrite(store, run.id, 'greet-in-line', {
    look: async () => null,
    write: async () => {
      await tryToReact(publisher, origin, 'eyes');
      return true;
    },
  });
}

/** A locked issue takes labels, but no reactions. */
async function tryToReact(publisher: Publisher, { issue }: GitHubOrigin, reaction: Reaction): Promise<void> {
  try {
    await publisher.react({ issue }, reaction);
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
  }
}

/** Sets the 👀 reaction and the label of an active run. Idempotent. */
export async function acknowledge(
  { store }: Pick<World, 'store'>,
  publisher: Publisher,
  run: RunRecord,
  origin: GitHubOrigin,
): Promise<void> {
  const nothing = async () => null;
  await idempotentWrite(store, run.id, 'greet', {
    look: nothing,
    write: async () => {
      await tryToReact(publisher, origin, 'eyes');
      // The triggering label is removed once the run has begun.
      await publisher.setLabels(origin.issue, {
        add: [RUNNING_LABEL],
        remove: [LABEL, ...Object.values(OUTCOME_LABELS)],
      });
      return true;
    },
  });
}

type RunConclusion = keyof typeof OUTCOME_LABELS | 'quiet';

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
export async function close(
  { store }: Pick<World, 'store'>,
  publisher: Publisher,
  run: RunRecord,
  origin: GitHubOrigin,
): Promise<void> {
  if (await isSuperseded(store, run, origin)) return;
  const ending = endingOf(run);
  const label = ending === 'quiet' ? null : OUTCOME_LABELS[ending];
  const reaction = REACTIONS[ending];
  // Later ends are about the pull request: the label may have been added again since.
  const stopped = run.state === 'cancelled' || run.state === 'failed';
  const asked = stopped && (await isLabelSpent(store, origin)) ? [LABEL] : [];
  await idempotentWrite(store, run.id, `close:${ending}`, {
    look: async () => null,
    write: async () => {
      await publisher.setLabels(origin.issue, {
        add: label ? [label] : [],
        remove: [...asked, RUNNING_LABEL, ...Object.values(OUTCOME_LABELS).filter((one) => one !== label)],
      });
      if (reaction) await tryToReact(publisher, origin, reaction);
      return true;
    },
  });
}

/** Removes the triggering label of a run that was cancelled before anything was said about it, if it is left over. */
export async function removeSpentLabel(
  { store }: Pick<World, 'store'>,
  publisher: Publisher,
  { id }: RunRecord,
  origin: GitHubOrigin,
): Promise<void> {
  if (!(await isLabelSpent(store, origin))) return;
  await idempotentWrite(store, id, 'unlabel', {
    look: async () => null,
    write: async () => {
      await publisher.setLabels(origin.issue, { add: [], remove: [LABEL] });
      return true;
    },
  });
}

/**
 * Whether the triggering label is left over from a run that failed or was cancelled before it was admitted: set again,
 * it would start nothing. A run that waits for it still needs it. Several runs may be cancelled at once, in any order,
 * so the newest one is looked at, whichever run ends.
 */
async function isLabelSpent(store: Store, { repositoryId, issue }: GitHubOrigin): Promise<boolean> {
  const runs = (await store.runsAt(repositoryId, issue)).filter(
    ({ origin, state }) => origin.kind === 'github' && origin.issue === issue && state !== 'refused',
  );
  const [newest] = runs;
  return newest !== undefined && newest.task === undefined && runs.every(({ state }) => isOver(state));
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
