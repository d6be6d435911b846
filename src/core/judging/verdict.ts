import { z } from 'zod';
import type { BlindPatch, ShownLine } from './blind.ts';
import { showInvisible } from './blind-line.ts';
import type { Pair } from './panel.ts';
import type { Judge, JudgedPair, JudgeRecord, PairOutcome } from './types.ts';

/** How judges name the two candidates of a question: by position. */
const SIDES = ['first', 'second'] as const;
type Side = (typeof SIDES)[number];

export const nonEmptyText = (most: number) => z.string().min(1).max(most);

/** A judge's answer. Citations come first, so that the judge writes them before the verdict that depends on them. */
export const Verdict = z.object({
  citations: z
    .array(
      z.object({
        candidate: z.enum(SIDES),
        file: nonEmptyText(400).describe('As it stands behind `file`.'),
        line: z.number().int().min(1).max(1e9).describe('The number in front of the line.'),
        quote: nonEmptyText(400).describe('The line, or a part of it, word for word.'),
      }),
    )
    .max(8)
    .describe('Changed lines that the verdict rests on.'),
  failures: z
    .array(
      z.object({
        candidate: z.enum(SIDES),
        input: nonEmptyText(600),
        expected: nonEmptyText(600),
        got: nonEmptyText(600),
      }),
    )
    .max(4)
    .optional()
    .describe('Inputs on which a candidate does something else than the task asks for.'),
  because: nonEmptyText(1_200).describe('What decides between them, in at most three sentences.'),
  better: z.enum([...SIDES, 'tie']),
});
export type Verdict = z.infer<typeof Verdict>;

/**
 * A valid verdict with the original paths and lines of its citations, or the reason why it is invalid. Plain JSON,
 * because it is stored.
 */
export type JudgeAnswer =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  /** `answered`: the judge answered, but the answer is invalid. */
  | { readonly kind: 'unusable'; readonly answered: boolean; readonly why: string };

/** Minimum letters and digits in a quote: `}` occurs everywhere. Default. */
const MIN_QUOTE_LETTERS = 4;
/** Maximum deviation of a cited line number: judges miscount. Default. */
const MAX_LINE_OFFSET = 2;

/** What a judge was shown, and the delimiter that was used. */
interface ShownPair {
  readonly first: BlindPatch;
  readonly second: BlindPatch;
  readonly nonce: string;
  readonly instructions: string;
}

/**
 * Validates a verdict. It must cite a changed line that was shown, and must not repeat text that a judge has no
 * reason to repeat: the delimiter or its instructions.
 */
export function checkVerdict(verdict: Verdict, shown: ShownPair): JudgeAnswer {
  const unusable = (why: string): JudgeAnswer => ({ kind: 'unusable', answered: true, why });
  const answerText = [
    verdict.because,
    ...verdict.citations.map(({ quote }) => quote),
    ...(verdict.failures ?? []).flatMap(({ input, expected, got }) => [input, expected, got]),
  ].join('\n');
  if (answerText.includes(shown.nonce)) return unusable('It repeated the delimiter of its question.');
  if (repeats(answerText, shown.instructions)) return unusable('It repeated its instructions.');
  const real = verdict.citations.flatMap((citation) => {
    const line = citedLine(citation, shown);
    return line ? [{ ...citation, file: line.path, line: line.line }] : [];
  });
  if (real.length === 0) return unusable('It cited no changed line that it was shown.');
  return { kind: 'verdict', verdict: { ...verdict, citations: real } };
}

type Citation = Verdict['citations'][number];

/** Finds the cited line: in that file of that candidate's patch, near that number, with that text. */
function citedLine({ candidate, file, line, quote }: Citation, shown: ShownPair): ShownLine | null {
  const [first = ''] = quote.split('\n', 1);
  const wanted = normalizedLine(withoutLineNumber(first, line));
  if (wanted.replace(/[^\p{L}\p{N}]/gu, '').length < MIN_QUOTE_LETTERS) return null;
  const cited = normalizedPath(file);
  const off = (one: ShownLine) => Math.abs(one.line - line);
  const [nearest] = shown[candidate].lines
    .filter(
      (one) =>
        one.citable &&
        normalizedPath(one.file) === cited &&
        off(one) <= MAX_LINE_OFFSET &&
        containsQuote(one, wanted),
    )
    .toSorted((x, y) => off(x) - off(y));
  return nearest ?? null;
}

const containsQuote = (line: ShownLine, wanted: string): boolean =>
  normalizedLine(line.text).includes(wanted);
const normalizedLine = (text: string): string => showInvisible(text).replace(/\s+/g, ' ').trim();
/** Judges copy the sign and number in front of a line, or a diff's prefix in front of a path. */
const withoutLineNumber = (quote: string, line: number): string =>
  quote.replace(new RegExp(`^\\s*[+-]?\\s*(?:${line}:)?\\s*`), '');
const normalizedPath = (file: string): string => file.trim().replace(/^(?:file |[ab]\/|\.\/)/, '');

/** A match of this many characters is no coincidence. */
const MIN_REPEATED_CHARS = 60;

function repeats(answerText: string, instructions: string): boolean {
  const text = normalizedLine(answerText);
  const source = normalizedLine(instructions);
  for (let at = 0; at + MIN_REPEATED_CHARS <= text.length; at += 10) {
    if (source.includes(text.slice(at, at + MIN_REPEATED_CHARS))) return true;
  }
  return false;
}

/**
 * If a judge chose the same position in both orders for more than this share of pairs, it judged positions. Default,
 * to be tuned on dev data.
 */
const MAX_POSITION_BIAS = 0.6;
/** With fewer pairs, position bias cannot be measured. */
const MIN_PAIRS = 2;
/**
 * If more than this share of a judge's answers are invalid, the rest are discarded, too. Default, to be tuned on dev
 * data.
 */
const MAX_UNUSABLE = 0.5;

/** A judge's two answers about one pair: with `a` first, and with `b` first. */
export interface AskedPair {
  readonly pair: Pair;
  readonly judge: string;
  /** The judge's own family wrote one of the two candidates. */
  readonly isAuthorFamily: boolean;
  readonly aFirst: JudgeAnswer;
  readonly bFirst: JudgeAnswer;
}

export interface PairOutcomes {
  /** Per pair and judge; only judges whose answers count. */
  readonly pairs: readonly (Pair & { readonly byJudge: JudgedPair['byJudge'] })[];
  readonly records: readonly JudgeRecord[];
}

/** Combines the two answers about each pair, and discards judges whose answers do not depend on the patches. */
export function outcomesOf(judges: readonly Judge[], asked: readonly AskedPair[]): PairOutcomes {
  const records = judges.map((judge) => judgeRecordOf(judge, asked));
  const counted = new Set(records.filter((one) => !one.discarded).map(({ judge }) => judge));
  const pairs = new Map<string, Pair & { readonly byJudge: JudgedPair['byJudge'][number][] }>();
  for (const one of asked) {
    const key = JSON.stringify([one.pair.a, one.pair.b]);
    const pair = pairs.get(key) ?? { ...one.pair, byJudge: [] };
    pairs.set(key, pair);
    const outcome = counted.has(one.judge) ? combinedOutcome(one) : null;
    if (outcome) pair.byJudge.push(outcome);
  }
  return { pairs: [...pairs.values()], records };
}

/** Both orders are required: a single answer cannot be distinguished from position bias. */
function combinedOutcome({ pair, judge, aFirst, bFirst }: AskedPair): JudgedPair['byJudge'][number] | null {
  if (aFirst.kind === 'unusable' || bFirst.kind === 'unusable') return null;
  const one = outcomeFor(aFirst.verdict.better, ['a', 'b']);
  const two = outcomeFor(bFirst.verdict.better, ['b', 'a']);
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

const outcomeFor = (
  better: Side | 'tie',
  [first, second]: readonly [PairOutcome, PairOutcome],
): PairOutcome => (better === 'tie' ? 'tie' : better === 'first' ? first : second);

function judgeRecordOf(judge: Judge, asked: readonly AskedPair[]): JudgeRecord {
  const own = asked.filter((one) => one.judge === judge.judge);
  const answers = own.flatMap(({ aFirst, bFirst }) => [aFirst, bFirst]);
  const problems = answers.flatMap((answer) => (answer.kind === 'unusable' ? [answer.why] : []));
  const discarded = whyDiscarded(own, answers);
  return {
    ...judge,
    asked: answers.length,
    answered: answers.length - problems.length,
    problems: [...new Set(problems)].sort(),
    ownFamily: own.some((one) => one.isAuthorFamily),
    ...(discarded ? { discarded } : {}),
  };
}

function whyDiscarded(own: readonly AskedPair[], answers: readonly JudgeAnswer[]): string | null {
  const came = answers.filter((answer) => answer.kind === 'verdict' || answer.answered);
  const unusable = came.filter((answer) => answer.kind === 'unusable').length;
  if (came.length > 0 && unusable / came.length > MAX_UNUSABLE) {
    return `${unusable} of its ${came.length} answers are unusable.`;
  }
  const whole = own.filter(({ aFirst, bFirst }) => aFirst.kind === 'verdict' && bFirst.kind === 'verdict');
  for (const place of ['first', 'second'] as const) {
    const same = whole.filter((one) => prefers(one.aFirst, place) && prefers(one.bFirst, place)).length;
    if (whole.length >= MIN_PAIRS && same / whole.length > MAX_POSITION_BIAS) {
      return `It chose the ${place} candidate in both orders in ${same} of ${whole.length} pairs.`;
    }
  }
  return null;
}

const prefers = (answer: JudgeAnswer, place: Side): boolean =>
  answer.kind === 'verdict' && answer.verdict.better === place;
