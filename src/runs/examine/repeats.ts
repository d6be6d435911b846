import {
  EXIT_CODE,
  fitsRepeatBudget,
  packageOfTest,
  resolveSuspects,
  SUSPECT_RUNS,
  type TestRun,
  undecidedSuspects,
  withNamesOf,
} from '../../core/evidence/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import type { CheckRunner } from './areas.ts';
import type { ExaminationTime } from './time.ts';
import { runOn, type Tree, type TreeRun } from './trees.ts';

interface RepeatTools {
  readonly runner: CheckRunner;
  readonly time: ExaminationTime;
}

/** The run in which tests failed that may pass, the suspects. */
interface SuspectRun {
  readonly run: TestRun;
  readonly suspects: readonly string[];
}

/**
 * Reruns suspects on the same tree: individually if the runner can run single files, else their packages or the whole
 * suite if time allows. A test that fails twice has failed; of three differing results, the majority counts.
 */
export async function rerunSuspects(
  tools: RepeatTools,
  tree: Tree,
  options: TreeRun,
  first: SuspectRun,
): Promise<TestRun> {
  return resolveSuspects(first.run, first.suspects, await repeatedRuns(tools, tree, options, first));
}

/** The repeated runs themselves; none if there are no suspects, or no time, which is then listed as left out. */
export async function repeatedRuns(
  { runner, time }: RepeatTools,
  tree: Tree,
  options: TreeRun,
  { run, suspects }: SuspectRun,
): Promise<readonly TestRun[]> {
  const again: TestRun[] = [];
  if (suspects.length === 0 || run.stopped !== null) return again;
  const inTime = aloneCommands(runner, options, suspects)
    ? 0
    : (packageCommands(runner, run, suspects)?.ms ?? run.ms);
  const isTooLong = inTime > 0 && !fitsRepeatBudget({ ms: inTime }, SUSPECT_RUNS - 1);
  const expectedMs = isTooLong ? Number.POSITIVE_INFINITY : inTime;
  if (!(await time.allows('repeats', options.id, '', expectedMs))) return again;
  time.step('repeats', null);
  const { attempt: firstAttempt = 1 } = options;
  for (let nth = 1; nth < SUSPECT_RUNS; nth++) {
    const left = undecidedSuspects(suspects, again);
    if (left.length === 0) break;
    const attempt = firstAttempt + nth;
    const more = await rerunOnce(
      runner,
      tree,
      { ...options, id: `${options.id}-${attempt}`, attempt },
      { run, left },
    );
    if (!more) break;
    again.push(withNamesOf(run, more));
  }
  return again;
}

/** Null if it would take too long. */
async function rerunOnce(
  runner: CheckRunner,
  tree: Tree,
  options: TreeRun,
  on: { readonly run: TestRun; readonly left: readonly string[] },
): Promise<TestRun | null> {
  const alone = aloneCommands(runner, options, on.left);
  if (alone) {
    const result = await runOn(runner, tree, { ...options, commands: alone });
    // If the runner turns out not to accept file names, the result says nothing about the tests.
    if (result.kind === 'ran' && result.run.source === on.run.source) return result.run;
  }
  const { ms, commands } = packageCommands(runner, on.run, on.left) ?? { ms: on.run.ms };
  if (!fitsRepeatBudget({ ms }, SUSPECT_RUNS - 1)) return null;
  const result = await runOn(runner, tree, { ...options, ...(commands ? { commands } : {}) });
  return result.kind === 'ran' ? result.run : null;
}

/** Commands for the packages of these tests, and their duration; null if a test belongs to no package. */
function packageCommands(
  { plan }: CheckRunner,
  run: TestRun,
  ids: readonly string[],
): { readonly commands: readonly TestCommand[]; readonly ms: number } | null {
  const ran = new Map((run.packages ?? []).map(({ folder, ms }) => [folder, ms]));
  const folders = new Set(ids.map(packageOfTest));
  if (![...folders].every((folder) => ran.has(folder))) return null;
  const commands = plan.commands.filter(
    (command) => command.check === undefined && folders.has(command.package ?? ''),
  );
  return { commands, ms: [...folders].reduce((sum, folder) => sum + (ran.get(folder) ?? 0), 0) };
}

/** Commands for the files of these tests; null if a test's file is unknown. */
function aloneCommands(
  runner: CheckRunner,
  options: TreeRun,
  ids: readonly string[],
): readonly TestCommand[] | null {
  const own = options.tests?.map((file) => file.path) ?? [];
  const known = new Set([...runner.baseFiles, ...own]);
  const files = ids.map((id) => (id === EXIT_CODE ? '' : (id.split(' > ', 1)[0] ?? '')));
  return files.every((file) => known.has(file)) ? runner.plan.focus([...new Set(files)]) : null;
}
