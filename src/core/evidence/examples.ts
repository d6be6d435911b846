import type { Alias } from '../model/index.ts';
import type { IndependentTests } from './independent-results.ts';
import type { DerivedTests, ProbeRun } from './observations.ts';

/** The results of the issue's own examples. */
export interface IssueExamples {
  /** By alias; empty if no example was admitted. */
  readonly byAlias: ReadonlyMap<Alias, IndependentTests>;
  /**
   * Examples that fail on every candidate, as written in the issue. They were probably misread and are never scored.
   */
  readonly suspect: readonly string[];
}

/** Maximum characters of an example that are shown. */
const MAX_EXAMPLE_CHARS = 200;

/**
 * Admits examples of the issue by execution: each must give the same result on every run of the base, and at least
 * one candidate that passed the gates must satisfy it. An example that fails on the base checks new behaviour. One
 * that passes there must keep passing, if the issue says so; a result that it only tells may be what is wrong, and is
 * no example if any candidate changes it. Without a result is a candidate that could not be probed, or for whose
 * example the time ran out.
 */
export function admitExamples(
  derived: DerivedTests,
  base: readonly ProbeRun[],
  survivors: readonly { readonly alias: Alias; readonly run: ProbeRun | null }[],
): IssueExamples {
  const examples = derived.files.flatMap(({ file, cases }) =>
    cases.flatMap(({ id, source, origin, isMeant = false }) =>
      origin === 'issue' ? [{ id: `${file}.${id}`, text: shownExample(source), isMeant }] : [],
    ),
  );
  const passes = (run: ProbeRun | null, id: string) => run?.cases.get(id) === 'passed';
  const isTried = (run: ProbeRun, id: string) => run.cases.has(id) || !run.late;
  const mayBeWrong = (id: string) =>
    base.every((run) => passes(run, id)) &&
    survivors.some(({ run }) => run !== null && isTried(run, id) && !passes(run, id));
  const stable = examples.filter(({ id, isMeant }) => {
    const outcomes = new Set(base.map(({ cases }) => cases.get(id)));
    return outcomes.size === 1 && !outcomes.has(undefined) && (isMeant || !mayBeWrong(id));
  });
  const admitted = stable.filter(({ id }) => survivors.some(({ run }) => passes(run, id)));
  const passesOnBase = ({ id }: { readonly id: string }) => base.every((run) => passes(run, id));
  const byAlias = new Map(
    survivors.flatMap(({ alias, run }): [Alias, IndependentTests][] => {
      if (run === null) return [];
      const tried = admitted.filter(({ id }) => isTried(run, id));
      const failing = tried.filter(({ id }) => !passes(run, id));
      const passing = tried.filter((one) => !failing.includes(one));
      const guards = passing.filter(passesOnBase).length;
      return [
        [
          alias,
          {
            passed: passing.length,
            total: tried.length,
            failing: failing.map(({ text }) => ({ id: text, origin: 'issue' })),
            passing: passing.map((one) => ({
              id: one.text,
              origin: 'issue',
              ...(passesOnBase(one) ? { guard: true } : {}),
            })),
            ...(guards > 0 ? { guards } : {}),
          },
        ],
      ];
    }),
  );
  return {
    byAlias: admitted.length === 0 ? new Map() : byAlias,
    suspect: stable.filter((one) => !admitted.includes(one)).map(({ text }) => text),
  };
}

const shownExample = (source: string): string => source.trim().slice(0, MAX_EXAMPLE_CHARS);
