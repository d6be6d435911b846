import {
  type AskedPair,
  advancing,
  allPairs,
  blindPatch,
  type Competitor,
  comparisonQuestion,
  familyOf,
  type Identities,
  identitiesOf,
  type Judge,
  type JudgeAnswer,
  type Judgement,
  type JudgingPlan,
  type JudgingPool,
  judgementOf,
  judgesForPair,
  judgingPlanOf,
  knockoutRound,
  looksIdentical,
  MAX_CALLS,
  notJudged,
  outcomesOf,
  type Pair,
  type ShownCandidate,
} from '../../core/judging/index.ts';
import { type Alias, inParallel } from '../../core/model/index.ts';
import { stableNonce } from '../context.ts';
import { askBothSides } from './comparison.ts';
import type { JudgeModelParts } from './judge-model.ts';
import { type LeasedJudges, openJudges } from './leased-judges.ts';

/** Share of the run's budget for all judges together. Our default: the coders have been paid by then. */
const JUDGES_SHARE = 0.2;
/** Maximum number of concurrent questions. Our default: providers reject more than a few at once. */
const CONCURRENT_QUESTIONS = 4;

export interface JudgeOptions extends JudgeModelParts {
  /** The text of `judge.md`, or the operator's replacement. */
  readonly instructions: string;
  /** Maximum number of calls; absent: our default. */
  readonly maxCalls?: number;
  /** Share of the run's budget for all judges together, 0 to 1; absent: our default. */
  readonly share?: number;
  /** Uses a knockout even if there are enough calls for every pair. */
  readonly knockout?: boolean;
}

/**
 * Has judges compare the survivors pairwise, blind, and in both orders. Never rejects because of a model: failed judges
 * are listed in the judgement. Rejects when the run is cancelled and for faults that stop a run. Callers pass only
 * candidates that passed every gate (I7).
 */
export async function judgePool(parts: JudgeOptions, pool: JudgingPool): Promise<Judgement> {
  const models = [...new Set(parts.models)];
  const aliases = pool.competitors.map(({ alias }) => alias);
  if (aliases.length < 2) return notJudged('There are fewer than two candidates to compare.');
  if (models.length === 0) return notJudged('No model is available as a judge.');
  const options = { maxCalls: parts.maxCalls, knockout: parts.knockout };
  const session = openSession(parts, pool, judgingPlanOf(aliases, models.length, options), models);
  try {
    if (session.plan.format === 'round-robin') await comparePairs(session, allPairs(session.plan.aliases));
    else await knockout(session);
    return judgementOf({ ...session, judges: session.leasedJudges(), spent: await session.spent() });
  } finally {
    await session.close();
  }
}

/** State of one judgement; `asked`, `alike` and `notes` grow. */
interface JudgingSession extends LeasedJudges {
  readonly parts: JudgeOptions;
  readonly pool: JudgingPool;
  readonly plan: JudgingPlan;
  readonly models: readonly string[];
  readonly identities: Identities;
  readonly sides: ReadonlyMap<Alias, ShownCandidate & { readonly competitor: Competitor }>;
  readonly injections: Judgement['injections'];
  readonly asked: AskedPair[];
  readonly alike: Pair[];
  readonly notes: string[];
  /** The delimiter of all questions. */
  nonce(): Promise<string>;
}

function openSession(
  parts: JudgeOptions,
  pool: JudgingPool,
  plan: JudgingPlan,
  models: readonly string[],
): JudgingSession {
  const identities = identitiesOf(pool.authors);
  const field = pool.competitors.filter(({ alias }) => plan.aliases.includes(alias));
  const sides = new Map(
    field.map((competitor) => {
      const patch = blindPatch(competitor.files, identities);
      return [competitor.alias, { patch, facts: competitor.facts, competitor }] as const;
    }),
  );
  const shown = [...sides.values()].map(({ patch, facts }) => [patch.production, patch.tests, facts]);
  const allShown = JSON.stringify(['judgement', pool.task, ...shown]);
  let nonce: Promise<string> | undefined;
  const shareUsd = parts.payer.runCapUsd * (parts.share ?? JUDGES_SHARE);
  return {
    parts,
    pool,
    plan,
    models,
    identities,
    sides,
    injections: [...sides].flatMap(([alias, { patch }]) =>
      patch.injections.map((injection) => ({ alias, ...injection })),
    ),
    asked: [],
    alike: [],
    notes: [],
    nonce: () => (nonce ??= stableNonce(parts, allShown)),
    ...openJudges(parts, { models, shareUsd, judges: plan.judges, calls: parts.maxCalls ?? MAX_CALLS }),
  };
}

/** Knockout rounds: the candidate that most judges prefer advances; on a tie, the one with better evidence. */
async function knockout(session: JudgingSession): Promise<void> {
  let left = session.plan.aliases;
  while (left.length > 1) {
    const round = knockoutRound(left);
    const laterMatches = left.length - round.matches.length - 1;
    await comparePairs(session, round.matches, 2 * session.plan.judges * laterMatches);
    const { pairs } = outcomesOf(session.leasedJudges(), session.asked);
    left = advancing(left, round, ({ a, b }) => {
      const verdicts = pairs.find((pair) => pair.a === a && pair.b === b)?.byJudge ?? [];
      const ahead =
        verdicts.filter(({ outcome }) => outcome === 'a').length -
        verdicts.filter(({ outcome }) => outcome === 'b').length;
      return ahead === 0 ? null : ahead > 0 ? a : b;
    });
  }
}

interface Comparison {
  readonly pair: Pair;
  readonly judge: Judge;
  readonly isAuthorFamily: boolean;
  readonly answers: { aFirst: JudgeAnswer | null; bFirst: JudgeAnswer | null };
}

/**
 * Asks every judge about every pair in both orders, and a substitute model where one fails to answer. `reserved`: calls
 * that later pairs need.
 */
async function comparePairs(session: JudgingSession, pairs: readonly Pair[], reserved = 0): Promise<void> {
  let comparisons: readonly Comparison[] = pairs
    .filter((pair) => canCompare(session, pair))
    .flatMap((pair) => comparisonsOf(session, pair));
  while (comparisons.length > 0) {
    await askComparisons(session, comparisons);
    comparisons = substitutes(session, comparisons, reserved);
  }
}

async function askComparisons(session: JudgingSession, comparisons: readonly Comparison[]): Promise<void> {
  // The two orders of a pair are asked apart from each other: what they share may be cached by then.
  const calls = (['aFirst', 'bFirst'] as const).flatMap((order) =>
    comparisons.map((comparison) => ({ comparison, order })),
  );
  await inParallel(CONCURRENT_QUESTIONS, calls, async ({ comparison, order }) => {
    const { a, b } = comparison.pair;
    const [first, second] = order === 'aFirst' ? [a, b] : [b, a];
    comparison.answers[order] = await askJudge(session, comparison.judge, first, second);
  });
  for (const { pair, judge, isAuthorFamily, answers } of comparisons) {
    const missing: JudgeAnswer = { kind: 'unusable', answered: false, why: 'It was not asked.' };
    session.asked.push({
      pair,
      judge: judge.judge,
      isAuthorFamily,
      aFirst: answers.aFirst ?? missing,
      bFirst: answers.bFirst ?? missing,
    });
  }
}

/**
 * For each judge that failed to answer, the next eligible model that has not been asked about the pair, as long as
 * calls remain. A judge with an unusable answer counts as asked and is not replaced.
 */
function substitutes(
  session: JudgingSession,
  comparisons: readonly Comparison[],
  reserved: number,
): Comparison[] {
  const most = (session.parts.maxCalls ?? MAX_CALLS) - reserved;
  const silent = ({ answers }: Comparison) =>
    [answers.aFirst, answers.bFirst].some((one) => one?.kind === 'unusable' && !one.answered);
  const next: Comparison[] = [];
  for (const { pair } of comparisons.filter(silent)) {
    if ((session.asked.length + next.length + 1) * 2 > most) break;
    const ofPair = (one: { readonly pair: Pair }) => one.pair.a === pair.a && one.pair.b === pair.b;
    const used = new Set([
      ...session.asked.filter(ofPair).map(({ judge }) => judge),
      ...next.filter(ofPair).map(({ judge }) => judge.judge),
    ]);
    const free = comparisonsOf(session, pair, session.models.length).find(
      ({ judge }) => !used.has(judge.judge),
    );
    if (free) next.push(free);
  }
  return next;
}

/** Checks whether a comparison is needed and allowed; if not allowed, notes the reason in the judgement. */
function canCompare(session: JudgingSession, pair: Pair): boolean {
  const [a, b] = [candidateIn(session, pair.a), candidateIn(session, pair.b)];
  if (looksIdentical(a, b)) {
    session.alike.push(pair);
    session.notes.push(
      `${pair.a} and ${pair.b} look the same to judges, so they count as tied without being judged.`,
    );
    return false;
  }
  const question = comparisonQuestion(session.pool.task, { first: a, second: b }, session.identities, '');
  if (question.kind === 'question') return true;
  const names = question.names.slice(0, 3).join(', ');
  session.notes.push(
    `${pair.a} and ${pair.b} were not compared: what judges would see still reveals an author (${names}).`,
  );
  return false;
}

function candidateIn(
  { sides }: JudgingSession,
  alias: Alias,
): ShownCandidate & { readonly competitor: Competitor } {
  const side = sides.get(alias);
  if (!side) throw new Error(`no candidate ${alias} before the judges`);
  return side;
}

function comparisonsOf(
  session: JudgingSession,
  pair: Pair,
  judges = session.plan.judges,
): readonly Comparison[] {
  const authors = [pair.a, pair.b].map((alias) => candidateIn(session, alias).competitor.author);
  return judgesForPair(authors, session.models, judges).map(({ model, isAuthorFamily }) => ({
    pair,
    judge: { judge: `judge-${session.models.indexOf(model) + 1}`, model, family: familyOf(model) },
    isAuthorFamily,
    answers: { aFirst: null, bFirst: null },
  }));
}

async function askJudge(
  session: JudgingSession,
  judge: Judge,
  first: Alias,
  second: Alias,
): Promise<JudgeAnswer> {
  const { parts, pool, identities } = session;
  const sides = { first: candidateIn(session, first), second: candidateIn(session, second) };
  const judgeModel = await session.judgeModel(judge);
  return askBothSides(parts, {
    model: judge.model,
    judgeModel,
    task: pool.task,
    sides,
    identities,
    names: [first, second],
    nonce: await session.nonce(),
  });
}
