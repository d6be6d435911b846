import { createHash } from 'node:crypto';
import { fullNameOf, openBoundedMap, openRateLimit, openTimedCache } from '../../core/model/index.ts';
import { type TokenVerb, tokenState } from '../../core/tokens/index.ts';
import type { RepositoryHandle, TokenHolder } from '../../ports/index.ts';
import { requireGitHub, type World } from '../../runs/index.ts';
import type { NameAge, Names, Viewer } from '../context.ts';
import { ApiProblem } from './problems.ts';

/** Who sends a request, and what their token reaches. */
export interface Caller {
  /** The person that the token acts for. What they may do is asked of GitHub. */
  readonly viewer: Extract<Viewer, { readonly kind: 'github' }>;
  /** Whose limits and idempotency keys are meant: a token, or a person with a token of GitHub. */
  readonly owner: string;
  /** Id of a token of Runoff; absent for tokens of GitHub users. */
  readonly token?: string;
  /** By its present name. Null: for this token, there is no such repository. Faults: GITHUB_UNAVAILABLE. */
  find(owner: string, name: string, age: NameAge): Promise<RepositoryHandle | null>;
  /** Why the token may not be used for this, as sentences; null if it may. */
  whyNot(verb: TokenVerb): string | null;
}

export interface Callers {
  /** Rejects with a problem if the request has no valid token, or too many requests came with it. */
  callerOf(request: Request): Promise<Caller>;
  /** As `callerOf`, for a request that was counted when it came, and is still being answered. */
  recheck(request: Request): Promise<Caller>;
}

type CallerPorts = Pick<World, 'clock' | 'github' | 'log' | 'store'>;

/** Milliseconds for which an answer of GitHub about a token is used. Our default: a revoked one ends within a minute. */
const HOLDER_MS = 60_000;
/** Tokens, callers and repositories kept in memory; beyond that the oldest are dropped. Our default. */
const MAX_KEPT = 5_000;
/** Requests a minute with one token: of all kinds, and of those that change something. Our defaults. */
const REQUESTS_A_MINUTE = 600;
const CHANGES_A_MINUTE = 60;
/**
 * Unknown tokens a minute that GitHub is asked about, of all callers together: each costs a request, and GitHub blocks
 * who sends many wrong ones. Our default.
 */
const UNKNOWN_A_MINUTE = 60;
/**
 * How often a minute GitHub is asked again about one token that it accepted: more than once where it gives no answer. Our
 * default.
 */
const AGAIN_A_MINUTE = 10;
/** When a caller who was refused may try again, seconds: limits are for a minute. */
const REFUSED_SECONDS = 60;
/** When the last use of a token is noted again, milliseconds. Our default: a write to the database for each minute. */
const NOTED_MS = 60_000;

/** Classic tokens and those of OAuth apps, whose scopes GitHub tells; 36 characters now, and room for more. */
const GITHUB_TOKEN = /^(?:gh[po]_[A-Za-z0-9_]{30,250}|github_pat_[A-Za-z0-9_]{30,250})$/;
const BEARER = /^bearer +(\S{1,300})$/i;

export function openCallers(ports: CallerPorts, names: Names): Callers {
  const { clock, store } = ports;
  const isWithinLimit = openRateLimit(clock.elapsed, MAX_KEPT);
  const people = openGitHubPeople(ports, (accepted) =>
    accepted === null
      ? isWithinLimit('unknown', UNKNOWN_A_MINUTE)
      : isWithinLimit(`again ${accepted}`, AGAIN_A_MINUTE),
  );

  async function ofToken(text: string): Promise<Caller> {
    const token = await store.tokenOf(text);
    if (!token) throw unauthorised('This token does not exist. Make one with `runoff token create`.');
    const now = clock.now();
    const state = tokenState(token, now);
    if (state !== 'valid') {
      const since = new Date(token.revokedAt ?? token.expiresAt).toISOString().slice(0, 10);
      throw unauthorised(
        `This token is ${state} since ${since}. Make another one with \`runoff token create\`.`,
      );
    }
    if (now - (token.lastUsedAt ?? 0) >= NOTED_MS) await store.noteTokenUse(token.id, now);
    return {
      viewer: { kind: 'github', ...token.by, operator: false },
      owner: `token:${token.id}`,
      token: token.id,
      find: (owner, name, age) => names.find(fullNameOf({ owner, name }), token.repositories, age),
      whyNot: (verb) =>
        token.verbs.includes(verb)
          ? null
          : `This token is for ${token.verbs.join(', ')}. For this request, make one with \`--allow ${[...token.verbs, verb].join(',')}\`.`,
    };
  }
  async function identified(request: Request): Promise<Caller> {
    const text = BEARER.exec(request.headers.get('authorization') ?? '')?.[1];
    if (text === undefined)
      throw unauthorised('Send a token as `Authorization: Bearer …`. `runoff token create` makes one.');
    return GITHUB_TOKEN.test(text) ? people.callerOf(text) : ofToken(text);
  }
  return {
    recheck: identified,
    async callerOf(request) {
      const caller = await identified(request);
      const changes = request.method !== 'GET' && request.method !== 'HEAD';
      if (
        !isWithinLimit(caller.owner, REQUESTS_A_MINUTE) ||
        (changes && !isWithinLimit(`${caller.owner} changes`, CHANGES_A_MINUTE))
      )
        throw tooMany(changes ? CHANGES_A_MINUTE : REQUESTS_A_MINUTE);
      return caller;
    },
  };
}

const unauthorised = (detail: string): ApiProblem => new ApiProblem('unauthorised', detail);

const tooMany = (most: number): ApiProblem =>
  new ApiProblem(
    'too-many-requests',
    `More than ${most} requests came with this token within a minute. Wait a minute, and ask less often.`,
    { retryAfter: REFUSED_SECONDS },
  );

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * Tokens of GitHub users. Kept by their hash, so that memory holds no token longer than a request. `mayAsk` gets the hash
 * of a token that GitHub accepted when it was last asked, else null: asking again about those must not use up what is
 * left for unknown ones, which open streams would do by themselves.
 */
function openGitHubPeople(ports: CallerPorts, mayAsk: (accepted: string | null) => boolean) {
  const { clock } = ports;
  const holders = openTimedCache<TokenHolder | null>(clock.elapsed, HOLDER_MS, MAX_KEPT);
  const accepted = openBoundedMap<true>(MAX_KEPT);
  const repositories = openTimedCache<RepositoryHandle | null>(clock.elapsed, HOLDER_MS, MAX_KEPT);

  async function holderOf(text: string): Promise<TokenHolder> {
    const hash = hashOf(text);
    const holder = await holders.get(hash, () => {
      if (!mayAsk(accepted.get(hash) ? hash : null))
        throw new ApiProblem(
          'too-many-requests',
          'GitHub was asked about too many tokens within a minute. Send the request again in a minute, or use a token of Runoff.',
          { retryAfter: REFUSED_SECONDS },
        );
      return requireGitHub(ports).people.ofToken(text);
    });
    if (holder) accepted.set(hash, true);
    else accepted.delete(hash);
    if (!holder) throw unauthorised('GitHub does not accept this token. Make another one, there or here.');
    return holder;
  }
  return {
    async callerOf(text: string): Promise<Caller> {
      const { person, scopes } = await holderOf(text);
      return {
        viewer: { kind: 'github', ...person, operator: false },
        owner: `user:${person.id}`,
        find: async (owner, name, age) => {
          const key = `${hashOf(text)} ${owner}/${name}`.toLowerCase();
          const ask = () => requireGitHub(ports).people.repository(text, owner, name);
          if (age === 'lately') return repositories.get(key, ask);
          const found = await ask();
          return repositories.set(key, Promise.resolve(found));
        },
        // Otherwise any program that only knows who somebody is could act as them (decision 137).
        whyNot: (verb) =>
          verb === 'read' || scopes?.includes('repo')
            ? null
            : 'To act with a token of GitHub, it must be a classic one with the scope `repo`. Or make a token with `runoff token create`.',
      };
    },
  };
}
