import { expect, test } from 'vitest';
import { openRooms } from '../../../src/adapters/gateway/room.ts';

const MIB = 2 ** 20;

test('one request has room for 16 MiB', () => {
  const room = openRooms().enter();
  expect(room.take(16 * MIB)).toBe(true);
  expect(room.take(1)).toBe(false);
});

test('all requests of a lease have room for three of them, until one is over', () => {
  const rooms = openRooms();
  const [first, ...others] = [1, 2, 3].map(() => rooms.enter());
  for (const room of [first, ...others]) expect(room?.take(16 * MIB)).toBe(true);
  const late = rooms.enter();
  expect(late.take(1)).toBe(false);
  first?.leave();
  first?.leave();
  expect(late.take(16 * MIB)).toBe(true);
  expect(late.take(1)).toBe(false);
});
