import { type BoundedMap, Fault, openBoundedMap } from '../../core/model/index.ts';
import type { RepositoryHandle } from '../../ports/index.ts';
import { Repository } from './answers.ts';
import type { Token, TokenCache } from './app.ts';
import type { Api } from './client.ts';
import { MOVED, statusOf, unless } from './faults.ts';

/** A repository's name as paths take it. */
interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/** Names known for longer are read again, since another repository may have taken the name. */
const NAME_LIFE_MS = 10 * 60_000;
/** GitHub's statuses for a renamed repository and for one that does not exist. */
const MOVED_OR_GONE: ReadonlySet<number | undefined> = new Set([...MOVED, 404]);

/** The current name of a repository: its name can change during a run, its id never does. */
export interface RepositoryLocation {
  /** Read from GitHub if unknown or outdated, or if it equals `failed`. */
  place(client: TokenClient, token: Token, failed?: RepositoryName): Promise<RepositoryName>;
  facts(client: TokenClient, token: Token): Promise<Repository>;
}

/** Creates the client for a token. */
type TokenClient = (token: string) => Api;

export function openRepositoryLocation(
  { repositoryId: id }: RepositoryHandle,
  { now, unchanged }: { readonly now: () => number; readonly unchanged: Unchanged },
): RepositoryLocation {
  let known: { readonly place: RepositoryName; readonly readAt: number } | undefined;
  const facts: RepositoryLocation['facts'] = async (client, token) => {
    // The URL to which GitHub redirects old names.
    const found = await unless(404, () =>
      unchanged(token, `repository ${id}`, Repository.parse, (headers) =>
        client(token.secret).request('GET /repositories/{id}', { id, headers }),
      ),
    );
    if (found?.id !== id) throw new Fault('GITHUB_REFUSED', `GitHub knows no repository with the id ${id}.`);
    const [owner = '', repo = ''] = found.full_name.split('/');
    known = { place: { owner, repo }, readAt: now() };
    return found;
  };
  return {
    facts,
    place: async (client, token, failed) => {
      if (known === undefined || known.place === failed || now() - known.readAt > NAME_LIFE_MS) {
        await facts(client, token);
      }
      if (known === undefined) throw new Fault('INTERNAL', 'A repository was read and has no name.');
      return known.place;
    },
  };
}

/** Makes one call about a repository at its current name. Errors are not converted to faults yet. */
export type Calls = <T>(call: (api: Api, at: RepositoryName, token: Token) => Promise<T>) => Promise<T>;

interface CallsParts {
  readonly tokens: Pick<TokenCache, 'get' | 'drop'>;
  readonly location: RepositoryLocation;
  /** Repeats after server errors. */
  readonly reads: TokenClient;
  readonly client: TokenClient;
}

/**
 * Retries a call with a new token if the old one is rejected, and with the new name if the repository was renamed: both
 * errors mean that nothing was done.
 */
export function openCalls({ tokens, location, reads, client }: CallsParts): Calls {
  return (call) =>
    withToken(tokens, async (token) => {
      const at = await location.place(reads, token);
      try {
        return await call(client(token.secret), at, token);
      } catch (error) {
        if (!MOVED_OR_GONE.has(statusOf(error))) throw error;
        const now = await location.place(reads, token, at);
        if (now.owner === at.owner && now.repo === at.repo) throw error;
        return call(client(token.secret), now, token);
      }
    });
}

/** What is kept of answers to one token; beyond it the oldest are dropped. Our default. */
const MAX_KEPT_ANSWERS = 2_000;

/**
 * Answers of GitHub with their ETags. To ask whether one has changed is free while it has not: a 304 does not count
 * against the hour's requests. ETags are good for one token only, so answers are kept with it.
 */
export function openUnchanged() {
  const byToken = new WeakMap<Token, BoundedMap<{ readonly etag: string; readonly value: unknown }>>();
  return async <T>(
    token: Token,
    name: string,
    parse: (data: unknown) => T,
    ask: (headers: { readonly 'if-none-match'?: string }) => Promise<ConditionalAnswer>,
  ): Promise<T> => {
    const kept = byToken.get(token) ?? openBoundedMap(MAX_KEPT_ANSWERS);
    byToken.set(token, kept);
    const known = kept.get(name);
    const answer = await unless(304, () => ask(known ? { 'if-none-match': known.etag } : {}));
    if (answer === null && known) return known.value as T;
    if (answer === null) throw new Fault('GITHUB_UNAVAILABLE', 'GitHub answered 304 to an ordinary read.');
    const value = parse(answer.data);
    const { etag } = answer.headers;
    if (etag === undefined) kept.delete(name);
    else kept.set(name, { etag, value });
    return value;
  };
}
export type Unchanged = ReturnType<typeof openUnchanged>;

interface ConditionalAnswer {
  readonly headers: { readonly etag?: string | undefined };
  readonly data: unknown;
}

/** Retries a call with a new token if GitHub rejects the old one. */
export async function withToken<T>(
  tokens: CallsParts['tokens'],
  call: (token: Token) => Promise<T>,
): Promise<T> {
  const token = await tokens.get();
  try {
    return await call(token);
  } catch (error) {
    if (statusOf(error) !== 401) throw error;
    tokens.drop(token);
    return call(await tokens.get());
  }
}
