import { type Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import { asFault, OUTAGES } from '../core/model/index.ts';
import { newRunPages, runActions } from './actions/index.ts';
import { openApi } from './api/index.ts';
import { arenaPages } from './arena/index.ts';
import { openAssets } from './assets.ts';
import type { WebAppOptions, WebEnv, WebParts } from './context.ts';
import { sendNotFound, sendProblem } from './layout.ts';
import { livePages } from './live/index.ts';
import {
  frontPage,
  installationPage,
  leaderboardPages,
  runList,
  runPages,
  sendSignedOut,
  tokenPages,
} from './pages/index.ts';
import { openAccess, openNames, openVisitLimit, refuseForgedForms } from './people/index.ts';

export { apiDescription, PROBLEMS } from './api/index.ts';
export type { ArenaOptions, InstallationFacts, Viewer, WebAppOptions } from './context.ts';
export { openLocalSignIn, openSignIn } from './people/index.ts';

/** Answers requests that are no webhook. Never rejects. */
export interface WebApp {
  fetch(request: Request): Promise<Response>;
  /** Ends live streams, which would otherwise keep the server from stopping. */
  close(): void;
}

/** Everything comes from this server, and nothing is written into pages as script or style. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': PAGE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The pages and the API of Runoff. */
export function openWeb(options: WebAppOptions): WebApp {
  const names = openNames(options.world);
  const access = openAccess(options.world, names, options);
  const parts: WebParts = { ...options, access, names, assets: openAssets() };
  const live = livePages(parts);
  const app = new Hono<WebEnv>();
  app.onError(sendFault);
  app.notFound(sendNotFound);
  app.use(async (c, next) => {
    // A name of somebody else's that leads to this machine must not make their pages the same origin as ours.
    if (options.host !== undefined && c.req.header('host') !== options.host)
      return c.text(`This server answers only under http://${options.host}.\n`, 421);
    return next();
  });
  app.use(async (c, next) => {
    c.set('parts', parts);
    await next();
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.header(name, value);
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
    // Hono answers HEAD as GET, and drops the body. A stream would stay open for a reader that never comes.
    if (c.req.method === 'HEAD') await c.res.body?.cancel();
  });
  app.get('/assets/:address', (c) => sendAsset(c, parts, c.req.param('address')));
  // Before anybody is identified by a cookie: the API reads tokens only.
  app.route('/', openApi(parts, live));
  app.use(async (c, next) => {
    const who = await parts.identify(c);
    c.set('viewer', who?.viewer ?? null);
    c.set('csrf', who?.csrf ?? null);
    await next();
  });
  app.use(openVisitLimit());
  app.use((c, next) => refuseForgedForms(c, options.origin ?? null, next));
  if (options.signIn) app.route('/', options.signIn);
  app.get('/', frontPage);
  app.use(async (c, next) => {
    // What may be seen without signing in is decided where a run is loaded.
    if (c.var.viewer || (options.publicRepositories && /^\/(runs|events)(\/|$)/.test(c.req.path)))
      return next();
    return sendSignedOut(c);
  });
  app.route('/', installationPage(parts));
  app.use('/runs/:id/*', (c, next) => withVisibleRun(c, c.req.param('id'), next));
  app.route('/runs', runList(parts));
  app.route('/runs', runPages(parts));
  app.route('/runs', runActions());
  app.route('/new', newRunPages(parts));
  app.route('/leaderboard', leaderboardPages(parts));
  app.route('/tokens', tokenPages(parts));
  app.route('/arena', arenaPages(parts));
  app.route('/runs', live.runs);
  app.route('/', live.lists);
  // Parts below `/runs/:id` find the run in `c.var.visible`.
  return { fetch: async (request) => app.fetch(request), close: live.close };
}

/** Loads the run that a path names; a missing one and one that the viewer may not see are the same page. */
async function withVisibleRun(c: Context<WebEnv>, id: string, next: () => Promise<void>) {
  const visible = await c.var.parts.access.visibleRun(c.var.viewer, id);
  if (!visible) return c.var.viewer ? sendNotFound(c) : sendSignedOut(c);
  c.set('visible', visible);
  return next();
}

function sendAsset(c: Context<WebEnv>, { assets }: WebParts, address: string): Response | Promise<Response> {
  const found = assets.file(address);
  if (!found) return c.notFound();
  const zipped =
    accepts(c, { header: 'Accept-Encoding', supports: ['gzip'], default: 'identity' }) === 'gzip';
  return c.body(zipped ? found.gzip : found.bytes, 200, {
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': found.type,
    vary: 'accept-encoding',
    ...(zipped ? { 'content-encoding': 'gzip' } : {}),
  });
}

/** A page tells no more than that something failed: what is missing and what is forbidden fail alike. */
function sendFault(error: Error, c: Context<WebEnv>): Promise<Response> {
  const fault = asFault(error);
  const { log } = c.var.parts.world;
  log.error({ path: c.req.path.slice(0, 200), err: error }, 'a page failed');
  if (fault.code === 'GITHUB_UNAVAILABLE') {
    return sendProblem(
      c,
      503,
      'GitHub cannot be asked',
      'Who may see what is read from GitHub, which does not answer at the moment or was asked too often for you.',
      'Load the page again in a minute.',
    );
  }
  if (fault.code === 'DATABASE_UNAVAILABLE') {
    return sendProblem(
      c,
      503,
      'The database cannot be reached',
      'Nothing can be shown without it. Load the page again in a minute.',
    );
  }
  if (OUTAGES.has(fault.code)) {
    return sendProblem(
      c,
      503,
      'The server lacks something that this page needs',
      'Its disk or its artifact store cannot be used at the moment, or memory or open files have run out; its log says which.',
      'Load the page again in a minute.',
    );
  }
  return sendProblem(
    c,
    500,
    'This page could not be made',
    'The log of the server says why.',
    'Load it again; if that does not help, tell the person who runs this server.',
  );
}
