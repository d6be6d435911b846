import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The metrics page, and the token that protects it. */
export interface MetricsPage {
  /** Sent as `Authorization: Bearer …`; the metrics reveal costs and model names. */
  readonly token: string;
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Answers a scrape. Returns false, and sends nothing, without the right token: the page then seems not to exist. */
export async function sendMetrics(
  { token, exposition }: MetricsPage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (!isSame(request.headers.authorization ?? '', `Bearer ${token}`)) return false;
  const { contentType, text } = await exposition();
  response.writeHead(200, { 'content-type': contentType });
  response.end(request.method === 'HEAD' ? undefined : text);
  return true;
}

/** Takes the same time for a right token and for a wrong one of any length. */
const isSame = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
