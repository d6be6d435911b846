import type { ApiToken } from '../core/tokens/index.ts';

export interface TokenQuery {
  /** Those of one person. */
  readonly userId?: number;
  /** Those that are valid at this time, milliseconds since 1970 UTC. */
  readonly validAt?: number;
  /** Those after this one in the list. */
  readonly after?: Pick<ApiToken, 'createdAt' | 'id'>;
  readonly limit: number;
}

/** Tokens of the API. Each method is one transaction. Faults: DATABASE_UNAVAILABLE. */
export interface ApiTokens {
  /** Stores a token. Of its text only a hash is stored, so that it cannot be read again. */
  addToken(token: Omit<ApiToken, 'lastUsedAt' | 'revokedAt'>, text: string): Promise<void>;
  /** The token with this text, also if it has expired or was revoked; null if there is none. Takes the same time for each text. */
  tokenOf(text: string): Promise<ApiToken | null>;
  /** The token with this id, also if it has expired or was revoked; null if there is none. */
  token(id: string): Promise<ApiToken | null>;
  /** Newest first. */
  tokens(which: TokenQuery): Promise<readonly ApiToken[]>;
  /** False if there is no such token, or if it was revoked before. */
  revokeToken(id: string, at: number): Promise<boolean>;
  /** Notes when a token was used last. */
  noteTokenUse(id: string, at: number): Promise<void>;
}

/** An answer of the API, as it was sent. */
export interface KeptApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, as sent. */
  readonly body: string;
}

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  /** Whose key it is: keys of different owners have nothing to do with each other. */
  readonly owner: string;
  readonly key: string;
  /** Digest of method, address and body. */
  readonly request: string;
  /** The process that works on it: whatever another one left unfinished may be continued. */
  readonly holder: string;
  /** Name for the work, if nobody has begun it: what is made under it is made once. */
  readonly work: string;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  /** The key counts as never used if it was first used before this time. */
  readonly expired: number;
}

export type KeyClaim =
  /** To be done, or continued, under this name. */
  | { readonly kind: 'claimed'; readonly work: string }
  | { readonly kind: 'answered'; readonly answer: KeptApiAnswer }
  /** This process works on it at the moment. */
  | { readonly kind: 'in-progress' }
  /** The key was used for another request. */
  | { readonly kind: 'other-request' };

/** Keys under which a request to the API has its effect once. Each method is one transaction. Faults: DATABASE_UNAVAILABLE. */
export interface IdempotencyKeys {
  claimKey(request: KeyedRequest): Promise<KeyClaim>;
  /** Stores the answer, unless there is one; returns the stored one. */
  answerKey(owner: string, key: string, answer: KeptApiAnswer): Promise<KeptApiAnswer>;
  /** The work failed and can be tried again, under the same name. */
  releaseKey(owner: string, key: string): Promise<void>;
}
