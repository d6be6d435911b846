import type { ChildProcess } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { ApiError } from './emulator.ts';
import type { InjectedFault } from './faults.ts';
import { branches, type GitResponse, type GitRoute, killProcessGroup, matchGit, serveGit } from './git.ts';
import { numberAt, objectIn } from './json.ts';
import { PAGE_HEADERS, pageFor } from './pages.ts';
import { importPush } from './push.ts';
import { fixWebhookPayload } from './response-fixes.ts';
import { handleRest, holderOfToken, renamedRepository, tokenOf, withoutBase } from './rest.ts';
import { errorResponse, type RestResponse } from './route.ts';
import { installationRefusal } from './routes-app.ts';
import { answerSignIn, revokeUserToken } from './sign-in.ts';
import { type GitHubState, ownerToken } from './state.ts';
import type { WebhookRelay } from './webhooks.ts';

const MAX_BODY_BYTES = 25 << 20;

export interface LocalServer {
  readonly url: string;
  close(): Promise<void>;
}

/** What the front serves; the emulator needs the front's address, so this comes once the front listens. */
export interface ServedState {
  readonly state: GitHubState;
  readonly relay: WebhookRelay;
  readonly hookPath: string;
}

/** The one address of the local GitHub: git, REST, web pages, and the emulator's inbox for webhooks. */
export async function startServer(port: number, served: () => ServedState | undefined): Promise<LocalServer> {
  const children = new Set<ChildProcess>();
  const handling = new Set<Promise<void>>();
  const server = createServer((request, answer) => {
    const work = handle(request, answer).catch((error: unknown) => fail(answer, error));
    handling.add(work);
    void work.finally(() => handling.delete(work));
  });
  // Node closes an idle connection after 5 seconds: on a busy machine just when a client sends its next call on it.
  server.keepAliveTimeout = 10 * 60_000;
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
    const target = new URL(request.url ?? '/', url);
    if (method === 'POST' && target.pathname === now.hookPath) {
      const body = await readBody(request);
      now.relay.arrived(relay(now, String(request.headers['x-github-event']), body ?? ''));
      return send(answer, { status: 204 });
    }
    const fault = now.state.faults.take(method, withoutBase(target.pathname));
    if (!fault) return serve(now.state, request, answer, target);
    if (fault.after) await serve(now.state, request, lost(), target);
    else request.resume();
    answerWithFault(answer, fault);
  }

  async function serve(
    state: GitHubState,
    request: IncomingMessage,
    answer: ResponseSink,
    target: URL,
  ): Promise<void> {
    const method = request.method ?? 'GET';
    const route = matchGit(method, target);
    if (route) return gitRequest(state, route, request, answer);
    const body = await readBody(request);
    if (body === undefined) return send(answer, errorResponse(413, 'The body is too large.'));
    const signIn = answerSignIn(state, state.userFlow, { method, url: target, body });
    if (signIn) {
      answer.writeHead(signIn.status, signIn.headers);
      answer.end(signIn.body);
      return;
    }
    const revoked = revokeUserToken(state, state.userFlow, {
      method,
      url: target,
      headers: request.headers,
      body,
    });
    if (revoked) return send(answer, revoked);
    const page = method === 'GET' ? await pageFor(state, target.pathname) : undefined;
    if (page) {
      answer.writeHead(page.status, PAGE_HEADERS);
      answer.end(page.html);
      return;
    }
    send(answer, await handleRest(state, { method, url: target, headers: request.headers, body }));
  }

  async function gitRequest(
    state: GitHubState,
    route: GitRoute,
    request: IncomingMessage,
    answer: ResponseSink,
  ): Promise<void> {
    const moved = renamedRepository(state, route.fullName);
    if (moved) return turnAway(answer, 301, { location: addressOf(state, route, moved.fullName) });
    const repository = state.repositories.get(route.fullName);
    const given = tokenOf(request.headers);
    const open = repository && !repository.private && route.service === 'git-upload-pack';
    // As on GitHub, everybody may read a public repository.
    const token = given === undefined && open ? ownerToken(state, repository) : given;
    if (token === undefined || (given !== undefined && !holderOfToken(state, given))) {
      return turnAway(answer, 401, { 'www-authenticate': 'Basic realm="GitHub"' });
    }
    const refusal = repository ? await gitRefusal(state, route, token) : 404;
    if (!repository || refusal !== undefined) return turnAway(answer, refusal ?? 404, {});
    const started = (child: ChildProcess): void => {
      children.add(child);
      child.once('close', () => children.delete(child));
    };
    const runGit = (): Promise<number> => serveGit(route, repository.directory, request, answer, started);
    if (route.service === 'git-upload-pack' || route.advertise) await runGit();
    else {
      await repository.mutex.runExclusive(async () => {
        const before = await branches(repository.directory);
        if ((await runGit()) === 0) await importPush(state, repository, before, token);
      });
    }
    answer.end();
  }

  return {
    url,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const child of children) killProcessGroup(child);
      server.closeAllConnections();
      await closed;
      await Promise.all(handling);
    },
  };
}

/** What of an answer is used here. */
type ResponseSink = GitResponse & { setHeader(name: string, value: string | readonly string[]): unknown };

/** An answer that nobody gets. */
function lost(): ResponseSink {
  const stream = new PassThrough();
  stream.resume();
  return Object.assign(stream, { writeHead: () => stream, setHeader: () => stream });
}

function turnAway(answer: ResponseSink, status: number, headers: Readonly<Record<string, string>>): void {
  answer.writeHead(status, headers);
  answer.end();
}

const addressOf = (state: GitHubState, { service, advertise }: GitRoute, fullName: string): string =>
  `${state.baseUrl}/${fullName}.git/${advertise ? `info/refs?service=${service}` : service}`;

/** Cuts the connection where part of an answer is out already, so that nobody takes it for a whole one. */
function fail(answer: ServerResponse, error: unknown): void {
  if (answer.headersSent) answer.destroy();
  else if (error instanceof ApiError) send(answer, { status: error.status, data: error.data });
  else send(answer, errorResponse(500, error instanceof Error ? error.message : String(error)));
}

async function relay(now: ServedState, event: string, body: string): Promise<void> {
  const installation = numberAt(objectIn(body), 'installation', 'id') ?? 0;
  if (installationRefusal(now.state, installation)) return;
  const fixed = await fixWebhookPayload(now.state, event, objectIn(body));
  now.relay.deliver(fixed.event, fixed.payload);
}

/** The status that refuses a fetch or push; undefined lets it through. */
async function gitRefusal(state: GitHubState, route: GitRoute, token: string): Promise<number | undefined> {
  const at = `/repos/${route.fullName}`;
  const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
  const seen = await state.emulator.raw('GET', `${at}/contents`, headers);
  if (seen.status >= 400) return 404;
  if (route.service === 'git-upload-pack') return undefined;
  // Writing the empty blob changes nothing, and the emulator checks the right to write contents.
  const body = '{"content":"","encoding":"utf-8"}';
  const length = { 'content-length': String(body.length) };
  const probe = await state.emulator.raw('POST', `${at}/git/blobs`, { ...headers, ...length }, body);
  return probe.status >= 400 ? 403 : undefined;
}

const SENT_ON = [
  'etag',
  'link',
  'x-oauth-scopes',
  'location',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
] as const;

function send(answer: ResponseSink, { status, data, headers }: RestResponse): void {
  for (const name of SENT_ON) {
    const value = headers?.[name];
    if (value !== undefined) answer.setHeader(name, value);
  }
  if (data === undefined) {
    answer.writeHead(status, {});
    answer.end();
    return;
  }
  answer.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  answer.end(JSON.stringify(data));
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

function answerWithFault(answer: ServerResponse, { status = 502, headers = {}, body }: InjectedFault): void {
  if (status === 0) {
    answer.destroy();
    return;
  }
  const text = JSON.stringify(body ?? { message: 'Server Error' });
  answer.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(text);
}
