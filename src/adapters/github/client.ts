import { createAppAuth } from '@octokit/auth-app';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';
import type { Log } from '../../ports/index.ts';
import { Moved, redacted } from './faults.ts';

const Api = Octokit.plugin(throttling, retry);
export type Api = InstanceType<typeof Api>;

/** Longer than GitHub's own time limit of a call, so that its response arrives first. */
const CALL_TIMEOUT_MS = 30_000;
/** Longer rate limits are reported instead of waited for. */
const MAX_WAIT_SECONDS = 60;
const MAX_LIMIT_RETRIES = 2;

export interface ClientOptions {
  readonly apiUrl: string;
  readonly fetch: typeof fetch;
  readonly throttle: boolean;
  /** Milliseconds before the first retry of a read; the next two wait 4 and 9 times as long. */
  readonly backOffMs: number;
  /** A number that increases whenever the wall clock was set back; see `openClockEpochs`. */
  clockEpoch(): number;
  readonly log: Log;
}

/**
 * Milliseconds by which the wall clock must fall back to count as set back: drift and small corrections do not. Our
 * default.
 */
const CLOCK_STEP_MS = 1_000;

/**
 * The library's queues (bottleneck) schedule the next call by the wall clock: if it is set back by an hour, they send
 * nothing for an hour. A client that is opened afterwards gets new queues, named by the number that this returns.
 */
export function openClockEpochs(now: () => number, elapsed: () => number): () => number {
  let epoch = 0;
  let latest = now() - elapsed();
  return () => {
    const offset = now() - elapsed();
    if (latest - offset >= CLOCK_STEP_MS) epoch += 1;
    if (latest - offset >= CLOCK_STEP_MS || offset > latest) latest = offset;
    return epoch;
  };
}

type Credentials =
  | { readonly kind: 'app'; readonly appId: number; readonly privateKey: string }
  | { readonly kind: 'token'; readonly token: string };

/**
 * A REST client. With `repeat`, calls are retried after server errors, network errors and short rate limits; without
 * it, each is sent exactly once, after waiting for its turn.
 */
export function openClient(
  options: ClientOptions,
  credentials: Credentials,
  use: { readonly repeat: boolean; readonly queue: string },
): Api {
  const mayRepeat = (seconds: number, count: number): boolean =>
    use.repeat && seconds <= MAX_WAIT_SECONDS && count < MAX_LIMIT_RETRIES;
  const onLimit = (seconds: number, _request: unknown, _octokit: unknown, count: number): boolean => {
    const repeated = mayRepeat(seconds, count);
    options.log.warn({ seconds, repeated }, "GitHub's rate limit is reached.");
    return repeated;
  };
  const api = new Api({
    ...(credentials.kind === 'app'
      ? {
          authStrategy: createAppAuth,
          auth: { appId: credentials.appId, privateKey: credentials.privateKey },
        }
      : { auth: credentials.token }),
    baseUrl: options.apiUrl,
    userAgent: 'runoff',
    request: { fetch: withTimeout(options.fetch) },
    log: quiet(options.log),
    // Calls sent only once are writes, which have already waited for their turn.
    throttle:
      options.throttle && use.repeat
        ? {
            id: `${use.queue}, clock ${options.clockEpoch()}`,
            onRateLimit: onLimit,
            onSecondaryRateLimit: onLimit,
          }
        : { enabled: false },
    retry: {
      enabled: use.repeat,
      retryAfterBaseValue: options.backOffMs,
      // The throttle retries rate limits; all others would be refused again.
      doNotRetry: [301, 302, 307, 308, 400, 401, 403, 404, 410, 422, 451, ...(options.throttle ? [429] : [])],
    },
  });
  api.hook.after('request', (answer) => {
    if (answer.status >= 300) throw new Moved(answer);
  });
  return api;
}

/**
 * Maximum bytes of a response. The largest expected one is a page of a hundred comments, each of 65,536 characters that
 * JSON encodes with up to six bytes.
 */
const MAX_RESPONSE_BYTES = 64 * 2 ** 20;

/** The same response, which fails beyond the limit: the library would buffer it completely. */
function limitedResponse(answer: Response): Response {
  if (!answer.body) return answer;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      bytes += part.byteLength;
      if (bytes > MAX_RESPONSE_BYTES)
        controller.error(new Error('The answer is longer than any that we ask for.'));
      else controller.enqueue(part);
    },
  });
  const { status, statusText, headers, url } = answer;
  const short = new Response(answer.body.pipeThrough(limit), { status, statusText, headers });
  return Object.defineProperty(short, 'url', { value: url });
}

function withTimeout(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const answer = await inner(input, {
      ...init,
      // A name can have passed to another repository: the right one is found by its id, not by a redirect.
      redirect: 'manual',
      signal: init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout,
    });
    return limitedResponse(answer);
  };
}

/** The library logs every unsuccessful response; most of those are expected by the caller. */
const SERVER_FAULT = / - (?:429|5\d\d) with id /;

/** The library's messages are logged without tokens; its notes about ordinary calls are dropped. */
const quiet = (log: Log) => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string) => log.warn({ detail: redacted(message) }, 'The GitHub client warns.'),
  error: (message: string) => {
    if (SERVER_FAULT.test(message)) log.warn({ detail: redacted(message) }, 'A call to GitHub failed.');
  },
});

/** GitHub's maximum page size. */
export const PAGE = 100;

interface Page {
  readonly headers: { readonly link?: string | undefined };
  readonly data: unknown;
}

/** Number of the last page from GitHub's `Link` header, which is absent if the list has one page. */
const lastPage = (link: string | undefined): number =>
  Number(/<[^>]*[?&]page=(\d+)[^>]*>; rel="last"/.exec(link ?? '')?.[1] ?? 1);

/** Whether GitHub has more of a list: a page may be full and the last one. */
export const hasNextPage = (link: string | undefined): boolean => /; rel="next"/.test(link ?? '');

/**
 * The newest items of a list that GitHub returns only oldest first, read backwards from its last page; in GitHub's
 * order. Ends when there are `most` items or `enough` returns true.
 */
export async function newest<T>(
  readPage: (page: number) => Promise<Page>,
  parse: (data: unknown) => readonly T[],
  most: number,
  enough: (found: readonly T[]) => boolean = () => false,
): Promise<readonly T[]> {
  const first = await readPage(1);
  let found: readonly T[] = [];
  for (let page = lastPage(first.headers.link); found.length < most && page > 0 && !enough(found); page--) {
    const { data } = page === 1 ? first : await readPage(page);
    found = [...parse(data), ...found];
  }
  return found.slice(-most);
}

/** All pages of such a list, the last one first, each in GitHub's order. The first page is read to find the last. */
export async function* backwards<T>(
  readPage: (page: number) => Promise<{ readonly link: string | undefined; readonly items: readonly T[] }>,
): AsyncGenerator<readonly T[]> {
  const first = await readPage(1);
  for (let page = lastPage(first.link); page > 1; page--) yield (await readPage(page)).items;
  yield first.items;
}

/** Pages of a list in GitHub's order until one is not full, up to a maximum. */
export async function pagesOf<T>(
  readPage: (page: number) => Promise<readonly T[]>,
  most: number,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (let page = 1; page <= most; page++) {
    const items = await readPage(page);
    found.push(...items);
    if (items.length < PAGE) break;
  }
  return found;
}
