import {
  comparedByRules,
  type GateReport,
  succeeded,
  type TestRun,
  testsAlone,
  type WrittenTestFile,
  withFilesOfAva,
  withNamesOf,
} from '../../core/evidence/index.ts';
import { inParallel } from '../../core/model/index.ts';
import { joinSections, type PatchFile } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { type BuiltArea, type CheckArea, type CheckRunner, inArea, inRetriedArea, lanesOf } from './areas.ts';
import { isSetUpAnew, setUpCandidate } from './candidate-setup.ts';
import { applyPatch, areaId, type BuildFailure, build, withoutPackages, withTopLayer } from './execute.ts';
import { runWatchedTests } from './run-tests.ts';
import { parseErrors } from './syntax.ts';
import { restoreFiles, writtenIn } from './test-files.ts';

/** The base with one production patch, built once for all candidates with equal production patches. */
export interface Tree {
  /** The production patch; empty for the base itself. */
  readonly patch: string;
  readonly built: BuiltArea;
  /** Whether it applies, parses and builds, so that tests can run on it. */
  readonly ready: boolean;
  /** Results of the gates `collected`, `parses` and `builds`, as far as evaluated. */
  readonly gates: readonly GateReport[];
  /**
   * Test files of the base commit that its set-up and build have written; not those that the base's write as well. They
   * have the base's content again. Null if they cannot be listed.
   */
  readonly rewrites?: readonly WrittenTestFile[] | null;
}

export interface Trees {
  /**
   * `name` becomes part of the area's id and must be unique within the run. `withoutSetUp`: the tree stands on the
   * packages of the base commit even if the patch changes them, so that nothing of the patch reaches a network.
   */
  of(
    name: string,
    production: readonly PatchFile[],
    options?: { readonly withoutSetUp?: boolean },
  ): Promise<Tree>;
  /** Removes the area of a tree that is not needed any more. */
  remove(tree: Tree): Promise<void>;
  /** Removes the other areas. */
  close(): Promise<void>;
}

const treeKey = (patch: string, ownPackages = false): string => JSON.stringify([patch, ownPackages]);

export function openTrees(runner: CheckRunner): Trees {
  const grown = new Map<string, Promise<Tree>>();
  const areas = new Map<string, WorkArea>();
  const grow = async (
    name: string,
    patch: string,
    { production, ownPackages }: { readonly production: readonly PatchFile[]; readonly ownPackages: boolean },
  ): Promise<Tree> => {
    const id = areaId(runner.task.runId, name, 'built');
    const on = ownPackages ? withoutPackages(runner) : runner;
    const { area, result } = await inRetriedArea(
      on,
      id,
      async (built) => {
        const prepared = await prepare(on, { ...built, ownPackages }, patch, production);
        return withBaseTestFiles(on, { ...built, ownPackages }, prepared, {
          setUp: runner.base.layers,
          base: () => (patch === '' ? null : of('base', [])),
        });
      },
      // A set-up takes long and has a network, and a script in it can end itself by a signal.
      ownPackages ? { signalRepeats: 1 } : {},
    );
    areas.set(treeKey(patch, ownPackages), area);
    return { patch, built: { ...area, ownPackages }, ...result };
  };
  const of: Trees['of'] = (name, production, { withoutSetUp = false } = {}) => {
    const patch = joinSections(production);
    const ownPackages = !withoutSetUp && isSetUpAnew(runner, production);
    const key = treeKey(patch, ownPackages);
    const known = grown.get(key);
    if (known) return known;
    const tree = grow(name, patch, { production, ownPackages });
    grown.set(key, tree);
    return tree;
  };
  return {
    of,
    async remove({ patch, built }) {
      const key = treeKey(patch, built.ownPackages);
      const area = areas.get(key);
      areas.delete(key);
      grown.delete(key);
      if (area) await runner.world.workspaces.remove(area);
    },
    async close() {
      await Promise.allSettled(grown.values());
      await inParallel(lanesOf(runner), [...areas.values()], (area) => runner.world.workspaces.remove(area));
    },
  };
}

type PreparedTree = Pick<Tree, 'ready' | 'gates' | 'rewrites'>;

async function prepare(
  runner: CheckRunner,
  built: BuiltArea & CheckArea,
  patch: string,
  production: readonly PatchFile[],
): Promise<PreparedTree> {
  const refused = await applyPatch(runner, built, patch);
  if (refused) return { ready: false, gates: [fail('collected', `does not apply: ${refused}`)] };
  const troubles = await parseErrors(runner, built, production);
  if (troubles) return { ready: false, gates: [fail('parses', troubles)] };
  const parses = pass('parses', 'every changed file in a language that Runoff can check parses');
  const unprepared = built.ownPackages ? await setUpCandidate(runner, built) : null;
  if (unprepared) {
    const { because, tail } = unprepared;
    return { ready: false, gates: [parses, fail('builds', because, tail)] };
  }
  const broken = await build(runner, built);
  if (broken) return { ready: false, gates: [parses, unbuilt('the build ends', broken)] };
  const command = runner.task.settings.checks.build;
  const packages = built.ownPackages ? ', with packages that were installed anew' : '';
  const builds = pass('builds', `${command ? 'exit code 0' : 'there is no build command'}${packages}`);
  return { ready: true, gates: [parses, builds] };
}

/**
 * Finds out which test files of the base commit the set-up and build of a candidate have written that the base's do
 * not write, and restores them: the area becomes the layer on which the base's tests run.
 */
async function withBaseTestFiles(
  runner: CheckRunner,
  area: BuiltArea,
  prepared: PreparedTree,
  from: { readonly setUp: readonly string[]; readonly base: () => Promise<Tree> | null },
): Promise<PreparedTree> {
  const ran = runner.task.settings.checks.build || area.ownPackages;
  if (!prepared.ready || !ran || !runner.testFiles) return prepared;
  const written = await writtenIn(runner, area, runner.testFiles, { texts: true });
  if (written === null || written.length === 0) return { ...prepared, rewrites: written };
  const base = await from.base();
  if (base === null) return { ...prepared, rewrites: written };
  // What the base's own set-up and build generate, a candidate's may generate as well.
  if (base.rewrites === null || !base.ready) return prepared;
  const known = new Set(base.rewrites?.map(({ path }) => path));
  for (const upper of area.ownPackages ? from.setUp : []) {
    const paths = written.map(({ path }) => path);
    const bySetUp = await writtenIn(runner, area, paths, { texts: true, upper });
    for (const { path, same } of bySetUp ?? written) if (!same) known.add(path);
  }
  const rewrites = written.filter(({ path }) => !known.has(path));
  const changed = rewrites.flatMap(({ path, same }) => (same ? [] : [path]));
  const refused = changed.length > 0 ? await restoreFiles(runner, area, changed) : null;
  if (refused === null) return { ...prepared, rewrites };
  const why = fail('builds', `the test files that its build has changed cannot be restored: ${refused}`);
  return {
    ...prepared,
    ready: false,
    gates: [...prepared.gates.filter(({ gate }) => gate !== 'builds'), why],
  };
}

export const pass = (gate: GateReport['gate'], because: string): GateReport => ({
  gate,
  passed: true,
  because,
});
export const fail = (gate: GateReport['gate'], because: string, hunk?: string): GateReport =>
  hunk === undefined ? { gate, passed: false, because } : { gate, passed: false, because, hunk };
export const unbuilt = (what: string, broken: BuildFailure): GateReport =>
  fail('builds', `${what} with exit code ${broken.exitCode ?? 'none'}`, broken.tail);

/** Options for running tests on a tree. */
export interface TreeRun {
  /** Id of the area; unique within the run. */
  readonly id: string;
  /** A candidate's test files, written over the tree; empty: the base's own tests. */
  readonly tests?: readonly PatchFile[];
  /** Absent: the whole suite. */
  readonly commands?: readonly TestCommand[];
  /** Starts at 1. Another number forces a new execution. */
  readonly attempt?: number;
  /** Maximum seconds of the test command, not of the build; absent: those of the runner. */
  readonly testSeconds?: number;
}

type WithTests =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unbuilt'; readonly broken: BuildFailure }
  | { readonly kind: 'ran'; readonly run: TestRun };

/** Runs tests in a fresh area over a built tree, once for each (tree, tests, commands, tools, environment, attempt). */
export async function runOn(runner: CheckRunner, tree: Tree, options: TreeRun): Promise<WithTests> {
  const result = await rememberedRun(runner, tree, options);
  if (result.kind !== 'ran') return result;
  const { baseFiles, baseTests: base } = runner;
  const own = (options.tests ?? []).map(({ path }) => path);
  const run = withFilesOfAva(result.run, [...baseFiles, ...own], base);
  return { kind: 'ran', run: base ? comparedByRules(base, withNamesOf(base, run)) : run };
}

function rememberedRun(runner: CheckRunner, tree: Tree, options: TreeRun): Promise<WithTests> {
  const { id, attempt = 1 } = options;
  const tests = joinSections(options.tests ?? []);
  const commands = options.commands ?? runner.plan.commands;
  const { base, task } = runner;
  const limited = withTestSeconds(runner, options.testSeconds);
  const key = JSON.stringify([
    'tests',
    [base.sha, base.layers, runner.binds ?? [], task.settings.checks.build ?? '', task.settings.network],
    // A run may resume after an update or on a machine with other tools.
    [base.tools ?? null, base.toolVersions ?? []],
    [tree.patch, tests],
    commands.map(({ command, args, env }) => [command, args, env]),
    [
      limited.task.settings.timeout.check,
      attempt,
      runner.surroundings ?? null,
      runner.locksAssertions ?? false,
    ],
    ...(tree.built.ownPackages ? [['set up anew', task.settings.checks.setup]] : []),
  ]);
  const on = withTopLayer(runner, tree.built);
  const { keeps = () => true } = runner;
  return runner.remember(
    key,
    () =>
      inArea(on, id, async (area): Promise<WithTests> => {
        const why = await applyPatch(on, area, tests);
        if (why) return { kind: 'refused', why };
        // In compiled languages tests are part of the build output, so rebuild with them.
        const broken = tests === '' ? null : await build(runner, area);
        if (broken) return { kind: 'unbuilt', broken };
        return { kind: 'ran', run: await runWatchedTests(limited, area, { commands }, options.tests) };
      }),
    (result) => result.kind === 'refused' || keeps(result.kind === 'ran' ? result.run : null),
  );
}

/**
 * How much longer than on the base commit a test command may take with a candidate, and what it may take in any case.
 * Our defaults: with a program that no longer answers, each test would take as long as its own limit.
 */
const MAX_TEST_SLOWDOWN = 10;
const MIN_TEST_SECONDS = 300;
/** Commands of several candidates run at the same time, and coders beside them; the base's ran alone. Our default. */
const SLOWDOWN_BY_LOAD = 3;

/**
 * Seconds after which a test command is stuck, however busy the machine is; infinity where the base's run says little
 * about how long its tests take.
 */
export function stuckSeconds(base: TestRun): number {
  const passed = Object.values(testsAlone(base).tests).includes('passed');
  const ranAll = succeeded(base) && base.source === 'report' && passed && !base.packages;
  return ranAll ? Math.max(MIN_TEST_SECONDS, (MAX_TEST_SLOWDOWN * base.ms) / 1000) : Number.POSITIVE_INFINITY;
}

/** The same runner for candidates: a suite that takes nearly all of `timeout.check` on the base commit may take longer. */
export function limitedByBase(runner: CheckRunner, base: TestRun): CheckRunner {
  const onBase = base.stopped === null ? base.ms / 1000 : 0;
  const most = Math.max(runner.task.settings.timeout.check, SLOWDOWN_BY_LOAD * onBase);
  return { ...runner, testSeconds: Math.min(most, stuckSeconds(base)) };
}

/** The same runner with the time limit of its test commands, or with this one if it is shorter. */
function withTestSeconds(runner: CheckRunner, seconds = Number.POSITIVE_INFINITY): CheckRunner {
  const { task } = runner;
  const { settings } = task;
  const check = Math.ceil(Math.min(runner.testSeconds ?? settings.timeout.check, seconds));
  return { ...runner, task: { ...task, settings: { ...settings, timeout: { ...settings.timeout, check } } } };
}
