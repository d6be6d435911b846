import type { Alias } from '../model/index.ts';
import type { IndependentTests } from './evidence.ts';
import type { DerivedTests, ProbeRun } from './observations.ts';

/** What the issue's own examples say. */
export interface IssueExamples {
  /** By alias; empty where no example was admitted. */
  readonly byAlias: ReadonlyMap<Alias, IndependentTests>;
  /** Examples that fail on every candidate, as they stand in the issue: rather read wrongly than unmet. Never scored. */
  readonly suspect: readonly string[];
}

/** Characters of an example that are shown. */
const MAX_EXAMPLE_CHARS = 200;

/**
 * Admits examples of the issue by execution: each must say the same on every run of the base, and some candidate that
 * passed the gates must meet it. One that fails on the base asks for something new; one that passes there must stay so.
 */
export function admitExamples(
  derived: DerivedTests,
  base: readonly ProbeRun[],
  survivors: readonly { readonly alias: Alias; readonly run: ProbeRun | null }[],
): IssueExamples {
  const examples = derived.files.flatMap(({ file, cases }) =>
    cases.flatMap(({ id, source, origin }) =>
      origin === 'issue' ? [{ id: `${file}.${id}`, text: shownExample(source) }] : [],
    ),
  );
  const stable = examples.filter(({ id }) => {
    const outcomes = new Set(base.map(({ cases }) => cases.get(id)));
    return outcomes.size === 1 && !outcomes.has(undefined);
  });
  const passes = (run: ProbeRun | null, id: string) => run?.cases.get(id) === 'passed';
  const admitted = stable.filter(({ id }) => survivors.some(({ run }) => passes(run, id)));
  const byAlias = new Map(
    survivors.map(({ alias, run }): [Alias, IndependentTests] => {
      const failing = admitted.filter(({ id }) => !passes(run, id));
      return [
        alias,
        {
          passed: admitted.length - failing.length,
          total: admitted.length,
          failing: failing.map(({ text }) => ({ id: text, origin: 'issue' })),
        },
      ];
    }),
  );
  return {
    byAlias: admitted.length === 0 ? new Map() : byAlias,
    suspect: stable.filter((one) => !admitted.includes(one)).map(({ text }) => text),
  };
}

const shownExample = (source: string): string => source.trim().slice(0, MAX_EXAMPLE_CHARS);
