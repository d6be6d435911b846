import { expect, test } from 'vitest';
import { systemRandom } from '../../src/adapters/system/index.ts';
import { RunRequest, type World } from '../../src/runs/index.ts';
import { openWeb, type Viewer } from '../../src/web/index.ts';
import { atWork, type CommandWorld, commandWorld } from '../commands/command-world.ts';
import { mallory, mona as monaOnGitHub, RUN } from '../commands/dialogue-world.ts';
import { down, forbidden, openPull } from '../commands/fake-repository.ts';
import { partial } from '../world/partial.ts';
import { expectInert } from './inert.ts';
import { webWorld } from './web-world.ts';

const CSRF = 'the-token-of-this-test';
const viewer = ({ id, login }: { id: number; login: string }): Viewer => ({
  ...{ kind: 'github', id, login, operator: false },
});
const mona = viewer(monaOnGitHub);
const rita = viewer({ id: 9, login: 'rita' });
const NAME = 'acme/lists';

/** The pages over the real queue of commands; the repository has a run of its issue 7, and nobody asked about issue 8 yet. */
async function pages(on: CommandWorld = commandWorld()) {
  await atWork(on);
  await on.store.transition(RUN, 'cancelled', 'test', on.now());
  on.repository.rights[9] = 'read';
  const world = partial<World>({ ...on.world, random: { ...systemRandom, ...on.world.random } }, [
    'diskSpace',
  ]);
  const commands = {
    onPage: on.intake.onPage,
    // The clock of this world waits for nothing.
    outcome: async (id: string, ms: number) => {
      if (ms > 0) await on.intake.idle();
      return on.intake.outcome(id, 0);
    },
  };
  let who: Viewer | null = mona;
  const web = openWeb({ world, commands, identify: async () => who && { viewer: who, csrf: CSRF } });
  const get = async (path: string, by: Viewer | null = mona, init: RequestInit = {}) => {
    who = by;
    const answer = await web.fetch(new Request(`http://runoff.test${path}`, init));
    return { status: answer.status, to: answer.headers.get('location'), text: await answer.text() };
  };
  const keyOf = (text: string): string => /name="key" value="([0-9a-f]{32})"/.exec(text)?.[1] ?? '';
  /** Sends the form of the page, with what a person enters. */
  const start = async (entered: Record<string, string> = {}, by: Viewer = mona) => {
    const key = keyOf((await get('/new', by)).text);
    const fields = { csrf: CSRF, key, repository: NAME, issue: '8', start: 'run', ...entered };
    return get('/new', by, { method: 'POST', body: new URLSearchParams(fields) });
  };
  const runOf = async (to: string | null) => (to === null ? null : on.store.run(to.replace('/runs/', '')));
  return { ...on, get, start, runOf };
}

test('a repository that was renamed is found by its present name, and its former name starts nothing', async () => {
  const s = await pages();
  expect((await s.get('/runs?repo=acme/lists')).text).toContain(RUN);
  s.repository.renamed = 'renamed';
  s.later(2_000);
  const former = await s.start();
  expect(former.status).toBe(422);
  expect(former.text).toContain('The repository that was acme/lists is now acme/renamed.');
  expect(s.engine.started).toEqual([]);
  s.later(60_000);
  const list = (await s.get('/runs?repo=acme/lists')).text;
  expect(list).not.toContain(RUN);
  expect(list).toContain('is now <a href="/runs?repo=acme%2Frenamed">');
  expect((await s.get('/runs?repo=acme/renamed')).text).toContain(RUN);
  expect((await s.get('/new')).text).toContain('value="acme/renamed"');
  // Who may not see it learns no name.
  expect((await s.get('/runs?repo=acme/lists', viewer(mallory))).text).not.toContain('renamed');
  const { status, to } = await s.start({ repository: 'acme/renamed' });
  expect(status).toBe(303);
  expect((await s.runOf(to))?.origin).toMatchObject({ repositoryId: 42, name: 'renamed', issue: 8 });

  s.repository.trouble.set('repository', down);
  s.later(2_000);
  expect((await s.start({ repository: 'acme/renamed' })).status).toBe(503);
});

test('a writer starts a run on an issue that had none, and comes to its page', async () => {
  const s = await pages();
  const form = await s.get('/new');
  // The only repository that she may write to is filled in.
  expect(form.text).toContain(`value="${NAME}"`);
  expect((await s.get('/runs')).text).toContain('<a href="/new">Start a run on an issue</a>');
  expect((await s.get(`/new?repo=${encodeURIComponent(NAME)}&issue=8`)).text).toContain('value="8"');

  const { status, to } = await s.start({ issue: ' #8 ' });
  const run = await s.runOf(to);
  expect([status, s.engine.started]).toEqual([303, [run?.id]]);
  expect(run).toMatchObject({
    origin: { issue: 8, requestedBy: { id: 5, login: 'mona' } },
    title: s.repository.issue.title,
  });
  expect(RunRequest.parse(run?.request)).toMatchObject({ trigger: 'command', overrides: {} });
  const [entry] = await s.store.audited({ limit: 1 });
  expect(entry).toMatchObject({ entry: { kind: 'command', text: '/auto-dev run', by: { login: 'mona' } } });
  // Nobody is told on the issue: the run's own comment says that it has started.
  expect(s.repository.comments).toEqual([]);
});

test('a debate of the issue waits for approval of its plan', async () => {
  const s = await pages();
  const run = await s.runOf((await s.start({ start: 'debate' })).to);
  expect(RunRequest.parse(run?.request).overrides).toEqual({ debate: 'always', approval: 'plan' });
});

test('a form that is sent twice, also at once, starts one run and leads to it', async () => {
  const s = await pages();
  const key = 'a'.repeat(32);
  const both = await Promise.all([s.start({ key }), s.start({ key })]);
  const again = await s.start({ key });
  expect(new Set([...both, again].map(({ to }) => to)).size).toBe(1);
  expect(s.engine.started).toHaveLength(1);
  // Another issue with the key of a form that was sent.
  expect(await s.start({ key, issue: '7' })).toMatchObject({ status: 422 });
  expect(s.engine.started).toHaveLength(1);
});

test('while a run is active on the issue, the page says so and leads to it', async () => {
  const s = await pages();
  const active = await atWork(s, { id: 'r0000000077', origin: { issue: 8 } });
  const second = await s.start();
  expect(second.to).toMatch(/^\/new\?outcome=[0-9a-f]{32}#outcome$/);
  const { text } = await s.get(second.to ?? '');
  expect(text).toMatch(/class="notice refused">.*is already active here/);
  expect(text).toContain(`<a href="/runs/${active}">The page of that run</a>`);
  expect(s.engine.started).toEqual([]);
  // The outcome is for whoever sent the form.
  expect((await s.get(second.to ?? '', rita)).text).not.toContain('already active');
});

test.each([
  ['without a number', { issue: '' }, 400, 'The form is incomplete'],
  ['with a number that is none', { issue: '8; 9' }, 400, 'The form is incomplete'],
  ['with a start that there is not', { start: 'merge' }, 400, 'The form is incomplete'],
  ['with a key that no form has', { key: 'x' }, 400, 'The form is incomplete'],
  ['in a repository without runs', { repository: 'acme/other' }, 422, 'is no repository with runs'],
  ['in none', { repository: '../../acme' }, 422, 'is no repository with runs'],
  ['from another site', { csrf: 'x' }, 403, ''],
])('no run is started %s', async (_what, entered: Record<string, string>, status, why) => {
  const s = await pages();
  const answer = await s.start(entered);
  expect(answer.status).toBe(status);
  expect(answer.text).toContain(why);
  expectInert(answer.text);
  expect(s.engine.started).toEqual([]);
});

test('no run is started by a reader, who is told why', async () => {
  const s = await pages();
  const answer = await s.start({}, rita);
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(`no write access to ${NAME}`)]);
  expect((await s.get('/new', rita)).text).toContain('no repository with runs that you may write to');
  expect(s.engine.started).toEqual([]);
});

test('a repository that one may not see is as one that does not exist, also if the issue is there', async () => {
  const s = await pages();
  const answers = [];
  for (const repository of [NAME, 'acme/none']) {
    const { status, text } = await s.start({ repository }, viewer(mallory));
    answers.push([status, text.replaceAll(repository, 'X')]);
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]?.[0]).toBe(422);
  expect((await s.get('/new', viewer(mallory))).text).not.toContain(NAME);
});

test('of an issue that GitHub does not have, and of a pull request, nothing is started and the page says why', async () => {
  const s = await pages();
  openPull(s.repository, 11);
  expect((await s.get((await s.start({ issue: '11' })).to ?? '')).text).toMatch(/class="notice refused">/);
  s.repository.trouble.set('issue', forbidden);
  const none = await s.start();
  expect([none.status, none.text]).toEqual([422, expect.stringContaining(`${NAME} has no issue 8`)]);
  s.repository.trouble.set('issue', down);
  expect(await s.start()).toMatchObject({ status: 503 });
  expect(s.engine.started).toEqual([]);
});

test('there is no such page for those who have not signed in with GitHub', async () => {
  const s = await pages();
  expect((await s.get('/new', null)).status).toBe(401);
  expect((await s.get('/new', { kind: 'local' })).status).toBe(404);
  const local = await s.get(
    '/new',
    { kind: 'local' },
    { method: 'POST', body: new URLSearchParams({ csrf: CSRF }) },
  );
  expect(local.status).toBe(404);
});

test('of many repositories, ten are named and the rest is counted', async () => {
  const world = webWorld();
  for (let id = 1; id <= 12; id++) {
    await world.run(`r00000000${10 + id}`, id);
    world.rights.set(`${id} 5`, 'write');
  }
  const text = await (await world.get('/new', mona)).text();
  expect(text).toMatch(/You may write to <bdi>([\w-]+\/[\w-]+(, )?){10}<\/bdi>, and 2 more\./);
});
