import { afterEach, expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import { queuedRuns } from '../../src/runs/index.ts';
import { tried } from '../world/tried.ts';
import { type AppWorld, appWorld, comments, issues } from './app-world.ts';

const PLACES = 8;
const BANK = { repository: { id: 43, name: 'bank', owner: { login: 'acme' } } };

let app: AppWorld | null = null;
let letGo = (): void => {};
afterEach(async () => {
  // A shutdown would wait for those at work.
  letGo();
  await app?.close();
  app = null;
});

/** The App whose runs are at work until they are let go, one by one. */
async function stormed() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const free = Promise.withResolvers<void>();
  letGo = free.resolve;
  const opened = await appWorld({
    places: PLACES,
    work: (id) => {
      begun.push(id);
      return Promise.race([free.promise, new Promise<void>((settle) => ends.push(settle))]);
    },
  });
  app = opened;
  const whose = async (id: string | undefined) => {
    const run = await opened.store.run(id ?? '');
    if (run?.origin.kind !== 'github') throw new Error(`Run ${id} is not on GitHub.`);
    return `${run.origin.name}#${run.origin.issue}`;
  };
  /** The run that has worked longest ends; resolves with the one that gets its place. */
  const next = async () => {
    const before = begun.length;
    ends.shift()?.();
    await expect.poll(() => begun.length).toBe(before + 1);
    return whose(begun.at(-1));
  };
  return { app: opened, begun, whose, next };
}

test("of two hundred labels and a person's command all are accepted, eight runs start, the person is next, and repositories take turns", async () => {
  tried({
    id: 'label-storm',
    part: 'Too much at once',
    what: "Two hundred labels in two repositories, and then a person's command.",
    held: 'Each delivery is answered; eight runs start, the person is next, repositories take turns.',
  });
  const { app, begun, whose, next } = await stormed();
  const labels = Array.from({ length: 200 }, (_, at) =>
    // Three of four in one repository.
    issues('labeled', { number: 100 + at, seconds: at, more: at % 4 === 3 ? BANK : {} }),
  );
  const answers = await Promise.all(labels.map((body) => app.deliver(body)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await app.store.runs(1_000)).toHaveLength(200);
  await expect.poll(async () => (await queuedRuns(app.store)).length).toBe(200);
  expect(begun).toHaveLength(PLACES);

  const issue = { number: 7, title: 'Rounding', body: 'It is wrong.', updated_at: '2024-10-04T12:00:00Z' };
  await app.deliver(comments('created', '/auto-dev run', { issue }), { 'x-github-event': 'issue_comment' });
  await expect.poll(async () => (await queuedRuns(app.store)).length).toBe(201);
  expect(begun).toHaveLength(PLACES);
  expect(await next()).toBe('shop#7');

  const turns: string[] = [];
  for (let turn = 0; turn < 20; turn += 1) turns.push((await next()).split('#')[0] ?? '');
  const held = await Promise.all(begun.slice(-PLACES).map(whose));
  expect(held.filter((one) => one.startsWith('bank'))).toHaveLength(PLACES / 2);
  expect(turns.filter((one) => one === 'bank').length).toBeGreaterThanOrEqual(8);
});

test('a delivery is answered with 503 and the reason while the database is away or full, and leaves nothing behind', async () => {
  tried({
    id: 'delivery-without-database',
    part: 'The database is killed or unavailable',
    what: 'Deliveries arrive while the database is unavailable or full.',
    held: 'They are answered with 503, and nothing of them is stored.',
  });
  const { app, begun } = await stormed();
  const { acceptDelivery } = app.store;
  const faults = [
    new Fault('DATABASE_UNAVAILABLE', 'The database cannot be reached: connect ECONNREFUSED 10.0.0.5:5432.'),
    new Fault('DISK_FULL', 'The database has no app left.'),
  ];
  const body = issues('labeled');
  for (const fault of faults) {
    Object.assign(app.store, { acceptDelivery: () => Promise.reject(fault) });
    const answer = await app.deliver(body);
    expect(answer.status).toBe(503);
    const text = await answer.text();
    expect(text).toContain('started nothing');
    expect(text).not.toContain('10.0.0.5');
  }
  expect(await app.store.runs(10)).toEqual([]);
  expect(app.written).toEqual([]);

  Object.assign(app.store, { acceptDelivery });
  expect((await app.deliver(body)).status).toBe(200);
  await expect.poll(() => begun.length).toBe(1);
});
