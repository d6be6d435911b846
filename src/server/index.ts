import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from '../core/model/index.ts';
import type { Log } from '../ports/index.ts';
import { countedLog } from './counted-log.ts';
import { type DeliveryParts, deliver, type Webhook } from './deliveries.ts';
import { limitConnections, openBodyBudget } from './limits.ts';
import { type MetricsPage, sendMetrics } from './metrics.ts';
import { frontPage, notFound, type Page, SECURITY_HEADERS } from './pages.ts';
import { claimedOrigin } from './public-address.ts';
import type { SetupPages } from './setup.ts';
import { type Pages, pagesListener } from './web-pages.ts';

export { fileCredentialStore, manifestFrom, withLines } from './credentials.ts';
export type { WebhookMiddleware } from './deliveries.ts';
export { openSetup, type Setup, type SetupOptions } from './setup.ts';

export interface Health {
  readonly ok: boolean;
  /** A value for each part, e.g. `database: 'reachable'`. Anybody can read it: no secret, path or address. */
  readonly detail: Readonly<Record<string, string>>;
}

export interface WebOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent while the App is being set up: deliveries are then answered with 503. */
  readonly webhook?: Webhook;
  /** E.g. `/api/github/webhooks`. */
  readonly webhooksPath: string;
  readonly health: () => Promise<Health>;
  readonly setup?: SetupPages;
  /** Absent: there is no /metrics. */
  readonly metrics?: MetricsPage;
  /** Pages and API: all that is none of the above. Absent: there are none. */
  readonly pages?: Pages;
  /** Origin under which browsers reach this server; https: browsers are told to use nothing else from then on. */
  readonly publicUrl?: string | undefined;
  /** Absent: the defaults below. */
  readonly limits?: Partial<WebLimits>;
  readonly log: Log;
}

/** Limits on what strangers can use of this process: anybody can connect. */
export interface WebLimits {
  /** Longest webhook body, bytes. GitHub sends up to 25 MB, but an issue event stays below 1 MB. */
  readonly bodyLimitBytes: number;
  /** Longest body of a form or of a request to the API, bytes. */
  readonly pageBodyLimitBytes: number;
  /** Bytes of all bodies that are being read or processed. */
  readonly bodiesLimitBytes: number;
  /** Milliseconds for the headers of a request. */
  readonly headersMs: number;
  /** Milliseconds for a body, from its headers to its last byte. GitHub waits ten seconds for the answer. */
  readonly bodyMs: number;
  readonly connections: number;
}

export interface WebServer {
  /** URL for a browser on this machine. */
  readonly url: string;
  readonly port: number;
  /** Accepts no further connections, and lets current requests finish for up to `graceMs` before it closes them. */
  close(graceMs: number): Promise<void>;
}

/** Defaults. */
const DEFAULT_LIMITS: WebLimits = {
  bodyLimitBytes: 5 * 2 ** 20,
  pageBodyLimitBytes: 2 ** 20,
  bodiesLimitBytes: 64 * 2 ** 20,
  headersMs: 10_000,
  bodyMs: 10_000,
  connections: 512,
};
/** Defaults. GitHub's own headers are below 2 KiB. */
const SERVER = {
  maxHeaderSize: 16 * 2 ** 10,
  keepAliveTimeout: 5_000,
  // How often Node checks for requests that take too long.
  connectionsCheckingInterval: 1_000,
} as const;
/**
 * Milliseconds without a byte in either direction until a connection is closed, for example if the client does not read
 * the answer.
 */
const CONNECTION_SILENCE_MS = 60_000;
/** GitHub and proxies then open another connection; a client that pipelines more requests is cut off. */
const REQUESTS_OF_A_CONNECTION = 100;
const HEALTH_MS = 5_000;

/** Browsers keep to https for a year. */
const HTTPS_ONLY = 'max-age=31536000';

interface Site extends WebOptions {
  /** Absent: there are no pages. */
  readonly answerPages: ReturnType<typeof pagesListener> | null;
  readonly deliveries: DeliveryParts;
  /** Logs what happened, and how often. */
  readonly count: (message: string, why: string) => void;
}

/** Starts the HTTP server. Fault ENVIRONMENT_INVALID if it cannot listen on host and port. */
export async function startWeb(options: WebOptions): Promise<WebServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { headersMs, bodyMs } = limits;
  const times = { headersTimeout: headersMs, requestTimeout: headersMs + bodyMs };
  const server = createServer({ ...SERVER, ...times });
  server.timeout = CONNECTION_SILENCE_MS;
  server.maxRequestsPerSocket = REQUESTS_OF_A_CONNECTION;
  const url = (): string => urlOf(options.host, (server.address() as AddressInfo).port);
  const count = countedLog(options.log);
  const deliveries: DeliveryParts = {
    ...limits,
    webhook: options.webhook,
    budget: openBodyBudget(limits.bodiesLimitBytes),
    connections: limitConnections(server, limits.connections),
    refused: (why) => count('a delivery was refused', why),
  };
  const { pages } = options;
  const answerPages = pages ? pagesListener(pages, { ...limits, deliveries, count }) : null;
  const site: Site = { ...options, deliveries, count, answerPages };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    if (!server.listening) response.setHeader('connection', 'close');
    void handleRequest(site, request, response);
  };
  // A sender that waits for "100 Continue" gets it only when the body will be read.
  server.on('request', listener).on('checkContinue', listener);
  server.on('dropRequest', (_request, socket) => void socket.destroy());
  await listen(server, options);
  const address = url();
  return {
    url: address,
    port: (server.address() as AddressInfo).port,
    close: (graceMs) => close(server, graceMs),
  };
}

/** Never rejects. The log gets the path without its query, which may contain a code or a token, and never a body. */
async function handleRequest(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { log } = site;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  if (site.publicUrl?.startsWith('https:')) response.setHeader('strict-transport-security', HTTPS_ONLY);
  const url = URL.parse(request.url ?? '', 'http://localhost');
  const about = { method: request.method, path: url?.pathname.slice(0, 200) };
  try {
    if (!url) sendPage(response, { ...notFound(), status: 400 }, request.method);
    else await route(site, request, response, url);
  } catch (thrown) {
    if (request.socket.destroyed) {
      site.count('a sender went away before its request was answered', about.path ?? '');
    } else log.error({ ...about, err: thrown }, 'a request failed');
    if (!response.headersSent) response.writeHead(500);
    response.end();
  }
}

async function route(
  site: Site,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const path = url.pathname.replace(/(?<=.)\/+$/, '');
  if (path === site.webhooksPath) {
    if (!(await deliver(site.deliveries, request, response))) sendPage(response, notFound(), request.method);
    return;
  }
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (reads && path === '/healthz') return sendHealth(site, response);
  if (reads && path === '/metrics' && site.metrics && (await sendMetrics(site.metrics, request, response)))
    return;
  if (site.answerPages) return site.answerPages(request, response);
  if (!reads) {
    // No other body is read here; to keep the connection open, Node would have to read it all.
    response.setHeader('connection', 'close');
    return sendPage(response, notFound(), request.method);
  }
  if (path === '/') return sendPage(response, frontPage(), request.method);
  const asked = { path, query: url.searchParams, claimedOrigin: claimedOrigin(request) };
  sendPage(response, (await site.setup?.answer(asked)) ?? notFound(), request.method);
}

async function sendHealth(site: Site, response: ServerResponse): Promise<void> {
  const health = await beforeDeadline(HEALTH_MS, site.health()).catch((thrown: unknown): Health => {
    site.log.error({ err: thrown }, 'the health check failed');
    return { ok: false, detail: { health: 'the check itself failed; the log says why' } };
  });
  response.writeHead(health.ok ? 200 : 503, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify({ ok: health.ok, detail: health.detail })}\n`);
}

/** Rejects with `error()` if the work takes longer than `ms` milliseconds; the work is not stopped. */
export async function beforeDeadline<T>(
  ms: number,
  work: Promise<T> | T,
  error: () => Error = () => new Error(`It took longer than ${ms} ms.`),
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(error()), ms);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

function sendPage(response: ServerResponse, page: Page, method: string | undefined): void {
  response.writeHead(page.status, { 'content-type': 'text/html; charset=utf-8', ...page.headers });
  response.end(method === 'HEAD' ? undefined : page.html);
}

function listen(server: Server, { host, port, log }: WebOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
      const message = `Cannot listen on ${host}, port ${port} (HOST, PORT): ${why}.`;
      reject(new Fault('ENVIRONMENT_INVALID', message, { cause: error }));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      server.on('error', (error) => log.error({ err: error }, 'the HTTP server cannot take connections'));
      resolve();
    });
  });
}

/** Node's `close` ends idle connections. Active ones end with their answer, or when the grace period is over. */
function close(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    // An answer that began before the close may keep its connection alive.
    const sweep = setInterval(() => server.closeIdleConnections(), 100);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(sweep);
      resolve();
    });
  });
}

const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

function urlOf(host: string, port: number): string {
  const name = ANY_ADDRESS.has(host) ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
