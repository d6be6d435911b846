import {
  type DerivedTests,
  foundAgain,
  isSameRun,
  isSurvivor,
  joinedRun,
  type ProbeRun,
  type Unsteady,
  unsteadyProbes,
} from '../../core/evidence/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { type CheckRunner, lanesOf } from './areas.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId } from './execute.ts';
import { type BuiltCandidate, compareCandidates, type ProbeResults } from './probe-comparison.ts';
import {
  deriveTests,
  type ProbeFailure,
  type ProbeGroup,
  type ProbeResult,
  probeGroupsOf,
  runProbes,
} from './probe-programs.ts';
import { probeSources } from './probe-sources.ts';
import { type Elsewhere, withUnsteadyProbes } from './steadiness.ts';
import type { Tree } from './trees.ts';

/** Runs on the base: differences between them are noise. */
const BASE_RUNS = [1, 2] as const;
/**
 * Runs every candidate that builds on inputs derived from tests and issue, and compares their behaviour; survivors also
 * in other surroundings. No results if no probe could be derived: an unsupported language, no tests, or no changes.
 */
export async function probeCandidates(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
  elsewhere: Elsewhere | null = null,
): Promise<ProbedCandidates> {
  const { runner, time } = tools;
  const nothing = { examined, results: null };
  const ready = examined.flatMap((one) => (one.tree?.ready ? [{ ...one, tree: one.tree }] : []));
  if (ready.length < 2 || probeSources(runner, ready).count === 0) return nothing;
  if (!(await time.allows('probes', 'all', 'base'))) return nothing;
  time.step('probes', null);
  const onBase = await time.measured('probes of the base', () => probeBase(tools, ready));
  const groups = onBase && (await groupsInTime(tools, onBase, ready.length));
  if (onBase === null || groups === null) return nothing;
  const runs = new Map<Tree, ProbeRun | null>();
  const done = time.step('probes', ready.length);
  await time.measured('probes', () =>
    inParallel(lanesOf(runner), ready, async ({ candidate, tree }) => {
      if (!runs.has(tree)) {
        runs.set(tree, null);
        const id = areaId(candidate.runId, candidate.alias, 'probe');
        runs.set(tree, await observe(groups, runner, tree, id));
      }
      done();
    }),
  );
  const unsteady = elsewhere ? await probeElsewhere(tools, ready, { elsewhere, onBase, runs }) : null;
  const judged = <T extends ExaminedCandidate>(all: readonly T[]) =>
    elsewhere && unsteady ? withUnsteadyProbes(all, elsewhere, unsteady) : all;
  return {
    examined: judged(examined),
    results: compareCandidates(judged(ready), onBase.derived, onBase.runs, runs),
  };
}

/** What there is time for on so many trees: all, the base's files, or nothing. Files of candidates never prevent these. */
async function groupsInTime(
  { runner, time }: ExaminationTools,
  { groups }: ProbedBase,
  trees: number,
): Promise<readonly ProbedGroup[] | null> {
  const ofBase = groups.filter(({ isOfBase }) => isOfBase);
  const isAllowed = (unit: string, some: readonly ProbedGroup[]) =>
    time.allows('probes', unit, 'candidates', expectedMsOf(runner, some, trees));
  const all = ofBase.length === groups.length || (await isAllowed('added', groups)) ? groups : ofBase;
  return all.length > 0 && (await isAllowed('all', all)) ? all : null;
}

interface ProbedCandidates {
  /** With the gate `steady` for those that behave differently in other surroundings. */
  readonly examined: readonly ExaminedCandidate[];
  /** Null if no probe could be derived or there was no time. */
  readonly results: ProbeResults | null;
}

/**
 * Probes on which survivors differ between the usual and other surroundings although the base does not. Only those of
 * the base's files: in a candidate's file, its author decides which rival looks at the surroundings.
 */
async function probeElsewhere(
  { runner, trees, time }: ExaminationTools,
  ready: readonly BuiltCandidate[],
  {
    elsewhere,
    onBase,
    runs,
  }: {
    readonly elsewhere: Elsewhere;
    readonly onBase: ProbedBase;
    readonly runs: ReadonlyMap<Tree, ProbeRun | null>;
  },
): Promise<ReadonlyMap<Alias, readonly Unsteady[]>> {
  const found = new Map<Alias, readonly Unsteady[]>();
  const lanes = lanesOf(runner);
  const groups = onBase.groups.filter(({ isOfBase }) => isOfBase);
  if (groups.length === 0) return found;
  const expectedMs = expectedMsOf(runner, groups, ready.length);
  if (!(await time.allows('surroundings', 'all', 'probes', expectedMs))) return found;
  const probed = (where: 'here' | 'there', tree: Tree, name: string) => {
    const on = where === 'here' ? runner : elsewhere.runner;
    return observe(groups, on, tree, areaId(runner.task.runId, 'probe', where, name));
  };
  time.step('surroundings', null);
  await time.measured('probes elsewhere', async () => {
    const base = await trees.of('base', []);
    const survivors = ready.filter(({ gates }) => isSurvivor(gates));
    const named = survivors.map(({ candidate, tree }) => [tree, `${candidate.alias}-1`] as const);
    const runsThere = new Map<Tree, ProbeRun | null>();
    // Equal trees are probed once.
    await inParallel(lanes, [...new Map([[base, 'base'], ...named])], async ([tree, name]) => {
      runsThere.set(tree, await probed('there', tree, name));
    });
    const baseThere = runsThere.get(base);
    if (!baseThere) return;
    const onBoth = { here: onBase.runs, there: [baseThere] };
    await inParallel(lanes, survivors, async ({ candidate: { alias }, tree }) => {
      const unsteady = await unsteadyProbesOf(onBoth, async (where, attempt) =>
        attempt === 1
          ? ((where === 'here' ? runs : runsThere).get(tree) ?? null)
          : probed(where, tree, `${alias}-${attempt}`),
      );
      found.set(alias, unsteady);
    });
  });
  return found;
}

/** Compares probe results of a tree in both surroundings; `run` repeats probes while they differ. */
async function unsteadyProbesOf(
  base: { readonly here: readonly ProbeRun[]; readonly there: readonly ProbeRun[] },
  run: (where: 'here' | 'there', attempt: number) => Promise<ProbeRun | null>,
): Promise<readonly Unsteady[]> {
  const differing = async (attempt: number) => {
    const [here, there] = [await run('here', attempt), await run('there', attempt)];
    return here && there ? unsteadyProbes(base, { here, there }) : [];
  };
  const first = await differing(1);
  return first.length === 0 ? [] : foundAgain(first, await differing(2));
}

interface ProbedBase {
  readonly derived: DerivedTests;
  /** All that its groups observed. */
  readonly runs: readonly ProbeRun[];
  /** Without those that could not be run on the base. */
  readonly groups: readonly ProbedGroup[];
}

/** What is run on every tree as it was on the base, in a sandbox of its own. */
interface ProbedGroup extends ProbeGroup {
  /** Part of area ids; empty for the first one. */
  readonly name: readonly string[];
  /** On the base. */
  readonly runs: readonly [ProbeRun, ProbeRun];
  /** In few processes, it observed the same on the base. */
  readonly usesFew: boolean;
  /** What hung or ended the process on the base, and values that were not used any more there. */
  readonly skip: readonly ProbeFailure[];
  readonly avoid: readonly string[];
  /** Milliseconds of the command on the base. */
  readonly ms: number;
}

/**
 * Derives probes and runs them on the base. Null if there is none or the base cannot be probed. The second run of each
 * group is in few processes, if the test runner can do that; the candidates' are too, if it changed nothing on the base.
 */
async function probeBase(
  tools: ExaminationTools,
  ready: readonly BuiltCandidate[],
): Promise<ProbedBase | null> {
  const { runner } = tools;
  const base = await tools.trees.of('base', []);
  const derived = await deriveTests(runner, base, ready);
  if (derived === null || derived.files.length === 0) return null;
  const all = probeGroupsOf(runner, derived).map((group, nth) => ({
    ...group,
    name: nth === 0 ? [] : ['added', `${nth}`],
    results: new Map<number, ProbeResult | null>(),
  }));
  const runs = all.flatMap((group) => BASE_RUNS.map((attempt) => ({ group, attempt })));
  await inParallel(lanesOf(runner), runs, async ({ group, attempt }) => {
    const { files, values, apart, inFew, name, results } = group;
    const command = (attempt === 1 ? null : inFew) ?? apart;
    const id = areaId(runner.task.runId, 'probe', `${attempt}`, ...name);
    results.set(attempt, await runProbes(runner, base, { id, files, values, command }));
  });
  const probed: ProbedGroup[] = [];
  for (const { results, ...group } of all) {
    const [first = null, second = null] = BASE_RUNS.map((attempt) => results.get(attempt));
    const isSame = first !== null && second !== null && isSameRun(first.run, second.run);
    const usesFew = group.inFew !== null && isSame;
    const id = areaId(runner.task.runId, 'probe', `${BASE_RUNS.length + 1}`, ...group.name);
    const { files, values, apart: command } = group;
    const again =
      group.inFew === null || usesFew
        ? second
        : await runProbes(runner, base, { id, files, values, command });
    if (first !== null && again !== null) {
      const skip = [...first.stuck, ...again.stuck];
      const avoid = [...new Set([...first.avoided, ...again.avoided])];
      // By the commands alone: other ones may run beside them.
      const ms = (first.ms + again.ms) / BASE_RUNS.length;
      probed.push({ ...group, runs: [first.run, again.run], usesFew, skip, avoid, ms });
    } else if (group.isOfBase) return null;
  }
  const onBase = (nth: 0 | 1) =>
    joinedRun(probed.map(({ isOfBase, runs }) => ({ isOfBase, run: runs[nth] })));
  const [first, again] = [onBase(0), onBase(1)];
  return first && again && { derived, runs: [first, again], groups: probed };
}

/** Expected milliseconds to probe so many trees. */
const expectedMsOf = (
  { world }: CheckRunner,
  groups: readonly Pick<ProbedGroup, 'ms'>[],
  trees: number,
): number => (groups.reduce((sum, { ms }) => sum + ms, 0) * trees) / Math.max(1, world.parallelChecks);

/**
 * Runs these probes on a tree, except those that hung or ended the process on the base. Null if that is impossible for
 * the base's files; what could not be run of others is left out.
 */
async function observe(
  groups: readonly ProbedGroup[],
  on: CheckRunner,
  tree: Tree,
  id: string,
): Promise<ProbeRun | null> {
  const parts: { readonly isOfBase: boolean; readonly run: ProbeRun }[] = [];
  for (const group of groups) {
    const run = await observeGroup(group, on, tree, [id, ...group.name].join('-'));
    if (run) parts.push({ isOfBase: group.isOfBase, run });
    else if (group.isOfBase) return null;
  }
  return joinedRun(parts);
}

async function observeGroup(
  { files, values, apart, inFew, usesFew, skip, avoid, runs: [onBase] }: ProbedGroup,
  on: CheckRunner,
  tree: Tree,
  id: string,
): Promise<ProbeRun | null> {
  const how = { files, values, skip, avoid };
  const run =
    usesFew && inFew !== null ? (await runProbes(on, tree, { ...how, id, command: inFew }))?.run : null;
  // Where one file ended the process, the others had none.
  if (run && hasCasesOf(run, onBase)) return run;
  const again = { ...how, id: usesFew ? `${id}-apart` : id, command: apart };
  return (await runProbes(on, tree, again))?.run ?? null;
}

const hasCasesOf = (run: ProbeRun, other: ProbeRun): boolean =>
  [...other.cases.keys()].every((id) => run.cases.has(id));
