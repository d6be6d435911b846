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
  [...text.matchAll(KEY_BLOCK)].map(({ index, 0: found, 1: begin = '' }) => ({
    from: index + begin.length,
    to: index + found.length,
  }));

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

/**
 * What may precede a token although it ends with a letter or digit: an escape of JSON, C or Python (`\n`, `\u001b`,
 * `\x1b`, `\012`, `\U0000001b`), of a URL (`%3D`, `%253D`), of mail (`=3D`), and a terminal colour sequence whose
 * start is written in any of these ways (`\u001b[32m`).
 */
const ESCAPES = [
  String.raw`\\[abefnrtv]`,
  String.raw`\\[0-7]{1,3}`,
  String.raw`\\u[0-9A-Fa-f]{4}`,
  String.raw`\\U[0-9A-Fa-f]{8}`,
  String.raw`\\x[0-9A-Fa-f]{2}`,
  '%(?:25){0,3}[0-9A-Fa-f]{2}',
  '=[0-9A-F]{2}',
  String.raw`\[[\d;:?]{0,20}[A-Za-z]`,
];
/** If a pattern begins with letters, it may be preceded by such an escape, or by anything but a letter or a digit. */
const TOKEN_START = `(?:(?<![A-Za-z0-9])|(?<=${ESCAPES.join('|')}))`;

/** No name of code: lowercase words and small numbers. No random token of 16 characters is likely to be one. */
const NO_NAME = '(?!(?:[a-z]{1,20}|v?[0-9]{1,2})(?:[_-](?:[a-z]{1,20}|v?[0-9]{1,2})){1,15}(?![A-Za-z0-9_-]))';

/**
 * Tokens with a recognizable prefix, and the characters that may follow: from gitleaks' default rules and the
 * providers' documentation. Minimum lengths are below the real ones, so that truncated tokens are found.
 */
const PREFIXED: readonly (readonly [prefix: string, rest: string])[] = [
  // GitHub, GitLab, Bitbucket, Gitea.
  ['gh[a-z]_', '[A-Za-z0-9_]{10,}'],
  ['github_pat_', '[A-Za-z0-9_]{10,}'],
  // Runoff's API tokens, from more digits on than an id has: ids are not secret.
  ['runoff_pat_', '[0-9a-f]{20,}'],
  [String.raw`v1\.(?=[0-9a-f]{40})`, '[0-9a-f]{40,}'],
  ['gl(?:pat|dt|rt|ptt|cbt|agent|soat|ft|imt|oas|ffct|rtr|wt)-', '[A-Za-z0-9_.-]{16,}'],
  ['GR1348941', '[A-Za-z0-9_-]{16,}'],
  ['_gitlab_session=', '[0-9a-z]{16,}'],
  ['ATBB', '[A-Za-z0-9]{24,}'],
  ['ATCTT3xFfG|ATATT3', '[A-Za-z0-9_=-]{24,}'],
  // Models.
  [
    `(?:sk|gw|xai|gsk|pplx|csk|fw|tgp|nvapi|rpa|dp|r8|fal|jina|voyage|pa)[-_]${NO_NAME}`,
    '[A-Za-z0-9_-]{16,}',
  ],
  ['(?:hf|api_org)_', '[A-Za-z0-9]{16,}'],
  ['AIza', '[A-Za-z0-9_-]{30,}'],
  [String.raw`ya29\.`, '[A-Za-z0-9_.-]{16,}'],
  ['GOCSPX-', '[A-Za-z0-9_-]{20,}'],
  // Clouds.
  ['(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])', '[A-Z0-9]{16}(?![A-Za-z0-9])'],
  ['ABSK', '[A-Za-z0-9+/]{40,}={0,2}'],
  ['(?:dop|doo|dor)_v1_', '[a-f0-9]{16,}'],
  ['LTAI', '[A-Za-z0-9]{16,}'],
  ['AKID', '[A-Za-z0-9]{24,}'],
  ['(?:fo1_|fm[12]_|fm[12]a_|fm[12]r_)', '[A-Za-z0-9+/=_-]{20,}'],
  ['HRKU-', '[A-Za-z0-9_-]{16,}'],
  ['(?:pscale_(?:tkn|oauth|pw))_', '[A-Za-z0-9_.=-]{16,}'],
  ['(?:sbp|sb_secret|sb_publishable)_', '[A-Za-z0-9_-]{16,}'],
  ['dapi', '[a-f0-9]{32}(?:-[0-9])?'],
  ['pul-', '[a-f0-9]{32,}'],
  ['hv[sbr]\\.', '[A-Za-z0-9_-]{20,}'],
  ['AGE-SECRET-KEY-1', '[0-9A-Z]{20,}'],
  // Packages and builds.
  ['npm_', '[A-Za-z0-9]{20,}'],
  ['pypi-', '[A-Za-z0-9_-]{20,}'],
  ['rubygems_', '[a-f0-9]{24,}'],
  ['dckr_(?:pat|oat)_', '[A-Za-z0-9_-]{16,}'],
  ['oy2', '[a-z0-9]{43}(?![A-Za-z0-9])'],
  ['cio', '[A-Za-z0-9]{32}(?![A-Za-z0-9])'],
  ['(?:CCIPAT|CCIPRJ)_', '[A-Za-z0-9_]{16,}'],
  ['(?:bkua|bkct)_', '[a-z0-9]{24,}'],
  ['(?:sqp|squ|sqa)_', '[a-f0-9]{24,}'],
  ['sntry[su]_', '[A-Za-z0-9+/=_-]{24,}'],
  ['glc_|glsa_', '[A-Za-z0-9+/=_]{24,}'],
  ['lin_(?:api|oauth)_', '[A-Za-z0-9]{24,}'],
  ['(?:phc|phx)_', '[A-Za-z0-9]{24,}'],
  ['ntn_|secret_(?=[A-Za-z0-9]{32})', '[A-Za-z0-9]{24,}'],
  ['figd_', '[A-Za-z0-9_-]{24,}'],
  ['PMAK-', '[a-f0-9-]{24,}'],
  ['tfp_|dp\\.(?:pt|st|ct|sa|scim|audit)\\.', '[A-Za-z0-9_.-]{20,}'],
  ['eyJrIjoi', '[A-Za-z0-9+/=]{20,}'],
  // Messages, payments, mail, shops.
  ['xox[a-z]-|xapp-|xwfp-', '[A-Za-z0-9-]{10,}'],
  ['(?:sk|rk|pk)_(?:live|test|prod)_', '[A-Za-z0-9]{10,}'],
  ['whsec_', '[A-Za-z0-9+/=]{16,}'],
  ['sq0(?:atp|csp|idp)-', '[A-Za-z0-9_-]{16,}'],
  ['EAAA', '[A-Za-z0-9_-]{56,}'],
  [String.raw`SG\.`, '[A-Za-z0-9_.-]{24,}'],
  ['xkeysib-', '[a-f0-9]{24,}'],
  ['re_(?=[A-Za-z0-9]*[0-9])', '[A-Za-z0-9_]{20,}'],
  ['key-(?=[0-9a-f]{32})', '[0-9a-f]{32}'],
  ['shp(?:at|ca|pa|ss)_', '[a-fA-F0-9]{20,}'],
  ['(?:SK|AC)(?=[0-9a-f]{32}(?![A-Za-z0-9]))', '[0-9a-f]{32}'],
  ['NRAK-|NRII-|NRJS-', '[A-Za-z0-9-]{16,}'],
  ['(?:access|refresh)_token\\$production\\$', '[a-z0-9$]{16,}'],
];

/** What follows `Bearer` in a sentence. */
const NO_PROSE =
  '(?!(?:auth|authentication|authorization|credentials?|headers?|schemes?|security|tokens?)(?![\\w+/=.~%-]))';

/** Bounded, because hostile text could make the search quadratic. */
const OTHER_PATTERNS: readonly RegExp[] = [
  // A JSON web token.
  new RegExp(String.raw`${TOKEN_START}(?<!-)eyJ[\w-]{8,4096}\.[\w-]{8,8192}(?:\.[\w-]*)?`, 'g'),
  // Secret path segments in URLs of a service: of a webhook, of a bot.
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{20,200}/g,
  /discord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/[\w-]{20,200}/g,
  /webhook\.office\.com\/webhookb2\/[\w@/-]{20,300}/g,
  new RegExp(String.raw`${TOKEN_START}\d{8,14}:AA[\w-]{32,36}(?![\w-])`, 'g'),
  // Assignments of a one-word value to a name that suggests a secret.
  /(?:AccountKey|SharedAccessKey|SharedAccessSignature|aws_secret_access_key|_authToken|_auth)["'\\]{0,3}\s{0,3}[=:]\s{0,3}["'\\]{0,3}[A-Za-z0-9+/_.=-]{16,}/gi,
  /(?<=[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature|access_token|api_key|apikey)=)[A-Za-z0-9%+/_.=-]{16,}/gi,
  new RegExp(String.raw`${TOKEN_START}Bearer(?:\s|%20|\+|\\u0020){1,8}${NO_PROSE}[\w+/=.~%-]{6,}`, 'gi'),
  // Words have neither capitals nor digits; the base64 of a login practically always has.
  new RegExp(
    String.raw`${TOKEN_START}(?:[Bb]asic|BASIC)(?:\s|%20|\+|\\u0020){1,8}(?=[a-z+/%]*[A-Z0-9])[A-Za-z0-9+/%]{16,}={0,2}`,
    'g',
  ),
  // A password extends to the last @ before the path. It begins at the first colon: with any other as its start,
  // a hostile text of colons would take ten times as long.
  /(?<=[a-z][a-z0-9+.-]{0,20}:(?:\/\/|\\\/\\\/))[^\s"'\\/?#:]{0,256}:[^\s"'\\/?#]{0,512}@/gi,
  /(?<=[a-z][a-z0-9+.-]{0,20}%3A%2F%2F)(?:(?!%3A)[\w.~%-]){0,256}%3A[\w.~%-]{0,512}%40/gi,
];

const ALTERNATIVES = PREFIXED.map(([prefix, rest]) => `(?:${prefix})${rest}`).join('|');

/** Patterns of secrets, independent of their owner. */
const SECRET_PATTERNS: readonly RegExp[] = [
  new RegExp(`${TOKEN_START}(?:${ALTERNATIVES})`, 'g'),
  ...OTHER_PATTERNS,
];

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
