import type { Actor } from '../model/index.ts';

/** What a token may be used for: to read runs, to start them, and to act on those that exist. */
export const TOKEN_VERBS = ['read', 'run', 'act'] as const;
export type TokenVerb = (typeof TOKEN_VERBS)[number];

/** Days after which a token expires unless its maker says otherwise, and at most. Our defaults. */
export const TOKEN_DAYS = { usual: 90, most: 365 } as const;
/** Maximum characters of a token's name. */
export const MAX_TOKEN_NAME = 60;
/** Maximum repositories of one token. Our default. */
export const MAX_TOKEN_REPOSITORIES = 50;

/** A token of the API, without its text. Times are milliseconds since 1970 UTC. */
export interface ApiToken {
  /** 12 hexadecimal digits, which stand in its text and in lists. */
  readonly id: string;
  /** For people: what uses it. */
  readonly name: string;
  /** The person that it acts for. What they may do is read from GitHub at each use. */
  readonly by: Actor;
  /** Nothing else exists for it. By the names that they had when the token was made; a repository keeps its id. */
  readonly repositories: readonly {
    readonly installationId: number;
    readonly repositoryId: number;
    readonly owner: string;
    readonly name: string;
  }[];
  readonly verbs: readonly TokenVerb[];
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt?: number;
  readonly revokedAt?: number;
}

/**
 * Milliseconds for which a key of a request to the API is remembered. Our default: a day, as other APIs have it,
 * outlasts the retries of clients.
 */
export const IDEMPOTENCY_KEY_MS = 86_400_000;

/** A word that secret scanners can look for, and that no other service uses. */
const PREFIX = 'runoff_pat_';
const ID_DIGITS = 12;
const SECRET_DIGITS = 52;
const SUM_DIGITS = 8;
const TEXT = new RegExp(`^${PREFIX}[0-9a-f]{${ID_DIGITS + SECRET_DIGITS + SUM_DIGITS}}$`);

/**
 * The text of a new token from 256 random bits in hexadecimal: the prefix, the id, 208 secret bits, and a checksum, by
 * which scanners tell a real token from a text that only looks like one.
 */
export function tokenText(random: string): { readonly id: string; readonly text: string } {
  if (!/^[0-9a-f]{64}$/.test(random)) throw new Error('A token needs 256 random bits.');
  return { id: random.slice(0, ID_DIGITS), text: `${PREFIX}${random}${checksum(random)}` };
}

/** The id in the text of a token; null if the text is none. Says nothing about whether the token is valid. */
export function tokenIdIn(text: string): string | null {
  if (!TEXT.test(text)) return null;
  const random = text.slice(PREFIX.length, -SUM_DIGITS);
  return checksum(random) === text.slice(-SUM_DIGITS) ? random.slice(0, ID_DIGITS) : null;
}

/** CRC-32 as in IEEE 802.3, as eight hexadecimal digits. */
function checksum(text: string): string {
  let sum = 0xff_ff_ff_ff;
  for (const character of text) {
    sum ^= character.charCodeAt(0);
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xed_b8_83_20 : 0);
  }
  return ((sum ^ 0xff_ff_ff_ff) >>> 0).toString(16).padStart(SUM_DIGITS, '0');
}

/** Whether a token may still be used. */
export const tokenState = (
  { expiresAt, revokedAt }: Pick<ApiToken, 'expiresAt' | 'revokedAt'>,
  now: number,
): 'valid' | 'expired' | 'revoked' =>
  revokedAt !== undefined ? 'revoked' : expiresAt <= now ? 'expired' : 'valid';
