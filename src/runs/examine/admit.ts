import { succeeded, type TestRun, testsAlone } from '../../core/evidence/index.ts';
import {
  admitVotes,
  type IndependentTest,
  namesFiles,
  type Trial as Outcome,
  type RunContextOfTests,
  stillAdmissible,
  type TaskKind,
  TEST_REPEATS,
  type TestAdmission,
  type Trials,
  trialFromOwnRun,
  trialsFromSharedRun,
} from '../../core/independent-tests/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { type CheckRunner, inArea, inRetriedArea, lanesOf } from './areas.ts';
import { asOnBase, withoutSteps } from './base-plan.ts';
import { areaId, build, withTopLayer, writeFiles } from './execute.ts';
import { runFiles } from './run-tests.ts';
import type { Tree } from './trees.ts';

/** A survivor on whose production code tests are tried. */
export interface TestedSurvivor {
  readonly alias: Alias;
  readonly tree: Pick<Tree, 'patch' | 'built'>;
  /** Whether the base's own tests end with exit code 0 on it. Relevant if the runner writes no report. */
  readonly passesBaseTests: boolean;
}

export interface TestTrialOptions {
  readonly survivors: readonly TestedSurvivor[];
  /** The base's own tests on the base. */
  readonly onBase: TestRun;
  readonly taskKind: TaskKind;
  /** Part of the area ids: differs between calls for one run. */
  readonly name: string;
}

/**
 * Runs tests that no candidate wrote on the base and on every survivor, three times if still in question, and decides
 * which ones count. Test failures are results, never errors.
 */
export async function admitTests(
  runner: CheckRunner,
  tests: readonly IndependentTest[],
  options: TestTrialOptions,
): Promise<TestAdmission> {
  const trial = openTrialRecorder(runner, options);
  const { survivors, taskKind } = options;
  try {
    // The base comes first, because most rejected tests already fail there.
    await trial.run(1, tests, [null]);
    await trial.run(1, stillAdmissible(tests, trial.known(), taskKind), survivors);
    for (let attempt = 2; attempt <= TEST_REPEATS; attempt += 1) {
      await trial.run(attempt, stillAdmissible(tests, trial.known(), taskKind), [null, ...survivors]);
    }
    return admitVotes(tests, trial.known(), taskKind);
  } finally {
    await trial.close();
  }
}

/** A tree on which tests are run; null: the base. */
type TrialTree = TestedSurvivor | null;

interface TrialRecorder {
  /** All outcomes so far, by test id. */
  known(): Readonly<Record<string, Trials>>;
  /** Runs the tests once on each tree. */
  run(attempt: number, tests: readonly IndependentTest[], targets: readonly TrialTree[]): Promise<void>;
  /** Removes what was built. */
  close(): Promise<void>;
}

function openTrialRecorder(runner: CheckRunner, given: TestTrialOptions): TrialRecorder {
  const record = new Map<string, { base: Outcome[]; survivors: Record<Alias, Outcome[]> }>();
  const note = ({ id }: IndependentTest, target: TrialTree, outcome: Outcome) => {
    const kept = record.get(id) ?? { base: [], survivors: {} };
    record.set(id, kept);
    if (target === null) kept.base.push(outcome);
    else kept.survivors[target.alias] = [...(kept.survivors[target.alias] ?? []), outcome];
  };
  const fair = withoutSteps(asOnBase(runner, given.onBase));
  const options = { ...given, onBase: testsAlone(given.onBase) };
  const first = new Map<string, TestFiles>();
  const built = new Map<string, Promise<BuiltTests>>();
  return {
    known: () => Object.fromEntries(record),
    async close() {
      for (const made of await Promise.allSettled(built.values()))
        if (made.status === 'fulfilled') await runner.world.workspaces.remove(made.value.area);
    },
    async run(attempt, tests, targets) {
      if (tests.length === 0) return;
      const place: TrialContext = { runner: fair, options, attempt, note, first, built };
      // A test that hung or failed alone would disturb the others.
      const before = ({ id }: IndependentTest) => Object.values(record.get(id)?.survivors ?? {}).flat();
      const broke = (test: IndependentTest) =>
        [...(record.get(test.id)?.base ?? []), ...before(test)].some(({ kind }) => kind === 'broke');
      const apart = (test: IndependentTest) => !namesFiles(options.onBase) || broke(test);
      const joint = tests.filter((test) => !apart(test));
      const unclear = await runTogether(place, joint, targets);
      await runEachAlone(place, [...unclear, ...testsOnTrees(targets, tests.filter(apart))]);
    },
  };
}

interface TrialContext {
  readonly runner: CheckRunner;
  readonly options: TestTrialOptions;
  readonly attempt: number;
  readonly note: (test: IndependentTest, target: TrialTree, outcome: Outcome) => void;
  /** The tests that were first built together over a tree, by its patch, for all attempts. */
  readonly first: Map<string, TestFiles>;
  /** By tree and tests, for all attempts. */
  readonly built: Map<string, Promise<BuiltTests>>;
}

/** Texts of test files by their paths. */
type TestFiles = Readonly<Record<string, string>>;

/** A tree with tests written over it and built. */
interface BuiltTests {
  readonly area: WorkArea;
  /** The files were written, and the build with them ended with exit code 0. */
  readonly result: boolean;
}

interface TestOnTree {
  readonly target: TrialTree;
  readonly test: IndependentTest;
}

/**
 * Runs the tests together, once per tree. Returns the ones without a result, since one test can prevent the others from
 * being reported.
 */
async function runTogether(
  place: TrialContext,
  tests: readonly IndependentTest[],
  targets: readonly TrialTree[],
): Promise<readonly TestOnTree[]> {
  if (tests.length === 0) return [];
  const unclear = new Set<TrialTree>();
  await inParallel(lanesOf(place.runner), targets, async (target) => {
    const ran = await runTestsOn(place, target, tests, { part: 'all', sharesBuild: true });
    const outcomes = ran && trialsFromSharedRun(tests, ran.run, ran.context);
    if (!outcomes) unclear.add(target);
    for (const [i, outcome] of (outcomes ?? []).entries())
      place.note(tests[i] as IndependentTest, target, outcome);
  });
  return testsOnTrees(
    targets.filter((target) => unclear.has(target)),
    tests,
  );
}

const testsOnTrees = (
  targets: readonly TrialTree[],
  tests: readonly IndependentTest[],
): readonly TestOnTree[] => targets.flatMap((target) => tests.map((test) => ({ target, test })));

async function runEachAlone(place: TrialContext, ones: readonly TestOnTree[]): Promise<void> {
  const worth = withinAllowance(place, ones);
  await inParallel(lanesOf(place.runner), [...worth.entries()], async ([i, { target, test }]) => {
    const ran = await runTestsOn(place, target, [test], { part: String(i), sharesBuild: false });
    place.note(
      test,
      target,
      ran ? trialFromOwnRun(test, ran.run, ran.context) : { kind: 'broke', cases: {} },
    );
  });
}

/** Milliseconds per round if every test requires a run of the whole suite. Our default. */
const ALLOWANCE_MS = 10 * 60_000;

/** The first tests whose runs fit into the time limit; at least one. */
function withinAllowance(
  { options, runner }: TrialContext,
  ones: readonly TestOnTree[],
): readonly TestOnTree[] {
  const cheap = (test: IndependentTest) => runner.plan.focus([test.path]) !== null;
  const each =
    (options.onBase.ms * (options.survivors.length + 1)) / Math.max(1, runner.world.parallelChecks);
  const most = Math.max(1, Math.floor(ALLOWANCE_MS / Math.max(1, each)));
  const dear = [...new Set(ones.map(({ test }) => test))].filter((test) => !cheap(test));
  const beyond = new Set(dear.slice(most));
  return ones.filter(({ test }) => !beyond.has(test));
}

interface TestExecution {
  readonly run: TestRun;
  readonly context: RunContextOfTests;
}

/** Writes the tests over a tree and runs them; null if the files cannot be written or the build with them fails. */
async function runTestsOn(
  place: TrialContext,
  target: TrialTree,
  tests: readonly IndependentTest[],
  { part, sharesBuild }: { readonly part: string; readonly sharesBuild: boolean },
): Promise<TestExecution | null> {
  const { runner, options, attempt } = place;
  const { base, task, plan } = runner;
  const files: TestFiles = Object.fromEntries(tests.map((test) => [test.path, test.text]));
  const patch = target?.tree.patch ?? '';
  const together = sharesBuild ? builtTogether(place, patch, files) : files;
  const id = areaId(task.runId, target?.alias ?? 'base', options.name, String(attempt), part);
  const key = JSON.stringify([
    'independent-test-run',
    [base.sha, base.layers, runner.binds ?? [], task.settings.checks.build ?? '', task.settings.network],
    [patch, files, ...(together === files ? [] : [together])],
    [plan.commands, secondsFor(options.onBase, runner), attempt, runner.surroundings ?? null],
  ]);
  const ran = await runner.remember(key, async () => {
    const on = target === null ? runner : withTopLayer(runner, target.tree.built);
    const run = (area: WorkArea) => runFiles(withTimeLimit(on, options.onBase), area, Object.keys(files));
    // A build for each test that runs alone would take too much disk space.
    if (!sharesBuild)
      return inArea(on, id, async (area) => ((await writeAndBuild(on, area, files)) ? run(area) : null));
    const buildKey = JSON.stringify([patch, together]);
    const building =
      place.built.get(buildKey) ??
      inRetriedArea(on, `${id}-built`, (area) => writeAndBuild(on, area, together));
    place.built.set(buildKey, building);
    const { area, result } = await building;
    return result ? inArea(withTopLayer(on, area), id, run) : null;
  });
  // A build that failed says nothing about a part of its tests.
  if (ran === null && sharesBuild) place.first.delete(patch);
  return ran && { run: ran.run, context: runContextOf(options, target, ran.focused) };
}

/**
 * The tests that are in the build when these are run: those of the first build over the tree, also if some have been
 * refused since, where the test runner loads no file but the named ones.
 */
function builtTogether({ first, runner }: TrialContext, patch: string, files: TestFiles): TestFiles {
  const before = first.get(patch);
  if (before === undefined) {
    first.set(patch, files);
    return files;
  }
  const focused = runner.plan.focus(Object.keys(files));
  const isAlone = focused?.every(({ inOneProcess }) => inOneProcess !== undefined) ?? false;
  const isPart = Object.entries(files).every(([path, text]) => before[path] === text);
  const isLess = Object.keys(files).length < Object.keys(before).length;
  return isAlone && isPart && isLess ? before : files;
}

/** Whether the files could be written, and the build with them succeeded. */
async function writeAndBuild(on: CheckRunner, area: WorkArea, files: TestFiles): Promise<boolean> {
  if (await writeFiles(on, area, files)) return false;
  // In compiled languages tests are part of the build output, so rebuild with them.
  return (await build(on, area)) === null;
}

const runContextOf = (
  { onBase }: TestTrialOptions,
  target: TrialTree,
  focused: boolean,
): RunContextOfTests => ({
  onBase,
  focused,
  passesWithout: target ? target.passesBaseTests : succeeded(onBase),
});

/** How many times as long as the base suite a run may take before it is stopped. Our defaults. */
const MAX_SLOWDOWN = 3;
const EXTRA_SECONDS = 60;

const secondsFor = (onBase: TestRun, { task }: CheckRunner): number =>
  Math.min(task.settings.timeout.check, Math.ceil((MAX_SLOWDOWN * onBase.ms) / 1000) + EXTRA_SECONDS);

/** A hanging test must not use up the time limit of a whole suite. */
function withTimeLimit(runner: CheckRunner, onBase: TestRun): CheckRunner {
  const { settings } = runner.task;
  const timeout = { ...settings.timeout, check: secondsFor(onBase, runner) };
  return { ...runner, task: { ...runner.task, settings: { ...settings, timeout } } };
}
