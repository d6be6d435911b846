import { type Evidence, isSurvivor, joinTests, silenceOf } from '../../core/evidence/index.ts';
import {
  type IndependentTestReport,
  independentTestReport,
  joinAdmissions,
  NO_ADMISSION,
  type TestAdmission,
  taskKindOf,
  writersInOrder,
} from '../../core/independent-tests/index.ts';
import {
  blindPatch,
  type Competitor,
  factsOf,
  familyOf,
  type Identities,
  leaksIn,
  scrub,
} from '../../core/judging/index.ts';
import type { Alias } from '../../core/model/index.ts';
import { roleOf } from '../../core/patches/index.ts';
import { decide, type RankingOptions, rank, undecidedBefore } from '../../core/ranking/index.ts';
import { admitTests, type TestedSurvivor } from './admit.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { type ComparedCandidate, distinguish } from './distinguish.ts';
import { type TestWriter, writeIndependentTests } from './independent-tests.ts';
import { type Objections, review } from './review.ts';

/** Models that may write tests, and their instructions. */
export interface TestWriting {
  readonly writer: TestWriter;
  readonly instructions: {
    readonly independentTests: string;
    readonly distinguish: string;
    readonly reviewer: string;
  };
  /** What the settings allow models to do. */
  readonly may: { readonly write: boolean; readonly review: boolean };
  /** Whether tests were written earlier in this run: they are tried on new candidates at no further cost. */
  readonly triedBefore: boolean;
  /** The settings' ranking, which determines the undecided candidates that a writer may distinguish. */
  readonly rankingOptions: RankingOptions;
  /** Names of contestants, which test writers must not see. */
  readonly identities: Identities;
}

interface AddedTests {
  readonly evidence: readonly Evidence[];
  readonly report: IndependentTestReport;
}

/**
 * While the evidence is inconclusive, asks for tests by a writer that sees no candidate, then for tests that
 * distinguish the undecided ones; if the settings require a reviewer, also for objections to the leading candidates.
 * All count only if execution admits them. Null if no model was asked.
 */
export async function addWrittenTests(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
  evidence: readonly Evidence[],
  writing: TestWriting,
): Promise<AddedTests | null> {
  const contenders = examined.flatMap((one) => contenderOf(one, evidence, writing.identities));
  if (contenders.length === 0) return null;
  const writer = { ...writing.writer, models: writersFor(evidence, writing.writer.models) };
  const context: WritingContext = { tools, contenders, writing: { ...writing, writer } };
  // If the suite fails by exit code alone, added tests cannot be evaluated.
  const conclusive = tools.onBase.source === 'report' || silenceOf(tools.onBase) === null;
  const wrote =
    conclusive && writing.may.write && (writing.triedBefore || inDoubt(evidence, writing.rankingOptions))
      ? await writeTests(context, evidence)
      : null;
  const known = wrote ? withTests(evidence, wrote.admission) : evidence;
  const reviews = writing.may.review && (await tools.time.allows('written-tests', 'review'));
  const objections = reviews
    ? await tools.time.measured('review', () => reviewInDoubt(context, known))
    : null;
  if (!wrote && !objections) return null;
  const admission = joinAdmissions(wrote?.admission ?? NO_ADMISSION, objections?.admission ?? NO_ADMISSION);
  return {
    evidence: withTests(evidence, admission).map((one) => {
      const doubt = objections?.doubts.get(one.alias);
      return doubt === undefined ? one : { ...one, doubt };
    }),
    report: independentTestReport(admission, {
      models: wrote?.models ?? [],
      notes: [...(wrote?.notes ?? []), ...(objections?.notes ?? [])],
    }),
  };
}

/**
 * Models in the order in which they are asked: first those of families that wrote fewer of the candidates among which
 * to decide, those that break nothing above all. A writer should share no blind spots with them.
 */
function writersFor(evidence: readonly Evidence[], models: readonly string[]): readonly string[] {
  const survivors = evidence.filter(({ survivor }) => survivor);
  const sound = survivors.filter(({ baseTests }) => (baseTests?.regressions.length ?? 0) === 0);
  const familiesOf = (some: readonly Evidence[]) => some.flatMap(({ family }) => family ?? []);
  return writersInOrder(writersInOrder(models, familiesOf(survivors), familyOf), familiesOf(sound), familyOf);
}

interface WritingContext {
  readonly tools: ExaminationTools;
  readonly contenders: readonly (ComparedCandidate & { readonly competitor: Competitor })[];
  readonly writing: TestWriting;
}

interface WrittenAdmission {
  readonly admission: TestAdmission;
  readonly models: readonly string[];
  readonly notes: readonly string[];
}

async function writeTests(
  { tools, contenders, writing }: WritingContext,
  evidence: readonly Evidence[],
): Promise<WrittenAdmission> {
  const { runner, onBase, time } = tools;
  const { writer, instructions, rankingOptions, identities } = writing;
  const taskKind = taskKindOf(writer.task.title, writer.brief);
  const survivors = contenders.map(({ survivor }) => survivor);
  const trialMs = expectedTrialMs(tools, survivors.length);
  const allowed = await time.allows('written-tests', 'brief', '', trialMs);
  if (allowed) time.step('written-tests', null);
  const written = allowed
    ? await time.measured('tests from the brief', () =>
        writeIndependentTests(runner, writer, instructions.independentTests),
      )
    : NOTHING_WRITTEN;
  const before =
    written.tests.length === 0
      ? NO_ADMISSION
      : await time.measured('trial of tests from the brief', () =>
          admitTests(runner, written.tests, { survivors, onBase, taskKind, name: 'n' }),
        );
  const found = await distinguish(runner, writer, {
    inTime: async (round, work) =>
      (await time.allows('written-tests', `distinguishing ${round}`, '', trialMs))
        ? time.measured(`distinguishing test ${round}`, work)
        : null,
    contenders,
    undecided: (independent) => undecidedAmong(withTests(evidence, independent), rankingOptions),
    before,
    blind: (text) => scrub(text, identities),
    instructions: instructions.distinguish,
    onBase,
    taskKind,
  });
  const left = written.rejected.map(({ title, because }) => `“${title}” was not accepted: ${because}`);
  return {
    admission: joinAdmissions(before, found.admission),
    models: written.model === undefined ? [] : [written.model],
    notes: [...(written.note === undefined ? [] : [written.note]), ...left, ...found.notes],
  };
}

const NOTHING_WRITTEN: Awaited<ReturnType<typeof writeIndependentTests>> = { tests: [], rejected: [] };

/** Minimum time to admit a model's test, in milliseconds: three runs on the base and on each survivor. */
function expectedTrialMs({ runner, onBase }: ExaminationTools, survivors: number): number {
  const sample = runner.baseFiles.find((path) => roleOf(path) === 'test');
  if (sample !== undefined && runner.plan.focus([sample])) return 0;
  return (3 * (survivors + 1) * onBase.ms) / Math.max(1, runner.world.parallelChecks);
}

/** Maximum number of reviewed candidates. Our default. */
const MAX_REVIEWED = 3;

/** Reviews the candidates that may win. */
async function reviewInDoubt(
  { tools, contenders, writing }: WritingContext,
  evidence: readonly Evidence[],
): Promise<Objections> {
  const leading = undecidedAmong(evidence, writing.rankingOptions).slice(0, MAX_REVIEWED);
  const { task, brief } = writing.writer;
  return review(tools.runner, writing.writer, {
    competitors: leading.flatMap((alias) =>
      contenders.flatMap(({ survivor, competitor }) => (survivor.alias === alias ? [competitor] : [])),
    ),
    reviewers: [{ name: 'reviewer', spender: 'reviewer', instructions: writing.instructions.reviewer }],
    survivors: async () => contenders.map(({ survivor }) => survivor),
    task: [task.title, '', task.body, '', brief.goal, ...brief.definitionOfDone].join('\n'),
    identities: writing.identities,
    onBase: tools.onBase,
    taskKind: taskKindOf(task.title, brief),
  });
}

/** Whether there is a possible winner but not a clear one. */
function inDoubt(evidence: readonly Evidence[], order: RankingOptions): boolean {
  const { calibration } = order;
  const decision = decide(rank(evidence, order), evidence, calibration ? { calibration } : {});
  return decision.kind === 'toss-up' || (decision.kind === 'winner' && decision.confidence !== 'clear');
}

const undecidedAmong = (evidence: readonly Evidence[], order: RankingOptions): readonly Alias[] =>
  undecidedBefore('judges', evidence, order);

const withTests = (evidence: readonly Evidence[], { byAlias }: TestAdmission): readonly Evidence[] =>
  evidence.map((one) => {
    const tests = byAlias[one.alias];
    return tests ? { ...one, independentTests: joinTests(one.independentTests, tests) } : one;
  });

function contenderOf(
  { candidate, gates, patch, tree, baseTests }: ExaminedCandidate,
  evidence: readonly Evidence[],
  identities: Identities,
): WritingContext['contenders'] {
  const { alias } = candidate;
  const found = evidence.find((one) => one.alias === alias);
  if (!isSurvivor(gates) || !patch || !tree?.ready || !found) return [];
  const survivor: TestedSurvivor = { alias, tree, passesBaseTests: baseTests?.exitCode === 0 };
  const { files } = patch;
  const diff = blindPatch(files, identities).production;
  return [
    {
      survivor,
      changeClass: found.alike?.[0] ?? alias,
      diff: leaksIn(diff, identities).length === 0 ? diff : null,
      competitor: { alias, files, facts: factsOf(found), author: null },
    },
  ];
}
