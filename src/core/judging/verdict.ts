import { z } from 'zod';
import type { BlindPatch, ShownLine } from './blind.ts';
import { legible } from './legible.ts';

/** How judges call the two candidates of a question: by where they stand in it. */
export const SIDES = ['first', 'second'] as const;
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
