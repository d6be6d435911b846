import {
  addedTests,
  type BaseTests,
  compareBase,
  GATES,
  type GateReport,
  staticGates,
  type TestRun,
  testsRunGate,
  watchedFiles,
} from '../../core/evidence/index.ts';
import type { Candidate } from '../../core/model/index.ts';
import { joinSections, type Patch, parsePatch, productionPart, testPart } from '../../core/patches/index.ts';
import type { BaseCheckout, WorkArea } from '../../ports/index.ts';
import { applyPatch, areaId, type Bench, build, inArea, runTests } from './execute.ts';
import { parseTroubles } from './syntax.ts';

/** What one candidate's own examination gave; `built` is its production tree after the build, kept for its peers' tests. */
export interface Examined {
  readonly candidate: Candidate;
  readonly gates: readonly GateReport[];
  readonly patch?: Patch;
  readonly built?: WorkArea;
  readonly baseTests?: BaseTests;
  /** Ids of tests that this patch adds and that pass on its own code. */
  readonly added: readonly string[];
}

/** A candidate's state once it was examined. */
export const sealed = (candidate: Candidate): Candidate['state'] =>
  candidate.state === 'coded' ? 'examined' : candidate.state;

const pass = (gate: GateReport['gate'], because: string): GateReport => ({ gate, passed: true, because });
const fail = (gate: GateReport['gate'], because: string, hunk?: string): GateReport =>
  hunk === undefined ? { gate, passed: false, because } : { gate, passed: false, because, hunk };

/** Gates and the base suite. What is unsafe to apply is not executed; a tampered patch is, on base tests, for the record. */
export async function examineOne(bench: Bench, candidate: Candidate, onBase: TestRun): Promise<Examined> {
  if (!candidate.patch) return { candidate, gates: [fail('collected', candidate.note)], added: [] };
  const { artifacts } = bench.world;
  const raw = await artifacts.get(candidate.patch.raw);
  const parsed = parsePatch(raw, await artifacts.get(candidate.patch.text), { baseFiles: bench.baseFiles });
  if (parsed.kind === 'refused') {
    return {
      candidate,
      gates: [pass('collected', 'a patch'), fail('safe', parsed.reasons.join(' '))],
      added: [],
    };
  }
  const { patch } = parsed;
  const gates = [
    pass('collected', 'a patch'),
    pass('safe', 'only ordinary files'),
    ...staticGates(patch, bench.task.settings, { baseTexts: await baseTexts(bench, patch) }),
  ];
  const empty = gates.some((gate) => gate.gate === 'content' && !gate.passed);
  if (empty) return { candidate, gates: inOrder(gates), patch, added: [] };
  return execute(bench, candidate, patch, gates, onBase);
}

/** Text on the base of the files whose change may be tampering: what stood there before is no finding. */
async function baseTexts({ world, task, source }: Bench, patch: Patch): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const path of watchedFiles(patch)) {
    const text = await world.workspaces.readFile(source, task.base.sha, path);
    if (text !== null) texts[path] = text;
  }
  return texts;
}

async function execute(
  bench: Bench,
  candidate: Candidate,
  patch: Patch,
  gates: readonly GateReport[],
  onBase: TestRun,
): Promise<Examined> {
  const built = await bench.world.workspaces.open(
    bench.base,
    areaId(candidate.runId, candidate.alias, 'built'),
  );
  const soFar = { candidate, patch, built, added: [] };
  const refused = await applyPatch(bench, built, joinSections(productionPart(patch)));
  if (refused)
    return { ...soFar, gates: inOrder([...gates, fail('collected', `does not apply: ${refused}`)]) };
  const troubles = await parseTroubles(bench, built, productionPart(patch));
  if (troubles) return { ...soFar, gates: inOrder([...gates, fail('parses', troubles)]) };
  const parses = pass('parses', 'every changed file whose language we can check parses');
  const broken = await build(bench, built);
  if (broken) {
    const because = `the build ends with exit code ${broken.exitCode ?? 'none'}`;
    return { ...soFar, gates: inOrder([...gates, parses, fail('builds', because, broken.tail)]) };
  }
  const builds = pass(
    'builds',
    bench.task.settings.checks.build ? 'exit code 0' : 'there is no build command',
  );
  const run = await inArea(over(bench, built), areaId(candidate.runId, candidate.alias, 'base'), (area) =>
    runTests(bench, area),
  );
  return {
    ...soFar,
    gates: inOrder([...gates, parses, builds, testsRunGate(onBase, run)]),
    baseTests: compareBase(onBase, run),
    added: await ownTests(bench, built, candidate, patch, onBase),
  };
}

/** The same bench, with a candidate's built tree as its topmost read-only layer. */
export const over = (bench: Bench, built: WorkArea): Bench => ({
  ...bench,
  base: withLayer(bench.base, built),
});

const withLayer = (base: BaseCheckout, built: WorkArea): BaseCheckout => ({
  ...base,
  layers: [built.upper, ...base.layers],
});

async function ownTests(
  bench: Bench,
  built: WorkArea,
  candidate: Candidate,
  patch: Patch,
  onBase: TestRun,
): Promise<readonly string[]> {
  const run = await runWithTests(bench, built, areaId(candidate.runId, candidate.alias, 'own'), patch);
  return run ? addedTests(onBase, run) : [];
}

/** One candidate's test files on another's built production code; null when the author changed no test file. */
export async function runWithTests(
  bench: Bench,
  built: WorkArea,
  id: string,
  author: Patch,
): Promise<TestRun | null> {
  const tests = joinSections(testPart(author));
  if (tests === '') return null;
  return inArea(over(bench, built), id, async (area) => {
    const refused = await applyPatch(bench, area, tests);
    if (refused) return null;
    // Compiled languages keep tests in the build's output, so it is made again with them.
    if (await build(bench, area)) return null;
    return runTests(bench, area);
  });
}

/** In the order of GATES; a gate that was reported twice failed if either did. */
function inOrder(gates: readonly GateReport[]): readonly GateReport[] {
  return GATES.flatMap((name) => {
    const found = gates.filter((gate) => gate.gate === name);
    const first = found.find((gate) => !gate.passed) ?? found[0];
    return first ? [first] : [];
  });
}
