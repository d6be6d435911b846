import { describe, expect, test } from 'vitest';
import {
  type BaseTests,
  confirmedByOthers,
  type Evidence,
  type GateReport,
  questionsOf,
  settledByOthers,
  settledByTests,
  type TamperingFinding,
  type TestRun,
  withoutSuperseded,
} from '../../../src/core/evidence/index.ts';
import { CALIBRATION, decide, type RankingOptions, rank } from '../../../src/core/ranking/index.ts';
import { candidate, independentTests } from '../ranking/sample.ts';

const FILE = 'test/a.test.ts';
const FIRST = `${FILE} > adds`;
const SECOND = `${FILE} > subtracts`;
const OTHER = 'test/b.test.ts > divides';

const onBase: TestRun = {
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 1,
  tests: { [FIRST]: 'passed', [SECOND]: 'passed', [OTHER]: 'passed' },
  tail: '',
};
const baseTests = (change: Partial<BaseTests> = {}): BaseTests => ({
  passed: 3,
  failed: 0,
  total: 3,
  regressions: [],
  fixed: [],
  source: 'report',
  exitCode: 0,
  ms: 1,
  ...change,
});
const breaking = (...regressions: readonly string[]): BaseTests =>
  baseTests({ passed: 3 - regressions.length, failed: regressions.length, total: 3, regressions });

const finding = (change: Partial<TamperingFinding> = {}): TamperingFinding => ({
  kind: 'expectation-changed',
  path: FILE,
  line: 3,
  what: 'an expected value was changed',
  hunk: '-  expect(add(1, 2)).toBe(3);\n+  expect(add(1, 2)).toBe(4);',
  severity: 'question',
  ...change,
});
const untampered = (...findings: readonly TamperingFinding[]): readonly GateReport[] => [
  { gate: 'untampered', passed: true, because: 'ok', findings },
];
const settled = (one: TamperingFinding, own: BaseTests | undefined) =>
  settledByTests(untampered(one), onBase, own)[0];

describe('the original tests, run on the candidate', () => {
  test('pass: its change of the expectation was not needed, and stays a question', () => {
    expect(settled(finding(), breaking())).toMatchObject({
      passed: true,
      findings: [
        {
          severity: 'question',
          original: 'passes',
          settled: 'Its code passes the 2 original tests of this file.',
        },
      ],
    });
  });

  test('fail: the question says so, because the regression ranks the candidate already', () => {
    expect(settled(finding(), breaking(FIRST, OTHER))).toMatchObject({
      passed: true,
      findings: [
        {
          severity: 'question',
          original: 'fails',
          settled: `Its code fails 1 test with the original version: ${FIRST}.`,
        },
      ],
    });
  });

  test('fail, and the candidate has disabled them: the gate fails', () => {
    const skipped = finding({ kind: 'test-skipped', what: 'a test is now skipped under a condition' });
    expect(settled(skipped, breaking(FIRST))).toMatchObject({
      passed: false,
      because: expect.stringContaining(
        `${FILE}:3: a test is now skipped under a condition. Its code fails 1`,
      ),
      hunk: skipped.hunk,
      findings: [{ severity: 'gate' }],
    });
    expect(settled(skipped, breaking(OTHER))?.passed).toBe(true);
  });

  test('pass, and the candidate has removed their file: nothing requires that, and the gate fails', () => {
    const { line: _, ...whole } = finding({ kind: 'test-deleted', what: 'a test file was removed' });
    expect(settled(whole, breaking())).toMatchObject({
      passed: false,
      because: expect.stringContaining('nothing requires their removal'),
    });
    // Tests of behaviour that is gone fail on the candidate, and may go with it.
    expect(settled(whole, breaking(FIRST, SECOND))?.passed).toBe(true);
  });

  test('of a helper or a fixture are all tests', () => {
    const fixture = finding({ kind: 'fixture-changed', path: 'test/fixtures/a.json' });
    expect(settled(fixture, breaking(OTHER))).toMatchObject({ findings: [{ original: 'fails' }] });
    expect(settled(fixture, breaking())).toMatchObject({ findings: [{ original: 'passes' }] });
  });

  test.each([
    ['without a run', finding(), undefined],
    ['with an exit code only', finding(), baseTests({ source: 'exit-code' })],
    [
      'inside production code, where the candidate’s own version runs',
      finding({ path: 'src/lib.rs' }),
      breaking(),
    ],
  ])('are not known %s', (_, one, own) => {
    expect(settled(one, own)).toMatchObject({ findings: [{ severity: 'question', original: 'not-run' }] });
  });

  test('of a workspace package belong to their file, too', () => {
    const id = 'packages/x > test/a.test.ts > adds';
    const base = { ...onBase, tests: { [id]: 'passed' as const } };
    const [report] = settledByTests(
      untampered(finding({ path: 'packages/x/test/a.test.ts' })),
      base,
      breaking(id),
    );
    expect(report).toMatchObject({ findings: [{ original: 'fails' }] });
  });
});

describe('tests that the brief says must change', () => {
  const declared = untampered(finding({ severity: 'note', declared: true }));
  const own = (outcome: 'passed' | 'failed'): TestRun => ({ ...onBase, tests: { [FIRST]: outcome } });

  test('are no regressions if the candidate changes their file, and its own version passes', () => {
    expect(withoutSuperseded(breaking(FIRST), { gates: declared }, own('passed'))).toMatchObject({
      regressions: [],
      superseded: [FIRST],
    });
  });

  test('are regressions if its own version fails, if another file breaks, or if it leaves the file as it is', () => {
    const same = (tests: BaseTests, gates: readonly GateReport[], run: TestRun | undefined) =>
      expect(withoutSuperseded(tests, { gates }, run)).toBe(tests);
    same(breaking(FIRST), declared, own('failed'));
    same(breaking(OTHER), declared, own('passed'));
    same(breaking(FIRST), untampered(finding()), own('passed'));
    same(breaking(FIRST), declared, undefined);
  });
});

const withFinding = (alias: string, one: TamperingFinding, change: Partial<Evidence> = {}): Evidence => {
  const found = candidate(alias, change);
  const gates = found.gates.map((gate) => (gate.gate === 'untampered' ? { ...gate, findings: [one] } : gate));
  return { ...found, gates };
};
const severities = (all: readonly Evidence[]) => all.map((one) => questionsOf(one).length);

describe('what other candidates say about a changed expectation', () => {
  test('the same change by another model family makes it a note', () => {
    const [a, b] = settledByOthers([
      withFinding('A', finding(), { family: 'one' }),
      withFinding('B', finding(), { family: 'two' }),
    ]);
    expect(a?.gates.flatMap(({ findings = [] }) => findings)).toMatchObject([
      { severity: 'note', settled: 'B of another model family makes the same change.' },
    ]);
    expect(severities([a, b].flatMap((one) => one ?? []))).toEqual([0, 0]);
  });

  test.each<[string, TamperingFinding, Partial<Evidence>]>([
    ['one of the same family', finding(), { family: 'one' }],
    ['one of an unknown family', finding(), {}],
    ['an eliminated one', finding(), { family: 'two', survivor: false }],
    ['another change', finding({ hunk: '-a\n+b' }), { family: 'two' }],
    ['a weaker check', finding({ kind: 'assertion-weakened' }), { family: 'two' }],
  ])('%s does not', (_, one, change) => {
    const pool = [withFinding('A', finding(), { family: 'one' }), withFinding('B', one, change)];
    expect(severities(settledByOthers(pool))[0]).toBe(1);
  });

  const fails = finding({
    original: 'fails',
    settled: 'Its code fails 1 test with the original version: t.',
  });
  const edits = withFinding('A', fails, { baseTests: breaking(FIRST) });

  test('one that passes the originals and the tests of the task confirms that the change is not needed', () => {
    const proven = candidate('B', { independentTests: independentTests(2, 0) });
    const [a] = confirmedByOthers([edits, proven]);
    expect(a?.survivor).toBe(false);
    expect(a?.gates.find(({ gate }) => gate === 'untampered')).toMatchObject({
      passed: false,
      because: expect.stringContaining('B breaks no base test and passes tests of the task'),
    });
  });

  test.each<[string, Partial<Evidence>]>([
    ['that passes no test of the task', {}],
    ['that fails one', { independentTests: independentTests(1, 1) }],
    [
      'that breaks a base test itself',
      { independentTests: independentTests(1, 0), baseTests: breaking(OTHER) },
    ],
  ])('one %s confirms nothing: the task may ask for the change', (_, change) => {
    expect(confirmedByOthers([edits, candidate('B', change)])[0]?.survivor).toBe(true);
  });
});

describe('a pick with a question', () => {
  const HOW: RankingOptions = { weights: { tests: 50, simplicity: 30, speed: 20 }, strategies: ['evidence'] };
  const strong = { independentTests: independentTests(9, 0), baseTests: baseTests({ fixed: ['x'] }) };
  const decided = (one: Evidence) => {
    const field = [one, candidate('B', { independentTests: independentTests(1, 8) })];
    return decide(rank(field, HOW), field);
  };

  test('is never clear, and says why', () => {
    expect(decided(candidate('A', strong))).toMatchObject({ kind: 'winner', confidence: 'clear' });
    const decision = decided(withFinding('A', finding({ original: 'passes' }), strong));
    expect(decision).toMatchObject({ kind: 'winner', alias: 'A', confidence: 'likely' });
    expect(JSON.stringify(decision)).toContain('a person should look at these lines');
  });

  test('is left to a person where the original was not executed', () => {
    const decision = decided(withFinding('A', finding({ original: 'not-run' }), strong));
    expect(decision).toMatchObject({
      kind: 'toss-up',
      alias: 'A',
      because: expect.stringContaining(`the original was not executed (${FILE}:3: an expected value`),
    });
    expect(decision.kind === 'toss-up' && decision.chance).toBeLessThan(CALIBRATION.likely);
  });

  test('is as clear as ever with notes only', () => {
    expect(decided(withFinding('A', finding({ severity: 'note' }), strong))).toMatchObject({
      confidence: 'clear',
    });
  });
});
