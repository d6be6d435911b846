import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type DeliveryParts, readBody } from './deliveries.ts';

/** What answers requests for pages and API. */
export interface Pages {
  /** Must not reject. */
  fetch(request: Request): Promise<Response>;
}

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Leaves the classes that other parts of this process use as they are. */
export const listenerOf = (pages: Pages | undefined): RequestListener | null =>
  pages
    ? (getRequestListener((request) => pages.fetch(request), {
        overrideGlobalObjects: false,
      }) as RequestListener)
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
 * events: whoever reads one connects again, and deliveries come first.
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
  if (request.headers.accept !== 'text/event-stream')
    response.once('close', deliveries.connections.busy(request.socket));
  await listener(request, response);
}
