import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitHubWorld, openGitHubWorld } from '../../../packages/local-github/test/github-world.ts';
import type { People } from '../../../src/ports/index.ts';
import { appGitHub } from '../../world/app-github.ts';

let world: GitHubWorld;
let people: People;
beforeAll(async () => {
  world = await openGitHubWorld({ private: true });
  ({ people } = appGitHub(world));
});
afterAll(async () => {
  expect(world.contract.violations).toEqual([]);
  await world.close();
});

const handle = () => world.github.handle(world.repository.owner, world.repository.name);
const token = (login: string) => world.github.token(login);

test('a token is of the person who made it, with its scopes; others are of nobody', async () => {
  const holder = await people.ofToken(token('bob'));
  expect(holder).toEqual({
    person: await people.byLogin('bob', handle()),
    scopes: expect.arrayContaining(['repo']),
  });
  for (const wrong of [
    '',
    'ghp_0000',
    `${token('bob')}0`,
    'a b',
    'a\r\nx-injected: 1',
    'ü',
    'x'.repeat(10_000),
  ])
    expect(await people.ofToken(wrong), wrong.slice(0, 20)).toBeNull();
});

test('a private repository is found with the tokens of people who may read it', async () => {
  const { owner, name } = world.repository;
  expect(await people.repository(token('alice'), owner, name)).toEqual(handle());
  expect(await people.repository(token('mallory'), owner, name)).toBeNull();
  expect(await people.repository(token('alice'), owner, 'none')).toBeNull();
  for (const wrong of ['..', '.', '', 'a/b', '%2e%2e', 'x'.repeat(200)])
    expect(await people.repository(token('alice'), owner, wrong), wrong).toBeNull();
});

test('nothing is found where the App is not installed', async () => {
  const { owner, name } = world.repository;
  await world.github.suspend();
  expect(await people.repository(token('alice'), owner, name)).toBeNull();
  await world.github.unsuspend();
});

test('a login is of a person, or of nobody', async () => {
  expect(await people.byLogin('alice', handle())).toMatchObject({ login: 'alice' });
  for (const wrong of ['nobody-has-this', world.github.botLogin, '../alice', ''])
    expect(await people.byLogin(wrong, handle()), wrong).toBeNull();
});
