import { expect, test } from 'vitest';
import { openDbosEngine } from '../../../src/adapters/engine/index.ts';
import type { Log } from '../../../src/ports/index.ts';
import { freshDatabase } from '../../world/database.ts';
import { tried } from '../../world/tried.ts';

const HOUR_MS = 60 * 60_000;

/** Sets the wall clock of this process; its monotonic one and its timers go on as they are. */
function openWallClock() {
  const real = Date.now;
  return {
    set(offsetMs: number) {
      Date.now = () => real() + offsetMs;
    },
    heal() {
      Date.now = real;
    },
  };
}

test('queued work is taken although the wall clock jumps an hour back, twice, and ahead', async () => {
  tried({
    id: 'engine-clock',
    part: 'Clocks jump',
    what: 'The clock of the App’s machine jumps an hour back, two hours back and ahead again while the engine waits for work.',
    held: 'Runs that start then are taken from the queue, and end.',
  });
  const { url, drop } = await freshDatabase();
  const warnings: string[] = [];
  const hear = (_fields: unknown, message: string) => void warnings.push(message);
  const log: Log = { info: () => undefined, warn: hear, error: hear, within: (_, work) => work() };
  const engine = openDbosEngine({
    databaseUrl: url,
    executorId: 'box-1',
    queue: { name: 'coders', perWorker: 2, perPartition: 2 },
    log,
  });
  const wall = openWallClock();
  try {
    await engine.launch({
      run: ({ fanOut }) => fanOut([{ key: 'A', partition: 'acme/shop', input: null }]),
      examination: async () => null,
      candidate: ({ step }) => step('code', async () => 'coded'),
    });
    const runs = async (id: string) => {
      await engine.start(id, null);
      expect(await engine.settled(id)).toMatchObject({ kind: 'done' });
    };
    const told = () => warnings.filter((message) => message.includes('clock'));
    const TOLD = 'The clock was set back. Polling of the queues restarts.';
    await runs('r0');
    wall.set(-HOUR_MS);
    // A run may be taken before the step is seen: the next step must not hide it.
    await runs('r1');
    await expect.poll(told).toEqual([TOLD]);
    wall.set(-2 * HOUR_MS);
    await runs('r2');
    await expect.poll(told).toEqual([TOLD, TOLD]);
    wall.set(HOUR_MS);
    await runs('r3');
    expect(told()).toEqual([TOLD, TOLD]);
  } finally {
    wall.heal();
    await engine.shutdown();
    await drop();
  }
}, 120_000);
