import { expect, test } from 'vitest';
import { openPace } from '../../src/adapters/github/faults.ts';
import { Fault } from '../../src/core/model/index.ts';
import { timesOf } from '../../src/core/settings/index.ts';
import type { GitHub } from '../../src/ports/index.ts';
import { progressLimitFor } from '../../src/runs/code/ending.ts';
import { announceQueue, openAnnouncer } from '../../src/runs/index.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { silent } from '../world/silent-log.ts';
import { tried } from '../world/tried.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.parse('2026-06-01T12:00:00Z');

/** A clock whose wall somebody sets while time passes evenly; `slept` has what was asked for. */
function jumpy() {
  let passed = 1_000;
  let off = 0;
  const slept: number[] = [];
  const pass = (ms: number): void => {
    passed += ms;
  };
  return {
    now: () => NOON + passed + off,
    elapsed: () => passed,
    async sleep(ms: number) {
      slept.push(ms);
      pass(ms);
    },
    slept,
    pass,
    jump(ms: number) {
      off += ms;
    },
  };
}

const limited = (headers: object): unknown =>
  Object.assign(new Error('API rate limit exceeded'), { status: 403, response: { headers, data: {} } });
const failing = (error: unknown) => () => Promise.reject(error);

test.each([
  ['an hour ahead', HOUR],
  ['an hour back', -HOUR],
])('limits and pauses keep their length when the clock jumps %s', async (_, off) => {
  tried({
    id: 'clock-set',
    part: 'Clocks jump',
    what: 'The clock jumps an hour ahead or back while a coder works, a comment is edited and GitHub has asked for a pause.',
    held: 'Time and silence limits, the intervals of edits and writes, and the pause stay the same.',
  });
  // A coder's progress and silence.
  const clock = jumpy();
  const times = timesOf({ candidate: 100, silence: 20, extendWhileProgressing: true }, 1_000);
  const patience = progressLimitFor(clock, { lastActivity: () => null }, times);
  clock.pass(5_000);
  patience.step('edit src/a.ts');
  clock.jump(off);
  clock.pass(5_000);
  expect([patience.onLimit('wall'), patience.onLimit('silence')]).toEqual([25_000, 10_000]);

  // Five seconds between two edits of a status comment.
  const edits = jumpy();
  const announcer = openAnnouncer({
    artifacts: memoryArtifacts(),
    store: memoryStore(),
    clock: edits,
    log: silent,
    github: {} as GitHub,
  });
  announcer.soon('r1');
  await announcer.idle();
  edits.jump(off);
  edits.pass(2_000);
  announcer.soon('r1');
  await announcer.idle();
  expect(edits.slept).toEqual([0, 3_000]);

  // A second between two writes, and the time that GitHub asked us to stay away.
  const paced = jumpy();
  const pace = openPace({ ...paced, spaced: true });
  await pace.write('comment', async () => null);
  paced.jump(off);
  await pace.write('comment', async () => null);
  expect(paced.slept).toEqual([1_000]);
  await expect(pace.write('comment', failing(limited({ 'retry-after': '30' })))).rejects.toThrow(Fault);
  paced.jump(off);
  await pace.write('comment', async () => null);
  expect(paced.slept.slice(2)).toEqual([30_000]);
});

test.each([
  ['ahead', HOUR],
  ['back', -HOUR],
])('a rate limit ends when GitHub said on a machine whose clock is an hour %s', async (_, off) => {
  tried({
    id: 'clock-wrong',
    part: 'Clocks jump',
    what: "The machine's clock is an hour ahead or behind when GitHub reports the end of its rate limit.",
    held: "Runoff waits exactly as long as by GitHub's clock.",
  });
  const clock = jumpy();
  clock.jump(off);
  const pace = openPace({ ...clock, spaced: false });
  const headers = {
    date: new Date(NOON).toUTCString(),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String((NOON + 40_000) / 1_000),
  };
  await expect(pace.run('read', failing(limited(headers)))).rejects.toThrow(Fault);
  await pace.write('comment', async () => null);
  expect(clock.slept).toEqual([40_000]);
});

test("a queued run's status is updated after 5 minutes although the clock was set back", async () => {
  tried({
    id: 'clock-set-in-line',
    part: 'Clocks jump',
    what: 'The clock jumps back by an hour while a run is queued.',
    held: 'Its status is updated after five minutes, as always.',
  });
  const clock = jumpy();
  const store = memoryStore();
  const origin = githubOrigin({ issue: 1 });
  await store.createRun({ id: 'r1', origin, title: 'Quotes', request: {}, at: 0 });
  await store.updateRun('r1', { queueEntry: { share: 'repository 42', priority: 0, since: 0 } }, 0);
  const said: string[] = [];
  const announcer = {
    soon: (id: string) => void said.push(id),
    finish: async () => {},
    idle: async () => {},
  };
  const world = { store, clock, announcer };
  const told = new Map<string, number>();
  await announceQueue(world, told);
  clock.jump(-HOUR);
  clock.pass(4 * MINUTE);
  await announceQueue(world, told);
  expect(said).toEqual(['r1']);
  clock.pass(MINUTE);
  await announceQueue(world, told);
  expect(said).toEqual(['r1', 'r1']);
});
