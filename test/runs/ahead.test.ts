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

/** Two of three coders have ended, but no sandbox starts. Returns how often examinations ahead began in 150 seconds. */
async function triesIn({ most, stopEarly }: { readonly most: number; readonly stopEarly: boolean }) {
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
      state: alias === 'C' ? 'coding' : 'coded',
    });
  const run = await store.run('r1');
  if (!run) throw new Error('The run is gone.');
  const over = new AbortController();
  let elapsed = 0;
  let tries = 0;
  const world = partial<World>({
    store,
    log: {
      ...silent,
      warn() {
        tries += 1;
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

test('a candidate that could not be examined ahead is tried again after a minute', async () => {
  expect(await triesIn({ most: 2, stopEarly: false })).toBe(2 * 3);
});

test('where none may be examined ahead, finishers are examined only where early stopping decides by it', async () => {
  expect(await triesIn({ most: 0, stopEarly: false })).toBe(0);
  expect(await triesIn({ most: 0, stopEarly: true })).toBe(2 * 3);
});
