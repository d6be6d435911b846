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

/** A contest in a list: what it consists of, or why it cannot be read. */
export type ListedContest =
  | { readonly name: string; readonly records: ContestRecords; readonly standing: Standing }
  | { readonly name: string; readonly why: string };

/** Contests as pages read and change them. Names of others are the fault CONTEST_UNKNOWN. Faults: those of `loadContest`. */
export interface ContestPages {
  list(): Promise<readonly ListedContest[]>;
  /** With what Runoff decided on its answers. */
  read(name: string): Promise<ContestRecords>;
  /** The votes of a viewer, to look at. */
  votes(name: string, viewer: Viewer): Promise<OpenVotes>;
  /**
   * The same to change them, one change of a contest after the other. Faults: ALREADY_RUNNING if another process works on
   * the contest; CONTEST_CHANGED if votes on another version exist.
   */
  change<T>(name: string, viewer: Viewer, work: (votes: OpenVotes) => Promise<T>): Promise<T>;
}

export interface OpenVotes {
  readonly records: ContestRecords;
  readonly voting: Voting;
}

export function openContestPages(
  { contests, variants, localVoter }: ArenaOptions,
  { clock }: Pick<WebParts['world'], 'clock'>,
): ContestPages {
  const turns = new Map<string, Mutex>();
  const voterOf = (viewer: Viewer) =>
    ({ kind: 'person', name: viewer.kind === 'github' ? viewer.login : localVoter }) as const;
  const votesIn = async (folder: ContestFolder, viewer: Viewer): Promise<OpenVotes> => {
    const records = await loadContest(folder, { variants });
    const changed = changedAfterVotes(records.digest, records.votes, records.samples);
    if (changed !== null) throw new Fault('CONTEST_CHANGED', changed);
    return { records, voting: new Voting({ folder, clock }, records, voterOf(viewer)) };
  };
  const reading = async <T>(name: string, work: (folder: ContestFolder) => Promise<T>): Promise<T> => {
    if (!isContestName(name)) throw new Fault('CONTEST_UNKNOWN', 'There is no contest of this name.');
    const folder = await contests.open(contests.folderOf(name), 'read');
    return work(folder).finally(() => folder.close());
  };
  const read = (name: string) =>
    reading(name, async (folder) => ({
      ...(await loadContest(folder, { variants })),
      decisions: await readDecisions(folder),
    }));
  return {
    async list() {
      const found: ListedContest[] = [];
      for (const name of await contests.list()) {
        found.push(
          await read(name).then(
            (records) => ({ name, records, standing: standingOf(records) }),
            (thrown: unknown) => ({ name, why: asFault(thrown).message }),
          ),
        );
      }
      return found;
    },
    read,
    votes: (name, viewer) => reading(name, (folder) => votesIn(folder, viewer)),
    async change(name, viewer, work) {
      // A contest that is not there must not be created by a lock.
      await read(name);
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
