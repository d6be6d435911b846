import { Mutex } from 'async-mutex';
import {
  type ContestRecords,
  changedAfterVotes,
  isContestName,
  type Standing,
  standingOf,
} from '../../core/arena/index.ts';
import { asFault, Fault } from '../../core/model/index.ts';
import type { ContestFolder } from '../../ports/index.ts';
import { loadContest, readDecisions, Voting } from '../../runs/index.ts';
import type { ArenaOptions, Viewer, WebParts } from '../context.ts';
import { openContestAccess } from './access.ts';

/** A contest in a list: what it consists of; or why it cannot be read; or that this viewer may not see what is in it. */
export type ListedContest =
  | {
      readonly name: string;
      readonly kind: 'shown';
      readonly records: ContestRecords;
      readonly standing: Standing;
    }
  | { readonly name: string; readonly kind: 'unreadable'; readonly why: string }
  | { readonly name: string; readonly kind: 'withheld' };

/** Thrown for a contest whose tasks are from a repository that the viewer may not read now (I11). */
export class ContestWithheld extends Error {}

/**
 * Contests as pages read and change them. Names of others are the fault CONTEST_UNKNOWN. Throws ContestWithheld. Faults:
 * those of `loadContest`; GITHUB_UNAVAILABLE if the viewer's right on a repository of tasks cannot be read.
 */
export interface ContestPages {
  list(viewer: Viewer): Promise<readonly ListedContest[]>;
  /** With what Runoff decided on its answers. */
  read(name: string, viewer: Viewer): Promise<ContestRecords>;
  /** The votes of a viewer, to look at. */
  votes(name: string, viewer: Viewer): Promise<OpenVotes>;
  /**
   * The same to change them, one change of a contest after the other. Faults: ALREADY_RUNNING if another process works on
   * the contest; CONTEST_CHANGED if votes on another version exist.
   */
  change<T>(name: string, viewer: Viewer, work: (votes: OpenVotes) => Promise<T>): Promise<T>;
}

interface OpenVotes {
  readonly records: ContestRecords;
  readonly voting: Voting;
}

export function openContestPages(
  arena: ArenaOptions,
  parts: Pick<WebParts, 'access' | 'world'>,
): ContestPages {
  const { contests, variants, localVoter } = arena;
  const { clock } = parts.world;
  const mayRead = openContestAccess(arena, parts);
  const turns = new Map<string, Mutex>();
  const voterOf = (viewer: Viewer) =>
    ({ kind: 'person', name: viewer.kind === 'github' ? viewer.login : localVoter() }) as const;
  /** Loaded anew for each request, and its repositories looked up anew: whatever has changed counts at once. */
  const loadFor = async (folder: ContestFolder, viewer: Viewer): Promise<ContestRecords> => {
    const records = await loadContest(folder, { variants });
    if (!(await mayRead(viewer, folder, records))) throw new ContestWithheld();
    return records;
  };
  const votesIn = async (folder: ContestFolder, viewer: Viewer): Promise<OpenVotes> => {
    const records = await loadFor(folder, viewer);
    const changed = changedAfterVotes(records.digest, records.votes, records.samples);
    if (changed !== null) throw new Fault('CONTEST_CHANGED', changed);
    return { records, voting: new Voting({ folder, clock }, records, voterOf(viewer)) };
  };
  const reading = async <T>(name: string, work: (folder: ContestFolder) => Promise<T>): Promise<T> => {
    if (!isContestName(name)) throw unknownContest();
    const folder = await contests.open(contests.folderOf(name), 'read');
    return work(folder).finally(() => folder.close());
  };
  const read = (name: string, viewer: Viewer) =>
    reading(name, async (folder) => ({
      ...(await loadFor(folder, viewer)),
      decisions: await readDecisions(folder),
    }));
  return {
    async list(viewer) {
      const found: ListedContest[] = [];
      for (const name of await contests.list())
        found.push(await read(name, viewer).then((records) => shownIn(name, records), listedFault(name)));
      return found;
    },
    read,
    votes: (name, viewer) => reading(name, (folder) => votesIn(folder, viewer)),
    async change(name, viewer, work) {
      // A contest that is not there must not be created by a lock.
      if (!(await contests.list()).includes(name)) throw unknownContest();
      const turn = turns.get(name) ?? new Mutex();
      turns.set(name, turn);
      return turn.runExclusive(async () => {
        const folder = await contests.open(contests.folderOf(name), 'write');
        try {
          return await work(await votesIn(folder, viewer));
        } finally {
          await folder.close();
        }
      });
    },
  };
}

const unknownContest = (): Fault => new Fault('CONTEST_UNKNOWN', 'There is no contest of this name.');

const shownIn = (name: string, records: ContestRecords): ListedContest => ({
  ...{ name, kind: 'shown', records },
  standing: standingOf(records),
});

/** One contest that cannot be read does not hide the others; while GitHub is away, nobody knows what may be shown. */
const listedFault =
  (name: string) =>
  (thrown: unknown): ListedContest => {
    if (thrown instanceof ContestWithheld) return { name, kind: 'withheld' };
    const { code, message } = asFault(thrown);
    if (code === 'GITHUB_UNAVAILABLE') throw thrown;
    return { name, kind: 'unreadable', why: message };
  };
