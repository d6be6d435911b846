import { parse } from 'smol-toml';
import { Lexer, parseDocument } from 'yaml';

/** Maximum characters; real manifests are far smaller. */
const MAX_TOML_CHARS = 256 * 1024;
/** Nesting of values in one line; manifests need four. */
const MAX_TOML_DEPTH = 32;

/** Parses an untrusted TOML file; an empty table if it is too large, too deep or invalid. Never throws. */
export function readPlainToml(text: string): Readonly<Record<string, unknown>> {
  if (text.length > MAX_TOML_CHARS) return {};
  try {
    return parse(text, { maxDepth: MAX_TOML_DEPTH, unsafeKeyBehaviour: 'drop' });
  } catch {
    // An unreadable file is treated as empty.
    return {};
  }
}

/** Maximum characters; real YAML files are far smaller. Larger ones are not read. */
export const MAX_YAML_BYTES = 64 * 1024;
/** Nesting of lists and keys; settings need four, workflows eight. */
export const MAX_YAML_DEPTH = 16;
/** Maximum tokens; a long file has some hundred. The parser's time grows with their square. */
export const MAX_YAML_TOKENS = 5_000;
/** Maximum references to one anchored value. */
const MAX_YAML_ALIASES = 20;

/**
 * Parses an untrusted YAML file, every scalar as its source text (`3.10` stays `3.10`); null if it is too large, too
 * deep or invalid. Never throws.
 */
export function readPlainYaml(text: string): unknown {
  if (Buffer.byteLength(text) > MAX_YAML_BYTES || isTooDeep(text) || hasTooMany(text)) return null;
  try {
    const document = parseDocument(text, { schema: 'failsafe', prettyErrors: false, logLevel: 'silent' });
    return document.errors.length > 0
      ? null
      : (document.toJS({ maxAliasCount: MAX_YAML_ALIASES }) as unknown);
  } catch {
    // Too many aliases, or a value that the parser rejects: the file is ignored.
    return null;
  }
}

export function hasTooMany(text: string, most: number = MAX_YAML_TOKENS): boolean {
  let tokens = 0;
  for (const token of new Lexer().lex(text)) if (token.trim() !== '' && ++tokens > most) return true;
  return false;
}

/**
 * Bounds the parser's recursion by counting characters: open brackets, and the marks of nested lists and keys at the
 * start of a line. Brackets in strings count too; real files do not have that many.
 */
export function isTooDeep(text: string, most: number = MAX_YAML_DEPTH): boolean {
  let open = 0;
  for (const char of text) {
    if (char === '[' || char === '{') open++;
    else if ((char === ']' || char === '}') && open > 0) open--;
    if (open > most) return true;
  }
  return text.split('\n').some((line) => {
    const marks = /^[ \t]*((?:[-?:][ \t]+)*)/.exec(line)?.[1] ?? '';
    return marks.replaceAll(/[ \t]/g, '').length > most || /^ {200}/.test(line);
  });
}
