import type { Actor, Sha } from '../core/model/index.ts';
import type { GitCredential } from './workspaces.ts';

export interface RepositoryHandle {
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
}

export interface RepositoryFacts {
  readonly id: number;
  readonly fullName: string;
  readonly private: boolean;
  readonly defaultBranch: string;
  readonly htmlUrl: string;
  /** For git over HTTP; derived by us from the configured server, never from text. */
  readonly cloneUrl: string;
}

export interface IssueFacts {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly open: boolean;
  readonly isPull: boolean;
  readonly labels: readonly string[];
  readonly author: Actor;
}

export interface CommentFacts {
  readonly id: number;
  readonly author: Actor;
  readonly authorIsBot: boolean;
  /** GitHub's word for the author's relation to the repository, e.g. OWNER, MEMBER, COLLABORATOR, NONE. */
  readonly association: string;
  readonly body: string;
  readonly url: string;
  readonly performedByAppId: number | null;
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number;
  /** Milliseconds since 1970 UTC; later than `createdAt` when it was edited. */
  readonly updatedAt: number;
}

export interface PullFacts {
  readonly number: number;
  readonly url: string;
  readonly draft: boolean;
  readonly head: string;
  readonly headSha: Sha;
  readonly base: string;
  readonly body: string;
}

export type Permission = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none';

/** Reads of one repository, with a token that can only read. Faults: GITHUB_UNAVAILABLE, GITHUB_REFUSED. */
export interface GitHubReader {
  repository(): Promise<RepositoryFacts>;
  issue(number: number): Promise<IssueFacts>;
  /** The newest 200, oldest first. */
  comments(issue: number): Promise<readonly CommentFacts[]>;
  /** What this user may do now; the answer must be for the same numeric id, and not a bot, else `none` (I4). */
  permission(user: Actor): Promise<Permission>;
  /** The open or closed pull request with this head branch, newest first; null when there is none. */
  pullByHead(branch: string): Promise<PullFacts | null>;
  /** For a git fetch; good for an hour. */
  credential(): Promise<GitCredential>;
}

export type Reaction = 'eyes' | 'rocket' | 'confused' | '+1' | '-1';

/**
 * The one writer to GitHub (I3). This list is closed: no merge, approval, force-push, workflow or setting.
 * Each call is one write, never retried here: a caller that is unsure looks first.
 */
export interface Publisher {
  react(target: { readonly issue: number } | { readonly comment: number }, reaction: Reaction): Promise<void>;
  comment(issue: number, body: string): Promise<{ readonly id: number; readonly url: string }>;
  /** Edits a comment that this App wrote; refuses any other. */
  editComment(id: number, body: string): Promise<void>;
  /** Adds and removes labels of our own (`auto-dev:*`); creates one that the repository lacks. */
  setLabels(
    issue: number,
    change: { readonly add: readonly string[]; readonly remove: readonly string[] },
  ): Promise<void>;
  openDraftPull(pull: {
    readonly head: string;
    readonly base: string;
    readonly title: string;
    readonly body: string;
  }): Promise<PullFacts>;
  /** For a push of `auto-dev/*` branches, right before it. */
  credential(): Promise<GitCredential>;
  /** Gives the token back; no call may follow. */
  close(): Promise<void>;
}

export interface GitHub {
  /** Own App id, to know our comments by. */
  readonly appId: number;
  reader(repository: RepositoryHandle): Promise<GitHubReader>;
  /** Mints a token for this one repository with the least rights to publish. */
  publisher(repository: RepositoryHandle): Promise<Publisher>;
}
