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
 * Passes a request to the pages with its body read. Its connection is kept until there is an answer, not while the answer
 * is sent: a client that reads slowly would hold it, and deliveries come first. A page that is cut off can be loaded again.
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
      release();
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
