import type { TestRun } from '../../core/evidence/index.ts';
import {
  fileProblem,
  type IndependentTest,
  joinAdmissions,
  NO_ADMISSION,
  newTestPaths,
  type TaskKind,
  type TestAdmission,
} from '../../core/independent-tests/index.ts';
import {
  blindPatch,
  type CheckedReview,
  type Competitor,
  type CriticReport,
  checkReview,
  familyOf,
  type Identities,
  type Objection,
  objectionOutcome,
  type Reproduction,
  Review,
  reviewOutcome,
  reviewQuestion,
} from '../../core/judging/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { stableNonce } from '../context.ts';
import { admitTests, type TestedSurvivor } from './admit.ts';
import type { CheckRunner } from './areas.ts';
import {
  answerOnce,
  askWriters,
  type TestWriter,
  type WriterAnswer,
  type WriterQuestion,
  writerContextOf,
} from './independent-tests.ts';

/** Share of a run's budget for all reviews. Our default. */
const REVIEW_BUDGET_SHARE = 0.1;
/** Maximum number of concurrent questions. Our default: providers reject more than a few at once. */
const CONCURRENT_REVIEWS = 4;

/** A reviewer that looks for defects. Reviewers do not see each other's findings. */
export interface Reviewer {
  readonly name: string;
  readonly spender: WriterQuestion<unknown>['spender'];
  readonly instructions: string;
  /** `provider/model` names in the order in which they are asked; absent: those of the writer. */
  readonly models?: readonly string[];
}

interface ReviewInput {
  /** Candidates to review, best first. */
  readonly competitors: readonly Competitor[];
  readonly reviewers: readonly Reviewer[];
  /**
   * All candidates on which a reviewer's test is tried: if none passes it, it shows no defect of one candidate. Called
   * only when there is a test.
   */
  readonly survivors: () => Promise<readonly TestedSurvivor[]>;
  /** The requirements. */
  readonly task: string;
  readonly identities: Identities;
  readonly onBase: TestRun;
  readonly taskKind: TaskKind;
}

export interface Objections {
  /**
   * Admission of the reviewers' tests: an admitted test counts like any other independent test, so it can change the
   * ranking.
   */
  readonly admission: TestAdmission;
  /**
   * Defects claimed on a changed line that execution did not refute, by alias: they lower confidence but never
   * eliminate.
   */
  readonly doubts: ReadonlyMap<Alias, string>;
  /** For people, partly a model's text. */
  readonly notes: readonly string[];
  /** Per candidate, one report per reviewer, in their order. */
  readonly reports: ReadonlyMap<Alias, readonly CriticReport[]>;
}

/** Has reviewers look for defects in each leading candidate, and executes their claims. */
export async function review(
  runner: CheckRunner,
  writer: TestWriter,
  given: ReviewInput,
): Promise<Objections> {
  const doubts = new Map<Alias, string>();
  const notes: string[] = [];
  const reports = new Map<Alias, readonly CriticReport[]>();
  let admission = NO_ADMISSION;
  for (const competitor of given.competitors) {
    const { alias } = competitor;
    const opinions = await opinionsOf(writer, competitor, given);
    const tests = await reproductionTests(runner, writer, opinions, admission.tests);
    const tried = await admitReproductions(
      runner,
      given,
      alias,
      [...tests.values()].flatMap((laid) => laid.filter((test) => test !== null)),
    );
    admission = joinAdmissions(admission, tried);
    const results = opinions.map((opinion) =>
      reviewerResult(opinion, tests.get(opinion) ?? [], alias, tried),
    );
    reports.set(
      alias,
      results.map(({ report }) => report),
    );
    notes.push(...new Set(results.flatMap(({ note }) => note ?? [])));
    const doubt = results.find((one) => one.doubt !== undefined)?.doubt;
    if (doubt !== undefined) doubts.set(alias, doubt);
  }
  return { admission, doubts, notes, reports };
}

/** One reviewer's answer about one candidate. */
interface Opinion {
  readonly reviewer: Reviewer;
  readonly review: CheckedReview;
  /** Empty if none answered. */
  readonly model: string;
}

async function opinionsOf(
  writer: TestWriter,
  competitor: Competitor,
  given: ReviewInput,
): Promise<readonly Opinion[]> {
  const opinions = new Map<Reviewer, Opinion>();
  await inParallel(CONCURRENT_REVIEWS, given.reviewers, async (reviewer) => {
    opinions.set(reviewer, await reviewOne(writer, competitor, reviewer, given));
  });
  return given.reviewers.flatMap((reviewer) => opinions.get(reviewer) ?? []);
}

async function reviewOne(
  writer: TestWriter,
  { alias, files, facts }: Competitor,
  reviewer: Reviewer,
  given: ReviewInput,
): Promise<Opinion> {
  const { identities, task } = given;
  const { name, spender, instructions } = reviewer;
  const patch = blindPatch(files, identities);
  const shown = [patch.production, patch.tests, facts];
  const key = JSON.stringify(['review', writer.task.runId, name, alias, task, shown]);
  const nonce = await stableNonce(writer, key);
  const question = reviewQuestion(task, { patch, facts }, identities, nonce);
  if (question.kind === 'leak')
    return { reviewer, review: { kind: 'ignored', because: NOT_BLIND }, model: '' };
  const asked = { ...writer, models: reviewer.models ?? writer.models };
  const result = await answerOnce(writer, key, async (): Promise<WriterAnswer<CheckedReview>> => {
    const share = REVIEW_BUDGET_SHARE / given.reviewers.length;
    const order = { spender, share, instructions, prompt: question.text } as const;
    const answer = await askWriters(asked, { ...order, schema: Review });
    if (answer.kind === 'nothing') return answer;
    return { ...answer, value: checkReview(alias, answer.value, { patch, nonce, instructions }) };
  });
  return result.kind === 'answer'
    ? { reviewer, review: result.value, model: result.model }
    : { reviewer, review: { kind: 'ignored', because: `The reviewer failed: ${result.why}` }, model: '' };
}

/** Used if anonymising could not remove every name. */
const NOT_BLIND = 'Its patch still names a model or an agent, so that nobody could read it blind.';

/** Tests of claims in their order; null for a claim without a usable test. */
type ReproductionFiles = readonly (IndependentTest | null)[];

/** The tests of all opinions, each at a unique path. */
async function reproductionTests(
  runner: CheckRunner,
  writer: TestWriter,
  opinions: readonly Opinion[],
  before: readonly IndependentTest[],
): Promise<ReadonlyMap<Opinion, ReproductionFiles>> {
  const objecting = opinions.flatMap((opinion) =>
    opinion.review.kind === 'claims' ? [{ opinion, claims: opinion.review.claims }] : [],
  );
  const setting = objecting.length > 0 ? await writerContextOf(runner, writer) : null;
  if (setting === null) return new Map();
  const taken = [...runner.baseFiles, ...before.map(({ path }) => path)];
  const count = objecting.reduce((sum, { claims }) => sum + claims.length, 0);
  const places = newTestPaths(setting.naming, taken, 'review', count).values();
  return new Map(
    objecting.map(({ opinion, claims }) => [
      opinion,
      claims.map(({ alias, test, file, line, expected }, i): IndependentTest | null => {
        const path = places.next().value;
        if (test === undefined || path === undefined || fileProblem(test) !== null) return null;
        const id = `review-${alias}-${opinion.reviewer.name}-${i + 1}`;
        const title = `${file}:${line}, ${expected}`.slice(0, 200);
        const family = familyOf(opinion.model);
        return { id, origin: 'reviewer', family, path, text: test, onBase: 'fails', votes: 'file', title };
      }),
    ]),
  );
}

/** A defect is either a remaining fault or a regression; a test of either kind is admitted. */
async function admitReproductions(
  runner: CheckRunner,
  { survivors, onBase, taskKind }: ReviewInput,
  alias: Alias,
  tests: readonly IndependentTest[],
): Promise<TestAdmission> {
  if (tests.length === 0) return NO_ADMISSION;
  const options = { survivors: await survivors(), onBase, taskKind, name: `r${alias}` };
  const asNew = await admitTests(runner, tests, options);
  const refused = tests.filter((test) =>
    asNew.votes.some((vote) => vote.test === test.id && vote.status === 'refused'),
  );
  const asOld = refused.map((test): IndependentTest => ({ ...test, onBase: 'passes' }));
  const kept = await admitTests(runner, asOld, options);
  const left = new Set(refused.map(({ id }) => id));
  const fresh: TestAdmission = {
    tests: asNew.tests.filter(({ id }) => !left.has(id)),
    votes: asNew.votes.filter(({ test }) => !left.has(test)),
    byAlias: asNew.byAlias,
  };
  return joinAdmissions(fresh, kept);
}

interface ReviewerResult {
  readonly report: CriticReport;
  readonly note?: string;
  readonly doubt?: string;
}

/** Result of one opinion after execution. */
function reviewerResult(
  { reviewer, review, model }: Opinion,
  tests: ReproductionFiles,
  alias: Alias,
  tried: TestAdmission,
): ReviewerResult {
  const critic = reviewer.name;
  switch (review.kind) {
    case 'ignored': {
      const report: CriticReport = { critic, kind: 'failed', why: review.because };
      const note = `${alias} was not reviewed: ${review.because}`;
      // A patch must not be able to avoid its review by its content.
      return review.because === NOT_BLIND ? { report, note, doubt: NOT_BLIND } : { report, note };
    }
    case 'pass':
      return { report: { critic, kind: 'passed', model, because: review.because, objections: [] } };
    case 'claims': {
      const ran = review.claims.map((_, i) => reproduction(tests[i] ?? null, alias, tried));
      const objections = review.claims.map((claim, i): Objection => {
        const { file, line, input, expected, got } = claim;
        const outcome = objectionOutcome(ran[i] ?? null);
        return {
          file,
          line,
          input,
          expected,
          got,
          outcome,
          because: reproductionReason(tests[i] ?? null, tried),
        };
      });
      const report: CriticReport = { critic, kind: 'objects', model, because: review.because, objections };
      const { kind, because } = reviewOutcome(review, ran);
      if (kind === 'passed') return { report };
      return { report, note: `${alias}: ${because}`, doubt: because };
    }
  }
}

const voteOn = (test: IndependentTest | null, { votes }: TestAdmission) =>
  test === null ? undefined : votes.find((one) => one.test === test.id);

const reproductionReason = (test: IndependentTest | null, tried: TestAdmission): string =>
  voteOn(test, tried)?.because ?? 'There is no test of it that could be run.';

/** Result of executing a claim's test; null if it has none or the result is inconclusive. */
function reproduction(test: IndependentTest | null, alias: Alias, tried: TestAdmission): Reproduction {
  const vote = voteOn(test, tried);
  if (!vote) return null;
  const admitted = vote.status === 'admitted';
  if (vote.failedBy.includes(alias)) return { onCandidate: 'failed', admitted };
  return vote.passedBy.includes(alias) ? { onCandidate: 'passed', admitted } : null;
}
