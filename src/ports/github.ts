import type { Actor, ListedPull, PullFiles, Sha } from '../core/model/index.ts';
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
   * When the App was installed on the account, milliseconds since 1970 UTC. GitHub does not report when a single
   * repository was added.
   */
  readonly installedAt: number;
}

export interface RepositoryFacts {
  readonly id: number;
  readonly fullName: string;
  readonly private: boolean;
  /** Read-only for all users. */
  readonly archived: boolean;
  readonly defaultBranch: string;
  readonly htmlUrl: string;
  /** For git over HTTP; derived from the configured server, never from untrusted text. */
  readonly cloneUrl: string;
}

export interface IssueFacts {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly open: boolean;
  /** An App may set labels there, but neither comment nor react. */
  readonly locked: boolean;
  readonly isPull: boolean;
  readonly labels: readonly string[];
  readonly author: Actor;
}

export interface CommentFacts {
  readonly id: number;
  readonly author: Actor;
  readonly authorIsBot: boolean;
  /** GitHub's author association, e.g. OWNER, MEMBER, COLLABORATOR, NONE. */
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

/** A pull request with the origin of its code. */
export interface PullDetails extends PullFacts {
  readonly title: string;
  readonly author: Actor;
  readonly state: 'open' | 'closed' | 'merged';
  /** Null if the head repository was deleted; different from the base repository for a fork. */
  readonly headRepositoryId: number | null;
  /** The commit that it was merged by; absent unless it was. */
  readonly mergeSha?: Sha;
}

/** A review of a pull request, or a comment in one. */
export interface Remark {
  readonly author: Actor;
  readonly authorIsBot: boolean;
  /** GitHub's author association, as for a comment. */
  readonly association: string;
  readonly body: string;
  /** The file that it refers to; absent for the body of a review. */
  readonly path?: string;
  /** 1-based; absent for a whole file, or if the line is outdated. */
  readonly line?: number;
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number;
  /** Milliseconds since 1970 UTC, of the last edit as far as GitHub reports it. */
  readonly updatedAt: number;
}

/** A check or status of a commit that did not succeed. Its text is written by programs, including candidates. */
export interface FailedCheck {
  readonly name: string;
  /** GitHub's conclusion, e.g. `failure`, `timed_out`. */
  readonly conclusion: string;
  /** Title and summary of the check; may be empty, at most 4,000 characters. */
  readonly text: string;
}

/** An open issue or pull request that has the label now. */
export interface Labelled {
  readonly issue: IssueFacts;
  /** Who set it last, and when (milliseconds since 1970 UTC); null if GitHub does not report it. */
  readonly set: { readonly by: Actor; readonly byBot: boolean; readonly at: number } | null;
  /** When the issue was last changed in any way; milliseconds since 1970 UTC. */
  readonly touchedAt: number;
}

/** A change of a label on an issue or a pull request. */
export interface LabelChange {
  readonly how: 'set' | 'taken-off';
  readonly by: Actor;
  readonly byBot: boolean;
  /** An App acted on behalf of the user. */
  readonly throughApp: boolean;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

export type Permission = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none';

/** Reads from one repository with a read-only token. Faults: GITHUB_UNAVAILABLE, GITHUB_REFUSED. */
export interface GitHubReader {
  repository(): Promise<RepositoryFacts>;
  issue(number: number): Promise<IssueFacts>;
  /** Null if GitHub has no such issue here: it was deleted, or moved to another repository. */
  findIssue(number: number): Promise<IssueFacts | null>;
  /**
   * All comments, newest page first; comments within a page (at most 100) are oldest first. Pages are fetched on
   * demand.
   */
  commentPages(issue: number): AsyncIterable<readonly CommentFacts[]>;
  /** The user's current permission; `none` if the response has another numeric id or the user is a bot (I4). */
  permission(user: Actor): Promise<Permission>;
  /** The newest pull request with this head branch, open or closed; null if there is none. */
  pullByHead(branch: string): Promise<PullFacts | null>;
  /** Null if there is no pull request with this number. */
  pull(number: number): Promise<PullDetails | null>;
  /** Open pull requests, those that changed last first; at most 100. */
  openPulls(): Promise<readonly ListedPull[]>;
  /** At most 100 files of a pull request. */
  pullFiles(pull: number): Promise<PullFiles>;
  /** Review bodies, or comments on lines; in pages like comments. */
  remarkPages(pull: number, of: 'reviews' | 'lines'): AsyncIterable<readonly Remark[]>;
  /** Checks and statuses of a commit that did not succeed, at most 30, by name. Excludes Runoff's own. */
  failedChecks(sha: Sha): Promise<readonly FailedCheck[]>;
  /** The commit that a branch points to; null if there is no such branch. */
  branchHead(branch: string): Promise<Sha | null>;
  /**
   * Open issues and pull requests with this label, updated since a time (milliseconds since 1970 UTC); at most 100,
   * oldest first. Setting a label counts as an update.
   */
  labelled(label: string, since: number): Promise<readonly Labelled[]>;
  /**
   * The last change of a label on an issue or a pull request. Null if there was none, if it was too long ago, or if
   * GitHub does not report who made it.
   */
  labelChange(issue: number, label: string): Promise<LabelChange | null>;
  /** For a git fetch; valid for an hour. */
  credential(): Promise<GitCredential>;
}

export type Reaction = 'eyes' | 'rocket' | 'confused' | '+1' | '-1';

/** The target of a reaction. Comments on lines of a pull request have separate ids. */
export type ReactionTarget =
  | { readonly issue: number }
  | { readonly comment: number }
  | { readonly reviewComment: number };

/** Runoff's check run on the head of a pull request. */
export interface CheckRun {
  readonly headSha: Sha;
  /** The run's id, by which the check run is found again after a crash. */
  readonly externalId: string;
  readonly conclusion: 'success' | 'neutral' | 'failure';
  readonly title: string;
  /** Markdown, at most 65,535 characters. */
  readonly summary: string;
  /** Where `Details` leads; absent: GitHub's own page of the check run. */
  readonly detailsUrl?: string;
}

/**
 * The result of deleting a branch. `gone`: it no longer existed; `moved`: it points to another commit; `shown`: an
 * open pull request is made from it; `ruled`: a rule of the repository protects it. Only `deleted` means that this
 * call deleted it.
 */
export type BranchDeletion = 'deleted' | 'gone' | 'moved' | 'shown' | 'ruled';

/**
 * The only writer to GitHub (I3). The list is complete: no merge, approval, force-push, workflow or setting. Each
 * call is one write and is never retried here: a caller that is unsure whether it succeeded must check first.
 */
export interface Publisher {
  react(target: ReactionTarget, reaction: Reaction): Promise<void>;
  comment(issue: number, body: string): Promise<{ readonly id: number; readonly url: string }>;
  /** Edits a comment that this App wrote; rejects any other. */
  editComment(id: number, body: string): Promise<void>;
  /**
   * Adds and removes Runoff's labels (`auto-dev:*`), and can remove `auto-dev`; creates labels that the repository
   * lacks.
   */
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
  /** Edits a pull request that this App opened from an `auto-dev/*` branch; rejects any other. */
  editPull(number: number, text: { readonly title: string; readonly body: string }): Promise<void>;
  /** Creates a completed check run, or updates the one with the same head and external id. */
  showCheck(check: CheckRun): Promise<void>;
  /** Minimizes a comment that this App wrote, as outdated; rejects any other. */
  minimise(comment: number): Promise<void>;
  /**
   * Deletes a candidate's branch (`auto-dev/ISSUE/RUN/LETTER`, any other is rejected) if it points to this commit and
   * no open pull request is made from it. Rejects with GITHUB_UNAVAILABLE when few writes are left in this hour.
   */
  deleteBranch(name: string, at: Sha): Promise<BranchDeletion>;
  /** For pushing `auto-dev/*` branches; request it immediately before the push. */
  credential(): Promise<GitCredential>;
  /** Revokes the token; no call may follow. */
  close(): Promise<void>;
}

/** One write that was sent, and its result. Times are milliseconds since 1970 UTC. */
export interface ExternalWrite {
  /**
   * A short identifier, e.g. `comment`, `label`, `open-pull`. One call of the publisher may cause several writes, or
   * none.
   */
  readonly what: string;
  /** Number of the issue or pull request, if known. */
  readonly thread?: number;
  /** The branch that it concerns, if any. */
  readonly branch?: string;
  /** `refused`: GitHub rejected it; `failed`: no response, or a server error. */
  readonly outcome: 'done' | 'refused' | 'failed';
  /** HTTP status, if the write did not succeed. */
  readonly status?: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Who a user's token belongs to. */
export interface TokenHolder {
  readonly person: Actor;
  /** What a classic token may do, e.g. `repo`; null for tokens that GitHub limits in another way. */
  readonly scopes: readonly string[] | null;
}

/** People as GitHub knows them. Faults: GITHUB_UNAVAILABLE. */
export interface People {
  /** Null if GitHub does not accept the token, or if it belongs to no person. Each call asks GitHub. */
  ofToken(token: string): Promise<TokenHolder | null>;
  /** A repository on which the App is installed and which this user's token can see, by its present name; else null. */
  repository(token: string, owner: string, name: string): Promise<RepositoryHandle | null>;
  /** Null if nobody has this login, or if it is no person's. `through`: whose token is used. */
  byLogin(login: string, through: RepositoryHandle): Promise<Actor | null>;
}

export interface GitHub {
  readonly people: People;
  /** App id, for recognizing Runoff's own comments. */
  readonly appId: number;
  /** A text as publishers write it, for comparing GitHub's copy with the record: local paths are removed. */
  asPublished(text: string): string;
  /** All repositories on which the App is installed, at most 1,000; excludes suspended installations. */
  repositories(): Promise<readonly InstalledRepository[]>;
  reader(repository: RepositoryHandle): Promise<GitHubReader>;
  /**
   * Creates a publisher with a token for this one repository, with minimum rights. `onWrite` is called immediately
   * after each write, before the call returns; it must not reject.
   */
  publisher(
    repository: RepositoryHandle,
    onWrite?: (write: ExternalWrite) => Promise<void>,
  ): Promise<Publisher>;
}
