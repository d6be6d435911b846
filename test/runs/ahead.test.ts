import { setImmediate } from 'node:timers/promises';
import { Semaphore } from 'async-mutex';
import { expect, test } from 'vitest';
import { Fault, NO_USAGE } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import { examineAhead } from '../../src/runs/ahead.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

type World = Parameters<typeof examineAhead>[0];

interface Tries {
  readonly most: number;
  readonly stopEarly?: boolean;
  /** Of C's coder; those of A and B have ended. */
  readonly third?: 'queued' | 'coding';
}

/** Two of three coders have ended, but no sandbox starts. Returns how often each kind of work ahead began in 150 seconds. */
async function triesIn({ most, stopEarly = false, third = 'coding' }: Tries) {
  const store = memoryStore();
  const origin = { kind: 'local', path: '/r' } as const;
  const settings = Settings.parse({ adaptive: { stopEarly } });
  const base = { ref: 'main', sha: 'a'.repeat(40) };
  await store.createRun({ id: 'r1', origin, title: 'Sums', request: {}, at: 0 });
  const text = { title: 'Sums', body: '', comments: [], lowered: [] };
  await store.updateRun('r1', { task: { runId: 'r1', base, settings, origin, ...text } }, 0);
  for (const [ordinal, alias] of ['A', 'B', 'C'].entries())
    await store.putCandidate({
      ...{ runId: 'r1', alias, ordinal, usage: NO_USAGE, ms: 1, note: '' },
      contestant: { agent: 'builtin', model: `m/${alias}`, prompt: 'plain' },
      state: alias === 'C' ? third : 'coded',
    });
  const run = await store.run('r1');
  if (!run) throw new Error('The run is gone.');
  const over = new AbortController();
  let elapsed = 0;
  const tries = { candidates: 0, base: 0 };
  const world = partial<World>({
    store,
    log: {
      ...silent,
      warn: (_, message) => {
        tries[message.includes('the base') ? 'base' : 'candidates'] += 1;
      },
    },
    parallelChecks: 1,
    sandbox: {
      probe: async () => {
        throw new Fault('RESOURCES_EXHAUSTED', 'There is no memory.');
      },
    },
    clock: {
      now: () => 0,
      elapsed: () => elapsed,
      async sleep(ms) {
        elapsed += ms;
        for (let turn = 0; turn < 10; turn++) await setImmediate();
        if (elapsed >= 150_000) over.abort();
      },
    },
  });
  const context = { run, signal: new AbortController().signal };
  await examineAhead(world, new Semaphore(most), { sha256: '', bytes: 0 })(context, over.signal);
  return tries;
}

test('a candidate that could not be examined ahead is tried again after a minute, and so is the base', async () => {
  expect(await triesIn({ most: 2 })).toEqual({ candidates: 2 * 3, base: 3 });
});

test('the base is not tested in other surroundings while the coders that are left wait for a slot', async () => {
  expect(await triesIn({ most: 2, third: 'queued' })).toEqual({ candidates: 2 * 3, base: 0 });
});

test('where none may be examined ahead, finishers are examined only where early stopping decides by it', async () => {
  expect(await triesIn({ most: 0 })).toEqual({ candidates: 0, base: 0 });
  expect(await triesIn({ most: 0, stopEarly: true })).toEqual({ candidates: 2 * 3, base: 0 });
});
