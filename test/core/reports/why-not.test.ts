import { expect, test } from 'vitest';
import { testFaultOf } from '../../../src/core/reports/executed.ts';
import { whyNotSection } from '../../../src/core/reports/why-not.ts';
import { evidence, judged } from './sample.ts';

/** What is said against a candidate whose gate found this. */
function against(because: string): string {
  const view = judged();
  const gates = [{ gate: 'untampered', passed: false, because }] as const;
  const changed = view.evidence.map((one) => (one.alias === 'D' ? { ...evidence('D'), gates } : one));
  const section = whyNotSection({ ...view, evidence: changed }, 10_000);
  return /- \*\*D\*\*: (.*)/.exec(section)?.[1] ?? '';
}

test('of all that a gate found, the first sentence is named', () => {
  expect(against('It skips a test. It removes a file.')).toBe('It skips a test.');
  expect(against('It skips a test in a.js')).toBe('It skips a test in a.js');
});

test('a sentence does not end inside of code or a quotation', () => {
  const code = 'It removes `if (ok ? a : b. c)` from a test.';
  expect(against(`${code} It removes a file.`)).toMatch(/ from a test\.$/);
  const quoted = 'It renames the test "works? Yes. Always" to another.';
  expect(against(`${quoted} It removes a file.`)).toMatch(/ to another\.$/);
  // Where nothing closes, all of it is named.
  expect(against('It replaces 5" by a. b. It removes a file.')).toMatch(/removes a file\.$/);
});

test('tests of a candidate that failed a gate count against nobody', () => {
  const view = judged();
  const peerTests = [
    { author: 'B', passed: 3, total: 4, failing: ['of B'] },
    { author: 'D', passed: 0, total: 2, failing: ['of D', 'also of D'] },
  ];
  const changed = view.evidence.map((one) => (one.alias === 'C' ? { ...one, peerTests } : one));
  const section = whyNotSection({ ...view, evidence: changed }, 10_000);
  expect(section).toContain('- **C**: It fails 1 of 4 new tests, such as `of B`.');
});

test('a patch whose own test files fail does not keep tests from running', () => {
  const because = "With the patch's own test files, 1 existing test fails: list.";
  const failed = (regressions: readonly string[], ownTestsFail: boolean) => {
    const { baseTests } = evidence('D');
    if (!baseTests) throw new Error('The sample has base tests.');
    const gate = { gate: 'tests-run', passed: false, because } as const;
    const gates = ownTestsFail ? [{ ...gate, ownTestsFail }] : [gate];
    return testFaultOf(
      { evidence: [{ ...evidence('D'), gates, baseTests: { ...baseTests, regressions } }] },
      'D',
    );
  };
  expect(failed(['list'], true)).toBe('breaks 1 existing test');
  expect(failed([], true)).toBe('fails its own tests');
  expect(failed(['list'], false)).toBe('prevents the tests from running');
});
