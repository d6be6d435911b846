import { type Alias, uniqueSorted } from '../model/index.ts';
import type { IndependentTest, Trial, Trials } from './independent-test.ts';

/** On which survivors a case that some do not report says anything. */
export interface UnreportedCase {
  /** The only survivor that has it, if the file runs on the base and on others without it. */
  readonly onlyOn: Alias | null;
  /** They do not report it, which may be no failure. */
  readonly unknownOn: readonly Alias[];
  /** Those of `unknownOn` that can pass the file without it, because the base shows that it need not be there. */
  readonly exempt: readonly Alias[];
}

const REPORTED: UnreportedCase = { onlyOn: null, unknownOn: [], exempt: [] };

/**
 * A file may make its cases of what the code offers, as `for (const name of Object.keys(formats)) test(name, …)` does,
 * and the code may register one itself. Where the file runs, and the case is missing, that is then no failure. A case
 * that the base has is written in the file; where it is missing, it did not pass.
 */
export function unreportedCase(
  test: IndependentTest,
  id: string,
  { base, survivors }: Trials,
): UnreportedCase {
  if (test.cases || isReported(base, id)) return REPORTED;
  const all = Object.entries(survivors);
  const having = all.filter(([, runs]) => isReported(runs, id));
  // A file that does not load may be reported as a case with its own path.
  const shared = uniqueSorted(having.flatMap(([, runs]) => runs.flatMap(({ cases }) => Object.keys(cases))));
  const others = shared.filter((other) => other !== id && other !== test.path);
  const runsWithout = (runs: readonly Trial[]) =>
    !isReported(runs, id) && others.some((other) => isReported(runs, other));
  const unknownOn = all.filter(([, runs]) => runsWithout(runs)).map(([alias]) => alias);
  const [first] = having;
  if (!runsWithout(base)) return having.length === 1 ? { ...REPORTED, unknownOn } : REPORTED;
  const onlyOn = first && having.length === 1 && unknownOn.length > 0 ? first[0] : null;
  return { onlyOn, unknownOn, exempt: unknownOn };
}

const isReported = (runs: readonly Trial[], id: string): boolean =>
  runs.some(({ cases }) => Object.hasOwn(cases, id));
