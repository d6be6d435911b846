import type { IncomingHttpHeaders } from 'node:http';
import { type Json, objectAt } from './json.ts';
import { type GitHubState, hasRole, type Repository, type TokenHolder } from './state.ts';
import type { Role } from './types.ts';

export interface RestResponse {
  readonly status: number;
  /** Absent for an answer without a body. */
  readonly data?: Json;
  readonly headers?: IncomingHttpHeaders;
}

/** A REST call whose token is known to be good, or that has none. */
export interface RestRequest {
  readonly method: string;
  /** Without the base path. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The address that links must name. */
  readonly front: string;
  readonly token: string | undefined;
  readonly holder: TokenHolder | undefined;
  readonly body: string;
  /** Lets the emulator answer, with another body where one is given. */
  pass(body?: Json): Promise<RestResponse>;
}

/** What the emulator has not, or has wrong. Undefined lets the emulator answer after all. */
export interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  answer(
    state: GitHubState,
    request: RestRequest,
    ...groups: readonly string[]
  ): Promise<RestResponse | undefined>;
}

export const errorResponse = (status: number, message: string, errors?: Json): RestResponse => ({
  status,
  data: {
    message,
    ...(errors === undefined ? {} : { errors }),
    documentation_url: 'https://docs.github.com/rest',
    status: String(status),
  },
});

export const forbidden = (): RestResponse => errorResponse(403, 'Resource not accessible by this account');

/** A list as one page of it, with GitHub's links to the next and the last. */
export function paginate(request: RestRequest, items: readonly Json[]): RestResponse {
  const size = Number(request.query.get('per_page') ?? 30);
  const page = Number(request.query.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const to = (target: number, rel: string): string => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(target));
    return `<${request.front}${request.path}?${query}>; rel="${rel}"`;
  };
  const links = page < last ? [to(page + 1, 'next'), to(last, 'last')] : [];
  return {
    status: 200,
    data: items.slice((page - 1) * size, page * size),
    ...(links.length > 0 ? { headers: { link: links.join(', ') } } : {}),
  };
}

/** May whoever asks do what takes this role? Rights of installation tokens are the emulator's to check. */
export const hasAccess = (repository: Repository, request: RestRequest, least: Role): boolean =>
  request.holder?.permissions !== undefined ||
  (request.holder !== undefined && hasRole(repository, request.holder.login, least));

/** Passes an edit on, and keeps what was there before for the webhook that will tell of it. */
export async function passEdit(
  state: GitHubState,
  request: RestRequest,
  before: Json,
): Promise<RestResponse> {
  const address = `${state.baseUrl}${request.path}`;
  const earlier = state.edited.get(address);
  // Kept first, because the webhook may be on its way before the answer is.
  state.edited.set(address, objectAt({ before }, 'before'));
  const answer = await request.pass();
  if (answer.status < 300) return answer;
  if (earlier) state.edited.set(address, earlier);
  else state.edited.delete(address);
  return answer;
}

/** A route of one repository: the pattern's first group is its full name. */
export function repositoryRoute(
  method: string,
  tail: string,
  answer: (
    state: GitHubState,
    request: RestRequest,
    repository: Repository,
    ...groups: readonly string[]
  ) => Promise<RestResponse | undefined>,
): Route {
  return {
    method,
    pattern: new RegExp(`^/repos/([^/]+/[^/]+)${tail}$`),
    answer: async (state, request, fullName = '', ...groups) => {
      const repository = state.repositories.get(fullName);
      return repository ? answer(state, request, repository, ...groups) : undefined;
    },
  };
}
