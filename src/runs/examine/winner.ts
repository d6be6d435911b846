import { type Evidence, joinTests, type TestRun } from '../../core/evidence/index.ts';
import {
  type IndependentTestReport,
  independentTestReport,
  taskKindOf,
} from '../../core/independent-tests/index.ts';
import {
  factsOf,
  hasConfirmedObjection,
  type Identities,
  type WinnerReview,
} from '../../core/judging/index.ts';
import type { Alias } from '../../core/model/index.ts';
import type { Patch } from '../../core/patches/index.ts';
import { unlessDamaged } from '../stage.ts';
import type { TestedSurvivor } from './admit.ts';
import type { CheckRunner } from './areas.ts';
import type { CandidateEntry } from './candidate.ts';
import type { TestWriter } from './independent-tests.ts';
import { scopeToPackages } from './packages.ts';
import { type Reviewer, review } from './review.ts';
import { openTrees, type Trees } from './trees.ts';

export type { TestWriter } from './independent-tests.ts';
export type { Reviewer } from './review.ts';

/** The candidates, reviewers and context of a review. */
interface WinnerReviewInput {
  readonly alias: Alias;
  /** All candidates; those without a patch are not survivors. */
  readonly entries: readonly CandidateEntry[];
  readonly evidence: readonly Evidence[];
  readonly onBase: TestRun;
  readonly reviewers: readonly Reviewer[];
  /** Names of contestants, which critics must not see. */
  readonly identities: Identities;
}

interface ReviewedWinner {
  readonly review: WinnerReview;
  /** Evidence with admitted critics' tests, and a doubt where a claim on a changed line was not refuted. */
  readonly evidence: readonly Evidence[];
  /** Report on the critics' tests; absent if they do not count. */
  readonly independentTests?: IndependentTestReport;
}

/** Has critics review the diff of one survivor and runs their tests on all survivors. */
export async function reviewCandidate(
  runner: CheckRunner,
  writer: TestWriter,
  given: WinnerReviewInput,
): Promise<ReviewedWinner> {
  const { alias, entries, evidence, reviewers, identities } = given;
  const { task, brief } = writer;
  const own = entries.find((entry) => entry.alias === alias);
  const patch = own && (await readEntryPatch(runner, own));
  const found = evidence.find((one) => one.alias === alias);
  if (!patch || !found) return { review: { alias, critics: [], contested: false }, evidence };
  const { onBase } = await scopeToPackages(runner, entries, given.onBase);
  const trees = openTrees(runner);
  try {
    const { admission, doubts, reports } = await review(runner, writer, {
      competitors: [{ alias, files: patch.files, facts: factsOf(found), author: null }],
      reviewers,
      survivors: () => survivorsOf(runner, trees, given),
      task: [task.title, '', task.body, '', brief.goal, ...brief.definitionOfDone].join('\n'),
      identities,
      onBase,
      taskKind: taskKindOf(task.title, brief),
    });
    const critics = reports.get(alias) ?? [];
    const holds = hasConfirmedObjection(critics);
    return {
      review: { alias, critics, contested: holds || doubts.size > 0 },
      evidence: evidence.map((one) => {
        const tests = holds ? admission.byAlias[one.alias] : undefined;
        const doubt = one.doubt ?? doubts.get(one.alias);
        return {
          ...one,
          ...(tests ? { independentTests: joinTests(one.independentTests, tests) } : {}),
          ...(doubt === undefined ? {} : { doubt }),
        };
      }),
      ...(holds ? { independentTests: independentTestReport(admission, { models: [], notes: [] }) } : {}),
    };
  } finally {
    await trees.close();
  }
}

/** Rebuilds survivors' production code, since their examined trees are gone. */
async function survivorsOf(
  runner: CheckRunner,
  trees: Trees,
  { entries, evidence }: WinnerReviewInput,
): Promise<readonly TestedSurvivor[]> {
  const survivors: TestedSurvivor[] = [];
  for (const entry of entries) {
    const found = evidence.find((one) => one.alias === entry.alias);
    const patch = found?.survivor ? await readEntryPatch(runner, entry) : null;
    if (!patch) continue;
    const tree = await trees.of(entry.alias, patch.production);
    if (tree.ready)
      survivors.push({ alias: entry.alias, tree, passesBaseTests: found?.baseTests?.exitCode === 0 });
  }
  return survivors;
}

/** Null if there is none or it was damaged since its examination. */
async function readEntryPatch(runner: CheckRunner, { patch }: CandidateEntry): Promise<Patch | null> {
  if (!patch) return null;
  const parsed = await unlessDamaged(runner.readPatch(patch));
  return parsed?.kind === 'patch' ? parsed.patch : null;
}
