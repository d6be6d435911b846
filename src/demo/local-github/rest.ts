import type { IncomingHttpHeaders } from 'node:http';
import { timeRefusal } from './app-token.ts';
import { graphqlRoutes } from './graphql.ts';
import type { Holder, Inside, Repository } from './inside.ts';
import { installationRefusal, isInstalled } from './installations.ts';
import { isObject, type Json } from './json.ts';
import { canonicalPath, redirect } from './names.ts';
import { repaired } from './repairs.ts';
import { type Answer, type Asked, refused } from './route.ts';
import { appRoutes } from './routes-app.ts';
import { checkRoutes } from './routes-checks.ts';
import { issueRoutes } from './routes-issues.ts';
import { labelEventRoutes } from './routes-label-events.ts';
import { pullRoutes } from './routes-pulls.ts';
import { reactionRoutes } from './routes-reactions.ts';
import { repositoryRoutes } from './routes-repository.ts';

const BASE_PATH = '/api/v3';
const ROUTES = [
  ...appRoutes,
  ...repositoryRoutes,
  ...issueRoutes,
  ...labelEventRoutes,
  ...reactionRoutes,
  ...pullRoutes,
  ...checkRoutes,
  ...graphqlRoutes,
];
/** Where an App's own token is asked for; everywhere else it means nothing. */
const APP_PATHS = /^\/app(?:\/|$)|^\/(?:repos\/[^/]+\/[^/]+|users\/[^/]+|orgs\/[^/]+)\/installation$/;

export interface RestCall {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A path as github.com has it. */
export const withoutBase = (pathname: string): string =>
  pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length) : pathname;

export async function restAnswer(inside: Inside, call: RestCall): Promise<Answer> {
  const prefixed = call.url.pathname.startsWith(`${BASE_PATH}/`);
  const given = withoutBase(call.url.pathname);
  const path = canonicalPath(inside, given);
  const token = tokenOf(call.headers);
  const holder = token === undefined ? undefined : validHolder(inside, token);
  const isAppToken = token?.startsWith('eyJ') === true && APP_PATHS.test(path);
  if (token !== undefined && !holder && !isAppToken) return refused(401, 'Bad credentials');
  const mistimed = isAppToken ? timeRefusal(token, Date.now() / 1000) : null;
  if (mistimed !== null) return refused(401, mistimed);
  const moved = redirect(inside, {
    method: call.method,
    path,
    search: call.url.search,
    base: prefixed ? BASE_PATH : '',
  });
  const refusal =
    moved ?? frozen(inside, call.method, path) ?? unreachable(inside, holder, { method: call.method, path });
  if (refusal) return refusal;
  const asked: Asked = {
    method: call.method,
    path,
    query: call.url.searchParams,
    front: inside.front,
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

function frozen(inside: Inside, method: string, path: string): Answer | undefined {
  const repository = method === 'GET' ? undefined : repositoryIn(inside, path);
  return repository?.archived ? refused(403, 'Repository was archived so is read-only.') : undefined;
}

const repositoryIn = (inside: Inside, path: string): Repository | undefined =>
  inside.repositories.get(/^\/repos\/([^/]+\/[^/]+)/.exec(path)?.[1] ?? '');

/** How a token of the App is refused that reaches no further than its installation. */
function unreachable(
  inside: Inside,
  holder: Holder | undefined,
  { method, path }: { readonly method: string; readonly path: string },
): Answer | undefined {
  if (holder?.installationId === undefined) return undefined;
  const refusal = installationRefusal(inside, holder.installationId);
  if (refusal) return refusal;
  const repository = repositoryIn(inside, path);
  if (!repository || isInstalled(inside, repository)) return undefined;
  if (repository.private) return refused(404, 'Not Found');
  return method === 'GET' ? undefined : refused(403, 'Resource not accessible by integration');
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

export function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const value = headers.authorization;
  if (value === undefined) return undefined;
  const basic = /^basic\s+(.+)$/i.exec(value)?.[1];
  if (basic === undefined) return value.replace(/^(bearer|token)\s+/i, '').trim();
  const pair = Buffer.from(basic, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

export function validHolder(inside: Inside, token: string): Holder | undefined {
  const holder = inside.tokens.get(token);
  return holder && (holder.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now() ? holder : undefined;
}
