import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { tokenTimeError } from './emulator.ts';
import { isObject, type Json } from './json.ts';
import { fixResponse } from './response-fixes.ts';
import { errorResponse, type RestRequest, type RestResponse } from './route.ts';
import {
  appRoutes,
  graphqlRoutes,
  installationRefusal,
  isInstalled,
  repositoryRoutes,
} from './routes-app.ts';
import { issueRoutes, labelEventRoutes, reactionRoutes } from './routes-issues.ts';
import { peopleRoutes } from './routes-people.ts';
import { checkRoutes, pullRoutes } from './routes-pulls.ts';
import { type GitHubState, type Repository, repositoryById, type TokenHolder } from './state.ts';

const BASE_PATH = '/api/v3';
const ROUTES = [
  ...appRoutes,
  ...peopleRoutes,
  ...repositoryRoutes,
  ...issueRoutes,
  ...labelEventRoutes,
  ...reactionRoutes,
  ...pullRoutes,
  ...checkRoutes,
  ...graphqlRoutes,
];
/** Where an App's own token is asked for; everywhere else it means nothing. */
const APP_PATHS =
  /^\/app(?:\/|$)|^\/(?:repos\/[^/]+\/[^/]+|repositories\/\d+|users\/[^/]+|orgs\/[^/]+)\/installation$/;

interface RestCall {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A path as github.com has it. */
export const withoutBase = (pathname: string): string =>
  pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length) : pathname;

export async function handleRest(state: GitHubState, call: RestCall): Promise<RestResponse> {
  return conditional(call, await answerTo(state, call));
}

/** As on GitHub, a read has an ETag, which differs by token, and one that has not changed answers 304. */
function conditional({ method, headers }: RestCall, answer: RestResponse): RestResponse {
  if (method !== 'GET' || answer.status !== 200 || answer.data === undefined) return answer;
  const hash = createHash('sha256').update(JSON.stringify([headers.authorization ?? '', answer.data]));
  const etag = `W/"${hash.digest('hex')}"`;
  const known = (headers['if-none-match'] ?? '').split(/,\s*/);
  const isKnown = known.includes(etag) || known.includes(etag.slice(2));
  const { link, ...others } = answer.headers ?? {};
  if (isKnown) return { status: 304, headers: { ...others, etag } };
  return { ...answer, headers: { ...others, ...(link === undefined ? {} : { link }), etag } };
}

async function answerTo(state: GitHubState, call: RestCall): Promise<RestResponse> {
  const prefixed = call.url.pathname.startsWith(`${BASE_PATH}/`);
  const given = withoutBase(call.url.pathname);
  const path = canonicalPath(state, given);
  const token = tokenOf(call.headers);
  const holder = token === undefined ? undefined : holderOfToken(state, token);
  const isAppToken = token?.startsWith('eyJ') === true && APP_PATHS.test(path);
  if (token !== undefined && !holder && !isAppToken) return errorResponse(401, 'Bad credentials');
  const mistimed = isAppToken ? tokenTimeError(token, Date.now() / 1000) : null;
  if (mistimed !== null) return errorResponse(401, mistimed);
  const moved = redirect(state, {
    method: call.method,
    path,
    search: call.url.search,
    base: prefixed ? BASE_PATH : '',
  });
  const refusal =
    moved ?? frozen(state, call.method, path) ?? unreachable(state, holder, { method: call.method, path });
  if (refusal) return refusal;
  const request: RestRequest = {
    method: call.method,
    path,
    query: call.url.searchParams,
    front: state.baseUrl,
    token,
    holder,
    body: call.body,
    pass: (body) => forward(state, call, path, body),
  };
  for (const route of ROUTES) {
    const match = route.method === call.method ? route.pattern.exec(path) : null;
    const answer = match ? await route.answer(state, request, ...match.slice(1)) : undefined;
    if (answer) return withBasePath(state, answer, prefixed);
  }
  return withBasePath(state, await request.pass(), prefixed);
}

function frozen(state: GitHubState, method: string, path: string): RestResponse | undefined {
  const repository = method === 'GET' ? undefined : repositoryIn(state, path);
  return repository?.archived ? errorResponse(403, 'Repository was archived so is read-only.') : undefined;
}

const repositoryIn = (state: GitHubState, path: string): Repository | undefined =>
  state.repositories.get(/^\/repos\/([^/]+\/[^/]+)/.exec(path)?.[1] ?? '');

/** How a token of the App is refused that reaches no further than its installation. */
function unreachable(
  state: GitHubState,
  holder: TokenHolder | undefined,
  { method, path }: { readonly method: string; readonly path: string },
): RestResponse | undefined {
  if (holder?.installationId === undefined) return undefined;
  const refusal = installationRefusal(state, holder.installationId);
  if (refusal) return refusal;
  const repository = repositoryIn(state, path);
  if (!repository || isInstalled(state, repository)) return undefined;
  if (repository.private) return errorResponse(404, 'Not Found');
  return method === 'GET' ? undefined : errorResponse(403, 'Resource not accessible by integration');
}

async function forward(state: GitHubState, call: RestCall, path: string, body?: Json): Promise<RestResponse> {
  const bodiless = ['GET', 'HEAD', 'DELETE'].includes(call.method);
  const text = body === undefined ? call.body || (bodiless ? '' : '{}') : JSON.stringify(body);
  const { connection, 'transfer-encoding': encoding, 'if-none-match': known, ...headers } = call.headers;
  const answer = await state.emulator.raw(
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
    return errorResponse(404, 'Not Found');
  }
  const data = JSON.parse(answer.body.toString()) as Json;
  if (answer.status < 300) await fixResponse(state, data);
  else if (isObject(data)) data.documentation_url ??= 'https://docs.github.com/rest';
  return { status: answer.status, headers: answer.headers, data };
}

/** Links to other pages of a list stay under the base path that was request. */
function withBasePath(state: GitHubState, answer: RestResponse, prefixed: boolean): RestResponse {
  const link = answer.headers?.link;
  if (!prefixed || link === undefined) return answer;
  const moved = String(link).replaceAll(`<${state.baseUrl}/`, `<${state.baseUrl}${BASE_PATH}/`);
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

export function holderOfToken(state: GitHubState, token: string): TokenHolder | undefined {
  const holder = state.tokens.get(token);
  return holder && (holder.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now() ? holder : undefined;
}

/** A repository that is called otherwise now; undefined for one that never had this name, or where it is taken. */
export function renamedRepository(state: GitHubState, fullName: string): Repository | undefined {
  const id = state.repositories.has(fullName) ? undefined : state.formerNames.get(fullName);
  return id === undefined ? undefined : repositoryById(state, id);
}

/** Where a REST path leads: `/repositories/7/…` is what redirects from old names name. */
function canonicalPath(state: GitHubState, path: string): string {
  const [, id, tail = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const repository = id === undefined ? undefined : repositoryById(state, Number(id));
  return repository ? `/repos/${repository.fullName}${tail}` : path;
}

/** GitHub's redirect of a call that names a repository by an old name; undefined where none is needed. */
export function redirect(
  state: GitHubState,
  call: { readonly method: string; readonly path: string; readonly search: string; readonly base: string },
): RestResponse | undefined {
  const [, fullName = '', tail = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(call.path) ?? [];
  const repository = renamedRepository(state, fullName);
  if (!repository) return undefined;
  const location = `${state.baseUrl}${call.base}/repositories/${repository.id}${tail}${call.search}`;
  const message = 'Moved Permanently';
  const reads = call.method === 'GET' || call.method === 'HEAD';
  const answer = errorResponse(reads ? 301 : 307, message);
  return { ...answer, data: { message, url: location }, headers: { location } };
}

/** Gives a repository another name. Its old one leads to it until another repository takes that. */
export async function rename(state: GitHubState, repository: Repository, name: string): Promise<void> {
  const before = repository.fullName;
  const after = `${repository.owner}/${name}`;
  const token = state.emulator.ownToken(repository.owner);
  await state.emulator.call('PATCH', `/repos/${before}`, token, { name });
  state.repositories.delete(before);
  repository.name = name;
  repository.fullName = after;
  state.repositories.set(after, repository);
  state.formerNames.set(before, repository.id);
  state.formerNames.delete(after);
  for (const reaction of state.reactions) {
    if (reaction.repository === before) reaction.repository = after;
  }
}
