import fc from 'fast-check';
import type { TestOutcome } from '../../../src/core/evidence/index.ts';
import type { IndependentTest, Trial, Trials } from '../../../src/core/independent-tests/index.ts';

export const independentTest = (id: string, fields: Partial<IndependentTest> = {}): IndependentTest => ({
  id,
  origin: 'writer',
  path: `test/${id}.test.js`,
  text: 'test',
  onBase: 'fails',
  votes: 'file',
  ...fields,
});

const OUTCOMES: Readonly<Record<string, TestOutcome>> = { '+': 'passed', '-': 'failed', o: 'skipped' };

/** One run of the case `c` for each letter: `+` passed, `-` failed, `o` skipped, `.` not reported, `?` nothing known. */
export const runs = (letters: string, id = 'c'): readonly Trial[] =>
  [...letters].map((letter) => {
    const outcome = OUTCOMES[letter];
    return { kind: letter === '?' ? 'unknown' : 'ran', cases: outcome ? { [id]: outcome } : {} };
  });

/** What one case did on the base and on each survivor. */
export const on = (base: string, survivors: Readonly<Record<string, string>>): Trials => ({
  base: runs(base),
  survivors: Object.fromEntries(Object.entries(survivors).map(([alias, letters]) => [alias, runs(letters)])),
});

const outcome = fc.constantFrom<TestOutcome | null>('passed', 'passed', 'failed', 'failed', 'skipped', null);
const trial = fc.record({
  kind: fc.constantFrom<Trial['kind']>('ran', 'ran', 'ran', 'ran', 'broke', 'unknown'),
  cases: fc
    .record({ a: outcome, b: outcome })
    .map((each) =>
      Object.fromEntries(Object.entries(each).filter((one): one is [string, TestOutcome] => one[1] !== null)),
    ),
});
const same = trial.map((one) => [one, one, one]);
const three = fc.oneof(
  { weight: 5, arbitrary: same },
  { weight: 1, arbitrary: fc.array(trial, { minLength: 0, maxLength: 3 }) },
);

/** Tests with outcomes on the base and up to four survivors. */
export const pools = fc
  .array(
    fc.record({
      onBase: fc.constantFrom<IndependentTest['onBase']>('fails', 'passes'),
      votes: fc.constantFrom<IndependentTest['votes']>('file', 'case'),
      base: three,
      survivors: fc.tuple(three, three, three, three),
    }),
    { maxLength: 4 },
  )
  .map((made) => ({
    tests: made.map(({ onBase, votes }, i) => independentTest(`t${i}`, { onBase, votes })),
    trials: Object.fromEntries(
      made.map(({ base, survivors }, i) => [
        `t${i}`,
        { base, survivors: Object.fromEntries(survivors.map((each, j) => ['ABCD'[j] as string, each])) },
      ]),
    ) as Readonly<Record<string, Trials>>,
  }));
