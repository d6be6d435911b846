import { beforeEach, expect, test } from 'vitest';
import { MODELS, outcome, run } from '../core/learning/sample.ts';
import { mona, type WebWorld, webWorld } from './web-world.ts';

let world: WebWorld;
const FIELD = Object.values(MODELS);

beforeEach(async () => {
  world = webWorld();
  await world.run('r111111111', 42);
  await world.run('r222222222', 43);
  const keep = async (repository: string, repositoryName: string, from: number, count: number) => {
    for (let i = from; i < from + count; i += 1) {
      const own = run(i, FIELD, MODELS.gpt).map((one) => ({ ...one, repository, repositoryName }));
      await world.store.keepOutcomes(own[0]?.runId ?? '', own, 1);
    }
  };
  await keep('github-42', 'acme/shop', 0, 3);
  await keep('github-43', 'acme/secret', 10, 4);
  await keep('local-/home/kim/x', '/home/kim/<b>x\u202E', 20, 5);
});

const at = async (path: string, viewer: Parameters<WebWorld['get']>[1] = mona) => {
  const response = await world.get(path, viewer);
  return response.status === 200 ? response.text() : String(response.status);
};

test('the leaderboard counts runs of repositories that the viewer may read, and names no other', async () => {
  world.rights.set('42 5', 'read');
  const page = await at('/leaderboard');
  expect(page).toContain('<caption>3 runs</caption>');
  expect(page).toContain('acme/shop');
  expect(page).not.toContain('secret');
  expect(page).not.toContain('/home/kim');
  // Somebody who knows the key of another repository learns nothing by it.
  expect(await at('/leaderboard?repo=github-43')).toBe(page);
  world.rights.set('43 5', 'write');
  world.now += 10 * 60_000;
  expect(await at('/leaderboard')).toContain('<caption>7 runs</caption>');
  expect(await at('/leaderboard?repo=github-43')).toContain('<caption>4 runs</caption>');
  expect(await at('/leaderboard', null)).toBe('401');
});

test('a repository is shown by its own runs, however many others have run since', async () => {
  world.rights.set('42 5', 'read');
  for (let i = 100; i < 5_200; i += 1) {
    const other = outcome({ runId: `r${i}`, at: i, repository: 'github-43', repositoryName: 'acme/secret' });
    await world.store.keepOutcomes(other.runId, [other], 1);
  }
  expect(await at('/leaderboard')).toContain('<caption>3 runs</caption>');
  world.rights.set('43 5', 'read');
  world.now += 10 * 60_000;
  expect(await at('/leaderboard')).toContain('acme/shop');
  expect(await at('/leaderboard?repo=github-42')).toContain('<caption>3 runs</caption>');
});

test('it is calculated once a minute, however often and by however many it is looked at', async () => {
  world.rights.set('42 5', 'read').set('42 6', 'read');
  const other = { kind: 'github', id: 6, login: 'nina', operator: false } as const;
  const { outcomes } = world.store;
  let reads = 0;
  Object.assign(world.store, {
    outcomes: (...which: Parameters<typeof outcomes>) => {
      reads += 1;
      return outcomes(...which);
    },
  });
  const caption = async (viewer: Parameters<WebWorld['get']>[1]) =>
    /<caption>(.*)<\/caption>/.exec(await at('/leaderboard', viewer))?.[1];
  expect(await Promise.all([caption(mona), caption(mona), caption(other)])).toEqual(Array(3).fill('3 runs'));
  const [newest = expect.fail()] = run(50, FIELD, MODELS.gpt);
  await world.store.keepOutcomes(newest.runId, [{ ...newest, repository: 'github-42' }], 1);
  expect([await caption(mona), reads]).toEqual(['3 runs', 1]);
  world.now += 60_000;
  expect([await caption(other), reads]).toEqual(['4 runs', 2]);
});

test('it shows an interval and the cost of each contestant, and what kind of work is selected', async () => {
  world.rights.set('42 5', 'read');
  const page = await at('/leaderboard');
  expect(page).toMatch(/<svg class="interval".*?aria-hidden="true">/);
  expect(page).toMatch(/\d+–\d+%<\/td>/);
  expect(page).toMatch(/<td>\$\d+\.\d\d<\/td><td>(?:\$\d+\.\d\d|–)<\/td>/);
  const kind = run(0, FIELD, null)[0]?.kind ?? '';
  expect(await at(`/leaderboard?kind=${kind}`)).toContain(`<option value="${kind}" selected>`);
  const other = kind === 'bug' ? 'docs' : 'bug';
  expect(await at(`/leaderboard?kind=${other}`)).toContain('has been decided yet');
});

test('the person at this machine sees local repositories, their names as text', async () => {
  const page = await at('/leaderboard', { kind: 'local' });
  expect(page).toContain('<caption>5 runs</caption>');
  expect(page).toContain('/home/kim/&lt;b&gt;x&lt;U+202E&gt;');
  expect(page).not.toContain('acme');
});
