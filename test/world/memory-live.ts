import { type Candidate, CODER_STEP_LIMITS, type CoderStep, type RunId } from '../../src/core/model/index.ts';
import type { LedgerRow, LiveRuns, RunMark, RunRecord, Store } from '../../src/ports/index.ts';
import { kept } from './memory-commands.ts';

interface LiveSources {
  /** Rejects with RUN_UNKNOWN. */
  readonly require: (id: RunId) => unknown;
  readonly records: () => readonly RunRecord[];
  readonly candidates: (id: RunId) => readonly Candidate[];
  readonly calls: readonly LedgerRow[];
  /** What else of a run counts as a change. */
  readonly others: (id: RunId) => Promise<unknown>;
}

/** Steps of coders and marks of runs, over maps. */
export function memoryLive(
  sources: LiveSources,
): LiveRuns & Pick<Store, 'callsOf'> & { forget(id: RunId): void } {
  const stored = new Map<RunId, Map<string, CoderStep>>();
  const of = (id: RunId, alias: string): CoderStep[] =>
    [...(stored.get(id)?.values() ?? [])]
      .filter((step) => step.alias === alias)
      .toSorted((a, b) => a.number - b.number);
  const aliases = (id: RunId): string[] =>
    [...new Set([...(stored.get(id)?.values() ?? [])].map(({ alias }) => alias))].toSorted();
  const markOf = async (run: RunRecord): Promise<RunMark> => ({
    id: run.id,
    origin: run.origin,
    version: JSON.stringify([
      run.updatedAt,
      run.title,
      run.state,
      run.stages,
      sources.candidates(run.id),
      sources.calls.filter(({ runId }) => runId === run.id),
      await sources.others(run.id),
    ]),
    steps: Object.fromEntries(
      sources
        .candidates(run.id)
        .flatMap(({ alias }) => of(run.id, alias).slice(-1))
        .map(({ alias, number }) => [alias, number]),
    ),
  });
  return {
    async appendSteps(runId, steps) {
      if (steps.length === 0) return;
      sources.require(runId);
      const own = stored.get(runId) ?? new Map<string, CoderStep>();
      stored.set(runId, own);
      for (const step of steps) {
        const key = `${step.alias} ${step.number}`;
        if (!own.has(key)) own.set(key, kept(step));
      }
      for (const { alias, number } of steps)
        for (const old of of(runId, alias))
          if (old.number <= number - CODER_STEP_LIMITS.steps) own.delete(`${alias} ${old.number}`);
    },
    async steps(runId, { alias, after = 0, before, kinds, text, limit }) {
      const found = of(runId, alias).filter(
        (step) =>
          step.number > after &&
          step.number < (before ?? Number.POSITIVE_INFINITY) &&
          (kinds === undefined || kinds.includes(step.kind)) &&
          `${step.text} ${step.detail ?? ''}`.toLowerCase().includes((text ?? '').toLowerCase()),
      );
      return kept(before === undefined ? found.slice(0, limit) : found.slice(-limit));
    },
    async stepTotals(runId) {
      return aliases(runId).map((alias) => {
        const steps = of(runId, alias);
        return {
          alias,
          first: steps.at(0)?.number ?? 0,
          last: steps.at(-1)?.number ?? 0,
          starts: steps.filter(({ kind }) => kind === 'start').length,
          details: steps.reduce((sum, { detail = '' }) => sum + [...detail].length, 0),
        };
      });
    },
    async callsOf(runId, spender, { after, limit }) {
      return sources.calls
        .map((call, at) => ({ number: at + 1, ...call }))
        .filter((call) => call.runId === runId && call.spender === spender && call.number > after)
        .slice(0, limit);
    },
    async runMarks(which) {
      const runs = sources.records();
      if ('newest' in which) {
        const newestFirst = runs.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
        return Promise.all(newestFirst.slice(0, which.newest).map(markOf));
      }
      return Promise.all(runs.filter(({ id }) => which.includes(id)).map(markOf));
    },
    forget: (id) => void stored.delete(id),
  };
}
