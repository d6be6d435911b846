import type { Origin, RunId } from '../core/model/index.ts';
import type { RepositoryHandle } from './github.ts';

/** What pages ask of the database. Each method is one transaction. Faults: DATABASE_UNAVAILABLE. */
export interface RunLists {
  /** Where a run came from; null if there is none. Reads nothing else of it, however large it is. */
  originOf(id: RunId): Promise<Origin | null>;
  /** Repositories on GitHub that have runs, with the names of their newest run; the one with the newest run first. */
  repositoriesWithRuns(): Promise<readonly RepositoryHandle[]>;
}
