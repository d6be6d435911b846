import { describe, expect, test } from 'vitest';
import { furtherAliases, roundText, whatFailed } from '../../../src/core/ranking/index.ts';
import { found } from './round-facts.ts';

test('aliases continue through the alphabet, and end with it', () => {
  expect(furtherAliases(3, 2)).toEqual(['D', 'E']);
  expect(furtherAliases(25, 2)).toEqual(['Z']);
  expect(furtherAliases(26, 1)).toEqual([]);
});

test('a note says where a candidate comes from', () => {
  expect(roundText({ kind: 'repair', of: ['B'] })).toBe('repair of B');
  expect(roundText({ kind: 'synthesis', of: ['A', 'C'] })).toBe('merged from A and C');
  expect(roundText({ kind: 'one-more', of: [] })).toBe('one more');
});

describe('the task of a repair names', () => {
  test('the gates that failed with their lines, and the tests that break', () => {
    const evidence = found('B', { lost: 'builds', breaks: ['csv > trims', 'cli > prints'] });
    const gates = evidence.gates.map((gate) =>
      gate.gate === 'builds' ? { ...gate, hunk: 'src/csv.js:3: Unexpected token' } : gate,
    );
    expect(whatFailed({ ...evidence, gates })).toEqual([
      'Gate builds: builds said no.\nsrc/csv.js:3: Unexpected token',
      'Tests that pass on the base commit and do not pass with this patch:\n- csv > trims\n- cli > prints',
    ]);
    expect(whatFailed(found('A'))).toEqual([]);
  });

  test('no test by others, because those also measure the repaired patch', () => {
    const told = whatFailed(
      found('B', { breaks: ['csv > trims'], peers: { A: ['secret peer'] }, neutral: ['secret neutral'] }),
    );
    expect(told.join('\n')).not.toContain('secret');
  });

  test('a limited amount of any findings', () => {
    const evidence = found('B', {
      lost: 'builds',
      breaks: Array.from({ length: 500 }, (_, i) => `${i} ${'x'.repeat(5_000)}`),
    });
    const gates = evidence.gates.map((gate) => ({
      ...gate,
      because: 'y'.repeat(1e5),
      hunk: 'z'.repeat(1e6),
    }));
    const told = whatFailed({ ...evidence, gates }).join('\n');
    expect(told.length).toBeLessThan(25_000);
    expect(told).toContain('and 460 more');
  });
});
