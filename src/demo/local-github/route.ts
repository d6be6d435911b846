import type { IncomingHttpHeaders } from 'node:http';
import { type Holder, hasRole, type Inside, type Repository } from './inside.ts';
import { type Json, objectAt } from './json.ts';
import type { Role } from './types.ts';

export interface Answer {
  readonly status: number;
  /** Absent for an answer without a body. */
  readonly data?: Json;
  readonly headers?: IncomingHttpHeaders;
}

/** A REST call whose token is known to be good, or that has none. */
export interface Asked {
  readonly method: string;
  /** Without the base path. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The address that links must name. */
  readonly front: string;
  readonly token: string | undefined;
  readonly holder: Holder | undefined;
  readonly body: string;
  /** Lets the emulator answer, with another body where one is given. */
  pass(body?: Json): Promise<Answer>;
}

/** What the emulator has not, or has wrong. Undefined lets the emulator answer after all. */
export interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  answer(inside: Inside, asked: Asked, ...groups: readonly string[]): Promise<Answer | undefined>;
}

export const refused = (status: number, message: string, errors?: Json): Answer => ({
  status,
  data: {
    message,
    ...(errors === undefined ? {} : { errors }),
    documentation_url: 'https://docs.github.com/rest',
    status: String(status),
  },
});

export const forbidden = (): Answer => refused(403, 'Resource not accessible by this account');

/** A list as one page of it, with GitHub's links to the next and the last. */
export function onePage(asked: Asked, items: readonly Json[]): Answer {
  const size = Number(asked.query.get('per_page') ?? 30);
  const page = Number(asked.query.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const to = (target: number, rel: string): string => {
    const query = new URLSearchParams(asked.query);
    query.set('page', String(target));
    return `<${asked.front}${asked.path}?${query}>; rel="${rel}"`;
  };
  const links = page < last ? [to(page + 1, 'next'), to(last, 'last')] : [];
  return {
    status: 200,
    data: items.slice((page - 1) * size, page * size),
    ...(links.length > 0 ? { headers: { link: links.join(', ') } } : {}),
  };
}

/** May whoever asks do what takes this role? Rights of installation tokens are the emulator's to check. */
export const mayAct = (repository: Repository, asked: Asked, least: Role): boolean =>
  asked.holder?.permissions !== undefined ||
  (asked.holder !== undefined && hasRole(repository, asked.holder.login, least));

/** Passes an edit on, and keeps what was there before for the webhook that will tell of it. */
export async function passEdit(inside: Inside, asked: Asked, before: Json): Promise<Answer> {
  const address = `${inside.front}${asked.path}`;
  const earlier = inside.edited.get(address);
  // Kept first, because the webhook may be on its way before the answer is.
  inside.edited.set(address, objectAt({ before }, 'before'));
  const answer = await asked.pass();
  if (answer.status < 300) return answer;
  if (earlier) inside.edited.set(address, earlier);
  else inside.edited.delete(address);
  return answer;
}

/** A route of one repository: the pattern's first group is its full name. */
export function repositoryRoute(
  method: string,
  tail: string,
  answer: (
    inside: Inside,
    asked: Asked,
    repository: Repository,
    ...groups: readonly string[]
  ) => Promise<Answer | undefined>,
): Route {
  return {
    method,
    pattern: new RegExp(`^/repos/([^/]+/[^/]+)${tail}$`),
    answer: async (inside, asked, fullName = '', ...groups) => {
      const repository = inside.repositories.get(fullName);
      return repository ? answer(inside, asked, repository, ...groups) : undefined;
    },
  };
}
