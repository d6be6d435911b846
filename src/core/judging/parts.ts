import { type LexedPart, type LexicalSyntax, LineLexer, type OpenBlock } from '../lexing/index.ts';

/** A span of one line. `to` is exclusive. */
export interface SyntaxSpan {
  readonly is: 'code' | 'text' | 'comment';
  readonly from: number;
  readonly to: number;
  /** For a string used as a comment: the index of its doc string. */
  readonly doc?: number;
}
type LineSpans = readonly SyntaxSpan[];

/** The state of the lexer at the end of a hunk's lines. */
interface SpanReading {
  readonly lines: readonly LineSpans[];
  /** A multi-line token was still open at the end. */
  readonly open: OpenBlock | null;
  /** A comment was closed that had not been opened in these lines. */
  readonly stray: boolean;
}

/**
 * Classifies comments, strings and code in each line of a file excerpt, which may begin and end anywhere. First
 * assumes that the excerpt begins outside of any token; if a token remains open, also tries to begin inside one.
 * Ambiguous text counts as code, because hiding code from a judge is worse than showing a comment.
 */
export function spansOf(lines: readonly string[], syntax: LexicalSyntax): readonly LineSpans[] {
  const spans = likelySpans(lines, syntax);
  return syntax.elements ? spans.map((own, i) => withTextOfElements(own, lines[i] as string)) : spans;
}

const KEYWORD =
  '(?:abstract|as|async|await|case|class|const|declare|default|delete|else|enum|export|extends|from|function|get|if|implements|import|in|instanceof|interface|keyof|let|new|of|override|private|protected|public|readonly|return|satisfies|set|static|throw|type|typeof|var|void|yield)';
const ORDINARY_WORD = String.raw`(?<!\p{L})(?!${KEYWORD}(?!\p{L}))\p{L}+(?:['’]\p{L}+)?`;
/** What code has not: text between tags. It is shown, but read for injections as strings are. */
const WORDS_IN_A_ROW = new RegExp(String.raw`${ORDINARY_WORD}(?:[,;:.!?]?\s+${ORDINARY_WORD}){2}`, 'u');

const withTextOfElements = (own: LineSpans, line: string): LineSpans =>
  mergedSpans(
    own.map((span) =>
      span.is === 'code' && WORDS_IN_A_ROW.test(line.slice(span.from, span.to))
        ? ({ ...span, is: 'text' } as const)
        : span,
    ),
  );

function likelySpans(lines: readonly string[], syntax: LexicalSyntax): readonly LineSpans[] {
  const outside = readSpans(lines, syntax, null);
  const begun = syntax.blocks
    .flatMap(({ close, ...block }) => (typeof close === 'string' ? [{ ...block, close }] : []))
    .filter(({ close }) => lines.some((line) => line.includes(close)))
    .map((block) => readSpans(lines, syntax, block));
  if (syntax.blocks.some(({ is }) => is === 'doc')) {
    return mostPlausible(
      lines,
      [outside, ...begun].map((reading) => reading.lines),
    );
  }
  if (!outside.open && !outside.stray) return outside.lines;
  const inside = begun.find((reading) => !reading.open && !reading.stray);
  if (inside) return inside.lines.map((own, i) => distrustCodeLike(own, lines[i] as string, i, inside.lines));
  return outside.open ? withoutUnclosed(lines, outside.lines) : outside.lines;
}

/**
 * When lines are comments only because of a later end mark, those that look like code count as code: the end mark
 * could be forged.
 */
function distrustCodeLike(own: LineSpans, line: string, at: number, all: readonly LineSpans[]): LineSpans {
  const begun = all.slice(0, at).every((before) => before.every(({ is }) => is === 'comment'));
  const looks = /^\s*\*/.test(line) || !/[;{}()=<>]/.test(line.slice(own[0]?.from, own[0]?.to));
  return begun && !looks ? own.map((part) => (part.is === 'comment' ? { ...part, is: 'code' } : part)) : own;
}

/** In a comment without an end mark, only lines that look like comments count as such. */
function withoutUnclosed(lines: readonly string[], parts: readonly LineSpans[]): readonly LineSpans[] {
  let from = parts.length;
  while (from > 0 && endsInComment(parts[from - 1] as LineSpans)) from--;
  return parts.map((own, i) => {
    if (i < from || /^\s*\/?\*/.test(lines[i] as string)) return own;
    return own.map((part) => ({ ...part, is: part.is === 'comment' ? 'code' : part.is }) as const);
  });
}

const endsInComment = (parts: LineSpans): boolean => parts.length === 0 || parts.at(-1)?.is === 'comment';

function readSpans(lines: readonly string[], syntax: LexicalSyntax, begun: OpenBlock | null): SpanReading {
  const lexer = new LineLexer(syntax, begun);
  const docs = new Map<OpenBlock, number>();
  const parts = lines.map((line) => spansOfLine(lexer.line(line), docs));
  return { lines: parts, open: lexer.open, stray: lexer.stray };
}

const spansOfLine = (parts: readonly LexedPart[], docs: Map<OpenBlock, number>): LineSpans =>
  mergedSpans(
    parts
      .filter(({ from, to }) => to > from)
      .map((part) => ({
        is: spanKindOf(part),
        from: part.from,
        to: part.to,
        ...(part.block?.is === 'doc' ? { doc: docNumber(part.block, docs) } : {}),
      })),
  );

/** Neighbours of one kind are one span. */
function mergedSpans(all: LineSpans): LineSpans {
  const spans: SyntaxSpan[] = [];
  for (const span of all) {
    const last = spans.at(-1);
    if (last?.is === span.is && last.doc === span.doc) spans[spans.length - 1] = { ...last, to: span.to };
    else spans.push(span);
  }
  return spans;
}

/** What may be a comment is shown, but read for injections as text is. */
function spanKindOf({ is, doubtful }: LexedPart): SyntaxSpan['is'] {
  if (is === 'comment') return is;
  return is === 'text' || doubtful ? 'text' : 'code';
}

function docNumber(block: OpenBlock, docs: Map<OpenBlock, number>): number {
  const number = docs.get(block) ?? docs.size;
  docs.set(block, number);
  return number;
}

/**
 * Chooses the most plausible of several readings; the first among equals. Needed for languages whose doc strings open
 * and close with the same mark, where an excerpt does not show whether it begins inside one. A doc string that looks
 * like code counts as a string and is shown in full, because it might be code.
 */
function mostPlausible(
  texts: readonly string[],
  readings: readonly (readonly LineSpans[])[],
): readonly LineSpans[] {
  let best: { readonly lines: readonly LineSpans[]; readonly odd: number } | null = null;
  for (const lines of readings) {
    const odd = lines.filter((line, i) => isImplausible(texts[i] as string, line)).length;
    if (!best || odd < best.odd) best = { lines, odd };
  }
  return best ? docsWithoutCode(texts, best.lines) : [];
}

const isDoc = (line: LineSpans): boolean => line.some(({ doc }) => doc !== undefined);

/** Counts code inside doc strings and prose inside code. */
function isImplausible(text: string, line: LineSpans): boolean {
  if (isDoc(line)) return CODE_LINE.test(text);
  return (
    line.length > 0 && line.every(({ is }) => is === 'code') && PROSE_LINE.test(text) && !CODE_LINE.test(text)
  );
}

function docsWithoutCode(texts: readonly string[], lines: readonly LineSpans[]): readonly LineSpans[] {
  const suspect = new Set(
    lines.flatMap((line, i) =>
      CODE_LINE.test(texts[i] as string)
        ? line.flatMap(({ doc, from, to }) => (doc !== undefined && to - from > QUOTE_CHARS ? [doc] : []))
        : [],
    ),
  );
  return lines.map((line) =>
    line.map((part) =>
      part.doc !== undefined && suspect.has(part.doc) ? ({ ...part, is: 'text' } as const) : part,
    ),
  );
}

/** The span contains only the opening or closing quotes. */
const QUOTE_CHARS = 3;

/** A complete line of Python code. Lines of an interactive session (`>>>`) are examples, not code. */
const CODE_LINE =
  /^\s*(?:(?:from\s+\S+\s+)?import\s+\S+(?:\s+as\s+\w+|\s*,\s*\w+)*\s*(?:\(|$)|(?:async\s+)?(?:def|class)\s+\w+.*:\s*$|(?:if|elif|while|for|with|try|except|else|finally)\b.*:\s*(?:#.*)?$|return\s*(?:\S+|.*[=()[\]{}].*)?$|raise\s+\w+(?:\(|$)|(?:pass|break|continue)\s*$|assert\s+\S+(?:\s*(?:[=!<>]=?|is|in|not)\s|$)|@\w[\w.]*(?:\(.*\))?\s*$|[\w.]+(?:\[[^\]]*\])?\s*[-+*/|&%]?=\s*\S|[\w.]+\(.*\)\s*$|yield\s*\S*$|del\s+\S+\s*$)/;
/** At least four words and no code characters. */
const PROSE_LINE = /^\s*[\p{L}`*'"-]+(?:\s+[\p{L}\p{N}`*'",.:;/_-]+){3,}\s*$/u;
