import { expect, test } from 'vitest';
import { type Evidence, separatedByTests } from '../../../src/core/evidence/index.ts';
import { candidate, writtenTests } from '../ranking/sample.ts';

/** Of two tests by others, those that pass. */
const passing = (...ids: readonly string[]): Pick<Evidence, 'alike' | 'independentTests'> => ({
  alike: ALIKE,
  independentTests: {
    ...writtenTests(
      2,
      ['t1', 't2'].filter((id) => !ids.includes(id)),
    ),
    passing: ids.map((id) => ({ id, origin: 'writer' })),
  },
});
const ALIKE = ['A', 'B', 'C'];
const classes = (...evidence: readonly Evidence[]) =>
  separatedByTests(evidence).map(({ alike = [] }) => alike.join(''));
const peer = (results: string) => ({
  peerTests: [{ author: 'D', passed: 0, total: 2, failing: [], results }],
});

test('candidates with equal changes are one class only as long as no test of others tells them apart', () => {
  expect(
    classes(
      candidate('A', passing('t1', 't2')),
      candidate('B', passing('t1', 't2')),
      candidate('C', passing('t1', 't2')),
    ),
  ).toEqual(['ABC', 'ABC', 'ABC']);
  expect(
    classes(
      candidate('A', passing('t1', 't2')),
      candidate('B', passing('t2')),
      candidate('C', passing('t1', 't2')),
    ),
  ).toEqual(['AC', 'B', 'AC']);
});

test('a test of a candidate outside the class tells them apart, one of its own members does not', () => {
  const [two, other] = [{ alike: ['A', 'B'] }, candidate('D')];
  expect(
    classes(candidate('A', { ...two, ...peer('pf') }), candidate('B', { ...two, ...peer('pp') }), other),
  ).toEqual(['A', 'B', '']);
  const unrun = candidate('B', { ...two, ...peer('pn') });
  expect(classes(candidate('A', { ...two, ...peer('pn') }), unrun, other)).toEqual(['AB', 'AB', '']);
  const ofMember = { author: 'A', passed: 0, total: 1, failing: [], results: 'f' };
  expect(classes(candidate('A', two), candidate('B', { ...two, peerTests: [ofMember] }))).toEqual([
    'AB',
    'AB',
  ]);
});

test('a candidate with fewer results stays where nothing tells the others apart', () => {
  const unknown = candidate('C', { alike: ALIKE });
  expect(classes(candidate('A', passing('t1', 't2')), candidate('B', passing('t1', 't2')), unknown)).toEqual([
    'ABC',
    'ABC',
    'ABC',
  ]);
  expect(classes(candidate('A', passing('t1', 't2')), candidate('B', passing('t2')), unknown)).toEqual([
    'A',
    'B',
    'C',
  ]);
});
