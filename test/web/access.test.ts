import { beforeEach, describe, expect, test } from 'vitest';
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
