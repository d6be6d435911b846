import { serve } from '@hono/node-server';
import type { RunView } from '../../src/core/reports/index.ts';
import type { Viewer } from '../../src/web/index.ts';
import { type StoredParts, storedRun } from '../web/stored-run.ts';
import { mona, type WebWorld } from '../web/web-world.ts';
import type { Site } from './chromium.ts';

interface ServedPages extends AsyncDisposable {
  readonly site: Site;
  readonly world: WebWorld;
}

/** Serves the pages of one run to mona, who may write. */
export const servedRun = async (view: RunView, parts: StoredParts): Promise<ServedPages> =>
  servedTo(mona, await storedRun(view, parts));

/** Serves pages to this viewer; to null as to somebody who is not signed in. */
export async function servedTo(viewer: Viewer | null, world: WebWorld): Promise<ServedPages> {
  const { promise: listening, resolve } = Promise.withResolvers<number>();
  const fetched = (request: Request) => {
    const { pathname, search } = new URL(request.url);
    return world.get(`${pathname}${search}`, viewer, { headers: request.headers });
  };
  const server = serve({ fetch: fetched, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port));
  const site: Site = { origin: `http://127.0.0.1:${await listening}`, github: 'https://github.test' };
  const close = (): Promise<void> => {
    const { promise, resolve: closed } = Promise.withResolvers<void>();
    server.close(() => closed());
    // Pages of a run that is going on keep a stream open.
    if ('closeAllConnections' in server) server.closeAllConnections();
    return promise;
  };
  return { site, world, [Symbol.asyncDispose]: close };
}
