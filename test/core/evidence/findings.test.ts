import { describe, expect, test } from 'vitest';
import {
  type BaseTests,
  confirmedByOthers,
  type Evidence,
  type GateReport,
  NO_INDEPENDENT_TESTS,
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
  change: 'expect(add(1,2)).toBe(3)\nexpect(add(1,2)).toBe(4)',
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
          settled: 'The code passes the 2 original tests of this file.',
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
          settled: `The code fails 1 test with the original version: ${FIRST}.`,
        },
      ],
    });
  });

  test('fail, and the candidate has disabled them: the gate fails', () => {
    const skipped = finding({ kind: 'test-skipped', what: 'a test is now skipped under a condition' });
    expect(settled(skipped, breaking(FIRST))).toMatchObject({
      passed: false,
      because: expect.stringContaining(
        `${FILE}:3: a test is now skipped under a condition. The code fails 1`,
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

  test('count one by one: a skip hides the failure of its own test only', () => {
    const skipped = finding({ kind: 'test-skipped', what: 'a test is now skipped', tests: ['subtracts'] });
    expect(settled(skipped, breaking(FIRST))).toMatchObject({
      passed: true,
      findings: [{ severity: 'question', original: 'passes' }],
    });
    expect(settled(skipped, breaking(SECOND))).toMatchObject({
      passed: false,
      findings: [{ severity: 'gate', original: 'fails' }],
    });
    // A group is all of its tests, and a table all of its rows.
    for (const name of ['list', 'adds %i and %i', 'adds $a and $b']) {
      const id = `${FILE} > list > adds 1 and 2`;
      const group = settledByTests(
        untampered({ ...skipped, tests: [name] }),
        { ...onBase, tests: { ...onBase.tests, [id]: 'passed' } },
        breaking(id),
      );
      expect(group[0]?.passed).toBe(false);
    }
  });

  test('of a file that the suite never runs are not known, although other tests pass', () => {
    const path = 'e2e/login.test.ts';
    const { line: _, ...gone } = finding({ kind: 'test-deleted', path, what: 'a test file was removed' });
    for (const one of [gone, finding({ path }), finding({ path, tests: ['logs in'] })])
      expect(settled(one, breaking())).toMatchObject({
        passed: true,
        findings: [{ severity: 'question', original: 'not-run' }],
      });
  });

  test('are found by their names if the runner reports packages instead of files', () => {
    const base = { ...onBase, tests: { 'example.org/m/calc > TestAdd': 'passed' as const } };
    const of = (path: string, tests: readonly string[]) =>
      settledByTests(untampered(finding({ path, tests })), base, breaking())[0]?.findings?.[0]?.original;
    expect(of('calc/add_test.go', ['TestAdd'])).toBe('passes');
    expect(of('calc/add_test.go', ['TestSub'])).toBe('not-run');
    expect(of('net/add_test.go', ['TestAdd'])).toBe('not-run');
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
  const owning = (tests: TestRun['tests']) => ({ base: onBase, own: { ...onBase, tests } });

  test('are no regressions if the candidate changes their file, and its own version passes', () => {
    const runs = owning({ [FIRST]: 'passed' });
    expect(withoutSuperseded(breaking(FIRST), { gates: declared }, runs)).toMatchObject({
      regressions: [],
      superseded: [FIRST],
    });
  });

  test('may get another name, but not go: each test that is gone needs a new one in its file', () => {
    const renamed = `${FILE} > adds with a carry`;
    const supersededBy = (...own: readonly string[]) =>
      withoutSuperseded(
        breaking(FIRST, SECOND),
        { gates: declared },
        owning(Object.fromEntries(own.map((id) => [id, 'passed' as const]))),
      ).superseded;
    expect(supersededBy(SECOND, renamed)).toEqual([FIRST, SECOND]);
    expect(supersededBy(renamed)).toBeUndefined();
    expect(supersededBy(SECOND)).toEqual([SECOND]);
    expect(supersededBy(OTHER, 'test/b.test.ts > new')).toBeUndefined();
    // The file and all its tests are gone.
    expect(supersededBy()).toBeUndefined();
  });

  test('are regressions if its own version fails, if another file breaks, or if it leaves the file as it is', () => {
    const same = (tests: BaseTests, gates: readonly GateReport[], own: TestRun | undefined) =>
      expect(withoutSuperseded(tests, { gates }, { base: onBase, own })).toBe(tests);
    const [passes, fails] = [owning({ [FIRST]: 'passed' }).own, owning({ [FIRST]: 'failed' }).own];
    same(breaking(FIRST), declared, fails);
    same(breaking(OTHER), declared, passes);
    same(breaking(FIRST), untampered(finding()), passes);
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
    ['another change of the same lines', finding({ change: 'a\nb' }), { family: 'two' }],
    ['a weaker check', finding({ kind: 'assertion-weakened' }), { family: 'two' }],
  ])('%s does not', (_, one, change) => {
    const pool = [withFinding('A', finding(), { family: 'one' }), withFinding('B', one, change)];
    expect(severities(settledByOthers(pool))[0]).toBe(1);
  });

  const fails = finding({
    original: 'fails',
    settled: 'The code fails 1 test with the original version: t.',
  });
  const edits = withFinding('A', fails, { baseTests: breaking(FIRST) });

  test('one that passes the originals and the tests of the task confirms that the change is not needed', () => {
    const proven = candidate('B', { independentTests: independentTests(2, 0) });
    const [a] = confirmedByOthers([{ ...edits, independentTests: independentTests(0, 2) }, proven]);
    expect(a?.survivor).toBe(false);
    expect(a?.gates.find(({ gate }) => gate === 'untampered')).toMatchObject({
      passed: false,
      because: expect.stringContaining(
        'B breaks no existing test and passes tests of the task that this one fails',
      ),
    });
  });

  test('neither a test without a result nor one that passes on the base confirms anything', () => {
    const untried = { ...edits, independentTests: NO_INDEPENDENT_TESTS };
    expect(
      confirmedByOthers([untried, candidate('B', { independentTests: independentTests(2, 0) })])[0]?.survivor,
    ).toBe(true);
    const guard = { id: 'stays', origin: 'writer' } as const;
    const failing = { passed: 0, total: 1, failing: [guard], passing: [] };
    const passing = { passed: 1, total: 1, failing: [], passing: [{ ...guard, guard: true }] } as const;
    const [changes] = confirmedByOthers([
      { ...edits, independentTests: failing },
      candidate('B', { independentTests: passing }),
    ]);
    expect(changes?.survivor).toBe(true);
  });

  test('one that fixes some other failing test evicts nobody that passes the tests of the task', () => {
    const honest = { ...edits, independentTests: independentTests(9, 0) };
    const lazy = candidate('C', { baseTests: baseTests({ fixed: ['unrelated'] }) });
    expect(confirmedByOthers([honest, lazy])[0]?.survivor).toBe(true);
    const equal = candidate('C', { independentTests: independentTests(9, 0) });
    expect(confirmedByOthers([honest, equal])[0]?.survivor).toBe(true);
    const less = candidate('C', { independentTests: independentTests(8, 0) });
    expect(confirmedByOthers([honest, less])[0]?.survivor).toBe(true);
  });

  test.each<[string, Partial<Evidence>]>([
    ['that passes no test of the task', {}],
    ['that fails one', { independentTests: independentTests(1, 1) }],
    [
      'that breaks a existing test itself',
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

  test('that breaks tests that the brief gives up is left to a person', () => {
    const superseding = { ...strong, baseTests: baseTests({ fixed: ['x'], superseded: [FIRST] }) };
    expect(decided(candidate('A', superseding))).toMatchObject({
      kind: 'toss-up',
      alias: 'A',
      because: expect.stringContaining('breaks existing tests that the brief says must change'),
    });
  });

  test('is as clear as ever with notes only', () => {
    expect(decided(withFinding('A', finding({ severity: 'note' }), strong))).toMatchObject({
      confidence: 'clear',
    });
  });
});
