import {
  EXTRA_WORK,
  type ExaminationCut,
  type ExtraWork,
  examinationBudget,
  type LeftOut,
  type TestRun,
} from '../../core/evidence/index.ts';
import type { Candidate } from '../../core/model/index.ts';
import { workTimeOf } from '../stage.ts';
import type { CheckRunner } from './areas.ts';

/**
 * The time of one examination. What it allowed, and how long its work took, is remembered: a restarted examination leaves
 * out the same, and spends no time on what was executed before.
 */
export interface ExaminationTime {
  /** Does work whose time counts, in an examination's own name for it. Never cut. */
  measured<T>(name: string, work: () => Promise<T>): Promise<T>;
  /**
   * May this part of the work still begin? It may while more time is left than it is expected to take, milliseconds.
   * `unit` is what reports name: one is left out where a part of it is. Asked again, the answer is the same.
   */
  allows(what: ExtraWork, unit: string, part?: string, expectedMs?: number): Promise<boolean>;
  /** What was not allowed, and what was `planned` to be left out; undefined for nothing. */
  cut(planned?: LeftOut): ExaminationCut | undefined;
}

type Entry = Pick<Candidate, 'alias' | 'patch'>;

/** The names of another round, with other candidates, are others: it has time of its own. */
const roundOf = (entries: readonly Entry[]): string =>
  entries
    .map(({ alias, patch }) => `${alias}:${patch?.sha256.slice(0, 8) ?? ''}`)
    .sort()
    .join(',');

/** `leftMs`: what the run may still work; absent where nothing limits it. */
export async function openExaminationTime(
  runner: CheckRunner,
  entries: readonly Entry[],
  onBase: TestRun,
  leftMs?: number,
): Promise<ExaminationTime> {
  const { world, task } = runner;
  const { examine } = task.settings.timeout;
  const round = roundOf(entries);
  const remembered = <T>(name: readonly string[], work: () => Promise<T>): Promise<T> =>
    runner.remember(JSON.stringify(['examination-time', round, ...name]), work);
  const budgetMs = await remembered(['budget'], async () =>
    examinationBudget({
      settingMs: examine === undefined ? undefined : examine * 1000,
      suiteMs: onBase.ms,
      candidates: entries.filter(({ patch }) => patch).length,
      parallel: world.parallelChecks,
      leftMs,
    }),
  );
  const time = workTimeOf(budgetMs);
  const asked = new Map<string, { readonly what: ExtraWork; readonly allowed: boolean }>();
  return {
    async measured(name, work) {
      const took = time.begin();
      const began = world.clock.elapsed();
      const result = await work();
      took(await remembered(['took', name], async () => Math.round(world.clock.elapsed() - began)));
      return result;
    },
    async allows(what, unit, part = '', expectedMs = 0) {
      const name = [what, unit, part];
      const allowed = await remembered(['allows', ...name], async () => time.left() > expectedMs);
      asked.set(`${what} ${unit}`, { what, allowed });
      return allowed;
    },
    cut(planned) {
      const leftOut = EXTRA_WORK.flatMap((what): readonly LeftOut[] => {
        if (what === planned?.what) return [planned];
        const all = [...asked.values()].filter((one) => one.what === what);
        const count = all.filter(({ allowed }) => !allowed).length;
        return count === 0 ? [] : [{ what, count, of: all.length }];
      });
      return leftOut.length === 0 ? undefined : { budgetMs, leftOut };
    },
  };
}
