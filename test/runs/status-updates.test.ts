import { expect, test } from 'vitest';
import { Settings } from '../../src/core/settings/index.ts';
import type { GitHub, Publisher } from '../../src/ports/index.ts';
import { openAnnouncer } from '../../src/runs/index.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

const NOON = Date.UTC(2026, 0, 2, 12);
const RUN = 'r0000000001';

/** A clock that stands still until the test moves it. */
function slowClock() {
  let elapsed = 0;
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();
  return {
    now: () => NOON + elapsed,
    elapsed: () => elapsed,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((wake) => {
        if (ms === 0 || signal?.aborted) return wake();
        sleepers.add({ until: elapsed + ms, wake });
        signal?.addEventListener('abort', () => wake());
      }),
    async pass(ms: number) {
      elapsed += ms;
      for (const sleeper of sleepers) if (sleeper.until <= elapsed) sleeper.wake();
      // Whoever woke does what needs no further time.
      await new Promise((done) => setImmediate(done));
    },
  };
}

/** A queued run, whose status says why it waits, and what is sent to GitHub for it. */
async function queuedRun() {
  const store = memoryStore();
  const clock = slowClock();
  const sent: string[] = [];
  const tokens = { made: 0, given: 0 };
  let shortage = 'The disk is full.';
  let isAway = false;
  const publisher = partial<Publisher>({
    react: async () => {},
    setLabels: async () => {},
    comment: async (_issue, body) => {
      sent.push(body);
      return { id: 1, url: 'https://github.example/1' };
    },
    editComment: async (_id, body) => {
      if (isAway) throw new Error('GitHub is away.');
      sent.push(body);
    },
    close: async () => {
      tokens.given += 1;
    },
  });
  const github = partial<GitHub>({
    publisher: async () => {
      tokens.made += 1;
      return publisher;
    },
  });
  await store.createRun({ id: RUN, origin: githubOrigin(), title: 'Add is wrong', request: null, at: NOON });
  await store.updateRun(RUN, { queueEntry: { share: 'repository 42', priority: 1, since: NOON } }, NOON);
  const diskSpace = { shortage: () => shortage };
  const announcer = openAnnouncer({
    artifacts: memoryArtifacts(),
    store,
    clock,
    log: silent,
    github,
    diskSpace,
  });
  return {
    ...{ announcer, clock, sent, store, tokens },
    /** Something else is to be shown. */
    async news(why: string) {
      shortage = why;
      announcer.soon(RUN);
      await clock.pass(0);
    },
    goAway(away: boolean) {
      isAway = away;
    },
  };
}

test('updates that follow each other share a token, which is given back a minute after the last one', async () => {
  const run = await queuedRun();
  for (let nth = 1; nth <= 5; nth += 1) {
    await run.news(`Reason ${nth}.`);
    await run.clock.pass(10_000);
  }
  expect(run.sent).toHaveLength(5);
  expect(run.tokens).toEqual({ made: 1, given: 0 });
  await run.clock.pass(60_000);
  expect(run.tokens).toEqual({ made: 1, given: 1 });

  await run.news('Much later.');
  expect(run.sent.at(-1)).toContain('Much later');
  expect(run.tokens).toEqual({ made: 2, given: 1 });
});

test('each edit waits longer than the one before, but for a minute at most', async () => {
  const run = await queuedRun();
  const at: number[] = [];
  for (let second = 0; second <= 20 * 60; second += 1) {
    await run.news(`Reason ${second}.`);
    if (run.sent.length > at.length) at.push(second);
    await run.clock.pass(1_000);
  }
  const waits = at.slice(1).map((second, nth) => second - (at[nth] ?? 0));
  expect(waits.slice(0, 3)).toEqual([5, 6, 7]);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits.at(-1)).toBe(60);
  expect(at.length).toBeLessThan(40);
});

test('the end of a run is written at once, with a token of its own, since none outlives its stage, and none is left', async () => {
  const run = await queuedRun();
  await run.news('First.');
  await run.news('Second.');
  await run.store.transition(RUN, 'cancelled', 'asked', NOON);
  await run.announcer.finish(RUN);
  expect(run.sent.length).toBeGreaterThan(1);
  expect(run.sent.at(-1)).toContain('cancelled');
  expect(run.tokens).toEqual({ made: 2, given: 2 });
});

test('a run that is published at once gets no more edits until its end, so that its pull request waits for none', async () => {
  const run = await queuedRun();
  await run.news('First.');
  await run.clock.pass(10_000);
  await run.store.markStage(RUN, 'publish', 'start', run.clock.now());
  await run.news('Second.');
  expect(run.sent).toHaveLength(1);

  await run.store.transition(RUN, 'cancelled', 'asked', NOON);
  await run.announcer.finish(RUN);
  expect(run.sent.at(-1)).toContain('cancelled');
});

test('a run whose publishing waits for GitHub says so after half a minute', async () => {
  const run = await queuedRun();
  const origin = githubOrigin();
  const base = { ref: 'main', sha: 'a'.repeat(40) };
  const text = { title: 'Add is wrong', body: '', comments: [], lowered: [] };
  const task = { runId: RUN, base, settings: Settings.parse({}), origin, ...text };
  await run.store.updateRun(RUN, { task }, NOON);
  await run.news('First.');
  await run.clock.pass(10_000);
  await run.store.markStage(RUN, 'publish', 'start', run.clock.now());
  await run.news('Second.');
  expect(run.sent).toHaveLength(1);

  await run.clock.pass(30_000);
  await run.news('Third.');
  expect(run.sent).toHaveLength(2);
});

test('after an update that failed, the next one begins with a token of its own and sends the text', async () => {
  const run = await queuedRun();
  await run.news('First.');
  await run.clock.pass(10_000);
  run.goAway(true);
  await run.news('Second.');
  expect(run.tokens).toEqual({ made: 1, given: 1 });
  await run.clock.pass(10_000);
  run.goAway(false);
  await run.news('Second.');
  expect(run.sent.at(-1)).toContain('Second');
  expect(run.tokens).toEqual({ made: 2, given: 1 });
});

test('a shutdown waits neither for the time between two edits nor for the end of a token', async () => {
  const run = await queuedRun();
  await run.news('First.');
  await run.news('Second.');
  expect(run.sent).toHaveLength(1);
  await run.announcer.idle();
  expect(run.sent).toHaveLength(2);
  expect(run.tokens).toEqual({ made: 1, given: 1 });
});
