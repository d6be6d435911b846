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

/**
 * What secrets look like, whoever's they are: of GitHub, of model providers, of our gateway, of clouds, keys, logins. Bounded where
 * a hostile text could make the search take time by the square of its length.
 */
const FORMS: readonly RegExp[] = [
  /gh[a-z]_[A-Za-z0-9_]{10,}/g,
  /github_pat_\w{10,}/g,
  /\bv1\.[0-9a-f]{40}/g,
  /(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,8192}(?:\.[\w-]*)?/g,
  /\b(?:sk|gw|xai|gsk)[-_][\w-]{16,}/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bBearer\s{1,8}[\w+/=.~-]{6,}/gi,
  /\bBasic\s{1,8}[A-Za-z0-9+/]{16,}={0,2}/gi,
  // To its end, or as far as a text that was cut still shows it.
  /-----BEGIN [A-Z0-9 ]*KEY-----[^"]*?(?:-----END [A-Z0-9 ]*KEY-----|(?=")|$)/g,
  // A password is anything up to the last @ before the path.
  /(?<=[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'\\/?#]{0,256}:[^\s"'\\/?#]{0,256}@/gi,
];

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
  return [secret, quoted, JSON.stringify(quoted).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
};

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
