import {
  EXTRA_WORK,
  type ExaminationCut,
  type ExtraWork,
  examinationBudget,
  type LeftOut,
  type TestRun,
} from '../../core/evidence/index.ts';
import type { Candidate } from '../../core/model/index.ts';
import { roleOf } from '../../core/patches/index.ts';
import type { ExaminationStep } from '../../core/reports/index.ts';
import type { CheckRunner } from './areas.ts';

/**
 * Time budget of one examination. Its decisions and durations are recorded, so that a restarted examination makes the
 * same cuts and does not count finished work again.
 */
export interface ExaminationTime {
  /** Milliseconds of the budget that are left. */
  left(): number;
  /** Does work and counts its time under a name unique within the examination. Never cut. */
  measured<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Milliseconds for which tests hung until their limit: they count for nothing that is being measured. */
  hung(ms: number): void;
  /**
   * Whether a part of the work may begin: only if more time is left than its expected milliseconds. `unit` is what
   * reports name; it counts as left out if a part of it is. The answer is the same when repeated.
   */
  allows(what: ExtraWork, unit: string, part?: string, expectedMs?: number): Promise<boolean>;
  /**
   * Reports a part of the work to whoever watches, unless it has 0 runs. The returned function reports that one of its
   * `of` runs is done; null: their number is not known beforehand.
   */
  step(name: ExaminationStep['name'], of: number | null): () => void;
  /** What was not allowed, plus `planned` cuts; undefined if there are none. */
  cut(planned?: LeftOut): ExaminationCut | undefined;
}

type Entry = Pick<Candidate, 'alias' | 'patch'>;

/** A further round has other candidates, so it gets other keys and its own time. */
const roundOf = (entries: readonly Entry[]): string =>
  entries
    .map(({ alias, patch }) => `${alias}:${patch?.sha256.slice(0, 8) ?? ''}`)
    .sort()
    .join(',');

interface TimeOptions {
  /** Milliseconds of work time left to the run; absent: unlimited. */
  readonly leftMs?: number | undefined;
  /** Called as each part of the work begins or proceeds. */
  readonly onStep?: ((step: ExaminationStep) => void) | undefined;
  /** An examination ahead has a time of its own: that of the same candidates afterwards is another one. */
  readonly ahead?: boolean;
}

export async function openExaminationTime(
  runner: CheckRunner,
  entries: readonly Entry[],
  onBase: TestRun,
  { leftMs, onStep, ahead = false }: TimeOptions = {},
): Promise<ExaminationTime> {
  const { world, task } = runner;
  const { examine } = task.settings.timeout;
  const round = roundOf(entries);
  const remembered = <T>(name: readonly string[], work: () => Promise<T>): Promise<T> =>
    runner.remember(JSON.stringify([ahead ? 'ahead-time' : 'examination-time', round, ...name]), work);
  const budgetMs = await remembered(['budget'], async () =>
    examinationBudget({
      settingMs: examine === undefined ? undefined : examine * 1000,
      suiteMs: (onBase.types ?? []).reduce((sum, { ms }) => sum + ms, onBase.ms + (onBase.buildMs ?? 0)),
      candidates: entries.filter(({ patch }) => patch).length,
      parallel: world.parallelChecks,
      leftMs,
    }),
  );
  let spentMs = 0;
  let hungMs = 0;
  const left = () => Math.max(0, budgetMs - spentMs);
  const asked = new Map<string, { readonly what: ExtraWork; readonly allowed: boolean }>();
  return {
    left,
    async measured(name, work) {
      const from = spentMs;
      const began = world.clock.elapsed() - hungMs;
      const result = await work();
      // Parts overlap and wait for each other's commands: their durations, added up after a restart, would be too much.
      const until = async () => Math.round(from + Math.max(0, world.clock.elapsed() - hungMs - began));
      spentMs = Math.max(spentMs, await remembered(['until', name], until));
      return result;
    },
    hung(ms) {
      hungMs += ms;
    },
    async allows(what, unit, part = '', expectedMs = 0) {
      const name = [what, unit, part];
      const allowed = await remembered(['allows', ...name], async () => left() > expectedMs);
      asked.set(`${what} ${unit}`, { what, allowed });
      return allowed;
    },
    step(name, of) {
      let done = 0;
      const report = () => {
        if (of !== 0) onStep?.({ name, done, of, leftMs: left() });
      };
      report();
      return () => {
        done += 1;
        report();
      };
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

interface Suite {
  readonly runner: Pick<CheckRunner, 'baseFiles'>;
  readonly onBase: TestRun;
}

/** Files of the base commit with tests: those that the report names, else those that look like tests. */
export function testFileCount({ runner: { baseFiles }, onBase }: Suite): number {
  const known = new Set(baseFiles);
  const named = new Set(Object.keys(onBase.tests).map((id) => id.split(' > ', 1)[0] ?? ''));
  const reported = [...named].filter((path) => known.has(path)).length;
  return reported || baseFiles.filter((path) => roleOf(path) === 'test').length;
}

/** Expected milliseconds of some test files run by themselves, as their share of the suite. */
export const msOfFiles = (suite: Suite, files: number): number =>
  Math.round(suite.onBase.ms * Math.min(1, files / Math.max(1, testFileCount(suite))));
