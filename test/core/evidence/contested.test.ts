import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  contestedTests,
  type Evidence,
  EXIT_CODE,
  withoutContestedTests,
} from '../../../src/core/evidence/index.ts';

const one = (
  alias: string,
  family: string | null,
  regressions: readonly string[],
  survivor = true,
): Evidence => ({
  alias,
  gates: [],
  survivor,
  patchSha256: alias,
  productionLines: 1,
  addedTests: 0,
  coderMs: 1,
  ...(family === null ? {} : { family }),
  baseTests: {
    passed: 9,
    failed: regressions.length,
    total: 9 + regressions.length,
    regressions,
    fixed: [],
    source: 'report',
    exitCode: 1,
    ms: 1,
  },
  peerTests: [],
});
const regressions = (evidence: readonly Evidence[]) => evidence.map((each) => each.baseTests?.regressions);
const contested = (evidence: readonly Evidence[]) => evidence.map((each) => each.baseTests?.contested);

describe('a test that most survivors break', () => {
  test('is contested if they come from two families', () => {
    const told = withoutContestedTests([
      one('A', 'gpt', ['t', 'u']),
      one('B', 'claude', ['t']),
      one('C', 'gpt', []),
    ]);
    expect(regressions(told)).toEqual([['u'], [], []]);
    expect(contested(told)).toEqual([['t'], ['t'], undefined]);
  });

  test('stays a regression if one family made the same mistake twice', () => {
    const pool = [one('A', 'gpt', ['t']), one('B', 'gpt', ['t']), one('C', 'claude', [])];
    expect(withoutContestedTests(pool)).toEqual(pool);
  });

  test('stays a regression if the families are unknown', () => {
    expect(contestedTests([one('A', null, ['t']), one('B', null, ['t'])])).toEqual([]);
  });

  test('stays a regression below two thirds', () => {
    const pool = [one('A', 'gpt', ['t']), one('B', 'claude', ['t']), one('C', 'x', []), one('D', 'y', [])];
    expect(contestedTests(pool)).toEqual([]);
    expect(contestedTests(pool.slice(0, 3))).toEqual(['t']);
  });

  test('is neither contested by eliminated candidates nor excused for them', () => {
    const pool = [one('A', 'gpt', ['t']), one('B', 'claude', ['t'], false), one('C', 'x', [])];
    expect(contestedTests(pool.filter((each) => each.survivor))).toEqual([]);
    const told = withoutContestedTests([...pool, one('D', 'y', ['t']), one('E', 'z', ['t'])]);
    expect(contested(told)).toEqual([['t'], undefined, undefined, ['t'], ['t']]);
  });

  test('is not contested by one survivor, nor is an exit code', () => {
    expect(contestedTests([one('A', 'gpt', ['t'])])).toEqual([]);
    expect(contestedTests([one('A', 'gpt', [EXIT_CODE]), one('B', 'claude', [EXIT_CODE])])).toEqual([]);
  });

  test('is the same in any order, and nobody gains a regression', () => {
    const pool = fc.array(
      fc.tuple(
        fc.constantFrom('gpt', 'claude', null),
        fc.uniqueArray(fc.constantFrom('t', 'u', 'v')),
        fc.boolean(),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(pool, (rows) => {
        const evidence = rows.map(([family, ids, survivor], i) => one(`${i}`, family, ids, survivor));
        const told = withoutContestedTests(evidence);
        const back = withoutContestedTests(evidence.toReversed()).toReversed();
        expect(back).toEqual(told);
        for (const [i, each] of told.entries()) {
          const all = [...(each.baseTests?.regressions ?? []), ...(each.baseTests?.contested ?? [])];
          expect(all.sort()).toEqual([...(evidence[i]?.baseTests?.regressions ?? [])].sort());
        }
      }),
    );
  });
});
