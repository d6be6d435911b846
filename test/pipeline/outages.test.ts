import { expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import { patiently } from '../../src/pipeline/guard.ts';
import type { World } from '../../src/pipeline/index.ts';
import { silent } from '../world/silent.ts';

test('an outage is waited out for a quarter of an hour, and nothing stands still for more than half a minute after it', async () => {
  const waits: number[] = [];
  const clock = { sleep: async (ms: number) => void waits.push(ms) };
  const world = { log: silent, clock } as unknown as World;
  const away = () => Promise.reject(new Fault('DATABASE_UNAVAILABLE', 'It is away.'));
  await expect(patiently(world, AbortSignal.abort(), away)).rejects.toThrow('The run was cancelled.');
  waits.length = 0;
  await expect(patiently(world, new AbortController().signal, away)).rejects.toThrow('It is away.');
  const minutes = waits.reduce((sum, ms) => sum + ms, 0) / 60_000;
  expect(minutes).toBeGreaterThan(14);
  expect(minutes).toBeLessThan(16);
  expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);

  const { length } = waits;
  waits.length = 0;
  const around = () => patiently(world, new AbortController().signal, away);
  await expect(patiently(world, new AbortController().signal, around)).rejects.toThrow('It is away.');
  expect(waits).toHaveLength(length);
});
