import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a scrape gets, and who may have it. */
export interface Figures {
  /** Sent as `Authorization: Bearer …`; the figures tell dollars and the names of models. */
  readonly token: string;
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Answers a scrape. False, and nothing is sent, to whoever does not know the token: to them there is no such page. */
export async function sendFigures(
  { token, exposition }: Figures,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (!isSame(request.headers.authorization ?? '', `Bearer ${token}`)) return false;
  const { contentType, text } = await exposition();
  response.writeHead(200, { 'content-type': contentType });
  response.end(request.method === 'HEAD' ? undefined : text);
  return true;
}

/** Takes as long for a wrong token as for a right one, whatever its length. */
const isSame = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
