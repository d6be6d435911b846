import { RUN_STATES, type RunState } from '../../src/core/model/index.ts';
import type { AuditEntry, AuditPlace, AuditRecord, Census, RunRecord, Store } from '../../src/ports/index.ts';
import { kept } from './memory-commands.ts';

const AUDITED: ReadonlySet<RunState> = new Set(['refused', 'cancelled', 'merged', 'closed']);

/** The part of the store that keeps the audit; `add` for what is audited beside something else. */
export function memoryAudit() {
  const records: AuditRecord[] = [];
  const add = (entry: AuditEntry, place: AuditPlace): void => {
    const cut = entry.kind === 'command' ? { ...entry, text: entry.text.slice(0, 500) } : entry;
    records.push(kept({ number: records.length + 1, entry: cut, ...place }));
  };
  return {
    add,
    moved(
      { id, origin, state: from }: RunRecord | Omit<RunRecord, 'stages'>,
      to: RunState,
      cause: string,
      at: number,
    ) {
      if (!AUDITED.has(to)) return;
      const where = origin.kind === 'github' ? { repositoryId: origin.repositoryId } : {};
      add({ kind: to === 'refused' ? 'refusal' : 'transition', from, to, cause }, { run: id, at, ...where });
    },
    store: {
      async audit(entry, place) {
        add(entry, place);
      },
      async audited({ run, limit }) {
        const own = records.filter((record) => run === undefined || record.run === run);
        return kept(own.toReversed().slice(0, limit));
      },
    } satisfies Partial<Store>,
  };
}

/** No process of its own gives signs of life in a store of one process. */
export function censusOf(runs: readonly RunRecord[], queuedIn: (run: RunRecord) => number): Census {
  const counts = Object.fromEntries(RUN_STATES.map((state) => [state, 0])) as Record<RunState, number>;
  for (const { state } of runs) counts[state] += 1;
  const coding = runs.filter(({ state }) => state === 'briefed');
  const codersWaiting = coding.reduce((sum, run) => sum + queuedIn(run), 0);
  const isInLine = ({ origin, state, queueEntry, stages }: RunRecord): boolean =>
    origin.kind === 'github' && state === 'queued' && queueEntry !== undefined && stages.length === 0;
  return { runs: counts, queuedRuns: runs.filter(isInLine).length, codersWaiting, executors: {} };
}
