import {
  type GateReport,
  isTestOf,
  LONG_SUITE_MS,
  newFailures,
  ownTestsGate,
  type TestRun,
  withoutTests,
  withTestsOfFiles,
} from '../../core/evidence/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import type { CheckRunner } from './areas.ts';
import { rerunSuspects } from './repeats.ts';
import type { ExaminationTime } from './time.ts';
import { fail, runOn, type Tree, type TreeRun, unbuilt } from './trees.ts';

interface OwnTests {
  readonly gates: readonly GateReport[];
  readonly run?: TestRun;
}

interface OwnTestTools {
  readonly runner: CheckRunner;
  readonly onBase: TestRun;
  readonly time: ExaminationTime;
}

/**
 * The commit includes the candidate's own test files: with them it must apply, build and pass. Of a long suite only the
 * files that the candidate changes are run: the others were run on the same code (`before`, the base's suite on this
 * tree), and what repetitions made of that run is given to the function that completes the work.
 */
export async function testOwnFiles(
  tools: OwnTestTools,
  tree: Tree,
  options: TreeRun,
  before: TestRun,
): Promise<(before: TestRun) => Promise<OwnTests>> {
  const { runner, onBase } = tools;
  if (options.tests?.length === 0) return async () => ({ gates: [] });
  const part = await runChangedFiles(tools, tree, options, before);
  const result = part ? ({ kind: 'ran', run: part } as const) : await runOn(runner, tree, options);
  return async (settled) => {
    switch (result.kind) {
      case 'refused':
        return { gates: [fail('collected', `its test files do not apply: ${result.why}`)] };
      case 'unbuilt':
        return { gates: [unbuilt("with the patch's own test files, the build ends", result.broken)] };
      case 'ran': {
        const whole = part ? withTestsOfFiles(settled, part, pathsOf(options)) : result.run;
        const calm = withoutTests(whole, onBase.flaky ?? []);
        const suspects = newFailures(onBase, calm).filter(
          (id) => Object.hasOwn(result.run.tests, id) || !part,
        );
        const run = await rerunSuspects(tools, tree, options, { run: calm, suspects });
        const gate = ownTestsGate(onBase, run, settled) ?? missingReportGate(onBase, run);
        return { gates: gate ? [gate] : [], run };
      }
    }
  };
}

const pathsOf = ({ tests = [] }: TreeRun): readonly string[] => tests.map(({ path }) => path);

/** Null if the whole suite must be run: it is short, or it is unknown which of its tests the files can affect. */
async function runChangedFiles(
  { runner, onBase }: OwnTestTools,
  tree: Tree,
  options: TreeRun,
  before: TestRun,
): Promise<TestRun | null> {
  if (onBase.ms < LONG_SUITE_MS || before.source !== 'report' || before.stopped !== null) return null;
  const commands = commandsOfChangedFiles(runner, options, before);
  if (!commands) return null;
  const result = await runOn(runner, tree, { ...options, id: `${options.id}-files`, commands });
  if (result.kind !== 'ran' || result.run.source !== 'report') return null;
  const { run } = result;
  // A file without tests may be loaded by all others.
  const left = (options.tests ?? []).filter(({ change }) => change !== 'deleted');
  return left.every(({ path }) => hasTestsOf(run, path)) ? run : null;
}

/** The changed files that are left, and the steps besides the tests. Null if a changed file was no file of tests. */
function commandsOfChangedFiles(
  { plan }: CheckRunner,
  { tests = [] }: TreeRun,
  before: TestRun,
): readonly TestCommand[] | null {
  const known = tests.every(({ path, change }) => change === 'added' || hasTestsOf(before, path));
  const left = tests.filter(({ change }) => change !== 'deleted').map(({ path }) => path);
  const focused = known ? plan.focus(left) : null;
  if (!focused) return null;
  const named = new Set(focused.flatMap(({ args }) => args));
  const steps = plan.commands.filter(({ check }) => check !== undefined);
  return left.every((path) => named.has(path)) ? [...focused, ...steps] : null;
}

/** `node --test` reports a file without tests, which others may load, as a test with the name of the file. */
const hasTestsOf = (run: TestRun, path: string): boolean =>
  Object.keys(run.tests).some((id) => isTestOf(id, path) && !id.endsWith(path));

/** A test file that crashes the runner leaves no failing test to name. */
const missingReportGate = (base: TestRun, own: TestRun): GateReport | null =>
  base.source === 'report' && own.source !== 'report'
    ? fail(
        'tests-run',
        `With the patch's own test files, the tests wrote no report (exit code ${own.exitCode}).`,
        own.tail,
      )
    : null;
