import type { Pair } from './panel.ts';
import type { Judge, JudgedPair, JudgeRecord, PairOutcome } from './types.ts';
import type { Heard, Side } from './verdict.ts';

/** Share of a judge's pairs in which it named the same place in both orders, above which it judged places. Our default. */
const SAME_PLACE = 0.6;
/** Fewer pairs say nothing about a judge. */
const LEAST_PAIRS = 2;
/** Share of answers that came and could not be used, above which the others are not believed either. Our default. */
const UNUSABLE = 0.5;

/** What one judge was asked about one pair, and what came of it: with `a` first, and with `b` first. */
export interface AskedPair {
  readonly pair: Pair;
  readonly judge: string;
  /** One of the two candidates is by the judge's own family. */
  readonly own: boolean;
  readonly aFirst: Heard;
  readonly bFirst: Heard;
}

export interface Outcomes {
  /** Per pair and judge; only of judges whose answers count. */
  readonly pairs: readonly (Pair & { readonly byJudge: JudgedPair['byJudge'] })[];
  readonly records: readonly JudgeRecord[];
}

/** The two answers to one pair made one, and judges left out whose answers are not about the patches. */
export function outcomesOf(judges: readonly Judge[], asked: readonly AskedPair[]): Outcomes {
  const records = judges.map((judge) => recordOf(judge, asked));
  const counted = new Set(records.filter((one) => !one.discarded).map(({ judge }) => judge));
  const pairs = new Map<string, Pair & { readonly byJudge: JudgedPair['byJudge'][number][] }>();
  for (const one of asked) {
    const key = JSON.stringify([one.pair.a, one.pair.b]);
    const pair = pairs.get(key) ?? { ...one.pair, byJudge: [] };
    pairs.set(key, pair);
    const said = counted.has(one.judge) ? both(one) : null;
    if (said) pair.byJudge.push(said);
  }
  return { pairs: [...pairs.values()], records };
}

/** Only when both orders were answered: one alone cannot be told from a preference for a place. */
function both({ pair, judge, aFirst, bFirst }: AskedPair): JudgedPair['byJudge'][number] | null {
  if (aFirst.kind === 'lost' || bFirst.kind === 'lost') return null;
  const one = inOrder(aFirst.verdict.better, ['a', 'b']);
  const two = inOrder(bFirst.verdict.better, ['b', 'a']);
  return {
    judge,
    outcome: one === two ? one : 'tie',
    consistent: one === two,
    because: aFirst.verdict.because,
    cited: aFirst.verdict.citations.map(({ candidate, file, line }) => ({
      alias: candidate === 'first' ? pair.a : pair.b,
      file,
      line,
    })),
  };
}

const inOrder = (better: Side | 'tie', [first, second]: readonly [PairOutcome, PairOutcome]): PairOutcome =>
  better === 'tie' ? 'tie' : better === 'first' ? first : second;

function recordOf(judge: Judge, asked: readonly AskedPair[]): JudgeRecord {
  const own = asked.filter((one) => one.judge === judge.judge);
  const answers = own.flatMap(({ aFirst, bFirst }) => [aFirst, bFirst]);
  const lost = answers.flatMap((answer) => (answer.kind === 'lost' ? [answer.why] : []));
  const discarded = whyDiscarded(own, answers);
  return {
    ...judge,
    asked: answers.length,
    heard: answers.length - lost.length,
    lost: [...new Set(lost)].sort(),
    ownFamily: own.some((one) => one.own),
    ...(discarded ? { discarded } : {}),
  };
}

function whyDiscarded(own: readonly AskedPair[], answers: readonly Heard[]): string | null {
  const came = answers.filter((answer) => answer.kind === 'verdict' || answer.came);
  const unusable = came.filter((answer) => answer.kind === 'lost').length;
  if (came.length > 0 && unusable / came.length > UNUSABLE) {
    return `${unusable} of its ${came.length} answers cannot be used.`;
  }
  const whole = own.filter(({ aFirst, bFirst }) => aFirst.kind === 'verdict' && bFirst.kind === 'verdict');
  for (const place of ['first', 'second'] as const) {
    const same = whole.filter((one) => names(one.aFirst, place) && names(one.bFirst, place)).length;
    if (whole.length >= LEAST_PAIRS && same / whole.length > SAME_PLACE) {
      return `It named the ${place} candidate in both orders in ${same} of ${whole.length} pairs.`;
    }
  }
  return null;
}

const names = (answer: Heard, place: Side): boolean =>
  answer.kind === 'verdict' && answer.verdict.better === place;
