// The code in an issue: between fences, indented, or within a sentence.

/** A fenced code block in Markdown. */
interface Fence {
  readonly language: string;
  readonly code: string;
  /** The text after it, up to the next fence or heading. */
  readonly after: string;
}

const OPEN = /^[ \t]*(`{3,20}|~{3,20})[ \t]*([\w+-]*)/;

/** The fenced code of a text and the prose around it, read line by line: an issue may open any number of fences. */
export function fencesOf(markdown: string): { readonly fences: readonly Fence[]; readonly prose: string } {
  const fences: { language: string; code: string[]; after: string[] }[] = [];
  const prose: string[] = [];
  let mark: string | null = null;
  let following = false;
  for (const line of markdown.split(/\r?\n/)) {
    const [, open, language = ''] = OPEN.exec(line) ?? [];
    if (mark !== null) {
      if (line.trim() === mark) mark = null;
      else fences.at(-1)?.code.push(line);
      following = mark === null;
    } else if (open) {
      mark = open;
      fences.push({ language, code: [], after: [] });
    } else {
      following = following && !line.startsWith('#');
      prose.push(line);
      if (following) fences.at(-1)?.after.push(line);
    }
  }
  return {
    fences: fences.map(({ language, code, after }) => ({
      language,
      code: `${code.join('\n')}\n`,
      after: after.join('\n'),
    })),
    prose: prose.join('\n'),
  };
}

const INDENTED = /^(?: {4}|\t)/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s/;

/**
 * Code that is indented instead of fenced, without its indent: after an empty line, up to the next line of text. Below
 * a list an indent continues an item.
 */
export function indentedCodeIn(prose: string): readonly string[] {
  const blocks: string[][] = [];
  let block: string[] | null = null;
  let inList = false;
  let afterEmpty = true;
  for (const line of prose.split('\n')) {
    const isEmpty = line.trim() === '';
    if (isEmpty) block?.push('');
    else if (INDENTED.test(line) && (block !== null || (afterEmpty && !inList))) {
      if (block === null) {
        block = [];
        blocks.push(block);
      }
      block.push(line.replace(INDENTED, ''));
    } else {
      block = null;
      inList = LIST_ITEM.test(line) || (inList && /^\s/.test(line));
    }
    afterEmpty = isEmpty;
  }
  return blocks.map((lines) => `${lines.join('\n').trimEnd()}\n`);
}

const TEXT = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
const CONSTANT = 'true|false|null|undefined|NaN|Infinity|None|True|False';
/** Literals with what separates them, and the names of their keys. */
const LITERALS = String.raw`(?:${TEXT}|[\s\d,.:[\]{}+-]|\b(?:${CONSTANT})\b(?!\s*[:=])|[A-Za-z_$][\w$]*(?=\s*[:=])|=)*`;
const IDENTIFIER_NAME = String.raw`[A-Za-z_$][\w$]*`;
const LITERAL_CALL = String.raw`(?:new )?${IDENTIFIER_NAME}(?:\.${IDENTIFIER_NAME})*\((?!\))${LITERALS}\)(?:\.${IDENTIFIER_NAME}(?:\(${LITERALS}\))?|\[\d+\])*`;
/** "returns 2 items" tells no number. */
const NUMBER = String.raw`-?\d[\d_]*(?:\.\d+)?n?(?=\s*(?:[,;)*!?]|$|\.(?:\s|$)|\s(?:but|and|instead|rather|not|while|whereas|although)\b))`;
const LITERAL_VALUE = String.raw`${TEXT}|\[${LITERALS}\]|\{${LITERALS}\}|${NUMBER}|(?:${CONSTANT})\b|[A-Z]\w*Error\b`;
/** What must follow a call: "the same as slug('a')" says nothing about it. */
const SAYS_RESULT = String.raw`[\s*]*(?:→|=>|->|⇒|(?:\s(?:currently|now|still|actually|wrongly))?\s?(?:returns?|gives?|yields?|equals?|evaluates? to|becomes?|throws?|should|must|expected)\b)`;
/** What must stand before a value: neither "a list of length 3" nor "below 3" nor "one of 2, 3" tells one. */
const BEFORE_VALUE = String.raw`(?:(?:→|=>|->|⇒)|\b(?:returns?|gives?|yields?|equals?|(?:evaluates?|equal) to|becomes?|throws?|be|is|was|got|expected|instead of|rather than|not)(?::|\san?)?)\s?[*]*`;
const UNMARKED = new RegExp(
  String.raw`(?<=^|[\s*(:])(?:${LITERAL_CALL}(?=${SAYS_RESULT})|(?<=${BEFORE_VALUE})(?:${LITERAL_VALUE}))(?=[\s,.;:)*!?]|$)`,
  'g',
);
/** Longer lines are read as they are. Our default; the patterns take time that grows with the square of the length. */
const MAX_MARKED = 1_000;

/**
 * The prose with calls and values in backticks where their author left them out: calls with literals only, since what a
 * sentence calls `render(page)` defines no page. Lines of tables and of indented code are left as they are.
 */
export const withBackticks = (prose: string): string =>
  prose
    .replace(/<\/?code>/gi, '`')
    .split('\n')
    .map((line) => (line.length > MAX_MARKED || /^(?:\s*\||\t| {4})/.test(line) ? line : markedLine(line)))
    .join('\n');

function markedLine(line: string): string {
  // Text, backticks, code, backticks, and so on.
  const parts = line.split(/(`+)/);
  if (parts.length % 4 !== 1) return line;
  return parts.map((part, at) => (at % 4 === 0 ? part.replace(UNMARKED, '`$&`') : part)).join('');
}
