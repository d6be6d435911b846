import { SECRET_PATTERNS } from './patterns.ts';

/** Replaces a secret. */
export const REDACTED = '[redacted]';

/** Shorter keys are placeholders for local servers (`none`, `ollama`): not secret, and words of ordinary text. */
const MIN_KEY_CHARS = 12;
/**
 * Shorter values in settings are left to the patterns: replacing them by value would destroy ordinary text. Default.
 */
const MIN_VALUE_CHARS = 8;
/** Minimum length of a partial secret that is replaced: a truncated text may end within a secret. Default. */
const MIN_FRAGMENT_CHARS = 12;

export const secretsOf = (keys: readonly (string | undefined)[]): readonly string[] =>
  keys.filter((key): key is string => key !== undefined && key.length >= MIN_KEY_CHARS);

export const redactText = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((kept, secret) => kept.replaceAll(secret, REDACTED), text);

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Replaces secrets in a text. */
export type Redact = (text: string) => string;

/**
 * Removes secrets from texts, including JSON: known secrets by value, also partial and as encoded in JSON or a URL,
 * and everything that matches a secret's pattern. Valid JSON remains valid.
 */
export function redactor(secrets: readonly string[]): Redact {
  const known = [...new Set(secrets.flatMap(encodingsOf))].filter(({ length }) => length >= MIN_VALUE_CHARS);
  const grams = fragmentsOf(known);
  return (text) => {
    const inKeys = [...spansOfKeys(text), ...spansOfKeyRests(text)];
    const spans = [...spansByPattern(text), ...inKeys, ...spansByValue(text, grams)];
    return spans.length === 0 ? text : redactSpans(text, spans);
  };
}

const encodingsOf = (secret: string): readonly string[] => {
  const quoted = JSON.stringify(secret).slice(1, -1);
  const wellFormed = secret.toWellFormed();
  return [
    secret,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    encodeURIComponent(wellFormed),
    ...base64Of(wellFormed),
  ];
};

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * The base64 encodings of a text at each possible offset: HTTP credentials have a name before it. Characters that
 * depend on the context are cut off. Both alphabets.
 */
function base64Of(text: string): readonly string[] {
  const bytes = utf8(text);
  return [0, 1, 2].flatMap((before) => {
    const bits = '0'.repeat(8 * before) + bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const from = Math.ceil((8 * before) / 6);
    const letters: string[] = [];
    for (let at = from * 6; at + 6 <= bits.length; at += 6) {
      letters.push(BASE64.charAt(Number.parseInt(bits.slice(at, at + 6), 2)));
    }
    const standard = letters.join('');
    const forAddresses = standard.replaceAll('+', '-').replaceAll('/', '_');
    return standard === forAddresses ? [standard] : [standard, forAddresses];
  });
}

const utf8 = (text: string): readonly number[] =>
  [...encodeURIComponent(text).matchAll(/%([0-9A-F]{2})|(.)/g)].map(([, hex, letter = '']) =>
    hex === undefined ? letter.charCodeAt(0) : Number.parseInt(hex, 16),
  );

/** Every identifying part of every secret, by length. */
function fragmentsOf(known: readonly string[]): ReadonlyMap<number, ReadonlySet<string>> {
  const grams = new Map<number, Set<string>>();
  for (const secret of known) {
    const length = Math.min(MIN_FRAGMENT_CHARS, secret.length);
    const same = grams.get(length) ?? new Set<string>();
    grams.set(length, same);
    for (let at = 0; at + length <= secret.length; at += 1) {
      const gram = secret.slice(at, at + length);
      // May be the closing or opening quotation mark of a text, which is not part of the secret.
      if (!/(?<!\\)"/.test(gram)) same.add(gram);
    }
  }
  return grams;
}

const spansByPattern = (text: string): readonly Span[] =>
  SECRET_PATTERNS.flatMap((form) =>
    [...text.matchAll(form)].map(({ index, 0: found }) => ({ from: index, to: index + found.length })),
  );

/** A key from its first line to its last one, or as far as a truncated text shows it. */
const KEY_BLOCK =
  /(-----BEGIN [A-Z0-9 ]{0,40}(?:KEY|KEY BLOCK)-----)[^"]*?(?=-----END [A-Z0-9 ]{0,40}(?:KEY|KEY BLOCK)-----|"|$)/g;

/** Their first and last lines stay: they tell that lines which come separately are parts of a key. */
const spansOfKeys = (text: string): readonly Span[] =>
  [...text.matchAll(KEY_BLOCK)]
    .map(({ index, 0: found, 1: begin = '' }) => ({ from: index + begin.length, to: index + found.length }))
    // Code that only names the first line has no key in it.
    .filter(({ from, to }) => from < to);

/** Whether a text ends within a key. */
export const endsInKey = (text: string): boolean =>
  text.lastIndexOf('-----BEGIN ') > text.lastIndexOf('-----END ');

const KEY_END = /-----END [A-Z0-9 ]{0,40}(?:KEY|KEY BLOCK)-----/g;
const KEY_CHARACTER = /[A-Za-z0-9+/=\r\n\\]/;

/** What is left of keys whose beginning was cut off: base64 and line ends, also as in JSON. */
const spansOfKeyRests = (text: string): readonly Span[] =>
  [...text.matchAll(KEY_END)].flatMap(({ index }) => {
    let from = index;
    while (from > 0 && KEY_CHARACTER.test(text.charAt(from - 1))) from -= 1;
    return from === index ? [] : [{ from, to: index }];
  });

function spansByValue(text: string, grams: ReadonlyMap<number, ReadonlySet<string>>): readonly Span[] {
  const spans: Span[] = [];
  for (const [length, parts] of grams) {
    for (let from = 0; from + length <= text.length; from += 1) {
      if (parts.has(text.slice(from, from + length))) spans.push({ from, to: from + length });
    }
  }
  return spans;
}

function redactSpans(text: string, spans: readonly Span[]): string {
  const ordered = spans.map((span) => wholeEscapes(text, span)).sort((one, other) => one.from - other.from);
  let kept = '';
  let at = 0;
  for (const { from, to } of ordered) {
    if (from > at || (from === at && !kept.endsWith(REDACTED))) kept += text.slice(at, from) + REDACTED;
    at = Math.max(at, to);
  }
  return kept + text.slice(at);
}

/** JSON remains valid only if no escape (`\n`, `\u001b`) is split. */
function wholeEscapes(text: string, { from, to }: Span): Span {
  const begun = /(?:^|[^\\])(?:\\\\)*(\\(?:u[0-9a-f]{0,3})?)$/i.exec(
    text.slice(Math.max(0, from - 40), from),
  )?.[1];
  const inside = /(?:^|[^\\])(?:\\\\)*\\(u[0-9a-f]{0,3})?$/i.exec(text.slice(from, to));
  const left = begun?.length ?? 0;
  if (!inside) return { from: from - left, to };
  const hex = inside[1];
  // `\u` and four digits; or one character after the backslash, possibly `u` itself.
  const missing = hex === undefined ? (text[to] === 'u' ? 5 : 1) : 5 - hex.length;
  return { from: from - left, to: Math.min(text.length, to + missing) };
}

/** Names of settings that contain a secret; everything below such a name is secret, too. */
const SECRET_NAME = /(?:key|secret|token|password|headers)s?$/i;
const USER_INFO = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*?:([^/?#]*)@/i;

/**
 * All secrets in an operator's settings: by the name of the setting, and passwords in URLs. By name, so that future
 * settings are covered without a list. Order and duplicates are irrelevant.
 */
export function secretsIn(settings: unknown, name = ''): readonly string[] {
  if (typeof settings === 'string') {
    return [...passwordOf(settings), ...(SECRET_NAME.test(name) ? [settings, ...secretParts(settings)] : [])];
  }
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([key, value]) =>
    secretsIn(value, Array.isArray(settings) || SECRET_NAME.test(name) ? name : key),
  );
}

/** As written in the URL, and as sent. */
function passwordOf(address: string): readonly string[] {
  const written = USER_INFO.exec(address)?.[1];
  if (!written) return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}

/** Lines of a key file, and values of a list of headers: each can occur separately. */
const secretParts = (secret: string): readonly string[] =>
  secret.split(/[\s,=]+/).filter((part) => part !== secret);
