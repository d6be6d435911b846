import { createHash } from 'node:crypto';
import { IDEMPOTENCY_KEY_MS } from '../../core/tokens/index.ts';
import type { World } from '../../runs/index.ts';
import type { Caller } from './callers.ts';
import { ApiProblem } from './problems.ts';

/** Seconds after which a request that is being processed may be sent again. Our default. */
const RETRY_SECONDS = 2;

/** An answer before it is sent. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** False: the same request can get another answer later, because the work goes on. */
  readonly final: boolean;
}

interface RepeatableRequest {
  readonly caller: Pick<Caller, 'owner'>;
  /** The header; absent: the request is new, whatever was sent before. */
  readonly key: string | undefined;
  /** What must be the same for requests to be the same: method, path and valid body. */
  readonly request: readonly unknown[];
}

export interface Repeatable {
  /**
   * Answers a request whose effect is made once under the name that `work` gets. A process that is killed in between
   * leaves the key claimed: the next request with it continues under the same name.
   */
  answer(given: RepeatableRequest, work: (name: string) => Promise<ApiAnswer>): Promise<Response>;
}

export function openRepeatable({
  clock,
  random,
  store,
}: Pick<World, 'clock' | 'random' | 'store'>): Repeatable {
  // This process: what another one has claimed and not answered, it has left or works on under the same name.
  let holder = random.nonce();
  /** While the database is away, nobody knows which claims it keeps. Later requests continue that work as another's. */
  const orLeave = <T>(stored: Promise<T>): Promise<T> =>
    stored.catch((thrown: unknown) => {
      holder = random.nonce();
      throw thrown;
    });

  async function once(owner: string, key: string, work: () => Promise<ApiAnswer>): Promise<Response> {
    try {
      const answer = await work();
      if (answer.final) {
        const kept = { ...answer, body: JSON.stringify(answer.body) };
        const { status, headers, body } = kept;
        return textResponse(await store.answerKey(owner, key, { status, headers, body }), false);
      }
      await store.releaseKey(owner, key);
      return responseOf(answer);
    } catch (thrown) {
      await orLeave(store.releaseKey(owner, key));
      throw thrown;
    }
  }
  return {
    async answer({ caller: { owner }, key, request }, work) {
      const name = random.nonce();
      if (key === undefined) return responseOf(await work(name));
      const at = clock.now();
      const digest = createHash('sha256').update(JSON.stringify(request)).digest('base64url');
      const expired = at - IDEMPOTENCY_KEY_MS;
      const claim = await orLeave(
        store.claimKey({ owner, key, request: digest, holder, work: name, at, expired }),
      );
      switch (claim.kind) {
        case 'claimed':
          return once(owner, key, () => work(claim.work));
        case 'answered':
          return textResponse(claim.answer, true);
        case 'in-progress':
          throw new ApiProblem(
            'key-in-use',
            'The first request with this key is still being processed. Send it again in a moment: it gets the same answer.',
            { retryAfter: RETRY_SECONDS },
          );
        case 'other-request':
          throw new ApiProblem(
            'key-reused',
            'This key was used for a request with another address or body. Send a new key with a new request.',
          );
      }
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

export const responseOf = ({ status, headers, body }: ApiAnswer): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...JSON_TYPE, ...headers } });

const textResponse = (
  { status, headers, body }: { status: number; headers: Readonly<Record<string, string>>; body: string },
  repeated: boolean,
): Response =>
  new Response(body, {
    status,
    headers: { ...JSON_TYPE, ...headers, ...(repeated ? { 'idempotency-replayed': 'true' } : {}) },
  });
