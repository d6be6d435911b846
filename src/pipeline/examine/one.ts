import {
  addedTests,
  type BaseTests,
  compareBase,
  GATES,
  type GateReport,
  ownTestsGate,
  staticGates,
  type TestRun,
  testsRunGate,
  watchedFiles,
} from '../../core/evidence/index.ts';
import type { Candidate } from '../../core/model/index.ts';
import { joinSections, type Patch, parsePatch, productionPart, testPart } from '../../core/patches/index.ts';
import type { BaseCheckout, WorkArea } from '../../ports/index.ts';
import { applyPatch, areaId, type Bench, type Broken, build, inArea, runTests } from './execute.ts';
import { parseTroubles } from './syntax.ts';

/** What examining takes of a candidate. */
export type Entry = Pick<Candidate, 'runId' | 'alias' | 'ordinal' | 'patch' | 'ms' | 'note'>;

/** What one candidate's own examination gave; `built` is its production tree after the build, kept for its peers' tests. */
export interface Examined {
  readonly candidate: Entry;
  readonly gates: readonly GateReport[];
  readonly patch?: Patch;
  readonly built?: WorkArea;
  readonly baseTests?: BaseTests;
  /** Ids of tests that this patch adds and that pass on its own code. */
  readonly added: readonly string[];
}

const pass = (gate: GateReport['gate'], because: string): GateReport => ({ gate, passed: true, because });
const fail = (gate: GateReport['gate'], because: string, hunk?: string): GateReport =>
  hunk === undefined ? { gate, passed: false, because } : { gate, passed: false, because, hunk };

/** Gates and the base suite. What is unsafe to apply is not executed; a tampered patch is, on base tests, for the record. */
export async function examineOne(bench: Bench, candidate: Entry, onBase: TestRun): Promise<Examined> {
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
  candidate: Entry,
  patch: Patch,
  gates: readonly GateReport[],
  onBase: TestRun,
): Promise<Examined> {
  const { workspaces } = bench.world;
  const built = await workspaces.open(bench.base, areaId(candidate.runId, candidate.alias, 'built'));
  try {
    const found = await executeIn(bench, built, candidate, patch, onBase);
    const { baseTests, added = [] } = found;
    const all = inOrder([...gates, ...found.gates]);
    return { candidate, patch, built, gates: all, added, ...(baseTests ? { baseTests } : {}) };
  } catch (thrown) {
    await workspaces.remove(built);
    throw thrown;
  }
}

interface Found {
  readonly gates: readonly GateReport[];
  readonly baseTests?: BaseTests;
  readonly added?: readonly string[];
}

async function executeIn(
  bench: Bench,
  built: WorkArea,
  { runId, alias }: Entry,
  patch: Patch,
  onBase: TestRun,
): Promise<Found> {
  const refused = await applyPatch(bench, built, joinSections(productionPart(patch)));
  if (refused) return { gates: [fail('collected', `does not apply: ${refused}`)] };
  const troubles = await parseTroubles(bench, built, productionPart(patch));
  if (troubles) return { gates: [fail('parses', troubles)] };
  const parses = pass('parses', 'every changed file whose language we can check parses');
  const broken = await build(bench, built);
  if (broken) return { gates: [parses, unbuilt('the build ends', broken)] };
  const command = bench.task.settings.checks.build;
  const builds = pass('builds', command ? 'exit code 0' : 'there is no build command');
  const run = await inArea(over(bench, built), areaId(runId, alias, 'base'), (area) => runTests(bench, area));
  const gates = [parses, builds, testsRunGate(onBase, run)];
  const own = await runWithTests(bench, built, areaId(runId, alias, 'own'), patch);
  return {
    gates: [...gates, ...ownGates(onBase, own)],
    baseTests: compareBase(onBase, run),
    added: own.kind === 'ran' ? addedTests(onBase, own.run) : [],
  };
}

const unbuilt = (what: string, broken: Broken): GateReport =>
  fail('builds', `${what} with exit code ${broken.exitCode ?? 'none'}`, broken.tail);

/** What is committed holds the candidate's own test files too: with them it must apply, build and pass. */
function ownGates(onBase: TestRun, own: WithTests): readonly GateReport[] {
  switch (own.kind) {
    case 'none':
      return [];
    case 'refused':
      return [fail('collected', `its test files do not apply: ${own.why}`)];
    case 'unbuilt':
      return [unbuilt('with its own test files the build ends', own.broken)];
    case 'ran': {
      const gate = ownTestsGate(onBase, own.run);
      return gate ? [gate] : [];
    }
  }
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

export type WithTests =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unbuilt'; readonly broken: Broken }
  | { readonly kind: 'ran'; readonly run: TestRun };

/** One candidate's test files on another's (or its own) built production code. */
export async function runWithTests(
  bench: Bench,
  built: WorkArea,
  id: string,
  author: Patch,
): Promise<WithTests> {
  const tests = joinSections(testPart(author));
  if (tests === '') return { kind: 'none' };
  return inArea(over(bench, built), id, async (area) => {
    const why = await applyPatch(bench, area, tests);
    if (why) return { kind: 'refused', why };
    // Compiled languages keep tests in the build's output, so it is made again with them.
    const broken = await build(bench, area);
    return broken ? { kind: 'unbuilt', broken } : { kind: 'ran', run: await runTests(bench, area) };
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
