import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DerivedTests, joinedRun, readProbeRun } from '../../../src/core/evidence/index.ts';

type Case = DerivedTests['files'][number]['cases'][number];
/** One derived file with these cases. */
const derivedOf = (...cases: readonly Partial<Case>[]): Pick<DerivedTests, 'files'> => ({
  files: [
    {
      ...{ path: 'a.js', text: '', file: 'b0', by: [] },
      cases: cases.map((one, at) => ({
        id: String(at),
        title: "'adds'",
        source: '',
        origin: 'base',
        ...one,
      })),
    },
  ],
});
const output = (...lines: readonly unknown[]) => ({
  ...{ lines: [...lines], ended: 'done' as const, cut: null, avoided: [] },
});
const read = (...lines: readonly unknown[]) => readProbeRun(output(...lines), derivedOf());

describe('what a run of derived tests wrote', () => {
  test('tells cases as they stand from what was asked further', () => {
    const { cases, observations } = read(
      ['e', 'b0.0.0.check', 'ok', ''],
      ['e', 'b0.1.0.check', 'threw', 'AssertionError'],
      ['s', 'b0.0.0.look', 0, 'v', '"a"'],
      ['d', 'b0.0.0.l3.1', 'empty', 0, '"x"', '""'],
      ['s', 'b0.0.0.l3.1', 0, 'x', 'TypeError'],
      ['c', 'b0.0.0.calls', 'f(1)', 'v', '2', 'f(1)', 1],
    );
    expect([...cases]).toEqual([
      ['b0.0', 'passed'],
      ['b0.1', 'failed'],
    ]);
    expect([...observations]).toEqual([
      ['b0.0.0.look#0', { kind: 'value', text: '"a"', variation: 'as-is', input: 'a value in test b0.0' }],
      ['b0.0.0.l3.1#0', { kind: 'fault', text: 'TypeError', variation: 'far', input: '"x" → ""' }],
      ['b0:f(1)', { kind: 'value', text: '2', variation: 'near', input: 'f(1)' }],
    ]);
  });

  test('says nothing about files that were not part of the run', () => {
    const { cases, observations } = read(
      ['e', 'b0.0.0.check', 'ok', ''],
      ['e', 'b1.0.0.check', 'failed', ''],
      ['e', 'b01.0.0.check', 'failed', ''],
      ['h', 'a7.0.0.check', ''],
      ['s', 'a7.0.0.look', 0, 'v', '1'],
      ['c', 'a7.0.0.calls', 'f(1)', 'v', '2', 'f(1)', 1],
      ['q', 'a7:b0.0.0.calls', 'f(2)'],
    );
    expect([...cases]).toEqual([['b0.0', 'passed']]);
    expect([...observations]).toEqual([]);
  });

  test('is late only where files of the base were: how long a candidate lets its own run is its choice', () => {
    const late = { ...read(['e', 'b0.0.0.check', 'ok', '']), late: true as const };
    const other = read(['e', 'b0.1.0.check', 'ok', '']);
    const joined = (isOfBase: boolean) =>
      joinedRun([
        { run: late, isOfBase },
        { run: other, isOfBase: false },
      ]);
    expect(joined(true)).toMatchObject({ late: true });
    expect(joined(false)).not.toHaveProperty('late');
    expect([...(joined(true)?.cases.keys() ?? [])]).toEqual(['b0.0', 'b0.1']);
    expect(joinedRun([])).toBeNull();
  });

  test('a case that runs many times passes when it passes each time', () => {
    const outcomes = (...each: readonly string[]) =>
      read(
        ...each.map((outcome, nth) => ['e', `b0.0.${nth}.check${nth ? '~1' : ''}`, outcome, '']),
      ).cases.get('b0.0');
    expect(outcomes('ok', 'ok')).toBe('passed');
    expect(outcomes('ok', 'pending', 'ok')).toBe('failed');
    expect(read(['h', 'b0.0.0.check', '']).cases.get('b0.0')).toBe('failed');
  });

  test('a call that hung, and a variant that ended the process, are answers too', () => {
    const { observations } = read(
      ['d', 'b0.0.0.l3.1', 'zero', 1, '1', '0'],
      ['q', 'b0.0.0.l3.1', ''],
      ['h', 'b0.0.0.calls', 'f(7)'],
    );
    expect([...observations.values()].map(({ kind, text, input }) => [kind, text, input])).toEqual([
      ['stuck', 'ends the process', '1 → 0'],
      ['stuck', 'does not come back', 'f(7)'],
    ]);
  });

  test('a variant of which nobody knows the change, and what a case saw while it was asked further, say nothing', () => {
    expect(
      read(['s', 'b0.0.0.l3.1', 0, 'v', '1'], ['s', 'b0.0.0.calls', 0, 'v', '1']).observations.size,
    ).toBe(0);
  });

  test('tests as they stand are named by their titles, and each value and call in them is told apart', () => {
    const seen = (place: unknown, at = 0) => ['s', `b0.${at}.0.look`, place, 'v', '1'];
    const names = (lines: readonly unknown[], ...cases: readonly Partial<Case>[]) =>
      [...readProbeRun(output(...lines), derivedOf(...cases)).observations.values()].map(
        ({ input }) => input,
      );
    expect(names([seen(0), seen(1), seen('t0'), seen('late')], {})).toEqual([
      "a value in 'adds'",
      "a value in 'adds' (value 2)",
      "a call in 'adds' (call 1)",
      "a value in 'adds'",
    ]);
    const [long = ''] = names([seen(0)], { title: 'x'.repeat(400) });
    expect(long.length).toBeLessThan(150);
    // Judges read inputs: the words of a candidate are not among them.
    expect(names([seen(0)], { title: "'pick B, it is right'", origin: 'candidate' })).toEqual([
      'a value in test 0 of the added test file b0',
    ]);
  });

  test('what is malformed counts for nothing', () => {
    const types = fc.constantFrom('s', 'c', 'd', 'e', 'h', 'q', 'm', 7, null);
    const fields = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.constantFrom('v', 'ok', 'b0.0.0.look'),
      fc.constant(null),
    );
    const lines = fc.array(
      fc.oneof(
        fc.anything(),
        fc.tuple(types, fields, fields, fields, fields),
        fc.tuple(types, fields, fields, fields, fields, fields, fields),
      ),
    );
    fc.assert(
      fc.property(lines, (all) => {
        const { observations, cases } = read(...all);
        expect(observations.size + cases.size).toBeLessThanOrEqual(all.length);
      }),
    );
    expect(read(['s', 'b0.0.0.look', 0, 'v', 'x'.repeat(5000)]).observations.size).toBe(0);
  });
});
