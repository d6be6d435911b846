import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BaseCheckout } from '../../../src/ports/index.ts';
import { patchOf } from '../../contracts/workspaces.suite.ts';
import { type GitWorld, git, LIMITS, openGitWorld } from './world.ts';

const author = { name: 'R', email: 'r@example.org' };
const DAY = 24 * 60 * 60_000;

describe('a checkout that no run used for a long time', () => {
  let world: GitWorld;
  beforeEach(() => {
    world = openGitWorld();
  });
  afterEach(() => world.close());

  const nobody = () => false;
  /** Everything counts as unused; a moment in the future, since files know time in coarse steps. */
  const pruneAll = (keep: (id: string) => boolean = nobody) =>
    world.another().prune({ before: Date.now() + DAY, keep });

  async function based(file = 'one\n') {
    const { path, sha } = world.repository({ 'a.txt': file, '.gitignore': 'deps\n' });
    const bare = await world.workspaces.prepare({ kind: 'local', path }, sha);
    const command = 'mkdir deps; head -c 300000 /dev/urandom > deps/lib';
    const wish = { command, egress: [], limits: LIMITS };
    const installed = await world.workspaces.install(bare, wish);
    if (installed.kind !== 'ready') throw new Error(installed.why);
    return { path, sha, base: installed.base };
  }
  /** One candidate's patch, collected; its area is removed. */
  async function collected(base: BaseCheckout, id: string, line = `echo ${id} > a.txt`) {
    const area = await world.workspaces.open(base, id);
    await world.run(area, line);
    const { tree } = patchOf(await world.workspaces.collect(base, area));
    await world.workspaces.remove(area);
    return tree;
  }
  const kept = (name: string) => readdirSync(join(world.dataDir, name));
  const has = (base: BaseCheckout, object: string) => {
    const store = join(world.dataDir, 'objects', `${base.repositoryKey}.git`);
    try {
      git(store, 'cat-file', '-e', object);
      return true;
    } catch {
      return false;
    }
  };

  test('is removed with everything it came with, and rebuilt on request', async () => {
    const { path, sha, base } = await based();
    await collected(base, 'r1-A');
    const pruned = await pruneAll();
    expect(pruned).toMatchObject({ checkouts: 1, layers: 1, patches: 1, repositories: 1, busy: 0 });
    expect(pruned.bytes).toBeGreaterThan(300_000);
    for (const name of ['mirrors', 'objects', 'bases', 'layers']) expect(kept(name), name).toEqual([]);
    expect(readdirSync(world.dataDir).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await pruneAll()).toMatchObject({ checkouts: 0, bytes: 0 });

    const again = await world.workspaces.prepare({ kind: 'local', path }, sha);
    expect(await collected(again, 'r2-A')).toMatch(/^[0-9a-f]{40}$/);
  });

  test('keeps the mirror of a local run that may be resumed, even while its folder cannot be reached', async () => {
    const { path } = await based();
    renameSync(path, `${path}-away`);
    const after = { before: Date.now() + 60_000, keep: () => false };
    expect(await world.workspaces.prune({ ...after, mirrorsKept: [path] })).toMatchObject({
      repositories: 0,
    });
    expect(kept('mirrors')).toHaveLength(1);
    expect(await world.workspaces.prune(after)).toMatchObject({ repositories: 1 });
  });

  test('stays while it is recent, and each use makes it recent', async () => {
    const { path, sha, base } = await based();
    const before = Date.now() - 14 * DAY;
    expect(await world.workspaces.prune({ before, keep: nobody })).toMatchObject({ checkouts: 0, layers: 0 });
    const old = new Date(Date.now() - 15 * DAY);
    const [mirror, checkout, layer] = [
      join(world.dataDir, 'mirrors', `${base.repositoryKey}.git`),
      join(base.lower, '..'),
      join(base.layers[0] ?? '', '..'),
    ];
    for (const folder of [mirror, checkout, layer]) utimesSync(folder, old, old);
    await world.workspaces.prepare({ kind: 'local', path }, sha);
    expect(await world.workspaces.prune({ before, keep: nobody })).toMatchObject({
      checkouts: 0,
      layers: 1,
      repositories: 0,
    });
    utimesSync(checkout, old, old);
    expect(await world.workspaces.prune({ before, keep: nobody })).toMatchObject({
      checkouts: 1,
      repositories: 0,
    });
    utimesSync(mirror, old, old);
    expect(await world.workspaces.prune({ before, keep: nobody })).toMatchObject({ repositories: 1 });
  });

  test('stays while an area stands on it, whichever process opened that', async () => {
    const { base } = await based();
    const other = await based('other\n');
    const area = await world.workspaces.open(base, 'r1-A');
    expect(await pruneAll()).toMatchObject({ checkouts: 1, layers: 1, repositories: 1 });
    expect(existsSync(other.base.lower)).toBe(false);
    const seen = await world.run(area, 'cat a.txt; wc -c < deps/lib; echo two > a.txt');
    expect(seen.stdout).toBe('one\n300000\n');
    expect((await world.workspaces.collect(base, area)).kind).toBe('patch');
    await world.workspaces.remove(area);
    expect(await pruneAll()).toMatchObject({ checkouts: 1, layers: 1, patches: 1, repositories: 1 });
  });

  test('stays when its run may still need it: the tree of a patch can be committed', async () => {
    const { path, base } = await based();
    const [mine, theirs] = [await collected(base, 'r1-A'), await collected(base, 'r2-A')];
    expect([has(base, mine), has(base, theirs)]).toEqual([true, true]);
    const pruned = await pruneAll((id) => id.startsWith('r1-'));
    expect(pruned).toMatchObject({ patches: 1, repositories: 0 });
    expect([has(base, mine), has(base, theirs)]).toEqual([true, false]);
    const again = await world.workspaces.prepare({ kind: 'local', path }, base.sha);
    const spec = { base: base.sha, tree: mine, message: 'm', author, at: 1 };
    await world.workspaces.branch(again, path, 'auto-dev/a', await world.workspaces.commit(again, spec));
    expect(git(path, 'show', 'auto-dev/a:a.txt')).toBe('r1-A');
    const store = join(world.dataDir, 'objects', `${base.repositoryKey}.git`);
    expect(git(store, 'fsck', '--strict')).not.toContain('missing');
  });

  test('keeps a tree that another run took over', async () => {
    const { base } = await based();
    const tree = await collected(base, 'r1-A');
    expect(await world.workspaces.holds(base, tree)).toBe(true);
    await world.workspaces.keep(base, 'r2-B', tree);
    await pruneAll((id) => id.startsWith('r2-'));
    expect(await world.workspaces.holds(base, tree)).toBe(true);
    await pruneAll();
    expect(has(base, tree)).toBe(false);
  });

  test('stays while another process builds something from it', async () => {
    const { base } = await based();
    const controller = new AbortController();
    const endless = { command: 'while :; do sleep 0.1; done', egress: [], limits: LIMITS };
    const going = world.workspaces.install(base, endless, controller.signal);
    const ended = expect(going).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => kept('areas').length).toBe(1);
    expect(await pruneAll()).toEqual({
      checkouts: 0,
      layers: 0,
      patches: 0,
      repositories: 0,
      bytes: 0,
      busy: 1,
    });
    expect(await world.another().sweep(nobody)).toEqual([]);
    controller.abort();
    await ended;
    expect(await pruneAll()).toMatchObject({ checkouts: 1, busy: 0 });
  });

  test('can be removed at any moment: an area that is opened then is complete, or preparation is requested again', async () => {
    const { path, sha } = await based();
    const pruner = { stop: false, rounds: 0, checkouts: 0 };
    const pruning = (async () => {
      while (!pruner.stop) {
        pruner.checkouts += (await pruneAll()).checkouts;
        pruner.rounds += 1;
      }
    })();
    const outcomes = { whole: 0, told: 0 };
    for (let round = 0; round < 15; round += 1) {
      const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
      try {
        const area = await world.workspaces.open(base, `r1-${round}`);
        expect((await world.run(area, 'cat a.txt; echo two > a.txt')).stdout).toBe('one\n');
        expect((await world.workspaces.collect(base, area)).kind).toBe('patch');
        await world.workspaces.remove(area);
        outcomes.whole += 1;
      } catch (error) {
        expect(error).toMatchObject({ name: 'Fault', message: expect.stringContaining('prepared again') });
        outcomes.told += 1;
      }
    }
    pruner.stop = true;
    await pruning;
    expect(outcomes.whole).toBeGreaterThan(0);
    expect(pruner.checkouts).toBeGreaterThan(0);
    expect(kept('areas')).toEqual([]);
  });

  test('stays under an area that is not swept, whose age a sweep is told', async () => {
    const { base } = await based();
    const before = Date.now() - 1_000;
    const { upper } = await world.workspaces.open(base, 'r1-A');
    // A copy of the operator's stops nobody.
    mkdirSync(join(world.dataDir, 'areas/r1-A.bak'));
    const isYoung = (_: string, usedAt: number) => usedAt > before;
    expect(await world.another().sweep(isYoung)).toEqual([]);
    utimesSync(join(upper, '..'), before / 1000 - 1, before / 1000 - 1);
    expect(await world.another().sweep(isYoung)).toEqual(['r1-A']);
  });

  test('is removed by age even if an unreadable area exists', async () => {
    const { base } = await based();
    const { upper } = await world.workspaces.open(base, 'setup-torn');
    const area = join(upper, '..');
    writeFileSync(join(area, 'area.json'), '');
    expect(await world.another().sweep(() => true)).toEqual([]);
    const before = (Date.now() - 2 * DAY) / 1000;
    utimesSync(area, before, before);
    expect(await world.another().sweep(() => true)).toEqual(['setup-torn']);
  });

  test("is never removed if the areas' bases are unknown", async () => {
    const { base } = await based();
    const area = await world.workspaces.open(base, 'r1-A');
    execFileSync('sh', ['-c', 'echo broken > "$1"', 'sh', join(area.upper, '..', 'area.json')]);
    expect(await pruneAll()).toMatchObject({ checkouts: 0, layers: 0 });
    expect(readFileSync(join(base.lower, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test.runIf(process.getuid?.() === 0)('does not stop after work was handed to another user', async () => {
    const { path, base } = await based();
    const tree = await collected(base, 'r1-A');
    execFileSync('chown', ['-R', '64192:64192', path]);
    const commit = await world.workspaces.commit(base, { base: base.sha, tree, message: 'm', author, at: 1 });
    await world.workspaces.branch(base, path, 'auto-dev/1', commit);
    // What a kill in the middle of it leaves.
    const store = join(world.dataDir, 'objects', `${base.repositoryKey}.git`);
    const left = join(store, `../.tmp-${base.repositoryKey}-0123456789abcdef`);
    mkdirSync(left);
    writeFileSync(join(left, 'pack-1.pack'), '');
    await world.workspaces.sweep(() => true);
    await expect.poll(() => existsSync(left)).toBe(false);
    expect(await pruneAll((id) => id === 'r1-A')).toMatchObject({ checkouts: 1, layers: 1, repositories: 0 });
    expect(git(store, 'for-each-ref', '--format=%(refname)')).toBe('refs/runoff/r1-A');
    expect(await pruneAll()).toMatchObject({ patches: 1, repositories: 1 });
  });

  test('does not stop because the record of an area is damaged', async () => {
    const { base } = await based();
    const area = await world.workspaces.open(base, 'r1-A');
    truncateSync(join(area.upper, '../area.json'), 7);
    const { base: other } = await based('two\n');
    await collected(other, 'r2-A');
    const old = new Date(Date.now() - DAY);
    for (const folder of [other.lower, ...other.layers]) utimesSync(join(folder, '..'), old, old);
    expect(await pruneAll()).toMatchObject({ checkouts: 1, layers: 1 });
    expect(existsSync(base.lower)).toBe(true);
  });
});
