import {
  type DerivedTests,
  isSameRun,
  isSurvivor,
  type ProbeRun,
  type Unsteady,
} from '../../core/evidence/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { type CheckRunner, lanesOf } from './areas.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId } from './execute.ts';
import { type BuiltCandidate, compareCandidates, type ProbeResults } from './probe-comparison.ts';
import {
  deriveTests,
  type ProbeRequest,
  type ProbeResult,
  probeRequestOf,
  requestInFewProcesses,
  runProbes,
} from './probe-programs.ts';
import { probeSources } from './probe-sources.ts';
import { type Elsewhere, unsteadyProbesOf, withUnsteadyProbes } from './steadiness.ts';
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
  if (onBase === null || !(await time.allows('probes', 'all', 'candidates', onBase.expectedMs)))
    return nothing;
  const runs = new Map<Tree, ProbeRun | null>();
  const done = time.step('probes', ready.length);
  await time.measured('probes', () =>
    inParallel(lanesOf(runner), ready, async ({ candidate, tree }) => {
      if (!runs.has(tree)) {
        runs.set(tree, null);
        const id = areaId(candidate.runId, candidate.alias, 'probe');
        runs.set(tree, await onBase.observe(runner, tree, id));
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

interface ProbedCandidates {
  /** With the gate `steady` for those that behave differently in other surroundings. */
  readonly examined: readonly ExaminedCandidate[];
  /** Null if no probe could be derived or there was no time. */
  readonly results: ProbeResults | null;
}

/** Probes on which survivors differ between the usual and other surroundings although the base does not. */
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
  if (!(await time.allows('surroundings', 'all', 'probes', onBase.expectedMs))) return found;
  const probed = (where: 'here' | 'there', tree: Tree, name: string) => {
    const on = where === 'here' ? runner : elsewhere.runner;
    return onBase.observe(on, tree, areaId(runner.task.runId, 'probe', where, name));
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

interface ProbedBase {
  readonly derived: DerivedTests;
  readonly runs: readonly ProbeRun[];
  /** Runs the probes on a tree, except those that hung or ended the process on the base. Null if that is impossible. */
  observe(runner: CheckRunner, tree: Tree, id: string): Promise<ProbeRun | null>;
  /** Expected milliseconds to probe all candidates. */
  readonly expectedMs: number;
}

/**
 * Derives probes and runs them on the base. Null if there is none or the base cannot be probed. Its second run is in few
 * processes, if the test runner can do that; the candidates' are too, if it changed nothing on the base.
 */
async function probeBase(
  tools: ExaminationTools,
  ready: readonly BuiltCandidate[],
): Promise<ProbedBase | null> {
  const { runner } = tools;
  const base = await tools.trees.of('base', []);
  const derived = await deriveTests(runner, base, ready);
  if (derived === null || derived.files.length === 0) return null;
  const onePerFile = probeRequestOf(runner, derived);
  const inFew = requestInFewProcesses(runner, derived);
  const observe = (attempt: number, request: ProbeRequest) =>
    runProbes(runner, base, { ...request, id: areaId(runner.task.runId, 'probe', `${attempt}`) });
  const found: (ProbeResult | null)[] = [null, null];
  await inParallel(lanesOf(runner), BASE_RUNS, async (attempt) => {
    found[attempt - 1] = await observe(attempt, (attempt === 1 ? null : inFew) ?? onePerFile);
  });
  const [first = null, second = null] = found;
  const usesFew = inFew !== null && first !== null && second !== null && isSameRun(first.run, second.run);
  const again = inFew === null || usesFew ? second : await observe(BASE_RUNS.length + 1, onePerFile);
  if (first === null || again === null) return null;
  const skip = [...first.stuck, ...again.stuck];
  // By the commands alone: other ones may run beside them.
  const eachMs = (first.ms + again.ms) / BASE_RUNS.length;
  return {
    derived,
    runs: [first.run, again.run],
    expectedMs: (eachMs * ready.length) / Math.max(1, runner.world.parallelChecks),
    async observe(on, tree, id) {
      const run = usesFew ? (await runProbes(on, tree, { ...inFew, id, skip }))?.run : null;
      // Where one file ended the process, the others had none.
      if (run && hasCasesOf(run, first.run)) return run;
      const again = { ...onePerFile, id: usesFew ? `${id}-apart` : id, skip };
      return (await runProbes(on, tree, again))?.run ?? null;
    },
  };
}

const hasCasesOf = (run: ProbeRun, other: ProbeRun): boolean =>
  [...other.cases.keys()].every((id) => run.cases.has(id));
