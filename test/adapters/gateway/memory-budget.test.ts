import { expect, test } from 'vitest';
import { openLeaseMemory } from '../../../src/adapters/gateway/admission.ts';

const MIB = 2 ** 20;

test('a request can use memory up to its limit', () => {
  const memory = openLeaseMemory().enter();
  expect(memory.take(16 * MIB)).toBe('taken');
  expect(memory.take(1)).toBe('too-large');
});

test('the requests of a lease share its memory and release it when they end', () => {
  const memory = openLeaseMemory();
  const [one, two, three, four] = [memory.enter(), memory.enter(), memory.enter(), memory.enter()];
  for (const memory of [one, two, three]) expect(memory?.take(16 * MIB)).toBe('taken');
  expect(four?.take(1)).toBe('crowded');
  two?.leave();
  expect(four?.take(16 * MIB)).toBe('taken');
});

test('leases that fill the shared memory leave every other lease its reserved part', () => {
  const shared = { bytes: 0 };
  const full = Array.from({ length: 8 }, () => {
    const memory = openLeaseMemory(shared);
    return [memory.enter(), memory.enter(), memory.enter()];
  }).flat();
  const answers = full.map((memory) => memory.take(16 * MIB));
  expect(answers.filter((answer) => answer === 'taken').length).toBeLessThan(24);
  expect(shared.bytes).toBeLessThanOrEqual(256 * MIB);

  const honest = openLeaseMemory(shared).enter();
  expect(honest.take(4 * MIB)).toBe('taken');
  expect(honest.take(12 * MIB)).toBe('crowded');
  for (const memory of full) memory.leave();
  expect(honest.take(12 * MIB)).toBe('taken');
  honest.leave();
  expect(shared.bytes).toBe(0);
});
