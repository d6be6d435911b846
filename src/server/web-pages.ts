import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type DeliveryParts, readBody } from './deliveries.ts';

/** What answers requests for pages and API. */
export interface Pages {
  /** Must not reject. */
  fetch(request: Request): Promise<Response>;
}

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
export function pagesListener(
  pages: Pages,
  { deliveries, pageBodyLimitBytes, count }: PageSite,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const limits = { ...deliveries, bodyLimitBytes: pageBodyLimitBytes };
  const answer = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const release = deliveries.connections.busy(incoming.socket);
      outgoing.once('close', release);
      const response = await pages.fetch(request);
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) release();
      return response;
    },
    // Leaves the classes that other parts of this process use as they are.
    { overrideGlobalObjects: false },
  );
  return async (request, response) => {
    if (!WITHOUT_BODY.has(request.method)) {
      const rawBody = await readBody(limits, request, response, (why) =>
        count('a request to the pages was refused', why),
      );
      if (rawBody === null) return;
      Object.assign(request, { rawBody });
    }
    await answer(request, response);
  };
}
