import { Refusal } from './emulator.ts';
import type { Json, JsonObject } from './json.ts';

interface Place {
  readonly owner: string;
  readonly name: string;
}

/** What one user does on GitHub, over REST. A refusal rejects with a Refusal. */
export interface Client {
  request(method: string, path: string, body?: JsonObject): Promise<Json>;
  openIssue(
    at: Place,
    issue: { readonly title: string; readonly body?: string; readonly labels?: readonly string[] },
  ): Promise<number>;
  closeIssue(at: Place, number: number): Promise<void>;
  /** Issues and pull requests share their numbers. */
  addLabel(at: Place, number: number, label: string): Promise<void>;
  removeLabel(at: Place, number: number, label: string): Promise<void>;
  /** Resolves with the comment's id. */
  comment(at: Place, number: number, body: string): Promise<number>;
  comments(at: Place, number: number): Promise<readonly ShownComment[]>;
  pulls(at: Place): Promise<readonly ShownPull[]>;
  closePull(at: Place, number: number): Promise<void>;
  /** On GitHub this takes a GraphQL mutation; the stand-in takes it as an edit. */
  readyForReview(at: Place, number: number): Promise<void>;
  mergePull(at: Place, number: number): Promise<void>;
}

export interface ShownComment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly id: number; readonly login: string; readonly type: string };
}

export interface ShownPull {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly state: 'open' | 'closed';
  readonly draft: boolean;
  readonly merged_at: string | null;
  readonly head: { readonly ref: string; readonly sha: string };
  readonly base: { readonly ref: string; readonly sha: string };
}

/** A client of one user. `send` stands in for `fetch`, except where the stand-in takes what GitHub does not. */
export function clientFor(apiUrl: string, token: string, send: typeof fetch = fetch): Client {
  const call = async (
    through: typeof fetch,
    method: string,
    path: string,
    body?: JsonObject,
  ): Promise<Json> => {
    const answer = await through(`${apiUrl}${path}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const data = (text === '' ? null : JSON.parse(text)) as Json;
    if (!answer.ok) throw new Refusal(`${method} ${path}`, answer.status, data);
    return data;
  };
  const request: Client['request'] = (method, path, body) => call(send, method, path, body);
  // The shapes are GitHub's; the contract checks of the tests hold the server to them.
  const read = async <T>(method: string, path: string, body?: JsonObject): Promise<T> =>
    (await request(method, path, body)) as T;
  const repo = (at: Place): string => `/repos/${at.owner}/${at.name}`;
  const done = async (method: string, path: string, body?: JsonObject): Promise<void> => {
    await request(method, path, body);
  };
  return {
    request,
    openIssue: async (at, { labels, ...issue }) => {
      const body = { ...issue, ...(labels ? { labels: [...labels] } : {}) };
      return (await read<{ number: number }>('POST', `${repo(at)}/issues`, body)).number;
    },
    closeIssue: (at, number) => done('PATCH', `${repo(at)}/issues/${number}`, { state: 'closed' }),
    addLabel: (at, number, label) => done('POST', `${repo(at)}/issues/${number}/labels`, { labels: [label] }),
    removeLabel: (at, number, label) =>
      done('DELETE', `${repo(at)}/issues/${number}/labels/${encodeURIComponent(label)}`),
    comment: async (at, number, body) =>
      (await read<{ id: number }>('POST', `${repo(at)}/issues/${number}/comments`, { body })).id,
    comments: (at, number) => read('GET', `${repo(at)}/issues/${number}/comments?per_page=100`),
    pulls: (at) => read('GET', `${repo(at)}/pulls?state=all&per_page=100`),
    closePull: (at, number) => done('PATCH', `${repo(at)}/pulls/${number}`, { state: 'closed' }),
    readyForReview: async (at, number) => {
      await call(fetch, 'PATCH', `${repo(at)}/pulls/${number}`, { draft: false });
    },
    mergePull: (at, number) => done('PUT', `${repo(at)}/pulls/${number}/merge`, {}),
  };
}
