import { afterEach, beforeEach, expect, test } from 'vitest';
import { comment, mallory, mona, NOON } from '../runs/admission-world.ts';
import { type AppWorld, appWorld, comments, issues, MONA } from './app-world.ts';

let app: AppWorld;
beforeEach(async () => {
  app = await appWorld();
});
afterEach(() => app.close());

const MALLORY = { ...mallory, type: 'User' };
const said = (id: number, body: string, sender: object, association: string) =>
  app.deliver(
    comments('created', body, {
      comment: {
        id,
        body,
        created_at: new Date(NOON + id).toISOString(),
        updated_at: new Date(NOON + id).toISOString(),
        performed_via_github_app: null,
        author_association: association,
        user: sender,
      },
      sender,
    }),
    { 'x-github-event': 'issue_comment' },
  );

test("of five hundred commands by a stranger all deliveries are answered and few stored, and a writer's command is applied at once", async () => {
  let asked = 0;
  app.now.rights[mallory.id] = async () => {
    asked += 1;
    return 'read';
  };
  const flood = Array.from({ length: 500 }, (_, n) => said(1_000 + n, '/auto-dev cancel', MALLORY, 'NONE'));
  const run = said(2_000, '/auto-dev run', MONA, 'MEMBER');
  const answers = await Promise.all([...flood, run]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await expect.poll(async () => (await app.settled()).map(({ state }) => state)).toEqual(['admitted']);
  await said(2_001, '/auto-dev cancel', MONA, 'MEMBER');
  await expect.poll(async () => (await app.settled()).map(({ state }) => state)).toEqual(['cancelled']);
  await expect.poll(async () => await app.store.unsettledCommands()).toEqual([]);
  const rows = await app.store.commands(42, 10_000);
  expect(rows.filter(({ by }) => by.id === mallory.id).length).toBeLessThanOrEqual(20);
  expect(asked).toBeLessThanOrEqual(2);
});

test("of a stranger's labels from a template few are stored and one reaction is written, while a maintainer can set hundreds", async () => {
  for (let n = 0; n < 100; n += 1)
    await app.deliver(issues('labeled', { number: 100 + n, sender: MALLORY, seconds: n }));
  const runs = await app.settled();
  expect(runs.length).toBeLessThanOrEqual(20);
  expect(runs.map(({ state }) => state)).toEqual(runs.map(() => 'refused'));
  expect(app.written).toEqual(['{"issue":100} confused']);

  for (let n = 0; n < 100; n += 1) await app.deliver(issues('labeled', { number: 300 + n, seconds: n }));
  const states = (await app.settled()).map(({ state }) => state);
  expect(states.filter((state) => state === 'admitted')).toHaveLength(100);
});

const strangers = (count: number, association = 'NONE') =>
  Array.from({ length: count }, (_, n) =>
    comment({ id: 900_000 + n, login: `x${n}` }, '+1', { association, id: 5_000 + n }),
  );
const commentsOf = async () => {
  const [run] = await app.settled();
  return run?.task;
};

test("a maintainer's comment is in the brief, however many strangers commented after it", async () => {
  app.now.comments = [
    comment(mona, 'Half up, please.'),
    ...strangers(2_000),
    comment(mona, 'And a test.', { id: 9_000 }),
  ];
  await app.deliver(issues('labeled', { seconds: 60 }));
  const task = await commentsOf();
  expect(task?.comments.map(({ body }) => body)).toEqual(['Half up, please.', 'And a test.']);
  expect(task?.leftOut).toEqual([
    'Comments by 1970 people were left out: too many other people commented, so their permission was not checked.',
  ]);
});

test('a writer with private membership is found among a few strangers', async () => {
  app.now.comments = [comment(mona, 'Half up, please.', { association: 'NONE' }), ...strangers(25)];
  await app.deliver(issues('labeled', { seconds: 60 }));
  const task = await commentsOf();
  expect(task?.comments).toHaveLength(1);
  expect(task).not.toHaveProperty('leftOut');
});

test('look-ups of members without write access are limited, too, and nobody is looked up twice', async () => {
  const asked = new Map<number, number>();
  for (const { author } of strangers(500)) {
    app.now.rights[author.id] = async () => {
      asked.set(author.id, (asked.get(author.id) ?? 0) + 1);
      return 'read';
    };
  }
  app.now.comments = [...strangers(500, 'MEMBER'), ...strangers(500, 'MEMBER')];
  await app.deliver(issues('labeled', { seconds: 60 }));
  const task = await commentsOf();
  expect(task?.comments).toEqual([]);
  expect(task?.leftOut?.[0]).toContain('Comments by 440 people were left out');
  expect([asked.size, Math.max(...asked.values())]).toEqual([60, 1]);
});

test('of very many comments by writers only the newest are read', async () => {
  app.now.comments = Array.from({ length: 1_000 }, (_, n) => comment(mona, `${n}`, { id: n + 1 }));
  await app.deliver(issues('labeled', { seconds: 60 }));
  const task = await commentsOf();
  expect([task?.comments.length, task?.comments[0]?.body, task?.comments.at(-1)?.body]).toEqual([
    200,
    '800',
    '999',
  ]);
  expect(task?.leftOut).toEqual(['Comments older than the newest 200 by writers were left out.']);
});
