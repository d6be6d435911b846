import {
  confirmedByOthers,
  type Evidence,
  type ExaminationCut,
  isSurvivor,
  type KindOfTask,
  type MutantCount,
  peerTestsOn,
  separatedByProbes,
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
import { type ExaminationStep, tailOf } from '../../core/reports/index.ts';
import { storePatch } from '../context.ts';
import { unlessDamaged } from '../stage.ts';
import { type CheckRunner, inArea, lanesOf, withCommandSlots } from './areas.ts';
import { asOnBase, withoutSteps } from './base-plan.ts';
import {
  type CandidateEntry,
  type ExaminationTools,
  type ExaminedCandidate,
  examineOnce,
  type TestedOnce,
} from './candidate.ts';
import { areaId, runCommand } from './execute.ts';
import { scopeToPackages } from './packages.ts';
import { type PeerResults, runPeerTests } from './peer-tests.ts';
import { probeCandidates } from './probe.ts';
import type { ProbeResults } from './probe-comparison.ts';
import { openElsewhere, testElsewhere } from './steadiness.ts';
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
  const { kind } = task;
  const trees = openTrees(runner);
  // By the base run alone, so that results of an examination ahead of this one are found.
  const limited = limitedByBase(asOnBase(runner, onBase), baseRun);
  const whole: ExaminationTools = { kind, runner: limited, trees, onBase, time };
  // A linter is run on each candidate's own tree, but not with other candidates' tests.
  const tools: ExaminationTools = {
    ...whole,
    runner: withoutSteps(whole.runner),
    onBase: testsAlone(onBase),
  };
  try {
    const once = await examineAll(whole, entries, begins);
    const elsewhere = await openElsewhere(whole, once);
    const tested = await testElsewhere(whole, once, elsewhere);
    const written = kind === 'tests' && isProbed ? await judgeTests(tools, tested) : null;
    const { examined, results: probed } =
      written || !isProbed
        ? { examined: written?.examined ?? tested, results: null }
        : await probeCandidates(tools, tested, elsewhere);
    // Tests alone change no behaviour, and tests that differ are no disagreement.
    const agreeing = written ? new Map<Alias, PatchLikeness>() : likenessByAlias(examined, probed);
    const crossed = written
      ? { tests: new Map(), results: [] }
      : await runPeerTests(tools, examined, (alias) => agreeing.get(alias)?.alike ?? []);
    const mutants = written?.mutants ?? new Map();
    const known = { ...task, mutants, crossed, probed, agreeing, message: firstLine(runner.asked ?? '') };
    const evidence = settledByOthers(withoutContestedTests(examined.map((one) => evidenceOf(one, known))));
    const mayWrite = kind === 'code' || kind === 'configuration';
    const added = writing && mayWrite ? await addWrittenTests(tools, examined, evidence, writing) : null;
    return {
      evidence: confirmedByOthers(withCut(added?.evidence ?? evidence, time.cut(leftOut))),
      results: resultsOf(tools.onBase, examined, known),
      ...(added ? { independentTests: added.report } : {}),
    };
  } finally {
    await tools.trees.close();
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

/** Every candidate is built and tested once before anything is rerun. */
async function examineAll(
  tools: ExaminationTools,
  entries: readonly CandidateEntry[],
  begins: GatherOptions['begins'],
): Promise<readonly ExaminedCandidate[]> {
  const { time } = tools;
  const lanes = lanesOf(tools.runner);
  const once: { readonly name: string; readonly rest: TestedOnce }[] = [];
  const tested = time.step('candidates', entries.length);
  await inParallel(lanes, entries, async (entry) => {
    await begins?.(entry);
    const rest = await time.measured(`once ${entry.alias}`, () => examineOnce(tools, entry));
    once.push({ name: `again ${entry.alias}`, rest });
    tested();
  });
  const examined: ExaminedCandidate[] = [];
  await inParallel(lanes, once, async ({ name, rest }) => {
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

/** Exit code of the script below if the text does not apply. */
const NOT_APPLIED = 3;

/**
 * Writes to the index only, so that no file needs to be read again. Prints the tree, then its diff to the base. Git
 * exits with 1 or 128 for a patch that it does not take; a higher exit code is that of a killed program.
 */
const READ_DIFF_SCRIPT = `
set -e
git apply --cached --whitespace=nowarn - || { code=$?; [ $code -gt 128 ] || exit ${NOT_APPLIED}; exit $code; }
tree=$(git write-tree)
printf '%s\\n' "$tree"
git diff-index --cached --raw -z --no-abbrev --no-renames "$1"`;

/** Name in a fault of the programs that read a patch. */
const PATCH_READER = 'The program that reads a given patch (git)';
const PRINT_DIFF_SCRIPT = [
  ...['-p', '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--diff-algorithm=myers', '--unified=3'],
];

/**
 * Converts a patch given as text to the form in which coders' work is collected. Git runs inside the sandbox, where no
 * candidate code has run, so only the text itself is untrusted.
 */
export async function collectText(
  runner: CheckRunner,
  alias: string,
  text: string,
): Promise<Pick<CandidateEntry, 'patch' | 'note'>> {
  const { world, task } = runner;
  const { sha } = task.base;
  if (text.trim() === '') return { note: 'changes nothing' };
  return inArea(runner, areaId(task.runId, alias, 'given'), async (area) => {
    const taken = await runCommand(runner, area, {
      argv: ['sh', '-c', READ_DIFF_SCRIPT, 'take', sha],
      stdin: text,
      own: PATCH_READER,
    });
    if (taken.exitCode === NOT_APPLIED)
      return { note: `does not apply to the base: ${tailOf(taken.stderr, 5)}` };
    const shown = await runCommand(runner, area, {
      argv: ['git', 'diff-index', '--cached', ...PRINT_DIFF_SCRIPT, sha],
      own: PATCH_READER,
    });
    const failed = [taken, shown].find(({ exitCode, truncated }) => exitCode !== 0 || truncated);
    if (failed) {
      const why = failed.truncated ? 'it is too large' : tailOf(failed.stderr, 5);
      return { note: `could not be read: ${why}` };
    }
    const end = taken.stdout.indexOf('\n');
    const raw = taken.stdout.slice(end + 1);
    if (raw === '') return { note: 'changes nothing' };
    const patch = { tree: taken.stdout.slice(0, end), raw, text: shown.stdout };
    return { note: 'given', patch: await storePatch(world.artifacts, patch) };
  });
}
