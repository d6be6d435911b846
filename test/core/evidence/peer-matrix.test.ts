import { describe, expect, test } from 'vitest';
import { type Evidence, type IndependentTests, sameSetTests } from '../../../src/core/evidence/index.ts';
import { candidate, peerTestsOf } from '../ranking/sample.ts';

const on = (alias: string, evidence: readonly Evidence[], writers?: Parameters<typeof sameSetTests>[1]) => {
  const found = sameSetTests(evidence, writers).get(alias);
  if (!found) throw new Error(`${alias} is no survivor.`);
  return found;
};
const NONE = { passed: 0, total: 0 };

describe('tests of survivors, over the same set for all', () => {
  const author = candidate('A', { family: 'gpt' });

  test('an author passes its own; a test that everybody passes compares nobody', () => {
    const pool = [
      author,
      candidate('B', { family: 'claude', peerTests: [peerTestsOf('A', 'ppf')] }),
      candidate('C', { family: 'gemini', peerTests: [peerTestsOf('A', 'pff')] }),
    ];
    expect(on('A', pool).confirmed).toEqual({ passed: 1, total: 1 });
    expect(on('A', pool).unconfirmed).toEqual({ passed: 1, total: 1 });
    expect(on('B', pool).confirmed).toEqual({ passed: 1, total: 1 });
    expect(on('B', pool).unconfirmed).toEqual({ passed: 0, total: 1 });
    expect(on('C', pool)).toMatchObject({ shares: [0], disputed: 2 });
  });

  test('a test that one of them cannot be asked is left out for all', () => {
    const pool = [
      author,
      candidate('B', { family: 'claude', peerTests: [peerTestsOf('A', 'n')] }),
      candidate('C', { family: 'gemini', peerTests: [peerTestsOf('A', 'f')] }),
    ];
    for (const alias of ['A', 'B', 'C'])
      expect(on(alias, pool)).toMatchObject({ confirmed: NONE, unconfirmed: NONE });
  });

  test('candidates with the same change are one author', () => {
    const alike = ['A', 'B'];
    const pool = [
      candidate('A', { alike, family: 'gpt' }),
      candidate('B', { alike, family: 'claude', peerTests: [peerTestsOf('A', 'f')] }),
      candidate('C', { family: 'gemini', peerTests: [peerTestsOf('A', 'f'), peerTestsOf('B', 'pf')] }),
    ];
    expect(on('B', pool)).toMatchObject({ shares: [], unconfirmedShares: [1], disputed: 0 });
    expect(on('C', pool)).toMatchObject({ unconfirmedShares: [0], disputed: 2 });
  });

  describe('a test is confirmed', () => {
    const failing = candidate('C', { family: 'gemini', peerTests: [peerTestsOf('A', 'f')] });
    const with2nd = (fields: Partial<Evidence> & { breaks?: readonly string[] }) =>
      on('A', [author, candidate('B', { peerTests: [peerTestsOf('A', 'p')], ...fields }), failing]);

    test('by another change of another family', () => {
      expect(with2nd({ family: 'claude' })).toMatchObject({ shares: [1], ownConfirmed: true });
    });

    test('but not by its own family, nor by one that breaks base tests', () => {
      expect(with2nd({ family: 'gpt' })).toMatchObject({ shares: [], ownConfirmed: false });
      expect(with2nd({ family: 'claude', breaks: ['x'] })).toMatchObject({ shares: [] });
    });

    test('by an independent test that the same candidates fail', () => {
      type Asked = Pick<IndependentTests['failing'][number], 'origin' | 'family'>;
      const asks = (passed: number, by: Asked) => ({
        independentTests: {
          passed,
          total: 1,
          failing: passed === 1 ? [] : [{ id: 'asked 1', ...by }],
        },
      });
      const pool = (other: number, by: Asked = { origin: 'issue' }) => [
        { ...author, ...asks(1, by) },
        candidate('B', { family: 'gpt', peerTests: [peerTestsOf('A', 'p')], ...asks(other, by) }),
        { ...failing, ...asks(0, by) },
      ];
      const unconfirmed = { shares: [], unconfirmedShares: [0] };
      expect(on('C', pool(1))).toMatchObject({ shares: [0] });
      expect(on('C', pool(0))).toMatchObject(unconfirmed);
      expect(on('C', pool(1, { origin: 'writer', family: 'claude' }))).toMatchObject({ shares: [0] });
      // A model of its author's family may have misread the task in the same way, and who is unknown may be one.
      for (const by of [{ origin: 'writer', family: 'gpt' }, { origin: 'writer' }] as const) {
        expect(on('C', pool(1, by))).toMatchObject({ shares: [0] });
        expect(on('C', pool(1, by), 'other-families')).toMatchObject(unconfirmed);
      }
    });
  });
});
