import type { ChildProcess } from 'node:child_process';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { Refusal } from './emulator.ts';
import { branches } from './git.ts';
import { endGroup, type GitRoute, matchGit, serveGit } from './git-http.ts';
import type { HookRelay } from './hooks.ts';
import type { Holder, Inside } from './inside.ts';
import { ownerToken } from './inside.ts';
import { isObject, type Json, objectIn } from './json.ts';
import { PAGE_HEADERS, pageFor } from './pages.ts';
import { takeOver } from './push.ts';
import { repaired, repairedEvent } from './repairs.ts';
import { type Answer, type Asked, refused } from './route.ts';
import { appRoutes } from './routes-app.ts';
import { issueRoutes } from './routes-issues.ts';
import { pullRoutes } from './routes-pulls.ts';
import { repositoryRoutes } from './routes-repository.ts';

const BASE_PATH = '/api/v3';
const MAX_BODY_BYTES = 25 << 20;
const ROUTES = [...appRoutes, ...repositoryRoutes, ...issueRoutes, ...pullRoutes];
/** Where an App's own token is asked for; everywhere else it means nothing. */
const APP_PATHS = /^\/app(?:\/|$)|^\/(?:repos\/[^/]+\/[^/]+|users\/[^/]+|orgs\/[^/]+)\/installation$/;

export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

/** What the front serves; the emulator needs the front's address, so this comes once the front listens. */
export interface Served {
  readonly inside: Inside;
  readonly relay: HookRelay;
  readonly hookPath: string;
}

/** The one address of the local GitHub: git, REST, web pages, and the emulator's inbox for webhooks. */
export async function openFront(port: number, served: () => Served | undefined): Promise<Front> {
  const children = new Set<ChildProcess>();
  const handling = new Set<Promise<void>>();
  const server = createServer((request, answer) => {
    const work = handle(request, answer).catch((error: unknown) => fail(answer, error));
    handling.add(work);
    void work.finally(() => handling.delete(work));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`;

  async function handle(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const now = served();
    const host = new URL(url).host;
    // Only this name is served: a web page under another one that points here gets nothing.
    if (request.headers.host !== host) return send(answer, { status: 403 });
    if (!now) return send(answer, { status: 503 });
    const method = request.method ?? 'GET';
    const asked = new URL(request.url ?? '/', url);
    const route = matchGit(method, asked);
    if (route) return gitRequest(now.inside, route, request, answer);
    const body = await readBody(request);
    if (body === undefined) return send(answer, refused(413, 'The body is too large.'));
    if (method === 'POST' && asked.pathname === now.hookPath) {
      now.relay.arrived(relay(now, String(request.headers['x-github-event']), body));
      return send(answer, { status: 204 });
    }
    const page = method === 'GET' ? await pageFor(now.inside, asked.pathname) : undefined;
    if (page) {
      answer.writeHead(page.status, PAGE_HEADERS).end(page.html);
      return;
    }
    send(answer, await restAnswer(now.inside, { method, url: asked, headers: request.headers, body }));
  }

  async function gitRequest(
    inside: Inside,
    route: GitRoute,
    request: IncomingMessage,
    answer: ServerResponse,
  ): Promise<void> {
    const repository = inside.repositories.get(route.fullName);
    const given = tokenOf(request.headers);
    const open = repository && !repository.private && route.service === 'git-upload-pack';
    // As on GitHub, everybody may read a public repository.
    const token = given === undefined && open ? ownerToken(inside, repository) : given;
    if (token === undefined || (given !== undefined && !validHolder(inside, given))) {
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end();
      return;
    }
    const refusal = repository ? await gitRefusal(inside, route, token) : 404;
    if (!repository || refusal !== undefined) {
      answer.writeHead(refusal ?? 404).end();
      return;
    }
    const started = (child: ChildProcess): void => {
      children.add(child);
      child.once('close', () => children.delete(child));
    };
    const serve = (): Promise<number> => serveGit(route, repository.directory, request, answer, started);
    if (route.service === 'git-upload-pack' || route.advertise) await serve();
    else {
      await repository.inTurn(async () => {
        const before = await branches(repository.directory);
        if ((await serve()) === 0) await takeOver(inside, repository, before, token);
      });
    }
    answer.end();
  }

  return {
    url,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const child of children) endGroup(child);
      server.closeAllConnections();
      await closed;
      await Promise.all(handling);
    },
  };
}

/** Cuts the connection where part of an answer is out already, so that nobody takes it for a whole one. */
function fail(answer: ServerResponse, error: unknown): void {
  if (answer.headersSent) answer.destroy();
  else if (error instanceof Refusal) send(answer, { status: error.status, data: error.data });
  else send(answer, refused(500, error instanceof Error ? error.message : String(error)));
}

async function relay(now: Served, event: string, body: string): Promise<void> {
  const fixed = await repairedEvent(now.inside, event, objectIn(body));
  now.relay.deliver(fixed.event, fixed.payload);
}

/** The status that refuses a fetch or push; undefined lets it through. */
async function gitRefusal(inside: Inside, route: GitRoute, token: string): Promise<number | undefined> {
  const at = `/repos/${route.fullName}`;
  const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
  const seen = await inside.emulator.raw('GET', `${at}/contents`, headers);
  if (seen.status >= 400) return 404;
  if (route.service === 'git-upload-pack') return undefined;
  // Writing the empty blob changes nothing, and the emulator checks the right to write contents.
  const body = '{"content":"","encoding":"utf-8"}';
  const length = { 'content-length': String(body.length) };
  const probe = await inside.emulator.raw('POST', `${at}/git/blobs`, { ...headers, ...length }, body);
  return probe.status >= 400 ? 403 : undefined;
}

interface RestCall {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function restAnswer(inside: Inside, call: RestCall): Promise<Answer> {
  const prefixed = call.url.pathname.startsWith(`${BASE_PATH}/`);
  const path = prefixed ? call.url.pathname.slice(BASE_PATH.length) : call.url.pathname;
  const token = tokenOf(call.headers);
  const holder = token === undefined ? undefined : validHolder(inside, token);
  const isAppToken = token?.startsWith('eyJ') === true && APP_PATHS.test(path);
  if (token !== undefined && !holder && !isAppToken) return refused(401, 'Bad credentials');
  const asked: Asked = {
    method: call.method,
    path,
    token,
    holder,
    body: call.body,
    pass: (body) => forward(inside, call, path, body),
  };
  for (const route of ROUTES) {
    const match = route.method === call.method ? route.pattern.exec(path) : null;
    const answer = match ? await route.answer(inside, asked, ...match.slice(1)) : undefined;
    if (answer) return withBasePath(inside, answer, prefixed);
  }
  return withBasePath(inside, await asked.pass(), prefixed);
}

async function forward(inside: Inside, call: RestCall, path: string, body?: Json): Promise<Answer> {
  const bodiless = ['GET', 'HEAD', 'DELETE'].includes(call.method);
  const text = body === undefined ? call.body || (bodiless ? '' : '{}') : JSON.stringify(body);
  const { connection, 'transfer-encoding': encoding, ...headers } = call.headers;
  const answer = await inside.emulator.raw(
    call.method,
    path + call.url.search,
    {
      ...headers,
      ...(text ? { 'content-type': 'application/json' } : {}),
      'content-length': String(Buffer.byteLength(text)),
    },
    text,
  );
  if (answer.body.length === 0) return { status: answer.status, headers: answer.headers };
  if (!String(answer.headers['content-type']).includes('json')) {
    return refused(404, 'Not Found');
  }
  const data = JSON.parse(answer.body.toString()) as Json;
  if (answer.status < 300) await repaired(inside, data);
  else if (isObject(data)) data.documentation_url ??= 'https://docs.github.com/rest';
  return { status: answer.status, headers: answer.headers, data };
}

/** Links to other pages of a list stay under the base path that was asked. */
function withBasePath(inside: Inside, answer: Answer, prefixed: boolean): Answer {
  const link = answer.headers?.link;
  if (!prefixed || link === undefined) return answer;
  const moved = String(link).replaceAll(`<${inside.front}/`, `<${inside.front}${BASE_PATH}/`);
  return { ...answer, headers: { ...answer.headers, link: moved } };
}

const SENT_ON = ['link', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;

function send(answer: ServerResponse, { status, data, headers }: Answer): void {
  for (const name of SENT_ON) {
    const value = headers?.[name];
    if (value !== undefined) answer.setHeader(name, value);
  }
  if (data === undefined) {
    answer.writeHead(status).end();
    return;
  }
  answer.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  answer.end(JSON.stringify(data));
}

function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const value = headers.authorization;
  if (value === undefined) return undefined;
  const basic = /^basic\s+(.+)$/i.exec(value)?.[1];
  if (basic === undefined) return value.replace(/^(bearer|token)\s+/i, '').trim();
  const pair = Buffer.from(basic, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

function validHolder(inside: Inside, token: string): Holder | undefined {
  const holder = inside.tokens.get(token);
  return holder && (holder.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now() ? holder : undefined;
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
