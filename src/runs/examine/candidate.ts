import {
  type BaseTests,
  compareBase,
  GATES,
  type GateReport,
  gateSources,
  hangs,
  rewriteFindings,
  settledByTests,
  staticGates,
  type TamperingFinding,
  type TaskKind,
  type TestRun,
  type TypeCheckResult,
  testsAlone,
  testsRunGate,
  withMoreFindings,
  withoutSuperseded,
  withPackagesNote,
} from '../../core/evidence/index.ts';
import type { Candidate } from '../../core/model/index.ts';
import type { Patch } from '../../core/patches/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { unlessDamaged } from '../stage.ts';
import type { CheckRunner } from './areas.ts';
import { setUpObstacle } from './candidate-setup.ts';
import { baseTexts, linkGates } from './changed-texts.ts';
import { areaId } from './execute.ts';
import { testOwnFiles } from './own-tests.ts';
import { rerunSuspects } from './repeats.ts';
import { parseSources } from './syntax.ts';
import { writtenBesidePatch } from './test-files.ts';
import type { ExaminationTime } from './time.ts';
import { fail, pass, runOn, type Tree, type Trees } from './trees.ts';
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
    const all = withMoreFindings(
      inOrder([...gates, ...tree.gates, ...found.gates]),
      await rewritesOf(tools, tree, { patch, suite: found.suite }),
    );
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

async function rewritesOf(
  { runner, onBase }: ExaminationTools,
  { patch: production, rewrites = [] }: Tree,
  { patch, suite }: { readonly patch: Patch; readonly suite: TestRun | undefined },
): Promise<readonly TamperingFinding[]> {
  // It is the base's code.
  if (production === '') return [];
  const build = rewrites && (await writtenBesidePatch(runner, rewrites, patch));
  return rewriteFindings({ build, suite }, onBase, patch);
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
  // Tests that hang would do so again, each time until the limit.
  const fails = hangs(result.run) && !testsRunGate(onBase, result.run).passed;
  // Or a candidate that hangs would take the time in which the others are compared.
  if (fails) tools.time.hung(Math.max(0, result.run.ms - onBase.ms));
  const eliminated = on.eliminated || fails;
  const suspects = eliminated || !ran ? [] : compareBase(onBase, result.run).regressions;
  const { patch } = on;
  const tests = eliminated ? [] : patch.tests;
  const own = { id: areaId(runId, alias, 'own'), tests };
  const testOwn = await testOwnFiles(tools, tree, own, result.run);
  const typed = eliminated
    ? null
    : await checkTypes(runner, onBase, { tree, patch, id: areaId(runId, alias, 'types') });
  return async () => {
    const run = await rerunSuspects(tools, tree, options, { run: result.run, suspects });
    const own = await testOwn(run);
    return {
      gates: [...(typed ? [typed.gate] : []), testsRunGate(onBase, run), ...own.gates],
      ...(typed?.result ? { types: typed.result } : {}),
      ...(ran ? { baseTests: compareBase(onBase, run), suite: run } : {}),
      ...(ran && own.run ? { own: testsAlone(own.run) } : {}),
    };
  };
}

/** In the order of GATES; a gate reported twice failed if either report did. */
function inOrder(gates: readonly GateReport[]): readonly GateReport[] {
  return GATES.flatMap((name) => {
    const found = gates.filter((gate) => gate.gate === name);
    const first = found.find((gate) => !gate.passed) ?? found[0];
    return first ? [first] : [];
  });
}
