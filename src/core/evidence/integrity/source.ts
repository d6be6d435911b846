import type { Language } from '../languages.ts';

/** A text twice, at equal length: what is blanked out became spaces, new lines stay. */
export interface Source {
  /** Comments are blank. */
  readonly code: string;
  /** Comments and what stands inside quotes are blank; the quotes stay. */
  readonly mask: string;
}

interface Quote {
  readonly open: string;
  readonly close: string;
  /** A backslash takes the next character with it. */
  readonly escapes?: boolean;
  /** May go on over line ends; another one that does is a slip of ours, and ends there. */
  readonly lines?: boolean;
  /** Holds code between `${` and `}`. */
  readonly holes?: boolean;
}

interface Syntax {
  readonly line: readonly string[];
  readonly block: readonly (readonly [open: string, close: string])[];
  /** Longer ones first. */
  readonly quotes: readonly Quote[];
  /** A slash may begin a regular expression. */
  readonly regex?: boolean;
  /** `#` begins a comment only after white space. */
  readonly spaced?: boolean;
  /** `'` is a quote only around one character (lifetimes, digits). */
  readonly ticks?: boolean;
}

const single: Quote = { open: "'", close: "'", escapes: true };
const double: Quote = { open: '"', close: '"', escapes: true };
const triple: Quote = { open: '"""', close: '"""', escapes: true, lines: true };
const C_BLOCK = [['/*', '*/']] as const;
/** What begins in front of it goes on to the end of the text. */
const NEVER = '\u0000';
const NONE: Syntax = { line: [], block: [], quotes: [] };

const SYNTAX: Readonly<Record<Language, Syntax>> = {
  js: {
    line: ['//'],
    block: C_BLOCK,
    quotes: [{ open: '`', close: '`', escapes: true, lines: true, holes: true }, single, double],
    regex: true,
  },
  python: {
    line: ['#'],
    block: [],
    quotes: [triple, { ...triple, open: "'''", close: "'''" }, single, double],
  },
  go: { line: ['//'], block: C_BLOCK, quotes: [{ open: '`', close: '`', lines: true }, double], ticks: true },
  rust: {
    line: ['//'],
    block: C_BLOCK,
    quotes: [
      { open: 'r##"', close: '"##', lines: true },
      { open: 'r#"', close: '"#', lines: true },
      { ...double, lines: true },
    ],
    ticks: true,
  },
  jvm: { line: ['//'], block: C_BLOCK, quotes: [triple, double], ticks: true },
  ruby: {
    line: ['#'],
    block: [
      ['\n=begin', '\n=end'],
      ['\n__END__\n', NEVER],
    ],
    quotes: [single, double],
    spaced: true,
  },
  php: { line: ['//', '#'], block: C_BLOCK, quotes: [single, double] },
  dotnet: {
    line: ['//'],
    block: C_BLOCK,
    quotes: [triple, { open: '@"', close: '"', lines: true }, double, single],
  },
  c: { line: ['//'], block: C_BLOCK, quotes: [double], ticks: true },
  shell: { line: ['#'], block: [], quotes: [single, double], spaced: true },
  prose: NONE,
  other: NONE,
};

type Kind = 'comment' | 'quoted';

/** Reads a text once from front to back. A text that begins inside a comment or a string is read as code. */
export function sourceOf(text: string, language: Language): Source {
  const syntax = SYNTAX[language];
  const code: string[] = [];
  const mask: string[] = [];
  let done = 0;
  const put = (from: number, to: number, kind: Kind) => {
    const between = text.slice(done, from);
    const inside = text.slice(from, to);
    code.push(between, kind === 'comment' ? blank(inside) : inside);
    mask.push(between, blank(inside));
    done = to;
  };
  const starts = startsOf(syntax);
  for (let match = starts?.exec(text); starts && match; match = starts.exec(text)) {
    const end = readAt(text, match.index, syntax, put);
    starts.lastIndex = Math.max(end, match.index + 1);
  }
  const rest = text.slice(done);
  const source = { code: code.join('') + rest, mask: mask.join('') + rest };
  return language === 'c' || language === 'dotnet' ? withoutDeadBranches(source) : source;
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function startsOf({ line, block, quotes, regex, ticks }: Syntax): RegExp | null {
  const all = [...line, ...block.map(([open]) => open), ...quotes.map(({ open }) => open)];
  if (all.length === 0) return null;
  return new RegExp([...all.map(escaped), ...(regex ? ['/'] : []), ...(ticks ? ["'"] : [])].join('|'), 'g');
}

/** One character between ticks; a lifetime has no second tick. */
const TICKED = /'(?:\\[^\n']{1,10}|\\'|[^\\'\n])'/y;

/** Handles what begins at `at`; gives the offset behind it. */
function readAt(
  text: string,
  at: number,
  syntax: Syntax,
  put: (from: number, to: number, kind: Kind) => void,
): number {
  const block = syntax.block.find(([open]) => text.startsWith(open, at));
  if (block) {
    const close = text.indexOf(block[1], at + block[0].length);
    const end = close < 0 ? text.length : close + block[1].length;
    put(at, end, 'comment');
    return end;
  }
  if (syntax.line.some((open) => text.startsWith(open, at)) && beginsComment(text, at, syntax)) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    put(at, end, 'comment');
    return end;
  }
  const quote = syntax.quotes.find(({ open }) => text.startsWith(open, at));
  const inner = quote ? at + quote.open.length : at + 1;
  const end = quote ? endOfQuote(text, inner, quote) : endOfOther(text, at, syntax);
  if (end > inner) put(inner, end, 'quoted');
  return Math.min(text.length, end + (quote?.close.length ?? 1));
}

function beginsComment(text: string, at: number, syntax: Syntax): boolean {
  if (text[at] !== '#') return true;
  // Attributes of PHP, and interpolation of Ruby and shell.
  if (text[at + 1] === '[' && !syntax.spaced) return syntax.block.length === 0;
  return !syntax.spaced || at === 0 || /\s/.test(text[at - 1] as string);
}

function endOfOther(text: string, at: number, syntax: Syntax): number {
  if (text[at] === '/' && syntax.regex) return endOfRegex(text, at);
  TICKED.lastIndex = at;
  const ticked = TICKED.exec(text);
  return ticked ? at + ticked[0].length - 1 : at;
}

/** The offset of the closing quote, of the line end where it is missing, or of the end of the text. */
function endOfQuote(text: string, from: number, quote: Quote): number {
  if (quote.holes) return endOfTemplate(text, from);
  for (let i = from; i < text.length; i++) {
    if (text.startsWith(quote.close, i)) return i;
    if (text[i] === '\n' && !quote.lines) return i;
    if (text[i] === '\\' && quote.escapes) i++;
  }
  return text.length;
}

/** Templates nest through their holes: each level counts the braces that are open in its hole. */
function endOfTemplate(text: string, from: number): number {
  const levels: number[] = [0];
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if ((levels.at(-1) as number) > 0) inHole(text[i] as string, levels);
    else if (text.startsWith('${', i)) {
      levels[levels.length - 1] = 1;
      i++;
    } else if (text[i] === '`' && levels.length === 1) return i;
    else if (text[i] === '`') levels.pop();
  }
  return text.length;
}

function inHole(char: string, levels: number[]): void {
  const braces = levels.at(-1) as number;
  if (char === '`') levels.push(0);
  else if (char === '{') levels[levels.length - 1] = braces + 1;
  else if (char === '}') levels[levels.length - 1] = braces - 1;
}

/** After a value a slash divides; anywhere else it begins a regular expression. */
function endOfRegex(text: string, at: number): number {
  const before = /([\w$)\]}'"`]|\breturn|\btypeof|=>)\s*$/.exec(text.slice(Math.max(0, at - 40), at))?.[1];
  if (before !== undefined && before.length === 1) return at;
  let inClass = false;
  for (let i = at + 1; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '[') inClass = true;
    else if (text[i] === ']') inClass = false;
    else if (text[i] === '/' && !inClass) return i;
  }
  return at;
}

/** What stands between `#if 0` and its end is no code. */
function withoutDeadBranches({ code, mask }: Source): Source {
  if (!/^[ \t]*#[ \t]*if[ \t]+(?:0|false)\b/m.test(mask)) return { code, mask };
  const dead: boolean[] = [];
  const keeps = mask.split('\n').map((line) => {
    const directive = /^\s*#\s*(if|ifdef|ifndef|else|elif|endif)\b\s*(\w*)/.exec(line);
    if (directive?.[1]?.startsWith('if'))
      dead.push(directive[1] === 'if' && /^(?:0|false)$/.test(directive[2] ?? ''));
    else if (directive?.[1] === 'endif') dead.pop();
    else if (directive && dead.length > 0) dead[dead.length - 1] = false;
    return !dead.includes(true);
  });
  const kept = (text: string) =>
    text
      .split('\n')
      .map((line, i) => (keeps[i] ? line : blank(line)))
      .join('\n');
  return { code: kept(code), mask: kept(mask) };
}
