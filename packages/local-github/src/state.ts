import type { Mutex } from 'async-mutex';
import type { Emulator } from './emulator.ts';
import type { FaultList } from './faults.ts';
import type { JsonObject } from './json.ts';
import type { Delivery, Minimised, Reaction, Role } from './types.ts';

/** The App's credentials for its user flow. */
export interface UserFlow {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly users: readonly string[];
  /** Codes that were given to browsers and not yet used. */
  readonly codes: Map<string, GivenCode>;
}

interface GivenCode {
  readonly login: string;
  readonly redirectUri: string;
  /** PKCE: what the verifier must hash to; null if the App sent none. */
  readonly challenge: string | null;
  readonly givenAt: number;
}

/** Whose token it is and what it may do. */
export interface TokenHolder {
  readonly login: string;
  /** Rights of an installation token; a user's token has all of its user's. */
  readonly permissions?: Readonly<Record<string, string>>;
  /** Whose token it is where it is one of the App's. */
  readonly installationId?: number;
  /** Milliseconds since 1970; absent for users. */
  readonly expiresAt?: number;
}

export interface Repository {
  readonly id: number;
  readonly owner: string;
  /** Changes when it is renamed, as does `fullName`. */
  name: string;
  fullName: string;
  readonly private: boolean;
  /** Read-only for everybody. */
  archived: boolean;
  readonly directory: string;
  /** 0 where the App is not installed. */
  readonly installationId: number;
  /** Id of the repository that it was forked from. */
  readonly forkOf?: number;
  readonly collaborators: Map<string, Role>;
  /** Git objects that the emulator has. */
  readonly imported: Set<string>;
  /** Pull requests that were merged after their branch had moved, by number: the last commit, and the merge. */
  readonly movedMerges: Map<number, { readonly head: string; readonly merge: string }>;
  /** Held by what changes refs: pushes and merges change them in two places. */
  readonly mutex: Mutex;
}

interface StoredReaction extends Reaction {
  repository: string;
  /** As REST shows it. */
  readonly shown: JsonObject;
}

interface StoredStatus {
  readonly repositoryId: number;
  readonly sha: string;
  /** As REST shows it. */
  readonly shown: JsonObject;
}

export interface WebhookQueue {
  readonly deliveries: readonly Delivery[];
  /** Starts a delivery; what goes wrong on our side is thrown by `settled`. */
  deliver(event: string, payload: JsonObject): void;
  redeliver(guid: string): Promise<Delivery>;
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Who set or took off a label of a pull request. */
interface StoredPullEvent {
  readonly repositoryId: number;
  readonly number: number;
  /** As REST shows it. */
  readonly shown: JsonObject;
}

/** What the parts of the local GitHub share. */
export interface GitHubState {
  /** `http://127.0.0.1:<port>` */
  readonly baseUrl: string;
  readonly emulator: Emulator;
  /** Where the bare repositories are. */
  readonly root: string;
  /** By full name. */
  readonly repositories: Map<string, Repository>;
  /** Ids of renamed repositories by their old full names. */
  readonly formerNames: Map<string, number>;
  readonly tokens: Map<string, TokenHolder>;
  readonly userFlow: UserFlow;
  readonly reactions: StoredReaction[];
  readonly minimised: Minimised[];
  readonly statuses: StoredStatus[];
  readonly pullEvents: StoredPullEvent[];
  /** Check runs that the App made. */
  readonly ownChecks: Set<number>;
  /** When installations were suspended, ISO 8601. */
  readonly suspended: Map<number, string>;
  readonly uninstalled: Set<number>;
  /** Ids of repositories that were taken out of their installation. */
  readonly withdrawn: Set<number>;
  /** What pushes are refused for. */
  readonly rules: { readonly pattern: string; readonly message: string }[];
  readonly faults: FaultList;
  /** What edited issues, pull requests and comments said before, by their API addresses. */
  readonly edited: Map<string, JsonObject>;
  /** The App as comments name it. */
  readonly app: JsonObject;
  readonly hooks: WebhookQueue;
}

const RANK = { pull: 0, triage: 1, push: 2, maintain: 3, admin: 4 } as const satisfies Record<Role, number>;

export const repositoryById = (state: GitHubState, id: number): Repository | undefined =>
  [...state.repositories.values()].find((repository) => repository.id === id);

/** A user's role in a repository; null for an outsider. */
export const roleOf = (repository: Repository, login: string): Role | null =>
  login === repository.owner ? 'admin' : (repository.collaborators.get(login) ?? null);

export function hasRole(repository: Repository, login: string, least: Role): boolean {
  const role = roleOf(repository, login);
  return role !== null && RANK[role] >= RANK[least];
}

export const isRole = (name: string): name is Role => name in RANK;

/** A token of the repository's owner for our own bookkeeping. */
export const ownerToken = (state: GitHubState, repository: Repository): string =>
  state.emulator.ownToken(repository.owner);
