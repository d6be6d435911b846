import { z } from 'zod';
import type { BlindPatch, ShownLine } from './blind.ts';
import { legible } from './blind-line.ts';
import type { Pair } from './panel.ts';
import type { Judge, JudgedPair, JudgeRecord, PairOutcome } from './types.ts';

/** How judges call the two candidates of a question: by where they stand in it. */
const SIDES = ['first', 'second'] as const;
export type Side = (typeof SIDES)[number];

const short = (most: number) => z.string().min(1).max(most);

/** A judge's answer. Citations come first, so that they are written before the verdict that rests on them. */
export const Verdict = z.object({
  citations: z
    .array(
      z.object({
        candidate: z.enum(SIDES),
        file: short(400).describe('As it stands behind `file`.'),
        line: z.number().int().min(1).max(1e9).describe('The number in front of the line.'),
        quote: short(400).describe('The line, or a part of it, word for word.'),
      }),
    )
    .max(8)
    .describe('Changed lines that the verdict rests on.'),
  failures: z
    .array(
      z.object({
        candidate: z.enum(SIDES),
        input: short(600),
        expected: short(600),
        got: short(600),
      }),
    )
    .max(4)
    .optional()
    .describe('Inputs on which a candidate does something else than the task asks for.'),
  because: short(1_200).describe('What decides between them, in at most three sentences.'),
  better: z.enum([...SIDES, 'tie']),
});
export type Verdict = z.infer<typeof Verdict>;

/** A verdict that counts, its citations with the true paths and lines, or why it does not. Plain JSON: it is remembered. */
export type Heard =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  /** `came`: there was an answer, and it cannot be used. */
  | { readonly kind: 'lost'; readonly came: boolean; readonly why: string };

/** The least that a quote must hold, letters and digits: `}` is found everywhere. Our default. */
const LEAST_QUOTE = 4;
/** Lines by which a cited number may be off: judges miscount. Our default. */
const OFF_BY = 2;

/** What a judge was shown, and with which delimiter. */
export interface Shown {
  readonly first: BlindPatch;
  readonly second: BlindPatch;
  readonly nonce: string;
  readonly instructions: string;
}

/**
 * Does the verdict count? Only one that cites a changed line which was shown, and that does not repeat what no judge has
 * a reason to repeat: the delimiter, or its instructions.
 */
export function heard(verdict: Verdict, shown: Shown): Heard {
  const lost = (why: string): Heard => ({ kind: 'lost', came: true, why });
  const said = [
    verdict.because,
    ...verdict.citations.map(({ quote }) => quote),
    ...(verdict.failures ?? []).flatMap(({ input, expected, got }) => [input, expected, got]),
  ].join('\n');
  if (said.includes(shown.nonce)) return lost('It repeated the delimiter of its question.');
  if (repeats(said, shown.instructions)) return lost('It repeated its instructions.');
  const real = verdict.citations.flatMap((citation) => {
    const line = citedLine(citation, shown);
    return line ? [{ ...citation, file: line.path, line: line.line }] : [];
  });
  if (real.length === 0) return lost('It cited no changed line that was shown to it.');
  return { kind: 'verdict', verdict: { ...verdict, citations: real } };
}

type Citation = Verdict['citations'][number];

/** The line that is meant: in that file of that candidate's patch, about there, with these words. */
function citedLine({ candidate, file, line, quote }: Citation, shown: Shown): ShownLine | null {
  const [first = ''] = quote.split('\n', 1);
  const wanted = squeezed(stripped(first, line));
  if (wanted.replace(/[^\p{L}\p{N}]/gu, '').length < LEAST_QUOTE) return null;
  const cited = named(file);
  const off = (one: ShownLine) => Math.abs(one.line - line);
  const [nearest] = shown[candidate].lines
    .filter((one) => one.citable && named(one.file) === cited && off(one) <= OFF_BY && holds(one, wanted))
    .toSorted((x, y) => off(x) - off(y));
  return nearest ?? null;
}

const holds = (line: ShownLine, wanted: string): boolean => squeezed(line.text).includes(wanted);
const squeezed = (text: string): string => legible(text).replace(/\s+/g, ' ').trim();
/** Judges copy the sign and the number in front of a line, or a diff's prefix in front of a path. */
const stripped = (quote: string, line: number): string =>
  quote.replace(new RegExp(`^\\s*[+-]?\\s*(?:${line}:)?\\s*`), '');
const named = (file: string): string => file.trim().replace(/^(?:file |[ab]\/|\.\/)/, '');

/** As many characters in a row are no chance. */
const RUN = 60;

function repeats(said: string, instructions: string): boolean {
  const text = squeezed(said);
  const source = squeezed(instructions);
  for (let at = 0; at + RUN <= text.length; at += 10) {
    if (source.includes(text.slice(at, at + RUN))) return true;
  }
  return false;
}

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
