import { succeeded, type TestRun } from '../../core/evidence/index.ts';
import {
  type Admission,
  type Aim,
  admit,
  type IndependentTest,
  inQuestion,
  type Trial as Outcome,
  REPEATS,
  type Reading,
  readAlone,
  readTogether,
  type Trials,
  tellsFiles,
} from '../../core/independent-tests/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { type CheckRunner, inArea } from './areas.ts';
import { areaId, asOnBase, build, onTopOf, runFiles, writeFiles } from './execute.ts';
import type { Tree } from './trees.ts';

/** A survivor on whose production code tests are tried. */
export interface Survivor {
  readonly alias: Alias;
  readonly tree: Pick<Tree, 'patch' | 'built'>;
  /** The base's own tests end with exit code 0 on it. Matters where a runner gives no report. */
  readonly green: boolean;
}

export interface TestTrialOptions {
  readonly survivors: readonly Survivor[];
  /** The base's own tests on the base. */
  readonly onBase: TestRun;
  readonly aim: Aim;
  /** Part of the ids of the areas: differs between calls for one run. */
  readonly name: string;
}

/**
 * Runs tests that no candidate wrote on the base and on every survivor, three times where they stay in question, and says
 * which may speak. Whatever a test does, it is a result.
 */
export async function admitTests(
  runner: CheckRunner,
  tests: readonly IndependentTest[],
  trying: TestTrialOptions,
): Promise<Admission> {
  const trial = openTrial(runner, trying);
  const { survivors, aim } = trying;
  // Most that fall do so on the base, before any survivor is touched.
  await trial.run(1, tests, [null]);
  await trial.run(1, inQuestion(tests, trial.known(), aim), survivors);
  for (let attempt = 2; attempt <= REPEATS; attempt += 1) {
    await trial.run(attempt, inQuestion(tests, trial.known(), aim), [null, ...survivors]);
  }
  return admit(tests, trial.known(), aim);
}

/** A tree on which tests are run; null: the base. */
type TrialTrees = Survivor | null;

interface Trial {
  /** All outcomes so far, by the test's id. */
  known(): Readonly<Record<string, Trials>>;
  /** Runs the tests once on each tree. */
  run(attempt: number, tests: readonly IndependentTest[], grounds: readonly TrialTrees[]): Promise<void>;
}

function openTrial(runner: CheckRunner, trying: TestTrialOptions): Trial {
  const record = new Map<string, { base: Outcome[]; survivors: Record<Alias, Outcome[]> }>();
  const note = ({ id }: IndependentTest, ground: TrialTrees, outcome: Outcome) => {
    const kept = record.get(id) ?? { base: [], survivors: {} };
    record.set(id, kept);
    if (ground === null) kept.base.push(outcome);
    else kept.survivors[ground.alias] = [...(kept.survivors[ground.alias] ?? []), outcome];
  };
  const fair = asOnBase(runner, trying.onBase);
  return {
    known: () => Object.fromEntries(record),
    async run(attempt, tests, grounds) {
      if (tests.length === 0) return;
      const place: Place = { runner: fair, trying, attempt, note };
      // What hung or broke alone would take the others with it.
      const before = ({ id }: IndependentTest) => Object.values(record.get(id)?.survivors ?? {}).flat();
      const broke = (test: IndependentTest) =>
        [...(record.get(test.id)?.base ?? []), ...before(test)].some(({ kind }) => kind === 'broke');
      const apart = (test: IndependentTest) => !tellsFiles(trying.onBase) || broke(test);
      const joint = tests.filter((test) => !apart(test));
      const unclear = await allTogether(place, joint, grounds);
      await eachAlone(place, [...unclear, ...pairs(grounds, tests.filter(apart))]);
    },
  };
}

interface Place {
  readonly runner: CheckRunner;
  readonly trying: TestTrialOptions;
  readonly attempt: number;
  readonly note: (test: IndependentTest, ground: TrialTrees, outcome: Outcome) => void;
}

interface One {
  readonly ground: TrialTrees;
  readonly test: IndependentTest;
}

/** One run for each tree. Returns what could not be told apart: one test can keep the others from being reported. */
async function allTogether(
  place: Place,
  tests: readonly IndependentTest[],
  grounds: readonly TrialTrees[],
): Promise<readonly One[]> {
  if (tests.length === 0) return [];
  const unclear = new Set<TrialTrees>();
  await inParallel(place.runner.world.parallelChecks, grounds, async (ground) => {
    const ran = await runOn(place, ground, tests, 'all');
    const outcomes = ran && readTogether(tests, ran.run, ran.reading);
    if (!outcomes) unclear.add(ground);
    for (const [i, outcome] of (outcomes ?? []).entries())
      place.note(tests[i] as IndependentTest, ground, outcome);
  });
  return pairs(
    grounds.filter((ground) => unclear.has(ground)),
    tests,
  );
}

const pairs = (grounds: readonly TrialTrees[], tests: readonly IndependentTest[]): readonly One[] =>
  grounds.flatMap((ground) => tests.map((test) => ({ ground, test })));

async function eachAlone(place: Place, ones: readonly One[]): Promise<void> {
  const worth = affordable(place, ones);
  await inParallel(place.runner.world.parallelChecks, [...worth.entries()], async ([i, { ground, test }]) => {
    const ran = await runOn(place, ground, [test], String(i));
    place.note(test, ground, ran ? readAlone(test, ran.run, ran.reading) : { kind: 'broke', cases: {} });
  });
}

/** Milliseconds that one round may take where every test costs a run of all tests. Our default. */
const ALLOWANCE_MS = 10 * 60_000;

/** The first tests of which as many runs as are asked for can be paid in time; at least one. */
function affordable({ trying, runner }: Place, ones: readonly One[]): readonly One[] {
  const cheap = (test: IndependentTest) => runner.plan.focus([test.path]) !== null;
  const each = (trying.onBase.ms * (trying.survivors.length + 1)) / Math.max(1, runner.world.parallelChecks);
  const most = Math.max(1, Math.floor(ALLOWANCE_MS / Math.max(1, each)));
  const dear = [...new Set(ones.map(({ test }) => test))].filter((test) => !cheap(test));
  const beyond = new Set(dear.slice(most));
  return ones.filter(({ test }) => !beyond.has(test));
}

interface Ran {
  readonly run: TestRun;
  readonly reading: Reading;
}

/** Lays the tests over a tree and runs them; null where that tree, or its build with them, does not take them. */
async function runOn(
  { runner, trying, attempt }: Place,
  ground: TrialTrees,
  tests: readonly IndependentTest[],
  part: string,
): Promise<Ran | null> {
  const { base, task, plan } = runner;
  const files = Object.fromEntries(tests.map((test) => [test.path, test.text]));
  const id = areaId(task.runId, ground?.alias ?? 'base', trying.name, String(attempt), part);
  const key = JSON.stringify([
    'neutral-run',
    [base.sha, base.layers, runner.binds ?? [], task.settings.checks.build ?? '', task.settings.network],
    [ground?.tree.patch ?? '', files],
    [plan.command, plan.env, secondsFor(trying.onBase, runner), attempt],
  ]);
  const ran = await runner.remember(key, () => {
    const on = ground === null ? runner : onTopOf(runner, ground.tree.built);
    return inArea(on, id, async (area) => {
      if (await writeFiles(on, area, files)) return null;
      // Compiled languages keep tests in the build's output, so it is made again with them.
      return (await build(on, area))
        ? null
        : runFiles(withTimeLimit(on, trying.onBase), area, Object.keys(files));
    });
  });
  return ran && { run: ran.run, reading: readingOf(trying, ground, ran.focused) };
}

const readingOf = ({ onBase }: TestTrialOptions, ground: TrialTrees, focused: boolean): Reading => ({
  onBase,
  focused,
  green: ground ? ground.green : succeeded(onBase),
});

/** How much longer than the base suite a run may take before it is stopped. Our defaults. */
const TIMES = 3;
const MORE_SECONDS = 60;

const secondsFor = (onBase: TestRun, { task }: CheckRunner): number =>
  Math.min(task.settings.timeout.check, Math.ceil((TIMES * onBase.ms) / 1000) + MORE_SECONDS);

/** A test that hangs must not hold everything up for as long as a whole suite may take. */
function withTimeLimit(runner: CheckRunner, onBase: TestRun): CheckRunner {
  const { settings } = runner.task;
  const timeout = { ...settings.timeout, check: secondsFor(onBase, runner) };
  return { ...runner, task: { ...runner.task, settings: { ...settings, timeout } } };
}
