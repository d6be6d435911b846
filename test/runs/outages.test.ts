import { expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import type { World } from '../../src/runs/index.ts';
import { retryOutages } from '../../src/runs/stage.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

function recordWaits() {
  const waits: number[] = [];
  const clock = { sleep: async (ms: number) => void waits.push(ms) };
  return { waits, world: partial<World>({ log: silent, clock }) };
}

const away = () => Promise.reject(new Fault('DATABASE_UNAVAILABLE', 'It is away.'));
const full = () => Promise.reject(new Error('ENOSPC: no space left on device, write'));
const going = new AbortController().signal;

test('a stage waits out an outage for 15 minutes, and resumes at most 30 s after its end', async () => {
  const { waits, world } = recordWaits();
  await expect(retryOutages(world, going, away)).rejects.toThrow('It is away.');
  const minutes = waits.reduce((sum, ms) => sum + ms, 0) / 60_000;
  expect(minutes).toBeGreaterThan(14);
  expect(minutes).toBeLessThan(16);
  expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
});

test('a cancelled run does not wait for the end of an outage', async () => {
  await expect(retryOutages(recordWaits().world, AbortSignal.abort(), away)).rejects.toThrow(
    'The run was cancelled.',
  );
});

test.each([
  ['a database that is away', away, 'It is away.'],
  ['a full disk', full, 'ENOSPC'],
])('nested waits for %s count once', async (_, work, message) => {
  const { waits, world } = recordWaits();
  await expect(retryOutages(world, going, work)).rejects.toThrow(message);
  const { length } = waits.splice(0);
  await expect(retryOutages(world, going, () => retryOutages(world, going, work))).rejects.toThrow(message);
  expect(waits).toHaveLength(length);
});
