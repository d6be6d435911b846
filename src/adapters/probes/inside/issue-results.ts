// Calls with their results, as an issue tells them: in comments, sessions and sentences. An issue often tells the wrong
// result, so each is read with whether its words say that it is meant.

/** An assertion of Runoff's: `__p.same` can compare values whatever library the tests use. */
export function same(call: string, words: string): string {
  const value = asValue(words);
  return value === null ? `__p.throws(() => ${call});` : `__p.same(${call}, ${value});`;
}

/** The source of a value in prose: the text itself if it parses as a literal, else a string; null for an error. */
function asValue(words: string): string | null {
  const text = words.trim().replace(/;$/, '');
  if (/^(?:throws?\b|an? (?:error|exception)\b|(?:Uncaught )?(?:\w*Error|Exception)\b)/.test(text))
    return null;
  if (/^(-?\d[\d_]*(\.\d+)?n?|true|false|null|undefined|NaN|-?Infinity)$/.test(text)) return text;
  if (/^(['"`]).*\1$|^\[.*\]$|^\{.*\}$|^new \w+\(|^\//s.test(text))
    return text.startsWith('{') ? `(${text})` : text;
  return JSON.stringify(text);
}

/** Calls of a session, `> f(1)` or `>>> f(1)`, each with the next line if that is a result. */
export function sessionOf(code: string, joined: (call: string, result: string) => string): string {
  if (!/^\s*>{1,3} /m.test(code)) return code;
  const lines = code.split('\n');
  return lines
    .flatMap((line, at) => {
      const [, call] = /^\s*>{1,3} (.*)$/.exec(line) ?? [];
      if (call === undefined) return [];
      const next = lines[at + 1] ?? '';
      return next.trim() === '' || /^\s*>/.test(next) ? [call] : [joined(call, next.trim())];
    })
    .join('\n');
}

export const withComment = (call: string, result: string): string =>
  `${call.replace(/;$/, '')} // => ${result}`;

const RESULT =
  /^((?:const|let|var)\s+\w+\s*=\s*)?(.+?);?\s*\/\/\s*(=>|->|→|⇒|returns?:?|gives?:?|results?(?: in)?:?|output:?|logs?:?|prints?:?|should (?:be|return|equal|give):?|expected:?)\s*(.+?)\s*$/;

/** The same with two results, of which the second is meant: "f(1) // was 1, expected 2". */
const TWO_RESULTS =
  /^((?:const|let|var)\s+\w+\s*=\s*)?(.+?);?\s*\/\/\s*(?:=>|->|(?:was|is|got|gave|gives?|returns?|returned|prints?|printed|logs?|logged|currently|now|actual|actually)\b).*?[\s,;(](expected|should (?:be|return|give|equal|print|output)):?\s+(.+?)\s*$/;
/**
 * Longer lines, and those with wider gaps, are read as they are: the patterns take time that grows with the square of the
 * length, and once more with that of a gap.
 */
const MAX_LINE = 1_000;
const WIDE_GAP = /\S\s{20}/;

const RESULT_BELOW =
  /^\s*\/\/\s*(?:=>|->|→|⇒|(?:returns?|gives?|prints?|logs?|should|expected)\b|(?:output|results?):)/;
/** A call on one line: nothing is opened before it, or left open. */
const isWholeCall = (line: string): boolean =>
  /\);?\s*$/.test(line) &&
  !/^\s*(?:[})\]]|return\b|function\b)/.test(line) &&
  line.split('(').length === line.split(')').length &&
  !line.includes('//');

/**
 * Puts a comment that tells a result behind the call in the line above it. In code in which such a comment comes first,
 * they stand above what they are about.
 */
function withCommentsBehind(code: string): readonly string[] {
  const given = code.split('\n');
  if (given.some((line, at) => RESULT_BELOW.test(line) && (given[at - 1] ?? '').trim() === '')) return given;
  return given.reduce<string[]>((lines, line) => {
    const call = lines.at(-1) ?? '';
    const comment = line.trim();
    const joined = `${call} ${comment}`;
    const isResult =
      RESULT_BELOW.test(line) &&
      isWholeCall(call) &&
      joined.length <= MAX_LINE &&
      !WIDE_GAP.test(joined) &&
      RESULT.test(joined.trimStart());
    if (isResult) lines[lines.length - 1] = joined;
    else lines.push(line);
    return lines;
  }, []);
}

/** Turns calls with their results in comments into assertions: those whose words say that they are meant, or the others. */
export function withResults(code: string, which: 'meant' | 'told'): string {
  return withCommentsBehind(code)
    .map((line) => {
      const text = line.trimStart();
      if (line.length > MAX_LINE || !text.includes('//') || WIDE_GAP.test(text)) return line;
      const found = readComment(text);
      if (!found || found.isMeant !== (which === 'meant')) return line;
      const indent = line.slice(0, line.length - text.length);
      const { declaration, call, value } = found;
      const name = /^(?:const|let|var)\s+(\w+)/.exec(declaration)?.[1];
      const logged = /^console\.log\((.*)\)$/.exec(call)?.[1];
      if (name) return `${indent}${declaration}${call};\n${indent}${same(name, value)}`;
      return `${indent}${same(logged ?? call, value)}`;
    })
    .join('\n');
}

/** A line of code whose comment tells a result. Null if it tells none, or only what must not be. */
function readComment(line: string) {
  // "returns 1 (should be 2)" is read like "returns 1, should be 2".
  const plain = line.replace(/\(((?:expected|should) .*)\)\s*$/, '$1').trimEnd();
  const two = TWO_RESULTS.exec(withoutOwnWords(plain));
  const [, declaration = '', { length } = '', verb = '', result = ''] =
    two ?? RESULT.exec(withoutOwnWords(line)) ?? [];
  const call = line.slice(declaration.length, declaration.length + length);
  if (call === '' || asserting(call)) return null;
  const isMeant = /^(?:should|expected)/.test(verb);
  const value = valueIn((two ? plain : line.trimEnd()).slice(-result.length), isMeant);
  return value === null ? null : { declaration, call, value, isMeant };
}

const QUOTED = /(?<!\w)(['"`])(?:\\.|(?!\1)[^\\])*\1(?!\w)/g;
const ERROR_MESSAGE = /\b(?:\w*Error|Exception):[^,;(]*/g;
const BRACKETED = /(?<![\d.)\]}]\s?)(?:\{[^{}]*\}|\[[^[\]]*\])/g;

/**
 * A line with dots for what a result may say itself: texts, messages of errors, objects and arrays. In
 * `{ error: 'wrong, expected a name' }` nothing says that the result is wrong, or what is expected.
 */
function withoutOwnWords(line: string): string {
  const dots = (part: string) => '.'.repeat(part.length);
  let text = line.replace(QUOTED, dots).replace(ERROR_MESSAGE, dots);
  // From the inside to the outside.
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(BRACKETED, dots);
  }
  return text;
}

const LITERAL = /^(['"`])(?:\\.|(?!\1)[^\\])*\1/;
const COMPLAINT =
  /\b(?:wrong(?:ly)?|incorrect(?:ly)?|erroneous(?:ly)?|mistaken(?:ly)?|bugs?|broken|currently|unexpected(?:ly)?)\b|❌|✗/i;

/** What follows a value: "2, got 3". */
const MORE_WORDS =
  /,?\s+(?:\(.*\)|but .*|got .*|instead .*|rather than .*|not .*)$|[,;]\s+(?:is|was|gives|returns|actual(?:ly)?|currently)\b.*$/;

/** The value in the words of a comment: of "1 instead of 2" the second. Null if they only say what must not be. */
function valueIn(words: string, isMeant: boolean): string | null {
  if (/^(?:not?|never)\s/i.test(words)) return null;
  const [literal] = LITERAL.exec(words) ?? [];
  if (literal === words) return words;
  const about = withoutOwnWords(words);
  if (!isMeant) {
    const [, other] = /\s(?:instead of|rather than)\s+(.+)$/.exec(about) ?? [];
    if (other !== undefined) return valueIn(words.slice(-other.length), true);
    if (COMPLAINT.test(about)) return null;
  }
  const behind = words.slice(literal?.length ?? 0);
  // Words after a text: "'a', as each space".
  if (literal !== undefined && /^[\s,;.]\s*[^'"`+]*$/.test(behind)) return literal;
  const end = about.search(MORE_WORDS);
  return end < 0 ? words : words.slice(0, end);
}

export const asserting = (call: string): boolean => /^(assert|expect|t\.|should)/.test(call.trim());

/** Matches "`f(1)` returns `2` but should return `3`": the call, the first value and the rest. */
export const SENTENCE =
  /`([^`\n]{1,200}?\([^`\n]{0,200}\)[^`\n]{0,80})`(?:(?!\.\s)[^`\n]){0,60}?(?:→|=>|->|⇒|returns?|gives?|yields?|equals?|evaluates? to|becomes?|throws?|should(?: \w+)?|must(?: \w+)?|expected)(?:(?!\.\s)[^`\n]){0,20}`([^`\n]{1,200})`([^`\n]{0,60}`[^`\n]{1,200}`)?/g;
/** But "should work, but gives" tells what is wrong. */
const SAYS =
  /\b(?:should|must|expect(?:ed|s)?|ought|ha(?:s|ve) to|needs? to)\b(?!.*\b(?:but|yet|however|instead|although)\b)/i;
/** What asks for the value that follows, whatever is denied before: "must not throw, it must return", "but return". */
const ASKS =
  /(?:(?<!(?:\b(?:not|never|no longer)|n['’]t)\s+(?:\w+\s+)?)\b(?:should|must|ought to|(?:has|have|needs?|expected) to)|\b(?:should|must)(?:n['’]t| not| never)\s[^`]*\bbut)\s+(?:(?!not\b|never\b)\w+\s+)?(?:return|give|yield|equal|evaluate|become|throw|be)\b((?:\s+\w+){0,2}:?\s*)$/i;
const NEGATED = /\b(?:not|never|no longer|cannot|nor)\b|n['’]t\b/i;
/** What is said to be meant after the value that a call has. */
const MEANT_AFTER = /(?:but (?:it |this )?(?:should|must)|should|expected)([^`\n]*)`([^`\n]+)`/;
/** What stands in place of the value that it should have, or has: the text does not say which. */
const INSTEAD = /\b(?:instead of|rather than|not)\b[^`\n]*`([^`\n]+)`/;

/** The call of a match of `SENTENCE`, and its result. Null if it only says what must not be. */
export function readSentence([sentence, written = '', first = '', rest = '']: RegExpExecArray) {
  const call = written.replace(/;$/, '');
  const between = sentence.slice(written.length + 2, sentence.length - rest.length - first.length - 2);
  const [, end] = ASKS.exec(between) ?? [];
  if (end !== undefined && !NEGATED.test(end)) return { call, value: first, isMeant: true };
  if (SAYS.test(between)) return NEGATED.test(between) ? null : { call, value: first, isMeant: true };
  const [, gap = '', second] = MEANT_AFTER.exec(rest) ?? [];
  if (second !== undefined) return NEGATED.test(gap) ? null : { call, value: second, isMeant: true };
  if (NEGATED.test(between)) return null;
  const [, other] = INSTEAD.exec(rest) ?? [];
  if (other !== undefined) return { call, value: other, isMeant: false };
  return COMPLAINT.test(between) ? null : { call, value: first, isMeant: false };
}
