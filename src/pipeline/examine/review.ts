import type { TestRun } from '../../core/evidence/index.ts';
import {
  blind,
  type Competitor,
  type Identities,
  type Reproduction,
  Review,
  type Reviewed,
  reviewed,
  reviewQuestionOf,
  settleReview,
} from '../../core/judging/index.ts';
import type { Alias } from '../../core/model/index.ts';
import {
  type Admission,
  type Aim,
  formFault,
  joinAdmissions,
  type NeutralTest,
  NO_ADMISSION,
  placesFor,
} from '../../core/neutral/index.ts';
import { admitTests, type Survivor } from './admit.ts';
import type { Bench } from './execute.ts';
import { settingOf } from './neutral.ts';
import { ask, type Desk, type Heard, kept } from './writer.ts';

/** The most of a run's budget that all reviews may use. Our default. */
const SHARE = 0.1;

export interface Reviewing {
  /** Those who are reviewed, best first. */
  readonly competitors: readonly Competitor[];
  /** All on whom a reviewer's test is tried: what nobody passes is no defect of one. */
  readonly survivors: readonly Survivor[];
  /** What was asked for. */
  readonly task: string;
  readonly instructions: string;
  readonly identities: Identities;
  readonly onBase: TestRun;
  readonly aim: Aim;
}

export interface Objections {
  /** Of the reviewers' tests: one that is admitted counts like any other neutral test, and so can unseat a candidate. */
  readonly admission: Admission;
  /** Defects that were named on a changed line and not shown by a test, by alias: they make nobody fall, and nobody clear. */
  readonly doubts: ReadonlyMap<Alias, string>;
  /** For people, in part a model's words. */
  readonly notes: readonly string[];
}

/** A reviewer looks for a defect in each of the leading candidates; what it claims is executed. */
export async function review(bench: Bench, desk: Desk, given: Reviewing): Promise<Objections> {
  const doubts = new Map<Alias, string>();
  const notes: string[] = [];
  let admission = NO_ADMISSION;
  for (const competitor of given.competitors) {
    const { alias } = competitor;
    const found = await reviewOne(desk, competitor, given);
    if (found.kind === 'ignored') notes.push(`${alias} was not reviewed: ${found.because}`);
    // A patch must not get rid of its reviewer by what it says.
    if (found.kind === 'ignored' && found.because === LEAK) doubts.set(alias, LEAK);
    if (found.kind !== 'claims') continue;
    const tests = await testsOf(bench, desk, found, [...admission.tests]);
    const tried = await tryOut(
      bench,
      given,
      alias,
      tests.filter((test) => test !== null),
    );
    admission = joinAdmissions(admission, tried);
    const ran = tests.map((test) => reproduction(test, alias, tried));
    const outcome = settleReview(found, ran);
    if (outcome.kind !== 'passed') notes.push(`${alias}: ${outcome.because}`);
    if (outcome.kind === 'doubted') doubts.set(alias, outcome.because);
  }
  return { admission, doubts, notes };
}

async function reviewOne(
  desk: Desk,
  { alias, files, facts }: Competitor,
  given: Reviewing,
): Promise<Reviewed> {
  const { identities, instructions, task } = given;
  const patch = blind(files, identities);
  const nonce = desk.random.nonce();
  const question = reviewQuestionOf(task, { patch, facts }, identities, nonce);
  if (question.kind === 'leak') return { kind: 'ignored', because: LEAK };
  const key = JSON.stringify(['review', desk.task.runId, alias, task, patch.production, patch.tests, facts]);
  const heard = await kept(desk, key, async (): Promise<Heard<Reviewed>> => {
    const order = { spender: 'reviewer', share: SHARE, instructions, prompt: question.text } as const;
    const answer = await ask(desk, { ...order, schema: Review });
    if (answer.kind === 'nothing') return answer;
    return { ...answer, value: reviewed(alias, answer.value, { patch, nonce, instructions }) };
  });
  return heard.kind === 'answer'
    ? heard.value
    : { kind: 'ignored', because: `The reviewer was lost: ${heard.why}` };
}

/** Blinding could not take every name out of it. */
const LEAK = 'Its patch still names a model or an agent, so that nobody could read it blind.';

/** The tests of its claims, in their order; null for a claim without one that can be laid. */
async function testsOf(
  bench: Bench,
  desk: Desk,
  { claims }: Reviewed & { readonly kind: 'claims' },
  before: readonly NeutralTest[],
): Promise<readonly (NeutralTest | null)[]> {
  const setting = await settingOf(bench, desk);
  if (setting === null) return claims.map(() => null);
  const taken = [...bench.baseFiles, ...before.map(({ path }) => path)];
  const places = placesFor(setting.custom, taken, 'review', claims.length);
  return claims.map(({ test, file, line, expected }, i): NeutralTest | null => {
    const path = places[i];
    if (test === undefined || path === undefined || formFault(test) !== null) return null;
    const title = `${file}:${line}, ${expected}`.slice(0, 200);
    return {
      id: `review-${before.length + i + 1}`,
      origin: 'reviewer',
      path,
      text: test,
      onBase: 'fails',
      votes: 'file',
      title,
    };
  });
}

/** A defect is something that is still wrong, or something that was right before: either makes a test worth hearing. */
async function tryOut(
  bench: Bench,
  { survivors, onBase, aim }: Reviewing,
  alias: Alias,
  tests: readonly NeutralTest[],
): Promise<Admission> {
  if (tests.length === 0) return NO_ADMISSION;
  const trying = { survivors, onBase, aim, name: `r${alias}` };
  const asNew = await admitTests(bench, tests, trying);
  const refused = tests.filter((test) =>
    asNew.votes.some((vote) => vote.test === test.id && vote.standing === 'refused'),
  );
  const asOld = refused.map((test): NeutralTest => ({ ...test, onBase: 'passes' }));
  const kept = await admitTests(bench, asOld, trying);
  const left = new Set(refused.map(({ id }) => id));
  const fresh: Admission = {
    tests: asNew.tests.filter(({ id }) => !left.has(id)),
    votes: asNew.votes.filter(({ test }) => !left.has(test)),
    byAlias: asNew.byAlias,
  };
  return joinAdmissions(fresh, kept);
}

/** What executing a claim's test came to; null where it has none, or it says nothing. */
function reproduction(test: NeutralTest | null, alias: Alias, { votes }: Admission): Reproduction {
  const vote = votes.find((one) => one.test === test?.id);
  if (!vote) return null;
  const on = (one: Alias) =>
    vote.failedBy.includes(one) ? 'failed' : vote.passedBy.includes(one) ? 'passed' : null;
  const own = on(alias);
  const others = [...vote.passedBy, ...vote.failedBy].filter((one) => one !== alias);
  return own && { onCandidate: own, onOthers: others.flatMap((one) => on(one) ?? []) };
}
