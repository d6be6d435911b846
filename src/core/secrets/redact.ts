import { FORMS } from './forms.ts';

/** What stands where a secret stood. */
export const MARK = '[redacted]';

/** Shorter keys are placeholders for local servers (`none`, `ollama`): not secret, and words of ordinary text. */
const SHORTEST_KEY = 12;
/** Shorter words of the settings are left to the forms: as values they would blot out ordinary text. Our default. */
const SHORTEST_VALUE = 8;
/** So many characters in a row of a secret give it away: a text that was cut may end in a part of one. Our default. */
const TELLING = 12;

export const secretsOf = (keys: readonly (string | undefined)[]): readonly string[] =>
  keys.filter((key): key is string => key !== undefined && key.length >= SHORTEST_KEY);

export const redactText = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((kept, secret) => kept.replaceAll(secret, MARK), text);

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Replaces what is secret in a text. */
export type Redact = (text: string) => string;

/**
 * Takes secrets out of texts, JSON texts included: known ones by value, also in part and as JSON or an address writes them,
 * and all that has the form of one. What was JSON before is JSON afterwards.
 */
export function redactor(secrets: readonly string[]): Redact {
  const known = [...new Set(secrets.flatMap(writings))].filter(({ length }) => length >= SHORTEST_VALUE);
  const grams = gramsOf(known);
  return (text) => {
    const spans = [...byForm(text), ...byValue(text, grams)];
    return spans.length === 0 ? text : cutOut(text, spans);
  };
}

const writings = (secret: string): readonly string[] => {
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
 * How a text stands in base64, wherever it begins in it: a login of HTTP has a name before it. What depends on the
 * characters around it is cut off. Both alphabets.
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

/** By their length: every telling part of every secret. */
function gramsOf(known: readonly string[]): ReadonlyMap<number, ReadonlySet<string>> {
  const grams = new Map<number, Set<string>>();
  for (const secret of known) {
    const length = Math.min(TELLING, secret.length);
    const same = grams.get(length) ?? new Set<string>();
    grams.set(length, same);
    for (let at = 0; at + length <= secret.length; at += 1) {
      const gram = secret.slice(at, at + length);
      // It could be the quotation mark that ends or begins a text, and is no part of the secret then.
      if (!/(?<!\\)"/.test(gram)) same.add(gram);
    }
  }
  return grams;
}

const byForm = (text: string): readonly Span[] =>
  FORMS.flatMap((form) =>
    [...text.matchAll(form)].map(({ index, 0: found }) => ({ from: index, to: index + found.length })),
  );

function byValue(text: string, grams: ReadonlyMap<number, ReadonlySet<string>>): readonly Span[] {
  const spans: Span[] = [];
  for (const [length, parts] of grams) {
    for (let from = 0; from + length <= text.length; from += 1) {
      if (parts.has(text.slice(from, from + length))) spans.push({ from, to: from + length });
    }
  }
  return spans;
}

function cutOut(text: string, spans: readonly Span[]): string {
  const ordered = spans.map((span) => wholeEscapes(text, span)).sort((one, other) => one.from - other.from);
  let kept = '';
  let at = 0;
  for (const { from, to } of ordered) {
    if (from > at || (from === at && !kept.endsWith(MARK))) kept += text.slice(at, from) + MARK;
    at = Math.max(at, to);
  }
  return kept + text.slice(at);
}

/** JSON stays JSON only when no escape (`\n`, `\u001b`) is cut in two. */
function wholeEscapes(text: string, { from, to }: Span): Span {
  const begun = /(?:^|[^\\])(?:\\\\)*(\\(?:u[0-9a-f]{0,3})?)$/i.exec(
    text.slice(Math.max(0, from - 40), from),
  )?.[1];
  const inside = /(?:^|[^\\])(?:\\\\)*\\(u[0-9a-f]{0,3})?$/i.exec(text.slice(from, to));
  const left = begun?.length ?? 0;
  if (!inside) return { from: from - left, to };
  const hex = inside[1];
  // `\u` and four digits; or one character after the backslash, which itself may be the `u`.
  const missing = hex === undefined ? (text[to] === 'u' ? 5 : 1) : 5 - hex.length;
  return { from: from - left, to: Math.min(text.length, to + missing) };
}
