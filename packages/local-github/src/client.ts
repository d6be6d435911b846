import { ApiError } from './emulator.ts';
import type { Json, JsonObject } from './json.ts';

export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

export interface Commit {
  readonly branch: string;
  /** By path; null removes a file. */
  readonly files: Readonly<Record<string, string | null>>;
  /** Branch that a new branch starts from. Default: the default branch. */
  readonly from?: string;
  readonly message?: string;
}

/** What one user does on GitHub. A refusal rejects with an ApiError. */
export interface Client extends RestClient {
  /** Pushes one commit to a branch, which is made where there is none; resolves with its SHA. */
  push(at: RepositoryName, commit: Commit): Promise<string>;
  /** Copies a repository to this user's account, where the App is not installed. */
  fork(at: RepositoryName): Promise<RepositoryName>;
}

/** What goes over REST. */
interface RestClient {
  /** `T`: the shape of GitHub's answer, which the caller knows. */
  request<T = Json>(method: string, path: string, body?: JsonObject): Promise<T>;
  openIssue(
    at: RepositoryName,
    issue: { readonly title: string; readonly body?: string; readonly labels?: readonly string[] },
  ): Promise<number>;
  closeIssue(at: RepositoryName, number: number): Promise<void>;
  reopenIssue(at: RepositoryName, number: number): Promise<void>;
  /** Issues and pull requests share their numbers. */
  addLabel(at: RepositoryName, number: number, label: string): Promise<void>;
  removeLabel(at: RepositoryName, number: number, label: string): Promise<void>;
  /** Resolves with the comment's id. */
  comment(at: RepositoryName, number: number, body: string): Promise<number>;
  editComment(at: RepositoryName, id: number, body: string): Promise<void>;
  comments(at: RepositoryName, number: number): Promise<readonly CommentSummary[]>;
  pulls(at: RepositoryName): Promise<readonly PullSummary[]>;
  openPull(
    at: RepositoryName,
    pull: {
      /** A branch, or `login:branch` of a fork. */
      readonly head: string;
      readonly base: string;
      readonly title: string;
      readonly body?: string;
    },
  ): Promise<number>;
  closePull(at: RepositoryName, number: number): Promise<void>;
  reopenPull(at: RepositoryName, number: number): Promise<void>;
  /** A comment on a line of what a pull request changes, or on a file; resolves with its id. */
  commentOnLine(
    at: RepositoryName,
    pull: number,
    comment: { readonly path: string; readonly line?: number; readonly body: string },
  ): Promise<number>;
  /** The text of a review as a whole; resolves with its id. Default: no verdict, just a comment. */
  review(
    at: RepositoryName,
    pull: number,
    body: string,
    event?: 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES',
  ): Promise<number>;
  /** A check run of another App, which on GitHub only Apps can make; resolves with its id. */
  check(
    at: RepositoryName,
    sha: string,
    check: {
      readonly name: string;
      readonly conclusion: string;
      readonly title?: string;
      readonly summary?: string;
    },
  ): Promise<number>;
  /** All check runs of a commit, the newest first. */
  checks(at: RepositoryName, sha: string): Promise<readonly CheckSummary[]>;
  status(
    at: RepositoryName,
    sha: string,
    status: { readonly context: string; readonly state: string; readonly description?: string },
  ): Promise<void>;
  /** On GitHub this takes a GraphQL mutation; the stand-in takes it as an edit. */
  readyForReview(at: RepositoryName, number: number): Promise<void>;
  mergePull(at: RepositoryName, number: number): Promise<void>;
}

export interface CommentSummary {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly id: number; readonly login: string; readonly type: string };
}

export interface CheckSummary {
  readonly id: number;
  readonly name: string;
  readonly external_id: string | null;
  readonly conclusion: string | null;
  readonly app: { readonly id: number } | null;
  readonly output: { readonly title: string | null; readonly summary: string | null };
}

export interface PullSummary {
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
export function clientFor(apiUrl: string, token: string, send: typeof fetch = fetch): RestClient {
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
    if (!answer.ok) throw new ApiError(`${method} ${path}`, answer.status, data);
    return data;
  };
  // The shapes are GitHub's; the contract checks of the tests hold the server to them.
  const read = async <T>(method: string, path: string, body?: JsonObject): Promise<T> =>
    (await call(send, method, path, body)) as T;
  const repo = (at: RepositoryName): string => `/repos/${at.owner}/${at.name}`;
  const done = async (method: string, path: string, body?: JsonObject): Promise<void> => {
    await read(method, path, body);
  };
  return {
    request: read,
    ...reviewing(read, repo),
    openIssue: async (at, { labels, ...issue }) => {
      const body = { ...issue, ...(labels ? { labels: [...labels] } : {}) };
      return (await read<{ number: number }>('POST', `${repo(at)}/issues`, body)).number;
    },
    closeIssue: (at, number) => done('PATCH', `${repo(at)}/issues/${number}`, { state: 'closed' }),
    reopenIssue: (at, number) => done('PATCH', `${repo(at)}/issues/${number}`, { state: 'open' }),
    addLabel: (at, number, label) => done('POST', `${repo(at)}/issues/${number}/labels`, { labels: [label] }),
    removeLabel: (at, number, label) =>
      done('DELETE', `${repo(at)}/issues/${number}/labels/${encodeURIComponent(label)}`),
    comment: async (at, number, body) =>
      (await read<{ id: number }>('POST', `${repo(at)}/issues/${number}/comments`, { body })).id,
    editComment: (at, id, body) => done('PATCH', `${repo(at)}/issues/comments/${id}`, { body }),
    comments: (at, number) => read('GET', `${repo(at)}/issues/${number}/comments?per_page=100`),
    pulls: (at) => read('GET', `${repo(at)}/pulls?state=all&per_page=100`),
    openPull: async (at, pull) =>
      (await read<{ number: number }>('POST', `${repo(at)}/pulls`, { ...pull })).number,
    reopenPull: (at, number) => done('PATCH', `${repo(at)}/pulls/${number}`, { state: 'open' }),
    closePull: (at, number) => done('PATCH', `${repo(at)}/pulls/${number}`, { state: 'closed' }),
    readyForReview: async (at, number) => {
      await call(fetch, 'PATCH', `${repo(at)}/pulls/${number}`, { draft: false });
    },
    mergePull: (at, number) => done('PUT', `${repo(at)}/pulls/${number}/merge`, {}),
  };
}

type Read = <T>(method: string, path: string, body?: JsonObject) => Promise<T>;

/** What people and programs say about the code of a pull request. */
function reviewing(
  read: Read,
  repo: (at: RepositoryName) => string,
): Pick<RestClient, 'commentOnLine' | 'review' | 'check' | 'checks' | 'status'> {
  const made = async (path: string, body: JsonObject): Promise<number> =>
    (await read<{ id: number }>('POST', path, body)).id;
  return {
    commentOnLine: async (at, pull, { path, line, body }) => {
      const { head } = await read<PullSummary>('GET', `${repo(at)}/pulls/${pull}`);
      const where = line === undefined ? { subject_type: 'file' } : { line, side: 'RIGHT' };
      return made(`${repo(at)}/pulls/${pull}/comments`, { body, commit_id: head.sha, path, ...where });
    },
    review: (at, pull, body, event = 'COMMENT') => made(`${repo(at)}/pulls/${pull}/reviews`, { body, event }),
    check: (at, head_sha, { name, conclusion, title = name, summary = '' }) => {
      const output = { title, summary };
      return made(`${repo(at)}/check-runs`, { name, head_sha, status: 'completed', conclusion, output });
    },
    checks: async (at, sha) => {
      const path = `${repo(at)}/commits/${sha}/check-runs?filter=all&per_page=100`;
      return (await read<{ check_runs: CheckSummary[] }>('GET', path)).check_runs;
    },
    status: async (at, sha, status) => {
      await read('POST', `${repo(at)}/statuses/${sha}`, { ...status });
    },
  };
}
