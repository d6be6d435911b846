import { beforeEach, describe, expect, test } from 'vitest';
import type { Viewer } from '../../src/web/index.ts';
import { mona, type WebWorld, webWorld } from './web-world.ts';

let world: WebWorld;
beforeEach(async () => {
  world = webWorld();
  await world.run('r111111111', 42);
  await world.run('r222222222', 43);
});

const statusAt = async (path: string): Promise<number> => (await world.get(path, mona)).status;

describe('a run', () => {
  test('is shown to those who may read its repository, and the answer holds for a minute', async () => {
    world.rights.set('42 5', 'read');
    expect(await statusAt('/runs/r111111111')).toBe(200);
    world.rights.delete('42 5');
    world.now += 59_000;
    expect(await statusAt('/runs/r111111111')).toBe(200);
    world.now += 1_000;
    expect(await statusAt('/runs/r111111111')).toBe(404);
    expect(world.asked).toEqual(['42 5', '42 5']);
  });

  test('that may not be seen is the same page as one that does not exist, after the same questions', async () => {
    world.rights.set('43 5', 'write');
    await world.get('/runs/r222222222', mona);
    world.asked.length = 0;
    const hidden = await world.get('/runs/r111111111', mona);
    const askedForHidden = world.asked.splice(0);
    world.now += 60_000;
    await world.get('/runs/r222222222', mona);
    world.asked.length = 0;
    const missing = await world.get('/runs/r999999999', mona);
    expect(world.asked).toEqual(askedForHidden);
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect(await missing.text()).toBe(await hidden.text());
  });

  test('is not shown while GitHub is away, and the page tells nothing of whether it exists', async () => {
    world.isDown = true;
    const there = await world.get('/runs/r111111111', mona);
    const missing = await world.get('/runs/r999999999', mona);
    expect([there.status, missing.status]).toEqual([503, 503]);
    expect(await missing.text()).toBe(await there.text());
    world.isDown = false;
    world.rights.set('42 5', 'triage');
    expect(await statusAt('/runs/r111111111')).toBe(200);
  });

  test('is not shown to somebody who has not signed in, nor to the person at this machine', async () => {
    const [there, missing] = [
      await world.get('/runs/r111111111', null),
      await world.get('/runs/r999999999', null),
    ];
    expect([there.status, missing.status]).toEqual([401, 401]);
    expect((await world.get('/runs/r111111111', { kind: 'local' })).status).toBe(404);
    expect(world.asked).toEqual([]);
  });
});

describe('the list of the runs of a repository', () => {
  const named = async (name: string) => {
    const response = await world.get(`/runs?repo=${encodeURIComponent(name)}`, mona);
    const page = (await response.text())
      .replaceAll(name, 'NAME')
      .replaceAll(encodeURIComponent(name), 'NAME');
    return { status: response.status, page, asked: world.asked.splice(0).length };
  };

  test('is the same for a name that does not exist and one that is hidden, after as many questions', async () => {
    const hidden = await named('acme/shop');
    world.now += 60_000;
    expect(await named('acme/none')).toEqual({ ...hidden, asked: 1 });
    world.now += 60_000;
    world.rights.set('42 5', 'read');
    expect((await named('ACME/shop')).page).toContain('r111111111');
    expect(hidden.page).not.toContain('r111111111');
  });

  test('tells nothing of whether the name exists while GitHub is away', async () => {
    world.isDown = true;
    const hidden = await named('acme/shop');
    expect(hidden.status).toBe(503);
    expect(await named('acme/none')).toEqual({ ...hidden, asked: 1 });
  });
});

describe('questions to GitHub', () => {
  const MANY = 90;
  beforeEach(async () => {
    world = webWorld();
    for (let i = 0; i < MANY; i += 1) await world.run(`r1111111${10 + i}`, 100 + i);
  });
  const list = async (): Promise<string> => (await world.get('/runs', mona)).text();

  test('are few for the lists of somebody without rights, and the list says that it is not complete', async () => {
    expect(await list()).toContain('This list is not complete');
    await list();
    const leaderboard = await (await world.get('/leaderboard', mona)).text();
    expect(leaderboard).toContain('Runs of some repositories may be missing');
    expect(world.asked).toHaveLength(20);
    for (let minute = 1; minute < 10; minute += 1) {
      world.now += 60_000;
      await list();
    }
    expect(world.asked).toHaveLength(MANY);
    expect(await list()).not.toContain('This list is not complete');
  });

  test('are no fewer about repositories that the person was found to see, whose loss counts within a minute', async () => {
    for (let i = 0; i < MANY; i += 1) world.rights.set(`${100 + i} 5`, 'read');
    for (let minute = 0; minute < 5; minute += 1) {
      await list();
      world.now += 60_000;
    }
    world.asked.length = 0;
    world.rights.delete('189 5');
    const page = await list();
    expect(world.asked).toHaveLength(MANY);
    expect(page).not.toContain('This list is not complete');
    expect(page).toContain('r111111198');
    expect(page).not.toContain('r111111199');
  });

  test('end for somebody who tries names and runs, and go on for others', async () => {
    const tried = [];
    for (let i = 0; i < 400; i += 1) tried.push(await statusAt(`/runs/r9999999${100 + i}`));
    expect(world.asked).toHaveLength(40);
    expect(tried).toContain(503);
    world.rights.set('100 6', 'read');
    const other = { kind: 'github', id: 6, login: 'kim', operator: false } as const;
    expect((await world.get('/runs/r111111110', other)).status).toBe(200);
    world.now += 60_000;
    world.rights.set('100 5', 'read');
    expect(await statusAt('/runs/r111111110')).toBe(200);
  });
});

describe('where runs of public repositories are shown to anybody', () => {
  beforeEach(async () => {
    world = webWorld({ publicRepositories: true });
    await world.run('r111111111', 42);
    await world.run('r222222222', 43);
    world.open.add(42);
  });
  const seen = async (path: string) => {
    const response = await world.get(path, null);
    return { status: response.status, text: await response.text() };
  };

  test('somebody who has not signed in sees those, and can change nothing', async () => {
    const { status, text } = await seen('/runs/r111111111');
    expect(status).toBe(200);
    expect(text).toContain('Fix r111111111');
    expect(text).not.toContain('method="post"');
    expect((await seen('/runs')).text).toMatch(/^(?!.*r222222222).*r111111111/s);
    const form = { method: 'POST', body: new URLSearchParams({ csrf: '', action: 'cancel' }) };
    expect((await world.get('/runs/r111111111/cancel', null, form)).status).toBe(403);
    expect((await seen('/leaderboard')).status).toBe(401);
  });

  test('a run of a private repository is as one that does not exist', async () => {
    const hidden = await seen('/runs/r222222222');
    const missing = await seen('/runs/r999999999');
    expect(hidden.status).toBe(401);
    expect(missing).toEqual({ ...hidden, text: hidden.text.replaceAll('r222222222', 'r999999999') });
    expect(hidden.text).not.toContain('Fix r222222222');
  });

  test('a repository that becomes private is seen for a minute at most', async () => {
    expect((await seen('/runs/r111111111')).status).toBe(200);
    world.open.delete(42);
    world.now += 60_000;
    expect((await seen('/runs/r111111111')).status).toBe(401);
  });
});

describe('pages at the same time', () => {
  const ok = { status: 200 };
  const many = (count: number, path: string, viewer: Viewer | null) =>
    Array.from({ length: count }, () => world.get(path, viewer));

  test('are 16 for one person, which takes nothing from others', async () => {
    const github = Promise.withResolvers<void>();
    world.rights.set('42 5', 'read').set('42 6', 'read');
    const kim = { kind: 'github', id: 6, login: 'kim', operator: false } as const;
    await world.get('/runs/r111111111', kim);
    world.answers = github.promise;
    const waiting = many(16, '/runs/r111111111', mona);
    const refused = await world.get('/runs/r111111111', mona);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await world.get('/runs/r111111111', kim)).toMatchObject(ok);
    github.resolve();
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 16 }, () => expect.objectContaining(ok)));
    expect(await world.get('/runs/r111111111', mona)).toMatchObject(ok);
  });

  test('are 64 for all who have not signed in', async () => {
    const github = Promise.withResolvers<void>();
    world = webWorld({ publicRepositories: true });
    await world.run('r111111111', 42);
    world.open.add(42);
    world.answers = github.promise;
    const waiting = many(64, '/runs/r111111111', null);
    expect(await world.get('/', null)).toMatchObject({ status: 429 });
    github.resolve();
    for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
    expect(await world.get('/', null)).toMatchObject(ok);
  });
});

describe('every page', () => {
  test('forbids scripts and styles in pages, frames and other hosts, and loads assets by their content', async () => {
    world.rights.set('42 5', 'read');
    const page = await world.get('/runs/r111111111', mona);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'");
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    const text = await page.text();
    expect(text).not.toMatch(/<style|style=|<script(?! src)/);
    const address = /href="(\/assets\/pages\.[0-9a-f]{16}\.css)"/.exec(text)?.[1] ?? '';
    const asset = await world.get(address, null);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const encodedFor = async (accepted: string) =>
      (await world.get(address, null, { headers: { 'accept-encoding': accepted } })).headers.get(
        'content-encoding',
      );
    expect(await encodedFor('br, gzip')).toBe('gzip');
    expect(await encodedFor('gzip;q=0, identity')).toBeNull();
    expect((await world.get('/assets/..%2findex.ts', null)).status).toBe(404);
  });

  test('shows text of others as text', async () => {
    await world.store.createRun({
      id: 'r333333333',
      origin: { kind: 'local', path: '/home/mona/shop' },
      title: '<img src=x onerror=alert(1)> \u202Egpj.exe',
      request: {},
      at: 1,
    });
    const list = await (await world.get('/runs', { kind: 'local' })).text();
    expect(list).toContain('&lt;img src=x onerror=alert(1)&gt; &lt;U+202E&gt;gpj.exe');
    expect(list).not.toContain('r111111111');
  });
});
