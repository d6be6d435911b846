import type { Actor, Sha } from '../core/model/index.ts';
import type { GitCredential } from './workspaces.ts';

export interface RepositoryHandle {
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
}

/** A repository that the App is installed on. */
export interface InstalledRepository extends RepositoryHandle {
  /**
   * When the App was installed on the account, milliseconds since 1970 UTC. GitHub does not tell when a single repository
   * was added.
   */
  readonly installedAt: number;
}

export interface RepositoryFacts {
  readonly id: number;
  readonly fullName: string;
  readonly private: boolean;
  /** Read-only for everybody. */
  readonly archived: boolean;
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

/** A pull request with where its code comes from. */
export interface PullDetails extends PullFacts {
  readonly title: string;
  readonly author: Actor;
  readonly state: 'open' | 'closed' | 'merged';
  /** Null where the repository of the head is gone; another one than ours: a fork. */
  readonly headRepositoryId: number | null;
}

/** What somebody wrote in a review of a pull request. */
export interface Remark {
  readonly author: Actor;
  readonly authorIsBot: boolean;
  /** GitHub's word for the author's relation to the repository, as of a comment. */
  readonly association: string;
  readonly body: string;
  /** What it stands at; absent for the words of the review as a whole. */
  readonly path?: string;
  /** 1-based; absent for a whole file, and where the line is outdated. */
  readonly line?: number;
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number;
  /** Milliseconds since 1970 UTC, of the last edit as far as GitHub tells. */
  readonly updatedAt: number;
}

/** A check or status of a commit that did not succeed. What its text says was written by programs, candidates' included. */
export interface FailedCheck {
  readonly name: string;
  /** GitHub's word, e.g. `failure`, `timed_out`. */
  readonly conclusion: string;
  /** Title and summary as the check shows them; may be empty, at most 4,000 characters. */
  readonly text: string;
}

/** An open issue that has the label now. */
export interface Labelled {
  readonly issue: IssueFacts;
  /** Who set it last, and when (milliseconds since 1970 UTC); null where GitHub does not tell. */
  readonly set: { readonly by: Actor; readonly byBot: boolean; readonly at: number } | null;
  /** When anything about the issue changed last, its text or not; milliseconds since 1970 UTC. */
  readonly touchedAt: number;
}

/** What somebody did to a label of an issue or a pull request. */
export interface LabelChange {
  readonly how: 'set' | 'taken-off';
  readonly by: Actor;
  readonly byBot: boolean;
  /** An App did it for them. */
  readonly throughApp: boolean;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

export type Permission = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none';

/** Reads of one repository, with a token that can only read. Faults: GITHUB_UNAVAILABLE, GITHUB_REFUSED. */
export interface GitHubReader {
  repository(): Promise<RepositoryFacts>;
  issue(number: number): Promise<IssueFacts>;
  /** All comments, the newest page first, each page (at most 100) oldest first. A page is read when it is asked for. */
  commentPages(issue: number): AsyncIterable<readonly CommentFacts[]>;
  /** What this user may do now; the answer must be for the same numeric id, and not a bot, else `none` (I4). */
  permission(user: Actor): Promise<Permission>;
  /** The open or closed pull request with this head branch, newest first; null when there is none. */
  pullByHead(branch: string): Promise<PullFacts | null>;
  /** Null when there is none of this number. */
  pull(number: number): Promise<PullDetails | null>;
  /** Words of reviews, or comments on lines; in pages like comments. */
  remarkPages(pull: number, of: 'reviews' | 'lines'): AsyncIterable<readonly Remark[]>;
  /** Checks and statuses of a commit that ended without success, at most 30, by name. Ours is not among them. */
  failedChecks(sha: Sha): Promise<readonly FailedCheck[]>;
  /** The commit a branch points to now; null when there is no such branch. */
  branchHead(branch: string): Promise<Sha | null>;
  /**
   * Open issues (no pull requests) with this label that somebody touched since a moment (milliseconds since 1970 UTC), at
   * most 100, oldest first. To set a label is to touch the issue.
   */
  labelled(label: string, since: number): Promise<readonly Labelled[]>;
  /**
   * What was last done to a label of an issue or a pull request. Null where nobody has done anything to it, where it was
   * too long ago, and where GitHub does not tell who it was.
   */
  labelChange(issue: number, label: string): Promise<LabelChange | null>;
  /** For a git fetch; good for an hour. */
  credential(): Promise<GitCredential>;
}

export type Reaction = 'eyes' | 'rocket' | 'confused' | '+1' | '-1';

/** What a reaction is put on. A comment on a line of a pull request has ids of its own. */
export type ReactionTarget =
  | { readonly issue: number }
  | { readonly comment: number }
  | { readonly reviewComment: number };

/** The check run of ours on the head of a pull request. */
export interface CheckRun {
  readonly headSha: Sha;
  /** Found again by it after a crash: the run's id. */
  readonly externalId: string;
  readonly conclusion: 'success' | 'neutral' | 'failure';
  readonly title: string;
  /** Markdown, at most 65,535 characters. */
  readonly summary: string;
}

/**
 * What became of a branch that was to go. `gone`: it was not there any more; `moved`: somebody put something else there;
 * `shown`: an open pull request is made from it; `ruled`: a rule of the repository keeps it. Only `deleted` is our doing.
 */
export type BranchDeletion = 'deleted' | 'gone' | 'moved' | 'shown' | 'ruled';

/**
 * The one writer to GitHub (I3). This list is closed: no merge, approval, force-push, workflow or setting.
 * Each call is one write, never retried here: a caller that is unsure looks first.
 */
export interface Publisher {
  react(target: ReactionTarget, reaction: Reaction): Promise<void>;
  comment(issue: number, body: string): Promise<{ readonly id: number; readonly url: string }>;
  /** Edits a comment that this App wrote; refuses any other. */
  editComment(id: number, body: string): Promise<void>;
  /** Adds and removes labels of our own (`auto-dev:*`), and takes `auto-dev` itself off; creates one that the repository lacks. */
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
  /** Edits a pull request that this App opened from an `auto-dev/*` branch; refuses any other. */
  editPull(number: number, text: { readonly title: string; readonly body: string }): Promise<void>;
  /** Shows a completed check run of ours; one with the same head and external id is updated instead of made twice. */
  showCheck(check: CheckRun): Promise<void>;
  /** Folds a comment that this App wrote, as outdated; refuses any other. */
  minimise(comment: number): Promise<void>;
  /**
   * Deletes a candidate's branch (`auto-dev/ISSUE/RUN/LETTER`, any other is refused) that points to this commit and that
   * no open pull request is made from. Rejects with GITHUB_UNAVAILABLE where the hour's writes run low.
   */
  deleteBranch(name: string, at: Sha): Promise<BranchDeletion>;
  /** For a push of `auto-dev/*` branches, right before it. */
  credential(): Promise<GitCredential>;
  /** Gives the token back; no call may follow. */
  close(): Promise<void>;
}

/** One write as it went out, and what came of it. Times are milliseconds since 1970 UTC. */
export interface ExternalWrite {
  /** One of a few words, e.g. `comment`, `label`, `open-pull`. A call of the publisher may be several writes, or none. */
  readonly what: string;
  /** Number of the issue or pull request, where it is known. */
  readonly thread?: number;
  /** Where it is about one. */
  readonly branch?: string;
  /** `refused`: GitHub said no; `failed`: there was no answer, or a server's error. */
  readonly outcome: 'done' | 'refused' | 'failed';
  /** HTTP, of what was not done. */
  readonly status?: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface GitHub {
  /** Own App id, to know our comments by. */
  readonly appId: number;
  /** A text as publishers write it, for comparing what GitHub shows with our record: no folder of this host is in it. */
  asPublished(text: string): string;
  /** Every repository that the App is installed on now, at most 1,000; suspended installations are left out. */
  repositories(): Promise<readonly InstalledRepository[]>;
  reader(repository: RepositoryHandle): Promise<GitHubReader>;
  /**
   * Mints a token for this one repository with the least rights to publish. `onWrite` is called with each write right after
   * it, before the call returns; it must not reject.
   */
  publisher(
    repository: RepositoryHandle,
    onWrite?: (write: ExternalWrite) => Promise<void>,
  ): Promise<Publisher>;
}
