import {
  examinationBudget,
  joinPackages,
  type LeftOut,
  ofPackages,
  packagesIn,
  packagesLeftOut,
  packagesMs,
  silentPackages,
  type TestRun,
  withoutSilentPackages,
} from '../../core/evidence/index.ts';
import { affectedPackages } from '../../core/settings/index.ts';
import { unlessDamaged } from '../stage.ts';
import type { CheckRunner } from './areas.ts';
import { planUsedOnBase, silentNotes, withoutFailingSteps } from './base-plan.ts';
import type { CandidateEntry } from './candidate.ts';
import { areaId } from './execute.ts';
import { openTrees, runOn } from './trees.ts';

/** Packages of a workspace with which candidates are tested: only those of the base run (`asOnBase`). */
interface PackageScope {
  readonly onBase: TestRun;
  /** Packages not tested for lack of time; absent: none. */
  readonly leftOut?: LeftOut;
}

/**
 * Chooses the packages of a workspace to test. Packages that candidates can affect are always tested, after a run on
 * the base if there was no time for it before. Deterministic for the same candidates.
 */
export async function scopeToPackages(
  runner: CheckRunner,
  entries: readonly CandidateEntry[],
  onBase: TestRun,
  { leftMs, ahead = false }: { readonly leftMs?: number | undefined; readonly ahead?: boolean } = {},
): Promise<PackageScope> {
  const plan = planUsedOnBase(runner, onBase);
  const packages = [...new Set(plan.commands.flatMap((command) => command.package ?? []))];
  if (packages.length === 0 || !onBase.packages) return { onBase };
  const patched = entries.filter(({ patch }) => patch);
  const changed = await changedPaths(runner, patched);
  // Packages named in the settings are always tested.
  const isNamed = runner.task.settings.checks.packages !== undefined;
  const reached = affectedPackages(runner.packages, changed);
  const affected = new Set(packages.filter((folder) => isNamed || reached.has(folder)));
  const known = await withMissing(runner, entries, onBase, affected);
  const { examine } = runner.task.settings.timeout;
  const parallel = Math.max(1, runner.world.parallelChecks);
  const key = JSON.stringify([
    `${ahead ? 'ahead' : 'examination'}-packages`,
    patched.length,
    [...changed].sort(),
    packages,
  ]);
  const leftOut = await runner.remember(key, async () =>
    packagesLeftOut({
      packages,
      affected,
      onBase: known,
      budgetMs: examinationBudget({
        settingMs: examine === undefined ? undefined : examine * 1000,
        suiteMs: packagesMs(known, affected),
        candidates: patched.length,
        parallel,
        leftMs,
      }),
      rounds: Math.ceil(patched.length / parallel),
    }),
  );
  const left = new Set(leftOut);
  const kept = packages.filter((folder) => !left.has(folder));
  // Packages without results on the base are covered by the base's notes.
  const silent = new Set(silentPackages(known).map(({ folder }) => folder));
  const count = leftOut.filter((folder) => !silent.has(folder)).length;
  return {
    onBase: ofPackages(known, new Set(kept)),
    ...(count > 0 ? { leftOut: { what: 'packages', count, of: packages.length } } : {}),
  };
}

/** Paths of all files that candidates change. */
async function changedPaths(
  runner: CheckRunner,
  entries: readonly CandidateEntry[],
): Promise<readonly string[]> {
  const paths = new Set<string>();
  for (const { patch } of entries) {
    const parsed = patch ? await unlessDamaged(runner.readPatch(patch)) : null;
    if (parsed && parsed.kind !== 'refused') for (const file of parsed.patch.files) paths.add(file.path);
  }
  return [...paths];
}

/** The base run, extended by packages that had not been run. */
async function withMissing(
  runner: CheckRunner,
  entries: readonly CandidateEntry[],
  onBase: TestRun,
  affected: ReadonlySet<string>,
): Promise<TestRun> {
  const before = new Set(packagesIn(onBase));
  const missing = new Set([...affected].filter((folder) => !before.has(folder)));
  if (missing.size === 0) return onBase;
  const commands = planUsedOnBase(runner, onBase).commands.filter(({ package: folder }) =>
    missing.has(folder ?? ''),
  );
  const trees = openTrees(runner);
  // Other candidates may be examined concurrently.
  const name = ['base', 'packages', ...entries.map(({ alias }) => alias)].join('-');
  try {
    const base = await trees.of(name, []);
    if (!base.ready) return onBase;
    const result = await runOn(runner, base, { id: areaId(runner.task.runId, name), commands });
    if (result.kind !== 'ran') return onBase;
    const joined = joinPackages(onBase, result.run);
    const notes = [...(onBase.notes ?? []), ...silentNotes(result.run)];
    const run = withoutSilentPackages(joined);
    return withoutFailingSteps(notes.length > 0 ? { ...run, notes } : run);
  } finally {
    await trees.close();
  }
}
