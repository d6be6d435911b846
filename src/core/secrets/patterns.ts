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
export const SECRET_PATTERNS: readonly RegExp[] = [
  new RegExp(`${TOKEN_START}(?:${ALTERNATIVES})`, 'g'),
  ...OTHER_PATTERNS,
];
