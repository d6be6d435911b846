import { type Alias, Fault, type RunId, type Sha } from '../../core/model/index.ts';
import { COMMIT_AUTHOR } from '../../core/reports/index.ts';
import type { BaseCheckout, PullDetails, RunOutcome, Store } from '../../ports/index.ts';
import { type Head, isHeadOfOurs, plannedHead, storeHead, storePlannedHead, wasPushed } from './branches.ts';
import { type PublishContext, push } from './context.ts';
import type { PullOutcome } from './on-github.ts';

/** Why Runoff cannot update the pull request of a run, as a sentence; null if it can. */
export async function whyNotOurs(
  store: { readonly intent: Store['intent'] },
  run: { readonly id: RunId; readonly outcome?: RunOutcome },
  pull: PullDetails | null,
): Promise<string | null> {
  if (!pull) return 'The pull request no longer exists.';
  if (pull.state !== 'open')
    return `The pull request #${pull.number} is ${pull.state}. To work on the issue again, comment \`/auto-dev retry\` there.`;
  if (!(await isHeadOfOurs(store, run, pull.headSha)))
    return `Someone pushed to the branch of #${pull.number}, so Runoff no longer changes it.`;
  return null;
}

interface Advance {
  /** Identifies the request across retries. */
  readonly key: string;
  readonly alias: Alias;
  readonly message: string;
  /** The message does not ask GitHub's CI to skip the commit. */
  readonly startsCi: boolean;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

/**
 * Commits the tree of a candidate on top of a pull request's branch, unless someone else has pushed to it. Returns the
 * new outcome, or a sentence that explains why not.
 */
export async function advance(
  context: PublishContext,
  base: BaseCheckout,
  outcome: PullOutcome,
  next: Advance,
): Promise<PullOutcome | string> {
  const { run, world } = context;
  const { store } = world;
  const pull = await context.reader.pull(outcome.number);
  const why = await whyNotOurs(store, run, pull);
  if (why !== null || !pull) return why ?? 'The pull request no longer exists.';
  const planned = await plannedHead(store, run.id, next.key);
  if (planned && pull.headSha !== planned.sha && (await wasPushed(store, run.id, planned.sha))) {
    // Applied before a crash; someone has picked again since.
    return outcome;
  }
  const head = await headFor(context, base, { at: pull.headSha, planned, next });
  if (pull.headSha !== head.sha) {
    await storePlannedHead(store, run.id, next.key, head);
    const refusal = await push(context, base, { branch: outcome.branch, sha: head.sha, onto: head.onto });
    if (refusal !== null) return refusal;
  }
  const withNewHead = ({ ciStarted: _earlier, ...rest }: PullOutcome): PullOutcome => ({
    ...rest,
    headSha: head.sha,
    ...(next.startsCi ? { ciStarted: true } : {}),
  });
  await storeHead(store, run.id, head);
  // What else belongs to the pull request may have been stored meanwhile.
  await store.updateRun(
    run.id,
    ({ outcome: stored }) => ({
      outcome: withNewHead(stored?.kind === 'pull' ? stored : outcome),
    }),
    world.clock.now(),
  );
  return withNewHead(outcome);
}

/** The commit planned before a crash if it still fits, else a new commit on the current head. */
async function headFor(
  { world, run }: PublishContext,
  base: BaseCheckout,
  { at, planned, next }: { readonly at: Sha; readonly planned: Head | null; readonly next: Advance },
): Promise<Head> {
  if (planned && (planned.sha === at || planned.onto === at)) return planned;
  const { alias, message } = next;
  const patch = (await world.store.candidates(run.id)).find((one) => one.alias === alias)?.patch;
  if (!patch) throw new Fault('INTERNAL', `Candidate ${alias} has no patch although it was picked.`);
  const spec = { base: at, tree: patch.tree, message, author: COMMIT_AUTHOR, at: Math.floor(next.at / 1000) };
  return { sha: await world.workspaces.commit(base, spec), onto: at, alias };
}
