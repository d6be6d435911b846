import {
  examinationBudget,
  joinPackages,
  type LeftOut,
  ofModules,
  ofPackages,
  packagesIn,
  packagesLeftOut,
  packagesMs,
  silentPackages,
  suiteFits,
  type TestRun,
  withoutSilentPackages,
} from '../../core/evidence/index.ts';
import { affectedPackages, type TestCommand } from '../../core/settings/index.ts';
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

/** How long the examination may take. */
interface ScopeLimits {
  /** Milliseconds of the run that are left; absent: no limit. */
  readonly leftMs?: number | undefined;
  /** Candidates are examined while others are still coded. */
  readonly ahead?: boolean;
}

/**
 * Chooses the packages of a workspace, or the modules of a build, to test. Those that candidates can affect are always
 * tested, after a run on the base if there was no time for it before. Deterministic for the same candidates.
 */
export async function scopeToPackages(
  runner: CheckRunner,
  entries: readonly CandidateEntry[],
  onBase: TestRun,
  limits: ScopeLimits = {},
): Promise<PackageScope> {
  const plan = planUsedOnBase(runner, onBase);
  const packages = [...new Set(plan.commands.flatMap((command) => command.package ?? []))];
  if (packages.length === 0 || !onBase.packages) return scopeToModules(runner, entries, onBase, limits);
  const { patched, changed, key, rounds } = await scopeInput(runner, entries, packages, limits);
  // Packages named in the settings are always tested.
  const isNamed = runner.task.settings.checks.packages !== undefined;
  const reached = affectedPackages(runner.packages, changed);
  const affected = new Set(packages.filter((folder) => isNamed || reached.has(folder)));
  const known = await withMissing(runner, entries, onBase, affected);
  const leftOut = await runner.remember(key, async () =>
    packagesLeftOut({
      packages,
      affected,
      onBase: known,
      budgetMs: budgetOf(runner, patched.length, packagesMs(known, affected), limits),
      rounds,
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

/**
 * One command tests all modules of a build. If the time is too short for it, a command tests only those that candidates
 * can affect, provided that on the base it gives the same results for them as the whole command.
 */
async function scopeToModules(
  runner: CheckRunner,
  entries: readonly CandidateEntry[],
  onBase: TestRun,
  limits: ScopeLimits,
): Promise<PackageScope> {
  const { modules } = planUsedOnBase(runner, onBase);
  if (!modules || onBase.source !== 'report') return { onBase };
  const { folders } = modules;
  const { patched, changed, key, rounds } = await scopeInput(runner, entries, folders, limits);
  const reached = affectedPackages(runner.packages, changed);
  const affected = folders.filter((folder) => reached.has(folder));
  if (affected.length === 0 || affected.length === folders.length) return { onBase };
  // A candidate may remove or rename modules, and Maven refuses a command for one that it does not know.
  if (changed.some((path) => /(?:^|\/)pom\.xml$/.test(path))) return { onBase };
  const fits = await runner.remember(key, async () =>
    suiteFits(onBase, { budgetMs: budgetOf(runner, patched.length, 0, limits), rounds }),
  );
  if (fits) return { onBase };
  const some = await runOnBase(runner, entries, [modules.only(affected)]);
  const restricted = some && ofModules(onBase, some, affected);
  if (!restricted) return { onBase };
  const count = folders.length - affected.length;
  return { onBase: restricted, leftOut: { what: 'packages', count, of: folders.length } };
}

/** What the choice depends on, and the key under which it is remembered. */
async function scopeInput(
  runner: CheckRunner,
  entries: readonly CandidateEntry[],
  packages: readonly string[],
  { ahead = false }: ScopeLimits,
) {
  const patched = entries.filter(({ patch }) => patch);
  const changed = await changedPaths(runner, patched);
  const key = JSON.stringify([
    `${ahead ? 'ahead' : 'examination'}-packages`,
    patched.length,
    [...changed].sort(),
    packages,
  ]);
  return { patched, changed, key, rounds: Math.ceil(patched.length / parallelOf(runner)) };
}

const parallelOf = ({ world }: CheckRunner): number => Math.max(1, world.parallelChecks);

function budgetOf(runner: CheckRunner, candidates: number, suiteMs: number, { leftMs }: ScopeLimits): number {
  const { examine } = runner.task.settings.timeout;
  const settingMs = examine === undefined ? undefined : examine * 1000;
  return examinationBudget({ settingMs, suiteMs, candidates, parallel: parallelOf(runner), leftMs });
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
  const run = await runOnBase(runner, entries, commands);
  if (!run) return onBase;
  const notes = [...(onBase.notes ?? []), ...silentNotes(run)];
  const joined = withoutSilentPackages(joinPackages(onBase, run));
  return withoutFailingSteps(notes.length > 0 ? { ...joined, notes } : joined);
}

/** These commands on the base commit; null if they cannot be run. */
async function runOnBase(
  runner: CheckRunner,
  entries: readonly CandidateEntry[],
  commands: readonly TestCommand[],
): Promise<TestRun | null> {
  const trees = openTrees(runner);
  // Other candidates may be examined concurrently.
  const name = ['base', 'packages', ...entries.map(({ alias }) => alias)].join('-');
  try {
    const base = await trees.of(name, []);
    if (!base.ready) return null;
    const result = await runOn(runner, base, { id: areaId(runner.task.runId, name), commands });
    return result.kind === 'ran' ? result.run : null;
  } finally {
    await trees.close();
  }
}
