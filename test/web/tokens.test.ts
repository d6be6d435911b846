import { beforeEach, describe, expect, test } from 'vitest';
import { systemRandom } from '../../src/adapters/system/index.ts';
import { tokenText } from '../../src/core/tokens/index.ts';
import type { World } from '../../src/runs/index.ts';
import type { Viewer } from '../../src/web/index.ts';
import { githubOrigin } from '../world/origin.ts';
import { partial } from '../world/partial.ts';
import { CSRF, mona, type WebWorld, webWorld } from './web-world.ts';

const nina: Viewer = { kind: 'github', id: 6, login: 'nina', operator: false };

/** Of the repositories 42, 43 and 44. */
const NAMES = ['lists', 'readable', 'hidden'];

let world: WebWorld;
beforeEach(async () => {
  world = webWorld({ world: partial<World>({ random: systemRandom }), origin: 'http://runoff.test' });
  world.now = 1_000_000;
  world.rights.set('42 5', 'write').set('43 5', 'read');
  for (const [at, name] of NAMES.entries()) {
    const repositoryId = 42 + at;
    const origin = githubOrigin({ repositoryId, name });
    await world.store.createRun({ id: `r00000000${repositoryId}`, origin, title: 'Fix', request: {}, at: 1 });
  }
});

const nameOf = (repositoryId: number): string => `acme/${NAMES[repositoryId - 42]}`;
const page = async (who: Viewer | null = mona) => (await world.get('/tokens', who)).text();
const post = (
  path: string,
  fields: Record<string, string | readonly string[]>,
  who: Viewer = mona,
  headers = {},
) => {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries({ csrf: CSRF, ...fields }))
    for (const value of [values].flat()) body.append(name, value as string);
  return world.get(path, who, { method: 'POST', body, headers });
};
/** Sends the form of the page as it is, with what a person enters. */
const make = async (entered: Record<string, string | readonly string[]> = {}, who: Viewer = mona) => {
  const key = /name="key" value="([0-9a-f]{32})"/.exec(await page(who))?.[1] ?? '';
  return post(
    '/tokens',
    { key, name: 'nightly', days: '30', verb: 'read', repository: '42', ...entered },
    who,
  );
};
const textIn = (html: string): string => /<pre[^>]*id="token">(runoff_pat_\w+)</.exec(html)?.[1] ?? '';
const api = async (token: string, repositoryId = 42) =>
  (
    await world.get(`/api/repos/${nameOf(repositoryId)}/runs`, null, {
      headers: { authorization: `Bearer ${token}` },
    })
  ).status;
const stored = () => world.store.tokens({ limit: 99 });

describe('a writer', () => {
  test('makes a token on a page, sees it once, uses it, and revokes it by a button', async () => {
    const first = await page();
    expect(first).toContain(`value="42"> <bdi>${nameOf(42)}`);
    // She may only read one, and does not see the other.
    expect(first).not.toMatch(/value="4[34]"/);
    const made = await make({ verb: ['read', 'act'] });
    expect([made.status, made.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const text = textIn(await made.text());
    expect(text).toMatch(/^runoff_pat_[0-9a-f]{72}$/);
    const [token] = await stored();
    expect(token).toMatchObject({
      ...{ name: 'nightly', by: { id: 5, login: 'mona' }, verbs: ['read', 'act'] },
      repositories: [{ repositoryId: 42 }],
    });
    expect((token?.expiresAt ?? 0) - (token?.createdAt ?? 0)).toBe(30 * 86_400_000);
    expect(await page()).not.toContain(text);
    expect(await page()).toContain('<td>never</td>');
    expect([await api(text), await api(text, 43)]).toEqual([200, 404]);
    expect(await page()).not.toContain('<td>never</td>');

    const revoked = await post(`/tokens/${token?.id}/revoke`, {});
    expect([revoked.status, revoked.headers.get('location')]).toEqual([303, '/tokens']);
    expect(await api(text)).toBe(401);
    expect(await page()).toContain('<td>revoked</td>');
    const audit = (await world.store.audited({ limit: 9 })).map(({ entry }) => entry);
    expect(audit).toMatchObject([
      { kind: 'token', what: 'revoked', by: { login: 'mona' } },
      { kind: 'token', what: 'created', by: { login: 'mona' } },
    ]);
  });

  test('who loses the right later has a token without power', async () => {
    const text = textIn(await (await make()).text());
    expect(await api(text)).toBe(200);
    world.rights.delete('42 5');
    world.now += 61_000;
    expect(await api(text)).toBe(404);
  });

  test('has one token of a form that is sent twice', async () => {
    const key = 'a'.repeat(32);
    expect([(await make({ key })).status, (await make({ key })).status]).toEqual([200, 422]);
    expect(await stored()).toHaveLength(1);
  });
});

test('all valid tokens are listed and can be revoked, however many were made and ended since', async () => {
  const repository = { installationId: 1, repositoryId: 42, owner: 'acme', name: 'lists' };
  const add = async (at: number) => {
    const { id, text } = tokenText(String(at).padStart(12, '0').padEnd(64, 'a'));
    const token = {
      name: 'old',
      by: { id: 5, login: 'mona' },
      repositories: [repository],
      verbs: ['read'],
    } as const;
    await world.store.addToken({ id, ...token, createdAt: at, expiresAt: 9_000_000 }, text);
    return id;
  };
  const valid = [];
  for (let at = 0; at < 101; at += 1) valid.push(await add(at));
  for (let at = 200; at < 500; at += 1) await world.store.revokeToken(await add(at), 600);
  const [oldest = ''] = valid;
  const first = await page();
  const ids = (text: string) => [...text.matchAll(/aria-label="Revoke (\w+)"/g)].map(([, id]) => id);
  expect(ids(first)).toEqual(valid.toReversed().slice(0, 100));
  expect(first).toContain('<td>revoked</td>');
  const next = /rel="next" href="([^"#]+)#valid"/.exec(first)?.[1] ?? '';
  const second = await (await world.get(next, mona)).text();
  expect(ids(second)).toEqual([oldest]);
  expect(second).not.toContain('rel="next"');
  expect((await post(`/tokens/${oldest}/revoke`, {})).status).toBe(303);
  expect((await world.store.token(oldest))?.revokedAt).toBe(1_000_000);
  // 100 are too many to make another one.
  expect(await (await make()).text()).toContain('You have 50 valid tokens or more.');
});

describe('no token is made', () => {
  test.each([
    ['for a repository that one may only read', { repository: [], others: 'READ' }, 'has no write access to'],
    ['for none', { repository: [] }, 'at least one repository'],
    ['for nothing', { verb: [] }, 'what the token may be used for'],
    ['for longer than a year', { days: '366' }, 'expires after 1 to 365 days'],
    ['for half a day', { days: '0.5' }, 'not filled in'],
    ['without a name', { name: ' ' }, 'not filled in'],
    ['for a verb that there is not', { verb: 'admin' }, 'not filled in'],
    ['with a key that no form has', { key: 'x' }, 'not filled in'],
    ['for an id that the page does not list', { repository: '44' }, 'is no repository with runs'],
  ])('%s', async (_what, entered: Record<string, string | readonly string[]>, why) => {
    const others = entered.others === 'READ' ? { others: nameOf(43) } : {};
    const answer = await make({ ...entered, ...others });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain(why);
    expect(await stored()).toEqual([]);
  });

  test('has one token of a form that arrives twice at once, and may send a refused form again', async () => {
    const key = 'a'.repeat(32);
    const both = await Promise.all([make({ key }), make({ key })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 422]);
    expect(await stored()).toHaveLength(1);
    const other = 'b'.repeat(32);
    expect((await make({ key: other, repository: [], others: 'acme/none' })).status).toBe(422);
    expect((await make({ key: other })).status).toBe(200);
  });

  test('for a repository that one may not see, which is as one that does not exist', async () => {
    const hidden = nameOf(44);
    const answers = [];
    for (const others of [hidden, 'acme/none'])
      answers.push(
        (await (await make({ repository: [], others })).text())
          .replaceAll(others, 'X')
          .replace(/"[0-9a-f]{32}"/g, ''),
      );
    expect(answers[0]).toBe(answers[1]);
    // Both asked GitHub one question.
    expect(world.asked.filter((one) => one === '44 5').length).toBeGreaterThan(0);
    expect(await stored()).toEqual([]);
  });

  test('from another site, or without the token of the session', async () => {
    expect((await make({ csrf: 'x' })).status).toBe(403);
    const fields = { key: 'b'.repeat(32), name: 'x', days: '1', verb: 'read', repository: '42' };
    expect((await post('/tokens', fields, mona, { origin: 'https://evil.test' })).status).toBe(403);
    expect((await post('/tokens', fields, mona, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(await stored()).toEqual([]);
  });
});

test('a token belongs to its person: nobody else sees or revokes it, and its name is text', async () => {
  world.rights.set('42 6', 'admin');
  await make({ name: '<img src=x onerror=alert(1)>' });
  const [token] = await stored();
  expect(await page()).toContain('&lt;img src=x');
  expect(await page(nina)).not.toContain(token?.id);
  expect((await post(`/tokens/${token?.id}/revoke`, {}, nina)).status).toBe(404);
  expect((await post(`/tokens/${token?.id}/revoke`, { csrf: 'x' })).status).toBe(403);
  expect((await stored())[0]?.revokedAt).toBeUndefined();
});

test('there is no such page for those who have not signed in with GitHub', async () => {
  expect((await world.get('/tokens', null)).status).toBe(401);
  expect((await world.get('/tokens', { kind: 'local' })).status).toBe(404);
  expect(await (await world.get('/runs', { kind: 'local' })).text()).not.toContain('href="/tokens"');
});
