import type { Client, RepositoryName } from './client.ts';
import type { Faults } from './faults.ts';
import type { JsonObject } from './json.ts';

/** GitHub's words for what a collaborator may do, as its collaborators route takes them. */
export type Role = 'admin' | 'maintain' | 'push' | 'triage' | 'pull';

export interface LocalRepository {
  /** One of the users. */
  readonly owner: string;
  readonly name: string;
  /** A git working tree or bare repository to copy; all its branches are taken. Signed commits are refused. */
  readonly from: string;
  /** Default false: everybody may read, as on github.com. */
  readonly private?: boolean;
}

export interface LocalGitHubOptions {
  /** Logins; each gets an account and a token. */
  readonly users: readonly string[];
  /** Collaborators of every repository. Owners are admins; everybody else is an outsider. */
  readonly collaborators?: Readonly<Record<string, Role>>;
  readonly repositories: readonly LocalRepository[];
  /** Rights that the installations have granted. Default: those that `app.yml` asks for. */
  readonly rights?: Readonly<Record<string, 'read' | 'write'>>;
  /** Where the App takes its webhooks; nothing is sent while it is undefined. */
  readonly webhookUrl: () => string | undefined;
  readonly onDelivery?: (delivery: Delivery) => void;
  /** What the users' clients send their calls with. Default: Node's own. */
  readonly fetch?: typeof fetch;
  /** Port on 127.0.0.1. Default: one that is free. */
  readonly port?: number;
}

export interface Delivery {
  readonly guid: string;
  readonly event: string;
  readonly action: string | undefined;
  /** HTTP status of the App's answer; 0 when there was none. */
  readonly status: number;
  readonly payload: JsonObject;
  readonly redelivery: boolean;
}

export interface Reaction {
  /** `owner/name`. */
  readonly repository: string;
  /** `issues/7`, `comments/12`, or `review-comments/12` for one on a line. */
  readonly target: string;
  readonly content: string;
  readonly login: string;
}

export interface Minimised {
  /** `owner/name`. */
  readonly repository: string;
  /** The comment's id. */
  readonly comment: number;
  /** GitHub's word for the reason, e.g. `OUTDATED`. */
  readonly classifier: string;
}

/** What the GitHub adapter needs to name a repository. */
export interface LocalHandle {
  readonly installationId: number;
  readonly repositoryId: number;
  readonly owner: string;
  readonly name: string;
}

export interface LocalGitHub {
  /** Web pages and git: `<url>/<owner>/<name>.git`. */
  readonly url: string;
  /** REST under the base path of GitHub Enterprise Server; `url` itself answers REST too. */
  readonly apiUrl: string;
  readonly appId: number;
  /** Login of the App's own account. */
  readonly botLogin: string;
  /** PEM. */
  readonly privateKey: string;
  readonly webhookSecret: string;
  /** For signing in to the App: GitHub's pages have a button for each user. */
  readonly userFlow: { readonly clientId: string; readonly clientSecret: string };
  /** The installation on the first repository's owner; each owner has one of its own. */
  readonly installationId: number;
  /** In the order delivered. */
  readonly deliveries: readonly Delivery[];
  readonly reactions: readonly Reaction[];
  /** Comments that were folded, in order. */
  readonly minimised: readonly Minimised[];
  /** What goes wrong with calls from now on. */
  readonly faults: Faults;
  /** What this user does on GitHub. */
  as(login: string): Client;
  /** This user's token, for git and REST. */
  token(login: string): string;
  handle(owner: string, name: string): LocalHandle;
  /** Changes what a collaborator may do from now on; null makes an outsider of them. */
  setRole(at: RepositoryName, login: string, role: Role | null): Promise<void>;
  /** Gives a repository another name; the old one redirects to it, for git too. */
  rename(at: RepositoryName, name: string): Promise<void>;
  /** Makes a repository read-only for everybody, or writable again. */
  setArchived(at: RepositoryName, archived: boolean): Promise<void>;
  /**
   * Refuses pushes to branches that match a shell pattern such as `auto-dev/*`, in all repositories that there are, with
   * this message after GitHub's words for a broken rule.
   */
  protect(pattern: string, message: string): Promise<void>;
  /** The owner suspends the App. The default is the installation on the first repository's owner, as below. */
  suspend(installationId?: number): Promise<void>;
  unsuspend(installationId?: number): Promise<void>;
  /** The owner removes the App for good. */
  uninstall(installationId?: number): Promise<void>;
  /** The owner takes one repository out of the installation, or puts it back. */
  setInstalled(at: RepositoryName, installed: boolean): Promise<void>;
  /** The bare repository on disk. */
  directory(owner: string, name: string): string;
  /** Sends a delivery again under its GUID, as GitHub does on request. */
  redeliver(guid: string): Promise<Delivery>;
  /** Resolves when every webhook of the writes so far has been delivered. */
  settled(): Promise<void>;
  /** Stops everything and removes the repositories. */
  close(): Promise<void>;
}
