import {
  type AssertionChange,
  assertionChanges,
  type FoundElsewhere,
  findingsElsewhere,
  type GateReport,
  hangs,
  inBoth,
  isSteady,
  isStopped,
  isSurvivor,
  joinedRewrites,
  LONG_SUITE_MS,
  NO_RECORDS,
  newFailures,
  notRunElsewhere,
  showsLock,
  steadyGate,
  steadyPass,
  succeeded,
  type TestRun,
  type Unlocked,
  type Unsteady,
  unlockedOf,
  unsteadyTests,
  withMoreFindings,
  withoutShared,
} from '../../core/evidence/index.ts';
import { inParallel, otherSurroundings, type Surroundings } from '../../core/model/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import { type CheckRunner, lanesOf } from './areas.ts';
import { asOnBase, withoutSteps } from './base-plan.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { areaId } from './execute.ts';
import { probeSources } from './probe-sources.ts';
import { msOfFiles, testFileCount } from './time.ts';
import { limitedByBase, openTrees, runOn, type Tree } from './trees.ts';

/** Other surroundings in which survivors run once more, with the base's results there. */
export interface Elsewhere {
  readonly runner: CheckRunner;
  readonly surroundings: Surroundings;
  readonly onBase: TestRun;
  /** The base's results in the usual surroundings, by the same commands. */
  readonly baseHere: TestRun;
  /** Absent: the whole suite. */
  readonly commands?: readonly TestCommand[];
}

/** Of a long suite, only the test files nearest to the change run elsewhere: this share of all, and at least one. */
const NEAR_SHARE = 0.1;
/** Share of the time that attempts leave to probes and tests of others, which compare candidates. Our default. */
const COMPARISONS_SHARE = 0.5;
/** Time limit of the suite in other surroundings: a multiple of its usual duration, plus some seconds. */
const SLOWDOWN = 3;
const MORE_SECONDS = 30;

/**
 * Opens surroundings that differ from the usual ones in every way that the base tolerates: its suite must pass there
 * just as well. Null if there is no survivor, no time, or no difference that the base tolerates.
 */
export async function openElsewhere(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
): Promise<Elsewhere | null> {
  const { runner, onBase, time } = tools;
  const wouldSurvive = examined.filter(({ gates }) => gates.every(({ passed }) => passed));
  if (wouldSurvive.length === 0 || onBase.source === 'none') return null;
  const long = onBase.ms >= LONG_SUITE_MS;
  const files = long ? nearestTests(tools, wouldSurvive) : [];
  const near = long ? runner.plan.focus(files) : null;
  if (long && near === null) return null;
  const allows = (part: string, ms: number) => time.allows('surroundings', 'all', part, ms);
  const comparisonsMs = COMPARISONS_SHARE * time.left();
  const buildMs = onBase.buildMs ?? 0;
  const baseMs = buildMs + (long ? 2 * msOfFiles(tools, files.length) : onBase.ms);
  if (!(await allows('base', baseMs))) return null;
  time.step('surroundings', null);
  const base = await time.measured('the base built elsewhere', () => tools.trees.of('base', []));
  if (!base.ready) return null;
  const options = near ? { commands: near } : {};
  const tested = (on: CheckRunner, id: string) =>
    time.measured(`the base elsewhere: ${id}`, () => ranOn(on, base, { id, ...options }));
  const here = near ? await tested(runner, 'near') : onBase;
  if (!here || here.stopped !== null) return null;
  // An attempt is of use only if candidates can be run there as well; of a long suite, in the usual ones, too.
  const rounds = Math.ceil(wouldSurvive.length / Math.max(1, runner.world.parallelChecks));
  const attemptMs = here.ms * (1 + rounds * (near ? 2 : 1));
  const green = await firstGreen(runner, here, async (on, id) =>
    (await allows(id, attemptMs + comparisonsMs)) ? tested(on, id) : null,
  );
  return green && { ...green, baseHere: here, ...options };
}

/**
 * Runs the base's suite where `openElsewhere` will look for it, before there is a candidate. Of a long suite, and of
 * packages, only what is near the changes will run there, which is not known yet.
 */
export async function tryBaseElsewhere(runner: CheckRunner, baseRun: TestRun): Promise<void> {
  const { source, ms, packages } = baseRun;
  if (source === 'none' || packages || ms >= LONG_SUITE_MS) return;
  const trees = openTrees(runner);
  try {
    const base = await trees.of('base', []);
    const on = limitedByBase(asOnBase(runner, baseRun), baseRun);
    if (base.ready) await firstGreen(on, baseRun, (there, id) => ranOn(there, base, { id }));
  } finally {
    await trees.close();
  }
}

/**
 * The first of these in which the base's suite passes as it does in the usual surroundings: with other paths, then with
 * other names only; each first with locked assertion libraries. Null if there is none.
 */
async function firstGreen(
  runner: CheckRunner,
  here: TestRun,
  tested: (on: CheckRunner, id: string) => Promise<TestRun | null>,
): Promise<Pick<Elsewhere, 'runner' | 'surroundings' | 'onBase'> | null> {
  for (const differ of ['everything', 'names'] as const) {
    const surroundings = otherSurroundings(runner.task.runId, differ);
    const most = runner.testSeconds ?? runner.task.settings.timeout.check;
    const testSeconds = Math.min(most, (SLOWDOWN * here.ms) / 1000 + MORE_SECONDS);
    const there = { ...withoutSteps(runner), testSeconds, surroundings };
    for (const on of [{ ...there, locksAssertions: true as const }, there]) {
      const run = await tested(on, `elsewhere-${differ}${on === there ? '' : '-locked'}`);
      // Others are not allowed either.
      if (run === null) return null;
      // In this place, the same without the lock would hardly be faster.
      if (hangs(run) && differ === 'everything') break;
      if (isAsGreen(here, run)) return { runner: on, surroundings, onBase: run };
    }
  }
  return null;
}

function nearestTests(tools: ExaminationTools, examined: readonly ExaminedCandidate[]): readonly string[] {
  const { tests } = probeSources(tools.runner, examined);
  return tests.slice(0, Math.max(1, Math.floor(NEAR_SHARE * testFileCount(tools))));
}

const isAsGreen = (here: TestRun, there: TestRun): boolean =>
  there.stopped === null &&
  there.source === here.source &&
  (here.source === 'report'
    ? Object.values(there.tests).includes('passed') && newFailures(here, there).length === 0
    : succeeded(here) && succeeded(there));

interface TestsElsewhere {
  readonly id: string;
  readonly commands?: readonly TestCommand[];
  readonly attempt?: number;
}

/** Null also for tests that were stopped. */
async function testsOn(runner: CheckRunner, tree: Tree, options: TestsElsewhere): Promise<TestRun | null> {
  const run = await ranOn(runner, tree, options);
  return run?.stopped === null ? run : null;
}

async function ranOn(
  runner: CheckRunner,
  tree: Tree,
  { id, commands, attempt }: TestsElsewhere,
): Promise<TestRun | null> {
  const result = await runOn(runner, tree, {
    id: areaId(runner.task.runId, id),
    ...(commands ? { commands } : {}),
    ...(attempt ? { attempt } : {}),
  });
  return result.kind === 'ran' ? result.run : null;
}

/**
 * Runs the base's tests in the other surroundings on each candidate that has passed all gates, and adds the gate
 * `steady`.
 */
export async function testElsewhere(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
  elsewhere: Elsewhere | null,
): Promise<readonly ExaminedCandidate[]> {
  const { runner, time } = tools;
  const survivors = examined.filter(({ gates, tree }) => tree?.ready && gates.every(({ passed }) => passed));
  const trees = new Map<Tree, Promise<FoundElsewhere | null>>();
  const expectedMs =
    ((elsewhere?.onBase.ms ?? 0) * survivors.length) / Math.max(1, runner.world.parallelChecks);
  const allowed = elsewhere !== null && (await time.allows('surroundings', 'all', 'candidates', expectedMs));
  const done = time.step('surroundings', allowed ? survivors.length : 0);
  await time.measured('elsewhere', () =>
    inParallel(lanesOf(runner), survivors, async ({ candidate, tree }) => {
      if (!elsewhere || !allowed || !tree) return;
      const asked = trees.get(tree) ?? differencesIn(tools, tree, elsewhere, candidate.alias);
      trees.set(tree, asked);
      await asked;
      done();
    }),
  );
  const results = await Promise.all([...trees].map(async ([tree, asked]) => [tree, await asked] as const));
  const all = new Map(results.flatMap(([tree, found]) => (found === null ? [] : [[tree, found] as const])));
  const differing = withoutShared(new Map([...all].map(([tree, { unsteady }]) => [tree, unsteady] as const)));
  return examined.map((one) => {
    if (!survivors.includes(one)) return one;
    const unsteady = one.tree && differing.get(one.tree);
    const { changes = [], unlocked, ...writes } = (one.tree && all.get(one.tree)) ?? {};
    const known = elsewhere && { ...elsewhere.onBase, ...joinedRewrites([tools.onBase, elsewhere.onBase]) };
    const found = known ? findingsElsewhere({ changes, ...writes }, known, one) : [];
    const gates = withMoreFindings(one.gates, found);
    const gate = elsewhere && unsteady ? gateOf(unsteady, elsewhere, { gates, unlocked }) : notRunElsewhere();
    return { ...one, gates: [...gates, gate] };
  });
}

function gateOf(
  unsteady: readonly Unsteady[],
  { runner, onBase, surroundings }: Elsewhere,
  { gates, unlocked }: { readonly gates: readonly GateReport[]; readonly unlocked?: Unlocked | undefined },
): GateReport {
  const isLocked = showsLock(onBase.assertions);
  if (unlocked === 'stopped') return steadyPass(surroundings, unlocked);
  if (unsteady.length > 0) {
    const untampered = gates.find(({ gate }) => gate === 'untampered');
    return steadyGate(unsteady, surroundings, untampered, isLocked && unlocked === undefined);
  }
  if (!runner.locksAssertions) return steadyPass(surroundings, 'base');
  return steadyPass(surroundings, unlocked ?? (isLocked ? 'locked' : 'nothing'));
}

/** What differs twice; null if the tests could not be run in the usual surroundings either. */
async function differencesIn(
  { runner }: ExaminationTools,
  tree: Tree,
  elsewhere: Elsewhere,
  alias: string,
): Promise<FoundElsewhere | null> {
  const { commands, onBase, baseHere } = elsewhere;
  const differing = async (attempt: number): Promise<FoundElsewhere | null> => {
    const options = { ...(commands ? { commands } : {}), attempt };
    const here = await testsOn(runner, tree, { ...options, id: `${alias}-here-${attempt}` });
    const there = await testsOn(elsewhere.runner, tree, { ...options, id: `${alias}-there-${attempt}` });
    if (!here) return null;
    if (!there) return { unsteady: [], changes: [], unlocked: 'stopped' };
    const unsteady = unsteadyTests({ here: baseHere, there: onBase }, { here, there });
    const changes = changedAssertions(onBase, there).filter(
      // A candidate may install another version of a library.
      ({ kind }) => (kind !== 'source' && kind !== 'rewritten') || !tree.built.ownPackages,
    );
    const found = { unsteady, changes, ...joinedRewrites([there]) };
    if (!showsLock(onBase.assertions) || showsLock(there.assertions)) return found;
    if (unsteady.length === 0) return { ...found, unlocked: 'unrecorded' };
    // Nothing shows that the lock started at all, so the difference may be its own.
    const { locksAssertions: _, ...unlocked } = elsewhere.runner;
    const without = await testsOn(unlocked, tree, { ...options, id: `${alias}-unlocked-${attempt}` });
    // If that reaches a limit, what was found with the lock still stands.
    const compared = without && unsteadyTests({ here: baseHere, there: onBase }, { here, there: without });
    return { ...found, unsteady: compared ?? [], unlocked: 'differs' };
  };
  const first = await differing(1);
  if (first === null || isSteady(first)) return first;
  const again = await differing(2);
  if (again === null) return null;
  if (isStopped(first) === isStopped(again)) return isStopped(again) ? again : inBoth(first, again);
  // Stopped once, as on a busy machine: what the other attempt found counts if a third one finds it, too.
  const other = isStopped(first) ? again : first;
  const third = isSteady(other) ? other : await differing(3);
  return third === null || isStopped(third) ? third : inBoth(other, third);
}

const changedAssertions = (onBase: TestRun, there: TestRun): readonly AssertionChange[] =>
  showsLock(onBase.assertions)
    ? assertionChanges(onBase.assertions, there.assertions ?? NO_RECORDS, isAsGreen(onBase, there))
    : [];

/** Adds results of probes: the gate `steady` of candidates that behave differently in other surroundings. */
export function withUnsteadyProbes<T extends ExaminedCandidate>(
  examined: readonly T[],
  elsewhere: Elsewhere,
  unsteady: ReadonlyMap<string, readonly Unsteady[]>,
): readonly T[] {
  const byTree = new Map(
    examined.flatMap(({ tree, candidate }) => {
      const own = unsteady.get(candidate.alias);
      return tree && own ? [[tree, own] as const] : [];
    }),
  );
  const found = withoutShared(byTree);
  return examined.map((one) => {
    const own = (one.tree && found.get(one.tree)) ?? [];
    if (own.length === 0 || !isSurvivor(one.gates)) return one;
    const gates = one.gates.filter(({ gate }) => gate !== 'steady');
    return { ...one, gates: [...gates, gateOf(own, elsewhere, { gates, unlocked: unlockedOf(one) })] };
  });
}
