import type { Evidence, TestRun } from '../../core/evidence/index.ts';
import {
  aimOf,
  type IndependentTestReport,
  independentTestReport,
  joinTests,
} from '../../core/independent-tests/index.ts';
import {
  changedFiles,
  confirmed,
  factsOf,
  type Identities,
  type WinnerReview,
} from '../../core/judging/index.ts';
import type { Alias } from '../../core/model/index.ts';
import type { Patch } from '../../core/patches/index.ts';
import { readPatch } from '../context.ts';
import type { Survivor } from './admit.ts';
import type { CheckRunner } from './areas.ts';
import type { Entry } from './candidate.ts';
import type { TestWriter } from './independent-tests.ts';
import { type Reviewer, review } from './review.ts';
import { openTrees, type Trees } from './trees.ts';

export type { TestWriter } from './independent-tests.ts';
export type { Reviewer } from './review.ts';

/** Who is reviewed, by whom, and among whom. */
interface WinnerReviewing {
  readonly alias: Alias;
  /** All candidates; those without a patch are no survivors. */
  readonly entries: readonly Entry[];
  readonly evidence: readonly Evidence[];
  readonly onBase: TestRun;
  readonly reviewers: readonly Reviewer[];
  /** Names of contestants, which no critic may read. */
  readonly identities: Identities;
}

interface ReviewedWinner {
  readonly review: WinnerReview;
  /** With the critics' tests where one of them holds, and a doubt where a line was named and nothing refutes it. */
  readonly evidence: readonly Evidence[];
  /** Of the critics' tests; absent where they do not count. */
  readonly neutral?: IndependentTestReport;
}

/** Critics look at the diff of one survivor; their tests are run on all of them. */
export async function reviewCandidate(
  runner: CheckRunner,
  writer: TestWriter,
  given: WinnerReviewing,
): Promise<ReviewedWinner> {
  const { alias, entries, evidence, onBase, reviewers, identities } = given;
  const { task, brief } = writer;
  const own = entries.find((entry) => entry.alias === alias);
  const patch = own && (await patchOf(runner, own));
  const found = evidence.find((one) => one.alias === alias);
  if (!patch || !found) return { review: { alias, critics: [], contested: false }, evidence };
  const trees = openTrees(runner);
  try {
    const { admission, doubts, reports } = await review(runner, writer, {
      competitors: [{ alias, files: changedFiles(patch), facts: factsOf(found), author: null }],
      reviewers,
      survivors: () => survivorsOf(runner, trees, given),
      task: [task.title, '', task.body, '', brief.goal, ...brief.definitionOfDone].join('\n'),
      identities,
      onBase,
      aim: aimOf(task.title, brief),
    });
    const critics = reports.get(alias) ?? [];
    const holds = confirmed(critics);
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
      ...(holds ? { neutral: independentTestReport(admission, { models: [], notes: [] }) } : {}),
    };
  } finally {
    await trees.close();
  }
}

/** Survivors with their production code built again: what it was examined on is gone. */
async function survivorsOf(
  runner: CheckRunner,
  trees: Trees,
  { entries, evidence }: WinnerReviewing,
): Promise<readonly Survivor[]> {
  const survivors: Survivor[] = [];
  for (const entry of entries) {
    const found = evidence.find((one) => one.alias === entry.alias);
    const patch = found?.survivor ? await patchOf(runner, entry) : null;
    if (!patch) continue;
    const tree = await trees.of(entry.alias, patch.production);
    if (tree.ready) survivors.push({ alias: entry.alias, tree, green: found?.baseTests?.exitCode === 0 });
  }
  return survivors;
}

async function patchOf({ world, baseFiles }: CheckRunner, { patch }: Entry): Promise<Patch | null> {
  if (!patch) return null;
  const parsed = await readPatch(world.artifacts, patch, { baseFiles });
  return parsed.kind === 'patch' ? parsed.patch : null;
}
