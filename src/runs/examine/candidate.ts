import {
  type BaseTests,
  compareBase,
  EXIT_CODE,
  fitsRepeatBudget,
  GATES,
  type GateReport,
  gateSources,
  newFailures,
  ownTestsGate,
  packageOfTest,
  resolveSuspects,
  SUSPECT_RUNS,
  settledByTests,
  staticGates,
  type TaskKind,
  type TestRun,
  type TypeCheckResult,
  testsAlone,
  testsRunGate,
  undecidedSuspects,
  withoutSuperseded,
  withoutTests,
  withPackagesNote,
} from '../../core/evidence/index.ts';
import type { Candidate } from '../../core/model/index.ts';
import type { Patch } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/settings/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { unlessDamaged } from '../stage.ts';
import type { CheckRunner } from './areas.ts';
import { setUpObstacle } from './candidate-setup.ts';
import { baseTexts, linkGates } from './changed-texts.ts';
import { areaId } from './execute.ts';
import { parseSources } from './syntax.ts';
import type { ExaminationTime } from './time.ts';
import { fail, pass, runOn, type Tree, type TreeRun, type Trees, unbuilt } from './trees.ts';
import { checkTypes } from './types.ts';

/** The parts of a candidate that an examination requires. */
export interface CandidateEntry
  extends Pick<Candidate, 'runId' | 'alias' | 'ordinal' | 'patch' | 'ms' | 'note'> {
  /** Model family of its author; absent if unknown. */
  readonly family?: string;
}

/** Result of one candidate's own examination. */
export interface ExaminedCandidate {
  readonly candidate: CandidateEntry;
  readonly gates: readonly GateReport[];
  readonly patch?: Patch;
  /** Its production tree, which candidates with equal changes share. */
  readonly tree?: Tree;
  /** The built tree, on which other candidates' tests are run. */
  readonly built?: WorkArea;
  readonly baseTests?: BaseTests;
  /** The execution that `baseTests` describes. */
  readonly suite?: TestRun;
  /** The whole suite with its own test files on its own code; absent if it has none. */
  readonly own?: TestRun;
  /** Absent if no type check was run. */
  readonly types?: TypeCheckResult;
}

/** Shared tools for examining candidates. */
export interface ExaminationTools {
  readonly kind: TaskKind;
  readonly runner: CheckRunner;
  readonly trees: Trees;
  readonly onBase: TestRun;
  readonly time: ExaminationTime;
}

/** A candidate after one build and test run. Calling it completes the examination and may rerun suspect tests. */
export type TestedOnce = () => Promise<ExaminedCandidate>;

const settled =
  (examined: ExaminedCandidate): TestedOnce =>
  () =>
    Promise.resolve(examined);

/**
 * Checks gates and runs the base suite. Unsafe patches are not executed; a tampered patch is, on base tests, for the
 * record.
 */
export async function examineOnce(tools: ExaminationTools, candidate: CandidateEntry): Promise<TestedOnce> {
  const { runner, onBase: base } = tools;
  if (!candidate.patch) return settled({ candidate, gates: [fail('collected', candidate.note)] });
  const parsed = await unlessDamaged(runner.readPatch(candidate.patch));
  if (parsed === null) return settled({ candidate, gates: [fail('collected', PATCH_DAMAGED)] });
  if (parsed.kind === 'refused') {
    const unsafe = fail('safe', parsed.reasons.join(' '));
    return settled({ candidate, gates: [pass('collected', 'a patch'), unsafe] });
  }
  const { patch } = parsed;
  const texts = { baseTexts: await baseTexts(runner, patch) };
  const id = areaId(runner.task.runId, candidate.alias, 'parsed');
  const still = staticGates(patch, runner.task.settings, {
    ...texts,
    syntax: await parseSources(runner, id, gateSources(patch, texts)),
    declared: runner.declared ?? [],
    kind: tools.kind,
  });
  const isDocument = tools.kind === 'docs' && still.every(({ passed }) => passed);
  const gates = [
    pass('collected', 'a patch'),
    pass('safe', 'only ordinary files'),
    ...(isDocument ? await linkGates(runner, patch) : []),
    ...still,
  ];
  if (gates.some(({ gate, passed }) => gate === 'content' && !passed))
    return settled({ candidate, gates: inOrder(gates), patch });
  const eliminated = gates.some((gate) => !gate.passed);
  const tree = await tools.trees.of(candidate.alias, patch.production, { withoutSetUp: eliminated });
  const tested = tree.ready ? await execute(tools, tree, { candidate, patch, eliminated }) : null;
  return async () => {
    const found: Awaited<ReturnType<Tested>> = tested ? await tested() : { gates: [] };
    const all = inOrder([...gates, ...tree.gates, ...found.gates]);
    const tests = found.baseTests && withoutSuperseded(found.baseTests, { gates: all }, { ...found, base });
    const examined = {
      ...{ candidate, patch, tree, built: tree.built, ...found },
      gates: settledByTests(all, base, found.baseTests),
      ...(tests ? { baseTests: tests } : {}),
    };
    if (tree.built.ownPackages) return examined;
    return withPackagesNote(candidate.alias, patch, examined, setUpObstacle(runner, eliminated));
  };
}

const PATCH_DAMAGED = 'its stored patch is damaged and cannot be read';

type Tested = () => Promise<Pick<ExaminedCandidate, 'gates' | 'baseTests' | 'suite' | 'own' | 'types'>>;

/**
 * Runs the base suite on its code, then its own tests. A candidate that is already eliminated is run once, for the
 * record.
 */
async function execute(
  tools: ExaminationTools,
  tree: Tree,
  on: { readonly candidate: CandidateEntry; readonly patch: Patch; readonly eliminated: boolean },
): Promise<Tested> {
  const { runner, onBase } = tools;
  const { runId, alias } = on.candidate;
  const options = { id: areaId(runId, alias, 'base') };
  const result = await runOn(runner, tree, options);
  // Without test files, nothing that could fail is applied or built.
  if (result.kind !== 'ran') return async () => ({ gates: [] });
  const ran = result.run.source !== 'none';
  const suspects = on.eliminated || !ran ? [] : compareBase(onBase, result.run).regressions;
  const { patch } = on;
  const tests = on.eliminated ? [] : patch.tests;
  const testOwn = await ownTests(tools, tree, { id: areaId(runId, alias, 'own'), tests });
  const typed = on.eliminated
    ? null
    : await checkTypes(runner, onBase, { tree, patch, id: areaId(runId, alias, 'types') });
  return async () => {
    const run = await rerunSuspects(tools, tree, options, { run: result.run, suspects });
    const own = await testOwn();
    return {
      gates: [...(typed ? [typed.gate] : []), testsRunGate(onBase, run), ...own.gates],
      ...(typed?.result ? { types: typed.result } : {}),
      ...(ran ? { baseTests: compareBase(onBase, run), suite: run } : {}),
      ...(ran && own.run ? { own: testsAlone(own.run) } : {}),
    };
  };
}

interface OwnTests {
  readonly gates: readonly GateReport[];
  readonly run?: TestRun;
}

/** The commit includes the candidate's own test files: with them it must apply, build and pass. */
async function ownTests(
  tools: ExaminationTools,
  tree: Tree,
  options: TreeRun,
): Promise<() => Promise<OwnTests>> {
  const { runner, onBase } = tools;
  if (options.tests?.length === 0) return async () => ({ gates: [] });
  const result = await runOn(runner, tree, options);
  return async () => {
    switch (result.kind) {
      case 'refused':
        return { gates: [fail('collected', `its test files do not apply: ${result.why}`)] };
      case 'unbuilt':
        return { gates: [unbuilt("with the patch's own test files, the build ends", result.broken)] };
      case 'ran': {
        const calm = withoutTests(result.run, onBase.flaky ?? []);
        const suspects = newFailures(onBase, calm);
        const run = await rerunSuspects(tools, tree, options, { run: calm, suspects });
        const gate = ownTestsGate(onBase, run) ?? missingReportGate(onBase, run);
        return { gates: gate ? [gate] : [], run };
      }
    }
  };
}

/** A test file that crashes the runner leaves no failing test to name. */
const missingReportGate = (base: TestRun, own: TestRun): GateReport | null =>
  base.source === 'report' && own.source !== 'report'
    ? fail(
        'tests-run',
        `With the patch's own test files, the tests wrote no report (exit code ${own.exitCode}).`,
        own.tail,
      )
    : null;

/** In the order of GATES; a gate reported twice failed if either report did. */
function inOrder(gates: readonly GateReport[]): readonly GateReport[] {
  return GATES.flatMap((name) => {
    const found = gates.filter((gate) => gate.gate === name);
    const first = found.find((gate) => !gate.passed) ?? found[0];
    return first ? [first] : [];
  });
}

/**
 * Reruns suspects (tests that should pass but did not) on the same tree: individually if the runner can run single
 * files, else their packages or the whole suite if time allows. A test that fails twice has failed; of three differing
 * results, the majority counts.
 */
async function rerunSuspects(
  { runner, time }: ExaminationTools,
  tree: Tree,
  options: TreeRun,
  first: { readonly run: TestRun; readonly suspects: readonly string[] },
): Promise<TestRun> {
  const { run, suspects } = first;
  const again: TestRun[] = [];
  if (suspects.length === 0 || run.stopped !== null) return run;
  const inTime = aloneCommands(runner, options, suspects)
    ? 0
    : (packageCommands(runner, run, suspects)?.ms ?? run.ms);
  if (inTime > 0 && !fitsRepeatBudget({ ms: inTime }, SUSPECT_RUNS - 1)) return run;
  if (!(await time.allows('repeats', options.id, '', inTime))) return run;
  time.step('repeats', 0);
  for (let attempt = 2; attempt <= SUSPECT_RUNS; attempt++) {
    const left = undecidedSuspects(suspects, again);
    if (left.length === 0) break;
    const more = await rerunOnce(
      runner,
      tree,
      { ...options, id: `${options.id}-${attempt}`, attempt },
      { run, left },
    );
    if (!more) break;
    again.push(more);
  }
  return resolveSuspects(run, suspects, again);
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
