import type { CandidateOutcome, MergeFacts } from '../../src/core/learning/index.ts';
import { isOver, type RunId } from '../../src/core/model/index.ts';
import type { Outcomes, PickRecord, RunRecord } from '../../src/ports/index.ts';
import { kept } from './memory-commands.ts';

interface KeptRun {
  readonly outcomes: readonly CandidateOutcome[];
  readonly at: number;
  readonly merge: MergeFacts | null;
}

const withMerge = ({ outcomes, merge }: KeptRun): readonly CandidateOutcome[] =>
  outcomes
    .toSorted((one, other) => (one.alias < other.alias ? -1 : 1))
    .map((one) => (merge && one.pull ? { ...one, pull: { ...one.pull, ...merge } } : one));

/** What became of candidates, over a map that runs are not deleted from. */
export function memoryOutcomes(
  records: () => readonly RunRecord[],
  picks: (id: RunId) => Promise<readonly PickRecord[]>,
): Outcomes {
  const runs = new Map<RunId, KeptRun>();
  const order = (one: CandidateOutcome, other: CandidateOutcome): number =>
    one.at - other.at || (one.runId < other.runId ? -1 : one.runId > other.runId ? 1 : 0);
  return {
    async keepOutcomes(runId, outcomes, at) {
      runs.set(runId, { outcomes: kept([...outcomes]), at, merge: runs.get(runId)?.merge ?? null });
    },
    async keepMerge(runId, merge) {
      const found = runs.get(runId);
      if (found) runs.set(runId, { ...found, merge: kept(merge) });
    },
    async outcomes({ repositories, runs: most }) {
      const found = [...runs.values()]
        .filter(({ outcomes }) =>
          outcomes.some((one) => !repositories || repositories.includes(one.repository)),
        )
        .toSorted((one, other) =>
          order(one.outcomes[0] as CandidateOutcome, other.outcomes[0] as CandidateOutcome),
        )
        .slice(-most);
      return kept(found.flatMap(withMerge));
    },
    async mergesSince(at) {
      const changed = new Set(
        records()
          .filter(({ updatedAt }) => updatedAt >= at)
          .map(({ id }) => id),
      );
      const found = [...runs].flatMap(([id, run]) => (changed.has(id) ? withMerge(run) : []));
      return kept(found.filter(({ shown, pull }) => shown && pull?.state === 'merged').toSorted(order));
    },
    async outcomeRepositories() {
      const found = new Map<string, Pick<CandidateOutcome, 'repository' | 'repositoryName' | 'at'>>();
      for (const { repository, repositoryName, at } of [...runs.values()]
        .flatMap(({ outcomes }) => outcomes)
        .toSorted(order))
        found.set(JSON.stringify([repository, repositoryName]), { repository, repositoryName, at });
      return [...found.values()].toSorted(
        (one, other) => other.at - one.at || (one.repository < other.repository ? -1 : 1),
      );
    },
    async deleteOutcomes(repository) {
      let deleted = 0;
      for (const [runId, run] of runs) {
        const others = run.outcomes.filter((one) => one.repository !== repository);
        deleted += run.outcomes.length - others.length;
        runs.set(runId, { ...run, outcomes: others });
      }
      return deleted;
    },
    async outcomesDue(limit, among) {
      const due: RunRecord[] = [];
      for (const run of records()) {
        if (!run.decision || !isOver(run.state) || among?.includes(run.id) === false) continue;
        const changed = Math.max(run.updatedAt, ...(await picks(run.id)).map(({ at }) => at));
        const known = runs.get(run.id);
        if (!known || known.at <= changed) due.push(run);
      }
      return due
        .toSorted((one, other) => other.updatedAt - one.updatedAt || (one.id < other.id ? -1 : 1))
        .slice(0, limit)
        .map(({ id }) => id);
    },
  };
}
