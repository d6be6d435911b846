import type { Line } from './parts.ts';

/**
 * Of several readings of the same lines the one that makes most sense; the first of equals. Where a language opens and
 * closes its doc strings alike, a stretch of a file does not tell inside from outside otherwise. A doc string with lines
 * that look like code counts as a string, and is shown whole: they might be code after all, and if they are not, what
 * stands around them says so.
 */
export function byPlausibility(
  texts: readonly string[],
  readings: readonly (readonly Line[])[],
): readonly Line[] {
  let best: { readonly lines: readonly Line[]; readonly odd: number } | null = null;
  for (const lines of readings) {
    const odd = lines.filter((line, i) => isOdd(texts[i] as string, line)).length;
    if (!best || odd < best.odd) best = { lines, odd };
  }
  return best ? withoutCode(texts, best.lines) : [];
}

const isDoc = (line: Line): boolean => line.some(({ doc }) => doc !== undefined);

/** Code in a doc string, or prose in code. */
function isOdd(text: string, line: Line): boolean {
  if (isDoc(line)) return CODE.test(text);
  return line.length > 0 && line.every(({ is }) => is === 'code') && PROSE.test(text) && !CODE.test(text);
}

function withoutCode(texts: readonly string[], lines: readonly Line[]): readonly Line[] {
  const suspect = new Set(
    lines.flatMap((line, i) =>
      CODE.test(texts[i] as string)
        ? line.flatMap(({ doc, from, to }) => (doc !== undefined && to - from > QUOTES ? [doc] : []))
        : [],
    ),
  );
  return lines.map((line) =>
    line.map((part) =>
      part.doc !== undefined && suspect.has(part.doc) ? ({ ...part, is: 'text' } as const) : part,
    ),
  );
}

/** No more than the quotes that open or close it. */
const QUOTES = 3;

/** A whole line of code, as Python writes it. Lines of an interactive session (`>>>`) are examples, not code. */
const CODE =
  /^\s*(?:(?:from\s+\S+\s+)?import\s+\S+(?:\s+as\s+\w+|\s*,\s*\w+)*\s*(?:\(|$)|(?:async\s+)?(?:def|class)\s+\w+.*:\s*$|(?:if|elif|while|for|with|try|except|else|finally)\b.*:\s*(?:#.*)?$|return\s*(?:\S+|.*[=()[\]{}].*)?$|raise\s+\w+(?:\(|$)|(?:pass|break|continue)\s*$|assert\s+\S+(?:\s*(?:[=!<>]=?|is|in|not)\s|$)|@\w[\w.]*(?:\(.*\))?\s*$|[\w.]+(?:\[[^\]]*\])?\s*[-+*/|&%]?=\s*\S|[\w.]+\(.*\)\s*$|yield\s*\S*$|del\s+\S+\s*$)/;
/** At least four words, and nothing that code is made of. */
const PROSE = /^\s*[\p{L}`*'"-]+(?:\s+[\p{L}\p{N}`*'",.:;/_-]+){3,}\s*$/u;
