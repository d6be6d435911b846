import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type DeliveryParts, readBody } from './deliveries.ts';

/** What answers requests for pages and API. */
export interface Pages {
  /** Must not reject. */
  fetch(request: Request): Promise<Response>;
}

/** `begins` is called with the answer of the pages before it is written. */
export type RequestListener = (
  request: IncomingMessage,
  response: ServerResponse,
  begins: (answer: Response) => void,
) => Promise<void>;

/** Leaves the classes that other parts of this process use as they are. */
export const listenerOf = (pages: Pages | undefined): RequestListener | null =>
  pages
    ? async (incoming, outgoing, begins) => {
        const answer = async (request: Request): Promise<Response> => {
          const response = await pages.fetch(request);
          begins(response);
          return response;
        };
        await getRequestListener(answer, { overrideGlobalObjects: false })(incoming, outgoing);
      }
    : null;

interface PageSite {
  readonly deliveries: DeliveryParts;
  /** Longest body, bytes. */
  readonly pageBodyLimitBytes: number;
  readonly count: (message: string, why: string) => void;
}

const WITHOUT_BODY: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

/**
 * Passes a request to the pages with its body read. Its connection is kept while it is answered, except for a stream of
 * events: whoever reads one connects again, and deliveries come first. What the request accepts does not count, as the
 * client chooses it.
 */
export async function passToPages(
  site: PageSite,
  listener: RequestListener,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { deliveries, pageBodyLimitBytes } = site;
  if (!WITHOUT_BODY.has(request.method)) {
    const rawBody = await readBody(
      { ...deliveries, bodyLimitBytes: pageBodyLimitBytes },
      request,
      response,
      (why) => site.count('a request to the pages was refused', why),
    );
    if (rawBody === null) return;
    Object.assign(request, { rawBody });
  }
  const release = deliveries.connections.busy(request.socket);
  response.once('close', release);
  await listener(request, response, (answer) => {
    if (answer.headers.get('content-type')?.startsWith('text/event-stream')) release();
  });
}
