import {
  confirmedByOthers,
  type Evidence,
  type ExaminationCut,
  isSurvivor,
  type KindOfTask,
  type MutantCount,
  peerTestsOn,
  separatedByProbes,
  separatedByTests,
  settledByOthers,
  type TestRun,
  taskKindOf,
  testsAlone,
  testTable,
  withoutContestedTests,
} from '../../core/evidence/index.ts';
import type { IndependentTestReport } from '../../core/independent-tests/index.ts';
import { comparePatches, type PatchLikeness, staticScore } from '../../core/likeness/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { type Patch, productionLines } from '../../core/patches/index.ts';
import type { ExaminationStep } from '../../core/reports/index.ts';
import { unlessDamaged } from '../stage.ts';
import { askingLanesOf, type CheckRunner, lanesOf, withCommandSlots } from './areas.ts';
import { asOnBase, withoutSteps } from './base-plan.ts';
import {
  type CandidateEntry,
  type ExaminationTools,
  type ExaminedCandidate,
  examineOnce,
  type TestedOnce,
} from './candidate.ts';
import { besidePeerTests } from './early-peer-tests.ts';
import { confirmFixes } from './fixed-tests.ts';
import { scopeToPackages } from './packages.ts';
import { type PeerResults, runPeerTests } from './peer-tests.ts';
import { probeCandidates } from './probe.ts';
import type { ProbeResults } from './probe-comparison.ts';
import { type Elsewhere, openElsewhere, testElsewhere } from './steadiness.ts';
import { judgeTests } from './test-tasks.ts';
import { openExaminationTime } from './time.ts';
import { limitedByBase, openTrees } from './trees.ts';
import { addWrittenTests, type TestWriting } from './written-tests.ts';

interface GatherOptions {
  /** Called for each candidate before it is executed. */
  readonly begins?: (entry: CandidateEntry) => Promise<void>;
  /** Models that may write tests; absent: none is asked. */
  readonly writing?: TestWriting;
  /** Milliseconds of work time left to the run; absent: unlimited. */
  readonly leftMs?: number;
  /** Called as each part of the work begins or proceeds. */
  readonly onStep?: (step: ExaminationStep) => void;
  /** Others are still coded: parts that need all patches are left to the examination of all; probes if not asked for. */
  readonly ahead?: { readonly probes: boolean };
}

export interface Gathered {
  readonly evidence: readonly Evidence[];
  /** Absent if no writer was asked. */
  readonly independentTests?: IndependentTestReport;
  /** All test results, for people. */
  readonly results: ReturnType<typeof testTable>;
}

/**
 * Executes everything that separates candidates, step by step: most informative first. What goes beyond one test run
 * per candidate is subject to the time limit (`timeout.examine`).
 */
export async function gatherEvidence(
  given: CheckRunner,
  entries: readonly CandidateEntry[],
  baseRun: TestRun,
  { begins, writing, leftMs, onStep, ahead }: GatherOptions = {},
): Promise<Gathered> {
  const runner = withCommandSlots(given);
  const limits = { leftMs, ahead: ahead !== undefined };
  const isProbed = ahead?.probes ?? true;
  const { onBase, leftOut } = await scopeToPackages(runner, entries, baseRun, limits);
  const time = await openExaminationTime(runner, entries, onBase, { ...limits, onStep });
  const task = await kindOfTask(runner, entries);
  const trees = openTrees(runner);
  // By the base run alone, so that results of an examination ahead of this one are found.
  const limited = limitedByBase(asOnBase(runner, onBase), baseRun);
  const whole: ExaminationTools = { kind: task.kind, runner: limited, trees, onBase, time };
  try {
    const confirmed = await confirmFixes(whole, await examineAll(whole, entries, begins));
    const once = confirmed.examined;
    // A linter is run on each candidate's own tree, but not with other candidates' tests.
    const alone = { runner: withoutSteps(whole.runner), onBase: testsAlone(confirmed.onBase) };
    const tools: ExaminationTools = { ...whole, ...alone };
    const elsewhere = await openElsewhere(whole, once);
    const tested = await testElsewhere(whole, once, elsewhere);
    const written = task.kind === 'tests' && isProbed ? await judgeTests(tools, tested) : null;
    const { examined, results: probed } =
      written || !isProbed
        ? { examined: written?.examined ?? tested, results: null }
        : await probeAll(tools, tested, elsewhere, limits.ahead);
    // Tests alone change no behaviour, and tests that differ are no disagreement.
    const agreeing = written ? new Map<Alias, PatchLikeness>() : likenessByAlias(examined, probed);
    const crossed = written
      ? { tests: new Map(), results: [] }
      : await runPeerTests(tools, examined, (alias) => agreeing.get(alias)?.alike ?? []);
    const mutants = written?.mutants ?? new Map();
    const known = { ...task, mutants, crossed, probed, agreeing, message: firstLine(runner.asked ?? '') };
    const evidence = settledByOthers(withoutContestedTests(examined.map((one) => evidenceOf(one, known))));
    const mayWrite = task.kind === 'code' || task.kind === 'configuration';
    const added = writing && mayWrite ? await addWrittenTests(tools, examined, evidence, writing) : null;
    return {
      evidence: confirmedByOthers(separatedByTests(withCut(added?.evidence ?? evidence, time.cut(leftOut)))),
      results: resultsOf(tools.onBase, examined, known),
      ...(added ? { independentTests: added.report } : {}),
    };
  } finally {
    await trees.close();
  }
}

/** From the task's text and all patches that can be read. */
async function kindOfTask(runner: CheckRunner, entries: readonly CandidateEntry[]): Promise<KindOfTask> {
  const patches: Patch[] = [];
  for (const { patch } of entries) {
    const parsed = patch ? await unlessDamaged(runner.readPatch(patch)) : null;
    if (parsed?.kind === 'patch') patches.push(parsed.patch);
  }
  return taskKindOf(runner.asked ?? '', patches);
}

const withCut = (evidence: readonly Evidence[], cut: ExaminationCut | undefined): readonly Evidence[] =>
  cut ? evidence.map((one) => ({ ...one, cut })) : evidence;

/** Probes all candidates, and meanwhile runs their tests on each other, unless coders need the processors. */
function probeAll(
  tools: ExaminationTools,
  tested: readonly ExaminedCandidate[],
  elsewhere: Elsewhere | null,
  ahead: boolean,
): ReturnType<typeof probeCandidates> {
  const probe = () => probeCandidates(tools, tested, elsewhere);
  if (ahead) return probe();
  // Probes may tell some of them apart, so further tests may follow.
  const known = likenessByAlias(tested, null);
  return besidePeerTests(tools, tested, (alias) => known.get(alias)?.alike ?? [], probe);
}

/** Every candidate is built and tested once before anything is rerun. */
async function examineAll(
  tools: ExaminationTools,
  entries: readonly CandidateEntry[],
  begins: GatherOptions['begins'],
): Promise<readonly ExaminedCandidate[]> {
  const { time } = tools;
  const once: { readonly name: string; readonly rest: TestedOnce }[] = [];
  const tested = time.step('candidates', entries.length);
  await inParallel(lanesOf(tools.runner), entries, async (entry) => {
    await begins?.(entry);
    const rest = await time.measured(`once ${entry.alias}`, () => examineOnce(tools, entry));
    once.push({ name: `again ${entry.alias}`, rest });
    tested();
  });
  const examined: ExaminedCandidate[] = [];
  await inParallel(askingLanesOf(tools.runner), once, async ({ name, rest }) => {
    examined.push(await time.measured(name, rest));
  });
  return examined.sort((a, b) => a.candidate.ordinal - b.candidate.ordinal);
}

/** How similar survivors' changes are; not computed for other candidates. */
function likenessByAlias(examined: readonly ExaminedCandidate[], probed: ProbeResults | null) {
  const survivors = examined.filter(({ gates, patch }) => isSurvivor(gates) && patch);
  const found = comparePatches(
    survivors.map(({ candidate, patch }) => ({
      id: candidate.alias,
      text: patch?.text ?? '',
      files: patch?.files,
      ...(candidate.family === undefined ? {} : { family: candidate.family }),
    })),
    { classesAsOne: true },
  );
  const all: ReadonlyMap<Alias, PatchLikeness> = new Map(found.map((one) => [one.id, one]));
  return probed ? separatedByProbes(all, probed) : all;
}

/** Maximum number of files, and of functions, stored per candidate. */
const MAX_CHANGES = 8;

const changesOf = (changed: PatchLikeness) =>
  [changed.files, changed.functions].flatMap((names) => names.slice(0, MAX_CHANGES));

/** Maximum number of examples stored. */
const MAX_UNMET = 5;

/** Results across all candidates. */
interface PoolResults extends KindOfTask {
  readonly mutants: ReadonlyMap<Alias, MutantCount>;
  readonly crossed: PeerResults;
  readonly probed: ProbeResults | null;
  readonly agreeing: ReadonlyMap<Alias, PatchLikeness>;
  /** The message with which every candidate would be committed. */
  readonly message: string;
}

const resultsOf = (
  onBase: TestRun,
  examined: readonly ExaminedCandidate[],
  { crossed, probed }: Pick<PoolResults, 'crossed' | 'probed'>,
) =>
  testTable({
    onBase,
    candidates: examined.map(({ candidate: { alias }, suite }) => ({
      alias,
      ...(suite ? { run: suite } : {}),
    })),
    peers: crossed.results,
    inputs: probed?.inputs ?? [],
  });

const firstLine = (text: string): string => text.trimStart().split('\n', 1)[0] ?? '';

function evidenceOf(
  { candidate, gates, patch, baseTests, types }: ExaminedCandidate,
  { kind, isMixed, mutants, crossed, probed, agreeing, message }: PoolResults,
): Evidence {
  const caught = mutants.get(candidate.alias);
  const agreed = agreeing.get(candidate.alias);
  const examples = probed?.examples.byAlias.get(candidate.alias);
  const behaviour = probed?.behaviour.get(candidate.alias);
  const tests = crossed.tests.get(candidate.alias);
  const unmetExamples = isSurvivor(gates) ? (probed?.examples.suspect.slice(0, MAX_UNMET) ?? []) : [];
  const peerTests = peerTestsOn(candidate.alias, crossed.results);
  return {
    alias: candidate.alias,
    gates,
    survivor: isSurvivor(gates),
    patchSha256: candidate.patch?.sha256 ?? '',
    productionLines: patch ? productionLines(patch) : 0,
    addedTests: tests ? tests.proven.length + tests.guards.length : 0,
    ...(tests ? { provenTests: tests.proven.length } : {}),
    coderMs: candidate.ms,
    ...(candidate.family === undefined ? {} : { family: candidate.family }),
    ...(baseTests ? { baseTests } : {}),
    ...(types ? { types } : {}),
    ...(kind === 'code' ? {} : { task: kind }),
    ...(isMixed ? { mixedKinds: true } : {}),
    ...(caught ? { mutants: caught } : {}),
    ...(examples ? { independentTests: examples } : {}),
    ...(unmetExamples.length > 0 ? { unmetExamples } : {}),
    ...(behaviour ? { behaviour } : {}),
    ...(agreed ? { agreement: agreed.score, alike: agreed.alike, changes: changesOf(agreed) } : {}),
    ...(patch ? { staticScore: staticScore(patch.text, message) } : {}),
    peerTests: peerTests.toSorted((a, b) => (a.author < b.author ? -1 : 1)),
  };
}
