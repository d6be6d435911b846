import type { GitHubOrigin, Origin, RunId, RunState, Usage, Usd } from '../core/model/index.ts';
import type { Decision } from '../core/ranking/index.ts';
import type { RepositoryHandle } from './github.ts';
import type { PickRecord, RunTrouble, StageTiming } from './records.ts';

/** What pages ask of the database. Each method is one transaction. Faults: DATABASE_UNAVAILABLE. */
export interface RunLists {
  /** Where a run came from; null if there is none. Reads nothing else of it, however large it is. */
  originOf(id: RunId): Promise<Origin | null>;
  /** Repositories on GitHub that have runs, with the names of their newest run; the one with the newest run first. */
  repositoriesWithRuns(): Promise<readonly RepositoryHandle[]>;
  /** Newest first. */
  listRuns(filter: RunFilter): Promise<readonly ListedRun[]>;
  /** Times of the stages of runs, the newest run first. */
  stagesOf(filter: StageFilter): Promise<readonly (readonly StageTiming[])[]>;
  /** Runs with a fault, the last changed first. */
  failedRuns(limit: number): Promise<readonly ListedRun[]>;
  /** What a run has spent, by spender and model, the most expensive first. */
  spendingOf(id: RunId): Promise<readonly Spending[]>;
}

/** Which runs a list shows. Absent: all. */
export interface RunFilter {
  /** Ids of repositories on GitHub, or runs of this machine's repositories. */
  readonly of: readonly number[] | 'local';
  readonly states?: readonly RunState[];
  /** Login of who asked for it, ignoring case. */
  readonly by?: string;
  /** Part of the title, ignoring case. */
  readonly text?: string;
  /** Only runs that come after this one in the list. */
  readonly after?: { readonly createdAt: number; readonly id: RunId };
  readonly limit: number;
}

/** Runs on GitHub in which nobody was asked anything. */
export interface StageFilter extends Pick<GitHubOrigin, 'repositoryId' | 'work'> {
  readonly states: readonly RunState[];
  readonly limit: number;
}

/** The intent of a run that is fulfilled if the pick with this key was refused later, and no longer counts. */
export const rejectedPickKey = (key: string): string => `dropped:${key}`;

/** What a list shows of a run. */
export interface ListedRun {
  readonly id: RunId;
  readonly origin: Origin;
  readonly state: RunState;
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly title: string;
  readonly decision?: Decision;
  readonly trouble?: RunTrouble;
  /** The last pick that counts; absent if there is none. */
  readonly pick?: Pick<PickRecord, 'alias' | 'by' | 'at'>;
  readonly usd: Usd;
}

/** One sign-in of one person in one browser. Times are milliseconds since 1970 UTC. */
export interface SessionRecord {
  /** Hash of the id that only the browser knows. */
  readonly hash: string;
  /** GitHub's numeric id. */
  readonly userId: number;
  readonly login: string;
  readonly createdAt: number;
  /** From then on it is over, unless it is prolonged before. */
  readonly expiresAt: number;
}

/** Sessions of people who signed in to the pages. Each method is one transaction. Faults: DATABASE_UNAVAILABLE. */
export interface Sessions {
  addSession(session: SessionRecord): Promise<void>;
  /** Null if there is none, or if it is over at `at`. */
  session(hash: string, at: number): Promise<SessionRecord | null>;
  /** Sets when a session is over; one that has ended stays so. */
  prolongSession(hash: string, expiresAt: number): Promise<void>;
  endSession(hash: string): Promise<void>;
  /** Ends all sessions of a person, in every browser. */
  endSessionsOf(userId: number): Promise<void>;
  /** Deletes sessions that are over at `at`; returns their number. */
  deleteEndedSessions(at: number): Promise<number>;
}

/** The calls of one spender to one model. */
export interface Spending extends Usage {
  /** As in the ledger: a candidate's alias, or a part of the run. */
  readonly spender: string;
  readonly model: string;
  /** Milliseconds of all calls together. */
  readonly ms: number;
  /** Calls whose cost was estimated because the provider reported no usage, or that are not settled. */
  readonly estimated: number;
}
