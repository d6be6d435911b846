import { setTimeout as delay } from 'node:timers/promises';
import type { AwsClient } from 'aws4fetch';
import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'HEAD' | 'DELETE';
  readonly url: URL;
  readonly body?: Buffer;
  /** Of the body: the server refuses what arrives otherwise. */
  readonly sha256?: string;
  /** Longest answer that is read; default 8 MiB, more than a page of a listing has. */
  readonly maxBytes?: number;
}

export interface S3Response {
  readonly status: number;
  /** Cut off after `maxBytes` and one. */
  readonly body: Buffer;
  /** When the object was put, milliseconds since 1970; NaN when it is not said. */
  readonly modified: number;
  /** The server's own name for an error, and its sentence; empty when there is none. */
  readonly code: string;
  readonly message: string;
}

/** Tries of one request, and milliseconds before the second, doubled for each further one; our defaults. */
const MAX_TRIES = 4;
const FIRST_RETRY_MS = 200;
/** One try: what a slow line needs for the greeting, and for the body at a quarter of a megabyte a second. Our defaults. */
const REQUEST_TIMEOUT_MS = 15_000;
const BYTES_PER_MS = 256;
const LISTING_BYTES = 8 * 2 ** 20;
const ERROR_BYTES = 64 * 2 ** 10;

/** Half of a time and a chance share of the other half: machines that failed together do not come back together. */
const jittered = (ms: number): number => ms / 2 + (Math.random() * ms) / 2;

/** An answer that a later try may turn into another. */
const mayRetry = (status: number): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 507);

/**
 * Asks, and asks again while the server is busy or away: four times within some seconds. Any answer but "try later" is
 * a value. Fault ARTIFACTS_UNAVAILABLE when there is none.
 */
export function requester({
  signer,
  where,
  fetch,
}: {
  readonly signer: AwsClient;
  readonly where: string;
  readonly fetch: typeof globalThis.fetch;
}): (request: S3Request) => Promise<S3Response> {
  return async (request) => {
    let why = '';
    let cause: unknown;
    for (let trial = 0; trial < MAX_TRIES; trial += 1) {
      if (trial > 0) await delay(jittered(FIRST_RETRY_MS * 2 ** trial));
      try {
        const answer = await sendOnce(signer, fetch, request);
        if (!mayRetry(answer.status)) return answer;
        why = `it answered ${answer.status} ${answer.code}`.trim();
      } catch (error) {
        // What fetch rejects with: no connection, a broken one, and its time was over.
        if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
        cause = error;
        why = failureReason(error);
      }
    }
    throw new Fault('ARTIFACTS_UNAVAILABLE', `The artifact store ${where} does not answer: ${why}.`, {
      cause,
    });
  };
}

/** `fetch` hides what happened in the cause of its error. */
function failureReason(error: unknown): string {
  const { cause, message } = error as Error;
  const { code, message: inner } = (cause ?? {}) as { code?: string; message?: string };
  return inner || code || message;
}

async function sendOnce(
  signer: AwsClient,
  fetch: typeof globalThis.fetch,
  request: S3Request,
): Promise<S3Response> {
  const { method, url, body, sha256, maxBytes = LISTING_BYTES } = request;
  const signed = await signer.sign(url.href, {
    method,
    ...(body ? { body: new Uint8Array(body) } : {}),
    headers: {
      ...(sha256 ? { 'x-amz-content-sha256': sha256 } : {}),
      ...(body ? { 'content-type': 'text/plain; charset=utf-8' } : {}),
    },
  });
  const bytes = (body?.length ?? 0) + (method === 'GET' ? maxBytes : 0);
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS + Math.ceil(bytes / BYTES_PER_MS));
  const response = await fetch(signed, { signal, redirect: 'manual' });
  const read = await readAtMost(response, response.ok ? maxBytes : ERROR_BYTES);
  return {
    status: response.status,
    body: read,
    modified: Date.parse(response.headers.get('last-modified') ?? ''),
    ...(response.ok ? { code: '', message: '' } : errorIn(read)),
  };
}

async function readAtMost(response: Response, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk as Uint8Array);
    size += (chunk as Uint8Array).length;
    if (size > most) break;
  }
  return Buffer.concat(chunks).subarray(0, most + 1);
}

const ErrorBody = z.object({
  Error: z.object({ Code: z.coerce.string(), Message: z.coerce.string().catch('') }),
});

function errorIn(body: Buffer): { readonly code: string; readonly message: string } {
  const none = { code: '', message: '' };
  try {
    const read = ErrorBody.safeParse(new XMLParser({ parseTagValue: false }).parse(body.toString('utf8')));
    return read.success ? { code: read.data.Error.Code, message: read.data.Error.Message } : none;
  } catch {
    // A proxy's page or nothing at all: the status has to do.
    return none;
  }
}
