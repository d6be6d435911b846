import type { IncomingMessage } from 'node:http';
import { openBoundedBuffer } from '../core/model/index.ts';
import { isLoopback } from '../core/settings/index.ts';

/** The URL without a final slash, query or fragment; null if GitHub could not use it. */
export function webAddress(text: string): string | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return null;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

export function isLocal(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && isLoopback(parsed);
}

/**
 * The origin that a request was sent to, as the request or a proxy before this server says it; null if it says none.
 * Whoever sends a request can say anything, so it is a suggestion for a person, never an address to trust.
 */
export function claimedOrigin({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const first = (value: string | readonly string[] | undefined): string =>
    (typeof value === 'string' ? value : (value?.[0] ?? '')).split(',')[0]?.trim() ?? '';
  const host = first(headers['x-forwarded-host']) || (headers.host ?? '');
  const scheme = first(headers['x-forwarded-proto']) || 'http';
  if (!/^(?:[\w.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(host)) return null;
  if (scheme !== 'http' && scheme !== 'https') return null;
  return URL.parse(`${scheme}://${host}`)?.origin ?? null;
}

/**
 * Where GitHub sends the browser back with a code that is worth the App's key: to this machine if the browser came that
 * way, for example through an SSH tunnel, else to the address that a person gave.
 */
export const returnAddress = (publicUrl: string, claimed: string | null): string =>
  claimed !== null && isLocal(claimed) ? claimed : publicUrl;

/** Milliseconds that a server may take to answer itself through its public address. Our default. */
const REACH_MS = 5_000;
const ANSWER_BYTES = 1_024;

/** Why `url` does not lead to the server whose answer there is `proof`, as a clause; null if it does. Never rejects. */
export async function unreachable(url: string, proof: string, request: typeof fetch): Promise<string | null> {
  try {
    const response = await request(url, { redirect: 'manual', signal: AbortSignal.timeout(REACH_MS) });
    if (response.status !== 200) return `the answer has status ${response.status}`;
    const body = await readAnswer(response, ANSWER_BYTES);
    return body === proof ? null : 'another server answers there';
  } catch (thrown) {
    const { message, cause } = thrown as Error;
    return cause instanceof Error ? cause.message : message;
  }
}

/** The text of a response; null for one that is longer than `limit` bytes, whose rest is not read. */
export async function readAnswer(response: Response, limit: number): Promise<string | null> {
  const buffer = openBoundedBuffer(limit, () => true);
  for await (const part of response.body ?? []) {
    if (buffer.add(part) !== 'added') return null;
  }
  return new TextDecoder().decode(buffer.take());
}
