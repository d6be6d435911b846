import { expect, test } from 'vitest';
import { openRooms } from '../../../src/adapters/gateway/admission.ts';

const MIB = 2 ** 20;

test('a request can use memory up to its limit', () => {
  const room = openRooms().enter();
  expect(room.take(16 * MIB)).toBe('taken');
  expect(room.take(1)).toBe('too-large');
});

test('the requests of a lease share its memory and release it when they end', () => {
  const rooms = openRooms();
  const [one, two, three, four] = [rooms.enter(), rooms.enter(), rooms.enter(), rooms.enter()];
  for (const room of [one, two, three]) expect(room?.take(16 * MIB)).toBe('taken');
  expect(four?.take(1)).toBe('too-large');
  two?.leave();
  expect(four?.take(16 * MIB)).toBe('taken');
});

test('leases that fill the shared memory leave every other lease its reserved part', () => {
  const shared = { bytes: 0 };
  const full = Array.from({ length: 8 }, () => {
    const rooms = openRooms(shared);
    return [rooms.enter(), rooms.enter(), rooms.enter()];
  }).flat();
  const answers = full.map((room) => room.take(16 * MIB));
  expect(answers.filter((answer) => answer === 'taken').length).toBeLessThan(24);
  expect(shared.bytes).toBeLessThanOrEqual(256 * MIB);

  const honest = openRooms(shared).enter();
  expect(honest.take(4 * MIB)).toBe('taken');
  expect(honest.take(12 * MIB)).toBe('crowded');
  for (const room of full) room.leave();
  expect(honest.take(12 * MIB)).toBe('taken');
  honest.leave();
  expect(shared.bytes).toBe(0);
});
