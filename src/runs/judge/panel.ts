import {
  type AskedPair,
  afterRound,
  alike,
  allPairs,
  blind,
  type Competitor,
  familyOf,
  type Heard,
  heard,
  type Identities,
  identitiesOf,
  type Judge,
  type Judgement,
  judgementOf,
  MOST_CALLS,
  notJudged,
  outcomesOf,
  type Pair,
  type Plan,
  type Pool,
  panelOf,
  planOf,
  questionOf,
  roundOf,
  type SideShown,
  Verdict,
} from '../../core/judging/index.ts';
import { type Alias, inParallel, NO_USAGE, type Usage } from '../../core/model/index.ts';
import { stableNonce } from '../context.ts';
import { ANSWER_MS, type JudgeModel, type JudgeModelParts, openJudgeModel } from './judge-model.ts';

/** Of the run's budget, all judges together. Our default: by then coders have had their part. */
const JUDGES_SHARE = 0.2;
/** Questions under way at a time. Our default: providers refuse more than a few at once. */
const CONCURRENT_QUESTIONS = 4;

export interface JudgeParts extends JudgeModelParts {
  /** The text of `judge.md`, or what the operator put in its place. */
  readonly instructions: string;
  /** Calls at most; absent: our default. */
  readonly mostCalls?: number;
  /** Of the run's budget, for all judges together, 0 to 1; absent: our default. */
  readonly share?: number;
  /** A knockout also where every pair could meet. */
  readonly knockout?: boolean;
}

/**
 * Puts the survivors before judges: blind, in pairs, in both orders. Never rejects for what models do: judges that are
 * lost are in the judgement. Rejects when the run is cancelled, and for faults that stop a run. The caller gives it only
 * candidates that passed every gate (I7).
 */
export async function judgePool(parts: JudgeParts, pool: Pool): Promise<Judgement> {
  const models = [...new Set(parts.models)];
  const aliases = pool.competitors.map(({ alias }) => alias);
  if (aliases.length < 2) return notJudged('There are not two candidates to compare.');
  if (models.length === 0) return notJudged('No model is available as a judge.');
  const options = { most: parts.mostCalls, knockout: parts.knockout };
  const session = openSession(parts, pool, planOf(aliases, models.length, options), models);
  try {
    if (session.plan.how === 'round-robin') await comparePairs(session, allPairs(session.plan.field));
    else await knockout(session);
    return judgementOf({ ...session, judges: session.leasedJudges(), spent: await session.spent() });
  } finally {
    await session.close();
  }
}

/** Everything one judgement works with; `asked`, `alike` and `notes` grow. */
interface JudgingSession {
  readonly parts: JudgeParts;
  readonly pool: Pool;
  readonly plan: Plan;
  readonly models: readonly string[];
  readonly identities: Identities;
  readonly sides: ReadonlyMap<Alias, SideShown & { readonly competitor: Competitor }>;
  readonly addresses: Judgement['addresses'];
  readonly asked: AskedPair[];
  readonly alike: Pair[];
  readonly notes: string[];
  /** Opened when a judge is first asked. */
  judgeModel(judge: Judge): Promise<JudgeModel>;
  leasedJudges(): readonly Judge[];
  spent(): Promise<Usage>;
  close(): Promise<void>;
}

function openSession(parts: JudgeParts, pool: Pool, plan: Plan, models: readonly string[]): JudgingSession {
  const identities = identitiesOf(pool.authors);
  const field = pool.competitors.filter(({ alias }) => plan.field.includes(alias));
  const sides = new Map(
    field.map((competitor) => {
      const patch = blind(competitor.files, identities);
      return [competitor.alias, { patch, facts: competitor.facts, competitor }] as const;
    }),
  );
  const leased = new Map<string, { readonly judge: Judge; readonly judgeModel: Promise<JudgeModel> }>();
  const allLeased = () => Promise.all([...leased.values()].map(({ judgeModel }) => judgeModel));
  const capUsd = (parts.payer.runCapUsd * (parts.share ?? JUDGES_SHARE)) / plan.judges;
  // Long enough for one question after the other to take all its time; it ends with the judgement.
  const ttlMs = ANSWER_MS * (1 + (parts.mostCalls ?? MOST_CALLS));
  return {
    parts,
    pool,
    plan,
    models,
    identities,
    sides,
    addresses: [...sides].flatMap(([alias, { patch }]) =>
      patch.addresses.map((address) => ({ alias, ...address })),
    ),
    asked: [],
    alike: [],
    notes: [],
    judgeModel(judge) {
      const known = leased.get(judge.judge)?.judgeModel;
      if (known) return known;
      const judgeModel = openJudgeModel(parts, { spender: judge.judge, model: judge.model, capUsd, ttlMs });
      leased.set(judge.judge, { judge, judgeModel });
      return judgeModel;
    },
    leasedJudges: () => [...leased.values()].map(({ judge }) => judge).toSorted(byPlace(models)),
    spent: async () => (await allLeased()).map((judgeModel) => judgeModel.usage()).reduce(sum, NO_USAGE),
    async close() {
      const open = await Promise.allSettled([...leased.values()].map(({ judgeModel }) => judgeModel));
      await Promise.all(open.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)));
    },
  };
}

const byPlace = (models: readonly string[]) => (a: Judge, b: Judge) =>
  models.indexOf(a.model) - models.indexOf(b.model);

const sum = (a: Usage, b: Usage): Usage => ({
  usd: a.usd + b.usd,
  tokensIn: a.tokensIn + b.tokensIn,
  tokensOut: a.tokensOut + b.tokensOut,
  calls: a.calls + b.calls,
});

/** Round after round; who wins most judges goes on, and where they are even the better evidence. */
async function knockout(session: JudgingSession): Promise<void> {
  let left = session.plan.field;
  while (left.length > 1) {
    const round = roundOf(left);
    await comparePairs(session, round.matches);
    const { pairs } = outcomesOf(session.leasedJudges(), session.asked);
    left = afterRound(left, round, ({ a, b }) => {
      const said = pairs.find((pair) => pair.a === a && pair.b === b)?.byJudge ?? [];
      const ahead =
        said.filter(({ outcome }) => outcome === 'a').length -
        said.filter(({ outcome }) => outcome === 'b').length;
      return ahead === 0 ? null : ahead > 0 ? a : b;
    });
  }
}

interface Comparison {
  readonly pair: Pair;
  readonly judge: Judge;
  readonly own: boolean;
  readonly heard: { aFirst: Heard | null; bFirst: Heard | null };
}

/** Asks every judge of every pair in both orders, and another model where one gives no answer. */
async function comparePairs(session: JudgingSession, pairs: readonly Pair[]): Promise<void> {
  let hearings: readonly Comparison[] = pairs
    .filter((pair) => isOpen(session, pair))
    .flatMap((pair) => comparisonsOf(session, pair));
  while (hearings.length > 0) {
    await askAll(session, hearings);
    hearings = substitutes(session, hearings);
  }
}

async function askAll(session: JudgingSession, hearings: readonly Comparison[]): Promise<void> {
  const calls = hearings.flatMap((hearing) => [
    { hearing, order: 'aFirst' as const },
    { hearing, order: 'bFirst' as const },
  ]);
  await inParallel(CONCURRENT_QUESTIONS, calls, async ({ hearing, order }) => {
    const { a, b } = hearing.pair;
    const [first, second] = order === 'aFirst' ? [a, b] : [b, a];
    hearing.heard[order] = await askJudge(session, hearing.judge, first, second);
  });
  for (const { pair, judge, own, heard: said } of hearings) {
    const missing: Heard = { kind: 'lost', came: false, why: 'It was not asked.' };
    session.asked.push({
      pair,
      judge: judge.judge,
      own,
      aFirst: said.aFirst ?? missing,
      bFirst: said.bFirst ?? missing,
    });
  }
}

/**
 * In the place of each judge from whom no answer came, the next model that may judge the pair and has not been asked about
 * it, as long as the calls suffice. A judge whose answer cannot be used was heard, and is not replaced.
 */
function substitutes(session: JudgingSession, hearings: readonly Comparison[]): Comparison[] {
  const most = session.parts.mostCalls ?? MOST_CALLS;
  const silent = ({ heard: said }: Comparison) =>
    [said.aFirst, said.bFirst].some((one) => one?.kind === 'lost' && !one.came);
  const next: Comparison[] = [];
  for (const { pair } of hearings.filter(silent)) {
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

/** Is there something to ask, and may it be sent? Otherwise it says in the judgement why not. */
function isOpen(session: JudgingSession, pair: Pair): boolean {
  const [a, b] = [sideIn(session, pair.a), sideIn(session, pair.b)];
  if (alike(a, b)) {
    session.alike.push(pair);
    session.notes.push(`Judges would see the same code of ${pair.a} and ${pair.b}: a tie without asking.`);
    return false;
  }
  const question = questionOf(session.pool.task, { first: a, second: b }, session.identities, '');
  if (question.kind === 'question') return true;
  const names = question.names.slice(0, 3).join(', ');
  session.notes.push(
    `${pair.a} and ${pair.b} were not compared: what judges would see still names an author (${names}).`,
  );
  return false;
}

function sideIn({ sides }: JudgingSession, alias: Alias): SideShown & { readonly competitor: Competitor } {
  const side = sides.get(alias);
  if (!side) throw new Error(`no candidate ${alias} before the judges`);
  return side;
}

function comparisonsOf(
  session: JudgingSession,
  pair: Pair,
  judges = session.plan.judges,
): readonly Comparison[] {
  const authors = [pair.a, pair.b].map((alias) => sideIn(session, alias).competitor.author);
  return panelOf(authors, session.models, judges).map(({ model, own }) => ({
    pair,
    judge: { judge: `judge-${session.models.indexOf(model) + 1}`, model, family: familyOf(model) },
    own,
    heard: { aFirst: null, bFirst: null },
  }));
}

async function askJudge(session: JudgingSession, judge: Judge, first: Alias, second: Alias): Promise<Heard> {
  const { parts, pool, identities } = session;
  const sides = { first: sideIn(session, first), second: sideIn(session, second) };
  const judgeModel = await session.judgeModel(judge);
  const shown = [sides.first, sides.second].map(({ patch, facts }) => [patch.production, patch.tests, facts]);
  const key = JSON.stringify(['judge', judge.model, first, second, pool.task, shown]);
  return parts.remember(key, async (): Promise<Heard> => {
    const nonce = await stableNonce(parts, key);
    const question = questionOf(pool.task, sides, identities, nonce);
    if (question.kind === 'leak') return { kind: 'lost', came: false, why: 'Its question named an author.' };
    const { instructions } = parts;
    const answer = await judgeModel.ask({ instructions, prompt: question.text, schema: Verdict });
    if (answer.kind === 'failed') return { kind: 'lost', came: false, why: answer.why };
    return heard(answer.value, {
      first: sides.first.patch,
      second: sides.second.patch,
      nonce,
      instructions,
    });
  });
}
