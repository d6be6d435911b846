import {
  affordable,
  type BaseTests,
  compareBase,
  doubtful,
  EXIT_CODE,
  GATES,
  type GateReport,
  newlyFailing,
  ownTestsGate,
  SUSPECT_RUNS,
  settleSuspects,
  staticGates,
  type TestRun,
  testsRunGate,
  watchedFiles,
  withoutTests,
} from '../../core/evidence/index.ts';
import type { Candidate, PatchSummary } from '../../core/model/index.ts';
import { type Patch, parsePatch, productionPart, testPart } from '../../core/patches/index.ts';
import type { TestCommand } from '../../core/policy/index.ts';
import type { Artifacts, WorkArea } from '../../ports/index.ts';
import { ifSound } from '../if-sound.ts';
import { areaId, type Bench } from './execute.ts';
import { fail, pass, runOn, type Tree, type Trees, unbuilt, type Wish } from './trees.ts';

/** What examining takes of a candidate. */
export interface Entry extends Pick<Candidate, 'runId' | 'alias' | 'ordinal' | 'patch' | 'ms' | 'note'> {
  /** Family of the model that wrote it; absent where nobody knows. */
  readonly family?: string;
}

/** What one candidate's own examination gave. */
export interface Examined {
  readonly candidate: Entry;
  readonly gates: readonly GateReport[];
  readonly patch?: Patch;
  /** Its production tree, which equal candidates share. */
  readonly tree?: Tree;
  /** The same, built: what others' tests are run on. */
  readonly built?: WorkArea;
  readonly baseTests?: BaseTests;
  /** The whole suite with its own test files, on its own code; absent where it has none. */
  readonly own?: TestRun;
}

/** What candidates are examined with. */
export interface Bank {
  readonly bench: Bench;
  readonly trees: Trees;
  readonly onBase: TestRun;
}

/** Gates and the base suite. What is unsafe to apply is not executed; a tampered patch is, on base tests, for the record. */
export async function examineOne(bank: Bank, candidate: Entry): Promise<Examined> {
  const { bench } = bank;
  if (!candidate.patch) return { candidate, gates: [fail('collected', candidate.note)] };
  const text = await ifSound(textOf(bench.world.artifacts, candidate.patch));
  if (text === null) return { candidate, gates: [fail('collected', PATCH_LOST)] };
  const parsed = parsePatch(text.raw, text.text, { baseFiles: bench.baseFiles });
  if (parsed.kind === 'refused') {
    return { candidate, gates: [pass('collected', 'a patch'), fail('safe', parsed.reasons.join(' '))] };
  }
  const { patch } = parsed;
  const gates = [
    pass('collected', 'a patch'),
    pass('safe', 'only ordinary files'),
    ...staticGates(patch, bench.task.settings, {
      baseTexts: await baseTexts(bench, patch),
      declared: bench.declared ?? [],
    }),
  ];
  const empty = gates.some((gate) => gate.gate === 'content' && !gate.passed);
  if (empty) return { candidate, gates: inOrder(gates), patch };
  const tree = await bank.trees.of(candidate.alias, productionPart(patch));
  const lost = gates.some((gate) => !gate.passed);
  const found = tree.ready ? await execute(bank, tree, { candidate, patch, lost }) : { gates: [] };
  const all = inOrder([...gates, ...tree.gates, ...found.gates]);
  return { candidate, patch, tree, built: tree.built, ...found, gates: all };
}

const PATCH_LOST = 'its patch is damaged on the machine that runs Runoff, and cannot be read';

const textOf = async ({ get }: Artifacts, { raw, text }: PatchSummary) => ({
  raw: await get(raw),
  text: await get(text),
});

/** Text on the base of the files whose change may be tampering: what stood there before is no finding. */
async function baseTexts({ world, task, source }: Bench, patch: Patch): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const path of watchedFiles(patch)) {
    const text = await world.workspaces.readFile(source, task.base.sha, path);
    if (text !== null) texts[path] = text;
  }
  return texts;
}

/** The base suite on its code, then its own tests. Whoever is out of the race already is run once, for the record. */
async function execute(
  bank: Bank,
  tree: Tree,
  on: { readonly candidate: Entry; readonly patch: Patch; readonly lost: boolean },
): Promise<Pick<Examined, 'gates' | 'baseTests' | 'own'>> {
  const { bench, onBase } = bank;
  const { runId, alias } = on.candidate;
  const wish = { id: areaId(runId, alias, 'base') };
  const result = await runOn(bench, tree, wish);
  // Without test files nothing is applied or built that could fail.
  if (result.kind !== 'ran') return { gates: [] };
  const suspects = on.lost ? [] : compareBase(onBase, result.run).regressions;
  const run = await settled(bench, tree, wish, { run: result.run, suspects });
  const tests = on.lost ? [] : testPart(on.patch);
  const own = await ownTests(bank, tree, { id: areaId(runId, alias, 'own'), tests });
  return {
    gates: [testsRunGate(onBase, run), ...own.gates],
    baseTests: compareBase(onBase, run),
    ...(own.run ? { own: own.run } : {}),
  };
}

/** What is committed holds the candidate's own test files too: with them it must apply, build and pass. */
async function ownTests(
  { bench, onBase }: Bank,
  tree: Tree,
  wish: Wish,
): Promise<{ readonly gates: readonly GateReport[]; readonly run?: TestRun }> {
  if (wish.tests?.length === 0) return { gates: [] };
  const result = await runOn(bench, tree, wish);
  switch (result.kind) {
    case 'refused':
      return { gates: [fail('collected', `its test files do not apply: ${result.why}`)] };
    case 'unbuilt':
      return { gates: [unbuilt('with its own test files the build ends', result.broken)] };
    case 'ran': {
      const calm = withoutTests(result.run, onBase.flaky ?? []);
      const suspects = newlyFailing(onBase, calm);
      const run = await settled(bench, tree, wish, { run: calm, suspects });
      const gate = ownTestsGate(onBase, run) ?? silentGate(onBase, run);
      return { gates: gate ? [gate] : [], run };
    }
  }
}

/** A test file that takes the runner down with it leaves no failing test behind to be named. */
const silentGate = (base: TestRun, own: TestRun): GateReport | null =>
  base.source === 'report' && own.source !== 'report'
    ? fail(
        'tests-run',
        `With its own test files the tests leave no report (exit code ${own.exitCode}).`,
        own.tail,
      )
    : null;

/** In the order of GATES; a gate that was reported twice failed if either did. */
function inOrder(gates: readonly GateReport[]): readonly GateReport[] {
  return GATES.flatMap((name) => {
    const found = gates.filter((gate) => gate.gate === name);
    const first = found.find((gate) => !gate.passed) ?? found[0];
    return first ? [first] : [];
  });
}

/**
 * A run after its suspects, tests that should pass and did not, have been run again on the same tree: alone where the
 * runner is known to run single files, else the whole suite if there is time for it. What fails twice has failed; of
 * three different answers most count.
 */
export async function settled(
  bench: Bench,
  tree: Tree,
  wish: Wish,
  first: { readonly run: TestRun; readonly suspects: readonly string[] },
): Promise<TestRun> {
  const { run, suspects } = first;
  const again: TestRun[] = [];
  for (let attempt = 2; attempt <= SUSPECT_RUNS && run.stopped === null; attempt++) {
    const left = doubtful(suspects, again);
    if (left.length === 0) break;
    const more = await once(bench, tree, { ...wish, id: `${wish.id}-${attempt}`, attempt }, { run, left });
    if (!more) break;
    again.push(more);
  }
  return settleSuspects(run, suspects, again);
}

/** Null where it would take too long. */
async function once(
  bench: Bench,
  tree: Tree,
  wish: Wish,
  on: { readonly run: TestRun; readonly left: readonly string[] },
): Promise<TestRun | null> {
  const alone = aloneCommands(bench, wish, on.left);
  if (alone) {
    const result = await runOn(bench, tree, { ...wish, commands: alone });
    // A runner that cannot be told a file after all says nothing about its tests.
    if (result.kind === 'ran' && result.run.source === on.run.source) return result.run;
  }
  if (!affordable(on.run, SUSPECT_RUNS - 1)) return null;
  const result = await runOn(bench, tree, wish);
  return result.kind === 'ran' ? result.run : null;
}

/** Commands for the files of these tests; null where one of them does not say its file. */
function aloneCommands(bench: Bench, wish: Wish, ids: readonly string[]): readonly TestCommand[] | null {
  const own = wish.tests?.map((file) => file.path) ?? [];
  const known = new Set([...bench.baseFiles, ...own]);
  const files = ids.map((id) => (id === EXIT_CODE ? '' : (id.split(' > ', 1)[0] ?? '')));
  return files.every((file) => known.has(file)) ? bench.plan.focus([...new Set(files)]) : null;
}
