import {
  affordable,
  doubtful,
  EXIT_CODE,
  SUSPECT_RUNS,
  settleSuspects,
  type TestRun,
} from '../../core/evidence/index.ts';
import type { TestCommand } from '../../core/policy/index.ts';
import type { Bench } from './execute.ts';
import { runOn, type Tree, type Wish } from './trees.ts';

/**
 * A run after its suspects, tests that should pass and did not, have been run again on the same tree: alone where the
 * runner is known to run single files, else the whole suite if there is time for it. What fails twice has failed; of
 * three different answers most count.
 */
export async function settled(
  bench: Bench,
  tree: Tree,
  wish: Wish,
  first: { readonly run: TestRun; readonly suspects: readonly string[] },
): Promise<TestRun> {
  const { run, suspects } = first;
  const again: TestRun[] = [];
  for (let attempt = 2; attempt <= SUSPECT_RUNS && run.stopped === null; attempt++) {
    const left = doubtful(suspects, again);
    if (left.length === 0) break;
    const more = await once(bench, tree, { ...wish, id: `${wish.id}-${attempt}`, attempt }, { run, left });
    if (!more) break;
    again.push(more);
  }
  return settleSuspects(run, suspects, again);
}

/** Null where it would take too long. */
async function once(
  bench: Bench,
  tree: Tree,
  wish: Wish,
  on: { readonly run: TestRun; readonly left: readonly string[] },
): Promise<TestRun | null> {
  const alone = aloneCommands(bench, wish, on.left);
  if (alone) {
    const result = await runOn(bench, tree, { ...wish, commands: alone });
    // A runner that cannot be told a file after all says nothing about its tests.
    if (result.kind === 'ran' && result.run.source === on.run.source) return result.run;
  }
  if (!affordable(on.run, SUSPECT_RUNS - 1)) return null;
  const result = await runOn(bench, tree, wish);
  return result.kind === 'ran' ? result.run : null;
}

/** Commands for the files of these tests; null where one of them does not say its file. */
function aloneCommands(bench: Bench, wish: Wish, ids: readonly string[]): readonly TestCommand[] | null {
  const own = wish.tests?.map((file) => file.path) ?? [];
  const known = new Set([...bench.baseFiles, ...own]);
  const files = ids.map((id) => (id === EXIT_CODE ? '' : (id.split(' > ', 1)[0] ?? '')));
  return files.every((file) => known.has(file)) ? bench.plan.focus([...new Set(files)]) : null;
}
