import { Lexer, parseDocument } from 'yaml';

/** YAML files that people write are far below; more is not read at all. */
export const MAX_YAML_BYTES = 64 * 1024;
/** Nesting of lists and keys; settings need four, workflows eight. */
export const MAX_YAML_DEPTH = 16;
/** Pieces of syntax; a long file has some hundred. The parser's time grows with their square. */
const MAX_YAML_TOKENS = 5_000;
/** Times that one anchored value may be repeated. */
const MAX_YAML_ALIASES = 20;

/**
 * A YAML file of a stranger, every scalar as the text that stands there (`3.10` stays `3.10`); null for what is too big,
 * too deep or no YAML. Never throws.
 */
export function readPlainYaml(text: string): unknown {
  if (Buffer.byteLength(text) > MAX_YAML_BYTES || isTooDeep(text) || hasTooMany(text)) return null;
  try {
    const document = parseDocument(text, { schema: 'failsafe', prettyErrors: false, logLevel: 'silent' });
    return document.errors.length > 0
      ? null
      : (document.toJS({ maxAliasCount: MAX_YAML_ALIASES }) as unknown);
  } catch {
    // More aliases than allowed, or a value that the parser gives up on: the file says nothing.
    return null;
  }
}

export function hasTooMany(text: string): boolean {
  let tokens = 0;
  for (const token of new Lexer().lex(text))
    if (token.trim() !== '' && ++tokens > MAX_YAML_TOKENS) return true;
  return false;
}

/**
 * A bound on the parser's own recursion, from characters alone: open brackets, and the marks of nested lists and keys
 * at the start of one line. Brackets in strings count too; nobody has that many.
 */
export function isTooDeep(text: string): boolean {
  let open = 0;
  for (const char of text) {
    if (char === '[' || char === '{') open++;
    else if ((char === ']' || char === '}') && open > 0) open--;
    if (open > MAX_YAML_DEPTH) return true;
  }
  return text.split('\n').some((line) => {
    const marks = /^[ \t]*((?:[-?:][ \t]+)*)/.exec(line)?.[1] ?? '';
    return marks.replaceAll(/[ \t]/g, '').length > MAX_YAML_DEPTH || /^ {200}/.test(line);
  });
}
