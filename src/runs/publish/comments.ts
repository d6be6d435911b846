import {
  type Alias,
  type ArtifactRef,
  asFault,
  type GitHubOrigin,
  type RunId,
  type Sha,
} from '../../core/model/index.ts';
import { pickable } from '../../core/ranking/index.ts';
import {
  checkText,
  type Diffs,
  type OutcomeView,
  outcomeComment,
  pickComment,
  type Report,
  type ReportKind,
  type RunView,
  report,
} from '../../core/reports/index.ts';
import type { RunOutcome, Store } from '../../ports/index.ts';
import { loadRun, requireGitHub, type World } from '../context.ts';
import { findOwnComment, type OwnComment } from '../questions/index.ts';
import { idempotentWrite, throwIfCancelled, unlessDamaged } from '../stage.ts';
import { diffsOf, loadTestTable, viewOf } from '../view.ts';
import { leaveWait } from './announcer.ts';
import type { PublishContext } from './context.ts';

/** Kinds of comments that contain a comparison. */
const COMPARISONS = ['comparison', 'choice', 'outcome'] as const satisfies readonly ReportKind[];
type ComparisonKind = (typeof COMPARISONS)[number];

/** Maximum number of comments per comparison; core produces fewer. */
const MAX_COMMENTS_EACH = 9;

const commentKey = (kind: ComparisonKind, part: number): string => (part === 1 ? kind : `${kind}:${part}`);

/** The first comment of a comparison, as recorded when it was written; null if there is none. */
export async function writtenComparison(
  store: Pick<Store, 'intent'>,
  runId: RunId,
  kind: ComparisonKind,
  part = 1,
): Promise<OwnComment | null> {
  const intent = await store.intent(runId, commentKey(kind, part));
  return intent?.state === 'done' ? (intent.result as OwnComment) : null;
}

/**
 * The run and its diffs as currently published, without links to branches. `names`: `shown` with a result that ends the
 * run, because a blind run is still active then.
 */
export async function viewForPublishing(
  context: PublishContext,
  names?: 'shown',
): Promise<{ readonly view: RunView; readonly diffs: Diffs }> {
  const { world, task, reader } = context;
  const run = await loadRun(world, context.run.id);
  const now = await reader.branchHead(task.base.ref);
  const moved = now !== null && now !== task.base.sha;
  const testTable = await loadTestTable(world, run);
  const view: RunView = {
    ...(await viewOf(world, run, names)),
    ...(testTable === null ? {} : { testTable }),
    ...(moved ? { baseMovedTo: now } : {}),
    ...((await editedSince(context)) ? { editedSince: true } : {}),
  };
  return { view, diffs: await diffsOf(world, run.id) };
}

/** The diffs with links that compare each pushed branch with the base. */
export const withLinks = (
  { facts, task }: PublishContext,
  diffs: Diffs,
  branches: Readonly<Record<Alias, string>>,
): Diffs =>
  Object.fromEntries(
    Object.entries(diffs).map(([alias, diff]) => {
      const branch = branches[alias];
      const compareUrl = `${facts.htmlUrl}/compare/${task.base.sha}...${branch}`;
      return [alias, branch ? { ...diff, compareUrl } : diff];
    }),
  );

/** The run with this outcome, and its diffs with links. */
export async function outcomeForPublishing(
  context: PublishContext,
  outcome: OutcomeView,
): Promise<{ readonly view: RunView; readonly diffs: Diffs }> {
  const { view, diffs } = await viewForPublishing(context);
  return { view: { ...view, outcome }, diffs: withLinks(context, diffs, outcome.branches) };
}

/**
 * Whether the issue was edited after the trigger: its text is read only once (I5), so reports point out later edits.
 * Does not apply to reviews.
 */
async function editedSince({ reader, run }: PublishContext): Promise<boolean> {
  const { origin, task } = run;
  if (origin.work || !task) return false;
  try {
    const issue = await reader.issue(origin.issue);
    return issue.title !== task.title || issue.body !== task.body;
  } catch (thrown) {
    // Deleted or transferred: its current text is unknown.
    if (asFault(thrown).code === 'GITHUB_REFUSED') return false;
    throw thrown;
  }
}

/**
 * Writes a comparison as one comment per part. Each is written once, found again by its marker after a crash, and
 * edited if it exists.
 */
export async function showComparison(
  context: PublishContext,
  kind: ComparisonKind,
  on: number,
  parts: readonly [Report, ...Report[]],
): Promise<OwnComment> {
  // Stored before anyone can tick a box in it.
  if (kind === 'choice') await storeChoice(context.world, context.run.id, parts[0].body);
  const first = await showPart(context, kind, on, 1, parts[0].body);
  for (const [at, part] of parts.slice(1).entries()) await showPart(context, kind, on, at + 2, part.body);
  for (let part = parts.length + 1; part <= MAX_COMMENTS_EACH; part++) {
    const left = await writtenComparison(context.world.store, context.run.id, kind, part);
    if (!left) break;
    const { body } = report(kind, context.run.id, ['All of it is in the comments before this one.'], part);
    await editUnlessGone(context, left, body);
  }
  return first;
}

const ON_ISSUE = [
  ['choice', pickComment],
  ['outcome', outcomeComment],
] as const;

/** Replaces what the comparisons on the issue ask for by who picked what: checkboxes, or what to do without a pick. */
export async function refreshIssue(context: PublishContext, outcome: RunOutcome | undefined): Promise<void> {
  const { world, run } = context;
  if (!outcome || outcome.kind === 'branches') return;
  for (const [kind, write] of ON_ISSUE) {
    if (!(await writtenComparison(world.store, run.id, kind))) continue;
    const { view, diffs } = await outcomeForPublishing(context, outcome);
    await showComparison(context, kind, run.origin.issue, write(view, diffs));
  }
}

/** Updates the first comment of a comparison, which contains the vote tally. */
export async function showTally(
  context: PublishContext,
  kind: ComparisonKind,
  on: number,
  [first]: readonly [Report, ...Report[]],
): Promise<void> {
  if (!(await writtenComparison(context.world.store, context.run.id, kind))) return;
  if (kind === 'choice') await storeChoice(context.world, context.run.id, first.body);
  await showPart(context, kind, on, 1, first.body);
}

const CHOICE_TEXT = 'choice:text';

/** The comment's current and previous text: a box may be ticked while the comment is being edited. */
interface StoredChoice {
  readonly now: ArtifactRef;
  readonly before?: ArtifactRef;
}

async function storedChoice(store: Pick<Store, 'intent'>, runId: RunId): Promise<StoredChoice | null> {
  const intent = await store.intent(runId, CHOICE_TEXT);
  return intent?.state === 'done' ? (intent.result as StoredChoice) : null;
}

/** Ticks are detected by comparison with the stored text, not with the previous text in GitHub's event (I12). */
async function storeChoice(
  { store, artifacts }: Pick<World, 'artifacts' | 'store'>,
  runId: RunId,
  body: string,
): Promise<void> {
  const kept = await storedChoice(store, runId);
  const now = await artifacts.put(body);
  if (kept?.now.sha256 === now.sha256) return;
  await store.intend(runId, CHOICE_TEXT);
  await store.fulfil(runId, CHOICE_TEXT, { now, ...(kept ? { before: kept.now } : {}) });
}

/** Current and previous text of the comment with checkboxes; empty if there is none or its current text is damaged. */
export async function choiceTexts(
  { store, artifacts }: Pick<World, 'store' | 'artifacts'>,
  runId: RunId,
): Promise<readonly string[]> {
  const kept = await storedChoice(store, runId);
  if (!kept) return [];
  const [now, before] = await Promise.all(
    [kept.now, kept.before].map(async (ref) => (ref ? unlessDamaged(artifacts.get(ref)) : null)),
  );
  return typeof now !== 'string' ? [] : [now, ...(typeof before === 'string' ? [before] : [])];
}

async function showPart(
  context: PublishContext,
  kind: ComparisonKind,
  on: number,
  part: number,
  body: string,
): Promise<OwnComment> {
  const { world, run, reader, publisher, signal } = context;
  const wanted = { kind, run: run.id, ...(part === 1 ? {} : { number: part }) };
  let fresh = false;
  const comment = await idempotentWrite(world.store, run.id, commentKey(kind, part), {
    look: () => findOwnComment(requireGitHub(world), reader, on, wanted),
    write() {
      throwIfCancelled(signal);
      fresh = true;
      return publisher.comment(on, body);
    },
  });
  if (!fresh) await editUnlessGone(context, comment, body);
  return comment;
}

/** Tolerates a deleted comment: the remaining work continues. */
async function editUnlessGone({ world, run, publisher }: PublishContext, { id }: OwnComment, body: string) {
  try {
    await publisher.editComment(id, body);
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    world.log.warn({ run: run.id, comment: id, err: thrown }, 'a comment of ours could not be edited');
  }
}

/** Writes the check run on the head of the pull request. Skipped if the App lacks the permission. */
export async function showCheck(context: PublishContext, view: RunView, headSha: Sha): Promise<void> {
  try {
    await context.publisher.showCheck({ headSha, externalId: view.id, ...checkText(view) });
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    context.world.log.warn({ run: view.id, err: thrown }, 'the check run could not be written');
  }
}

/**
 * Collapses comparisons of earlier runs of the same issue and ends runs that still wait for a pick. A run without
 * survivors does not end them. Upkeep removes their checkboxes.
 */
export async function supersede(context: PublishContext, view: RunView): Promise<void> {
  const { world } = context;
  const { id: own, origin } = context.run;
  const empty = pickable(view).length === 0;
  const runs = await world.store.runsAt(origin.repositoryId, origin.issue);
  const self = runs.find(({ id }) => id === own);
  for (const run of runs) {
    if (!self || run.createdAt >= self.createdAt || !isOf(run.origin, origin)) continue;
    if (empty && run.state === 'awaiting_pick') continue;
    for (const kind of COMPARISONS) await minimiseComparison(context, run.id, kind);
    if (run.state === 'awaiting_pick') await leaveWait(world, run.id, 'closed', 'a newer run has a result');
  }
}

const isOf = (one: { readonly kind: string; readonly issue?: number }, { issue }: GitHubOrigin): boolean =>
  one.kind === 'github' && one.issue === issue;

async function minimiseComparison(
  context: PublishContext,
  runId: RunId,
  kind: ComparisonKind,
): Promise<void> {
  const { store, log } = context.world;
  for (let part = 1; part <= MAX_COMMENTS_EACH; part++) {
    const comment = await writtenComparison(store, runId, kind, part);
    if (!comment) return;
    await idempotentWrite(store, runId, `minimised:${comment.id}`, {
      look: async () => null,
      async write() {
        try {
          await context.publisher.minimise(comment.id);
          return 'minimised';
        } catch (thrown) {
          // The comment may have been deleted; an older comparison that stays open does no harm.
          if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
          log.warn(
            { run: runId, comment: comment.id, err: thrown },
            'an older comparison could not be folded',
          );
          return 'refused';
        }
      },
    });
  }
}
