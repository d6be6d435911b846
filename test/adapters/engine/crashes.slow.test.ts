import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { tried } from '../../world/tried.ts';
import type { ExecutorOptions, Happening } from './executor.ts';
import { executors } from './executors.ts';

const TIMEOUT = 120_000;

let database: TestDatabase;
let all: ReturnType<typeof executors>;
beforeEach(async ({ onTestFailed }) => {
  database = await freshDatabase();
  all = executors();
  onTestFailed(() => console.error(all.record()));
});
afterEach(async () => {
  await all.killAll();
  await database.drop();
});

const queue = { name: 'coders', perWorker: 3, perPartition: 3 };
const start = (executorId: string, over: Partial<ExecutorOptions> = {}) =>
  all.start({ databaseUrl: database.url, executorId, queue, hold: [], ...over });
const ready = (by: string) => (happening: Happening) => happening.what === 'ready' && happening.by === by;
const began = (flow: string, step: string, by?: string) => (happening: Happening) =>
  happening.what === 'start' &&
  happening.flow === flow &&
  happening.step === step &&
  (by === undefined || happening.by === by);
const settled = (flow: string) => (happening: Happening) =>
  happening.what === 'settled' && happening.flow === flow;

const FLOWS = ['r1-A', 'r1-B', 'r1-C'];
const doneBy = (by: string) => ({
  kind: 'done',
  value: FLOWS.map(() => ({ kind: 'done', value: `turn 2 by ${by}` })),
});
/** The plan and the first turns ended before the crash, the second turns were in flight, the rest is yet to come. */
const AFTER_ONE_CRASH = {
  'r1 plan': 1,
  ...Object.fromEntries(
    FLOWS.flatMap((flow) => [
      [`${flow} turn 1`, 1],
      [`${flow} turn 2`, 2],
    ]),
  ),
  'r1 publish': 1,
};

describe('an executor that is lost while three candidates work', () => {
  const worlds = [
    ['on a shared queue', 'box-1', {}],
    ['in a process of its own', 'cli-r1', { queue: null, directConcurrency: 3 }],
  ] as const;
  test.each(worlds)(
    'by kill -9, %s, continues after its restart, and no finished step is repeated',
    async (_name, id, over) => {
      tried({
        id: 'engine-killed',
        part: 'The App is killed',
        what: "The engine's process during three active candidates, with a queue and without.",
        held: 'After its restart, the same process continues; no finished step is repeated.',
      });
      const first = start(id, { ...over, hold: ['turn 2'] });
      await first.until(ready(id));
      first.tell({ do: 'start', id: 'r1' });
      await Promise.all(FLOWS.map((flow) => first.until(began(flow, 'turn 2'))));
      await first.kill();

      const second = start(id, over);
      second.tell({ do: 'settle', id: 'r1' });
      expect((await second.until(settled('r1'))).value).toEqual(doneBy(id));
      expect(all.begun()).toEqual(AFTER_ONE_CRASH);
    },
    TIMEOUT,
  );

  test(
    'permanently is replaced by another one, and no finished step is repeated',
    async () => {
      tried({
        id: 'executor-lost',
        part: 'Several processes',
        what: 'An executor, permanently, during three active candidates.',
        held: 'Another executor notices the missing heartbeat and takes over; no finished step is repeated.',
      });
      const heartbeat = { everyMs: 200, staleMs: 8_000 };
      const first = start('box-1', { heartbeat, hold: ['turn 2'] });
      await first.until(ready('box-1'));
      first.tell({ do: 'start', id: 'r1' });
      await Promise.all(FLOWS.map((flow) => first.until(began(flow, 'turn 2'))));
      await first.kill();

      const second = start('box-2', { heartbeat });
      await second.until(ready('box-2'));
      second.tell({ do: 'settle', id: 'r1' });
      expect((await second.until(settled('r1'))).value).toEqual(doneBy('box-2'));
      expect(all.begun()).toEqual(AFTER_ONE_CRASH);
      expect(await database.query('select id from runoff.executor')).toEqual([{ id: 'box-2' }]);
    },
    TIMEOUT,
  );

  test(
    'by a freeze until others took over can change nothing when it resumes, and exits',
    async () => {
      tried({
        id: 'executor-frozen',
        part: 'Several processes',
        what: 'A process is frozen until others have taken over its work, and then resumes.',
        held: 'It writes nothing and calls no model, its results are discarded, and it exits.',
      });
      const heartbeat = { everyMs: 200, staleMs: 8_000 };
      const acts = { heartbeat, acts: ['turn 2'] };
      const first = start('box-1', { ...acts, dwell: ['turn 2'] });
      await first.until(ready('box-1'));
      first.tell({ do: 'start', id: 'r1' });
      await Promise.all(FLOWS.map((flow) => first.until(began(flow, 'turn 2'))));
      first.freeze();

      const second = start('box-2', acts);
      await second.until(ready('box-2'));
      second.tell({ do: 'settle', id: 'r1' });
      await second.until((one) => one.what === 'settled');
      first.tell({ do: 'status', id: 'r1' });
      first.wake();
      expect(await first.ended()).toBe(1);

      const acted = (by: string) =>
        all.happenings.filter((one) => one.what === 'acts' && one.by === by).map(({ value }) => value);
      expect(acted('box-2')).toEqual(FLOWS.map(() => ({ store: 'done', model: 'done', github: 'done' })));
      const refused = { store: 'EXECUTOR_EXPIRED', model: 'EXECUTOR_EXPIRED', github: 'EXECUTOR_EXPIRED' };
      expect(acted('box-1')).toEqual(FLOWS.map(() => refused));
      expect(await database.query('select distinct key from runoff.intent')).toEqual([{ key: 'box-2' }]);
      expect(await database.query('select count(*)::int as calls from runoff.gateway_call')).toEqual([
        { calls: FLOWS.length },
      ]);
      expect(all.happenings.find((one) => one.what === 'settled')?.value).toEqual(doneBy('box-2'));
    },
    TIMEOUT,
  );

  test(
    'does not take a command-line run with it: such a run waits for its own process',
    async () => {
      const first = start('cli-r1', { queue: null, hold: ['turn 1'] });
      await first.until(ready('cli-r1'));
      first.tell({ do: 'start', id: 'r1' });
      await first.until(began('r1-A', 'turn 1'));
      await first.kill();

      const server = start('box-1', { heartbeat: { everyMs: 50, staleMs: 100 } });
      await server.until(ready('box-1'));
      server.tell({ do: 'start', id: 'r2' });
      server.tell({ do: 'settle', id: 'r2' });
      await server.until(settled('r2'));
      server.tell({ do: 'status', id: 'r1' });
      expect(await server.until((one) => one.what === 'status')).toMatchObject({
        value: { kind: 'running' },
      });
      expect(all.happenings.filter((one) => one.by === 'box-1' && one.flow?.startsWith('r1-'))).toEqual([]);

      const again = start('cli-r1', { queue: null });
      again.tell({ do: 'settle', id: 'r1' });
      expect((await again.until(settled('r1'))).value).toEqual(doneBy('cli-r1'));
    },
    TIMEOUT,
  );
});

describe('several processes', () => {
  test(
    'that start at once on an empty database all become ready, without a port or output',
    async () => {
      tried({
        id: 'first-launches-race',
        part: 'Several processes',
        what: 'Three engines start at once on an empty database.',
        held: 'All become ready.',
      });
      const names = ['box-1', 'box-2', 'box-3'];
      const started = names.map((name) => start(name));
      for (const [i, one] of started.entries()) {
        expect((await one.until(ready(names[i] ?? ''))).value).toEqual([]);
      }
      for (const one of started) one.tell({ do: 'shutdown', id: '' });
      for (const one of started) {
        expect(await one.ended()).toBe(0);
        expect(one.complaints()).toBe('');
      }
      expect(all.happenings.filter((one) => one.what === 'log')).toEqual([]);
    },
    TIMEOUT,
  );

  test(
    'of one name exclude each other until the first is killed',
    async () => {
      tried({
        id: 'two-of-one-name',
        part: 'Several processes',
        what: 'A second process of the same name starts.',
        held: 'It is rejected while the first runs, and accepted after the first was killed.',
      });
      const first = start('box-1', { hold: ['turn 2'] });
      await first.until(ready('box-1'));
      first.tell({ do: 'start', id: 'r1' });
      await Promise.all(FLOWS.map((flow) => first.until(began(flow, 'turn 2'))));

      const second = start('box-1');
      expect(await second.ended()).not.toBe(0);
      expect(second.complaints()).toMatch(/Another Runoff process already uses the name `box-1`/);
      // Whatever the second could have taken up, it did not begin.
      expect(Object.values(all.begun()).every((times) => times === 1)).toBe(true);
      await first.kill();

      const third = start('box-1');
      third.tell({ do: 'settle', id: 'r1' });
      expect((await third.until(settled('r1'))).value).toEqual(doneBy('box-1'));
      expect(all.begun()).toEqual(AFTER_ONE_CRASH);
    },
    TIMEOUT,
  );

  test(
    'of one name exclude each other also after a database outage',
    async () => {
      tried({
        id: 'two-of-one-name-after-outage',
        part: 'Several processes',
        what: 'The connections of a process are cut, and another one of its name starts in the meantime.',
        held: 'The other process is rejected.',
      });
      const first = start('box-1');
      await first.until(ready('box-1'));
      const holders = () =>
        database.query(
          `select pid from pg_stat_activity where application_name = 'runoff executor' and datname = current_database()`,
        );
      const [before] = await holders();
      await database.query('select pg_terminate_backend($1)', [before?.pid]);
      await expect
        .poll(async () => (await holders()).map(({ pid }) => pid))
        .toEqual([expect.not.toSatisfy((pid) => pid === before?.pid)]);

      const second = start('box-1');
      expect(await second.ended()).not.toBe(0);
      first.tell({ do: 'shutdown', id: '' });
      expect(await first.ended()).toBe(0);
      expect(await holders()).toEqual([]);
    },
    TIMEOUT,
  );

  test(
    'share the work: a worker takes candidates and leaves runs to the server',
    async () => {
      const worker = start('worker-1', { takesRuns: false });
      await worker.until(ready('worker-1'));
      worker.tell({ do: 'start', id: 'r1' });
      await worker.until((one) => one.what === 'did' && one.by === 'worker-1');
      const server = start('box-1', { hold: ['turn 1'], queue: { ...queue, perWorker: 1 } });
      await server.until(began('r1', 'plan', 'box-1'));
      await server.until(began('r1-A', 'turn 1'));
      await server.kill();
      // Nobody takes up the run, but the candidates that still wait are the worker's too.
      expect(all.happenings.filter((one) => one.by === 'worker-1' && one.flow === 'r1')).toEqual([]);

      const again = start('box-1');
      again.tell({ do: 'settle', id: 'r1' });
      expect((await again.until(settled('r1'))).value).toMatchObject({ kind: 'done' });
      expect(all.happenings.filter((one) => one.by === 'worker-1' && one.flow === 'r1')).toEqual([]);
    },
    TIMEOUT,
  );

  test(
    'hand over: a stopped worker takes nothing more, and its unfinished work continues elsewhere at once',
    async () => {
      tried({
        id: 'worker-stopped',
        part: 'Several processes',
        what: 'A worker is stopped during three active candidates, with more work queued.',
        held: 'It takes no more work and exits after its grace period; another one continues at once, and no finished step is repeated.',
      });
      // Nobody counts as gone for good in this test: others learn only from the worker itself that it ended.
      const heartbeat = { everyMs: 200, staleMs: 600_000 };
      const many = { name: 'coders', perWorker: 6, perPartition: 12 };
      const server = start('box-1', { heartbeat, queue: { ...many, perWorker: 0 } });
      const stopped = start('worker-1', {
        ...{ heartbeat, takesRuns: false, queue: many },
        ...{ hold: ['turn 2'], graceMs: 500 },
      });
      await Promise.all([server.until(ready('box-1')), stopped.until(ready('worker-1'))]);
      server.tell({ do: 'start', id: 'r1' });
      await Promise.all(FLOWS.map((flow) => stopped.until(began(flow, 'turn 2', 'worker-1'))));
      const other = start('worker-2', { heartbeat, takesRuns: false, queue: many });
      await other.until(ready('worker-2'));

      stopped.tell({ do: 'shutdown', id: '' });
      await stopped.until((one) => one.what === 'stops' && one.by === 'worker-1');
      server.tell({ do: 'start', id: 'r2' });
      expect(await stopped.ended()).toBe(0);
      expect(stopped.complaints()).toBe('');
      for (const id of ['r1', 'r2']) server.tell({ do: 'settle', id });
      expect((await server.until(settled('r1'))).value).toEqual(doneBy('worker-2'));
      await server.until(settled('r2'));

      const begun = all.begun();
      expect(begun).toMatchObject(AFTER_ONE_CRASH);
      expect(begun).toMatchObject({ 'r2-A turn 1': 1, 'r2-B turn 1': 1, 'r2-C turn 1': 1 });
      const by = all.happenings.filter((one) => one.what === 'start' && one.by === 'worker-1');
      expect(by.filter(({ flow }) => flow?.startsWith('r2'))).toEqual([]);
      const known = await database.query('select id from runoff.executor order by id');
      expect(known.map(({ id }) => id)).toEqual(['box-1', 'worker-2']);
    },
    TIMEOUT,
  );

  test(
    'each take as many candidates as their own machine allows',
    async () => {
      tried({
        id: 'limits-of-machines',
        part: 'Several processes',
        what: 'Two machines with different limits share one queue.',
        held: 'Each takes as many candidates as its own limit allows.',
      });
      const one = start('box-1', { hold: ['turn 1'], queue: { ...queue, perWorker: 1, perPartition: 12 } });
      await one.until(ready('box-1'));
      const three = start('box-2', { hold: ['turn 1'], queue: { ...queue, perWorker: 3, perPartition: 12 } });
      await three.until(ready('box-2'));
      for (const id of ['r1', 'r2']) one.tell({ do: 'start', id });
      const held = () => {
        const by = (name: string) =>
          all.happenings.filter(({ what, step, by }) => what === 'start' && step === 'turn 1' && by === name);
        return [by('box-1').length, by('box-2').length];
      };
      await expect.poll(held, { timeout: TIMEOUT }).toEqual([1, 3]);
      // Both look for more ten times a second.
      await new Promise((settle) => setTimeout(settle, 1_000));
      expect(held()).toEqual([1, 3]);
    },
    TIMEOUT,
  );

  test(
    "see and cancel each other's runs",
    async () => {
      const owner = start('cli-r1', { queue: null, hold: ['turn 1'] });
      await owner.until(ready('cli-r1'));
      owner.tell({ do: 'start', id: 'r1' });
      owner.tell({ do: 'settle', id: 'r1' });
      await Promise.all(FLOWS.map((flow) => owner.until(began(flow, 'turn 1'))));

      const other = start('cli-cancel', { queue: null });
      await other.until(ready('cli-cancel'));
      other.tell({ do: 'status', id: 'r1' });
      expect(await other.until((one) => one.what === 'status')).toMatchObject({ value: { kind: 'running' } });
      other.tell({ do: 'cancel', id: 'r1' });
      await Promise.all(
        FLOWS.map((flow) => owner.until((one) => one.what === 'aborted' && one.flow === flow)),
      );
      expect((await owner.until(settled('r1'))).value).toEqual({ kind: 'cancelled' });
      expect(all.begun()).not.toHaveProperty('r1 publish');
    },
    TIMEOUT,
  );
});

describe('a run that waits for people', () => {
  const waits = (by: string) => (happening: Happening) => happening.what === 'waits' && happening.by === by;

  test(
    'is woken from another process that shares nothing with it but the database',
    async () => {
      const owner = start('box-1', { waitMs: 600_000 });
      await owner.until(ready('box-1'));
      owner.tell({ do: 'start', id: 'r1' });
      await owner.until(waits('box-1'));
      const other = start('cli-answer', { queue: null });
      await other.until(ready('cli-answer'));
      other.tell({ do: 'signal', id: 'r1' });
      other.tell({ do: 'shutdown', id: '' });
      expect(await other.ended()).toBe(0);
      owner.tell({ do: 'settle', id: 'r1' });
      expect((await owner.until(settled('r1'))).value).toEqual(doneBy('box-1'));
      expect(all.begun()).toMatchObject({ 'r1 signalled': 1, 'r1 publish': 1 });
    },
    TIMEOUT,
  );

  test(
    'still waits after kill -9, and receives replies written in the meantime',
    async () => {
      tried({
        id: 'waiting-run-killed',
        part: 'The App is killed',
        what: 'The process of a run that waits for people.',
        held: 'The run still waits, and receives replies that were written in the meantime.',
      });
      const first = start('box-1', { waitMs: 600_000 });
      await first.until(ready('box-1'));
      first.tell({ do: 'start', id: 'r1' });
      await first.until(waits('box-1'));
      await first.kill();
      const other = start('cli-answer', { queue: null });
      await other.until(ready('cli-answer'));
      other.tell({ do: 'signal', id: 'r1' });
      await other.until((one) => one.what === 'did' && one.by === 'cli-answer');
      const second = start('box-1', { waitMs: 600_000 });
      second.tell({ do: 'settle', id: 'r1' });
      expect((await second.until(settled('r1'))).value).toEqual(doneBy('box-1'));
      expect(all.begun()).toMatchObject({ 'r1 plan': 1, 'r1 signalled': 1 });
    },
    TIMEOUT,
  );

  test(
    'has less time left after kill -9',
    async () => {
      const first = start('box-1', { waitMs: 4_000 });
      await first.until(ready('box-1'));
      first.tell({ do: 'start', id: 'r1' });
      await first.until(waits('box-1'));
      await new Promise((settle) => setTimeout(settle, 1_000));
      await first.kill();
      const second = start('box-1', { waitMs: 600_000 });
      second.tell({ do: 'settle', id: 'r1' });
      expect((await second.until(settled('r1'))).value).toEqual(doneBy('box-1'));
      expect(all.begun()).toMatchObject({ 'r1 plan': 1, 'r1 timeout': 1 });
    },
    TIMEOUT,
  );
});
