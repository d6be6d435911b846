import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Fault } from '../../../src/core/model/index.ts';
import type { Log, Sandbox, Workspaces } from '../../../src/ports/index.ts';
import { changes } from '../../contracts/workspaces.suite.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';
import { type GitServer, startGitServer } from './server.ts';
import { type GitWorld, git, LIMITS, openGitWorld } from './world.ts';

type Damage = (path: string) => void;

const HOW: Readonly<Record<string, Damage>> = {
  'cut off': (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  emptied: (path) => truncateSync(path, 0),
  zeroed: (path) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
  garbled: (path) => writeFileSync(path, garbled(path)),
  removed: (path) => rmSync(path),
  'garbled, with its times kept': (path) => {
    const { atime, mtime } = statSync(path);
    writeFileSync(path, garbled(path));
    utimesSync(path, atime, mtime);
  },
};

function garbled(path: string): Buffer {
  const bytes = readFileSync(path);
  for (let at = Math.floor(bytes.length / 3); at < (bytes.length * 2) / 3; at += 1)
    bytes[at] = (at * 151) % 256;
  return bytes;
}

const filesBelow = (folder: string): readonly string[] =>
  execFileSync('find', [folder, '-type', 'f']).toString().split('\n').filter(Boolean).toSorted();

const WHICH: Readonly<Record<string, (mirror: string) => string>> = {
  config: (mirror) => join(mirror, 'config'),
  HEAD: (mirror) => join(mirror, 'HEAD'),
  'packed-refs': (mirror) => join(mirror, 'packed-refs'),
  'a pack': (mirror) => filesBelow(mirror).find((path) => path.endsWith('.pack')) ?? '',
  'the index of a pack': (mirror) => filesBelow(mirror).find((path) => path.endsWith('.idx')) ?? '',
  'a loose object': (mirror) => filesBelow(mirror).find((path) => /objects\/[0-9a-f]{2}\//.test(path)) ?? '',
  'a ref': (mirror) => filesBelow(mirror).find((path) => /refs\/runoff\/[0-9a-f]{40}$/.test(path)) ?? '',
};

describe('a damaged stored copy', () => {
  let world: GitWorld;
  let server: GitServer;
  let folder: string;
  beforeAll(async () => {
    world = openGitWorld();
    folder = world.folder();
    server = await startGitServer(folder);
  });
  afterAll(async () => {
    await server.close();
    world.close();
  });

  let count = 0;

  /** A repository on the server with a commit more than its mirror holds, which has packs, packed refs and loose objects. */
  async function published() {
    const { path, sha } = world.repository({ 'a.txt': 'one\n', 'b/c.txt': `${'text '.repeat(2_000)}\n` });
    const name = `repo-${++count}`;
    const bare = join(folder, `${name}.git`);
    git(path, 'clone', '-q', '--bare', path, bare);
    git(path, 'remote', 'add', 'origin', bare);
    const commit = (text: string): string => {
      writeFileSync(join(path, 'a.txt'), text);
      git(path, 'commit', '-q', '-a', '-m', text);
      git(path, 'push', '-q', 'origin', 'HEAD:main');
      return git(path, 'rev-parse', 'HEAD');
    };
    const source = {
      kind: 'remote',
      url: server.url(name),
      credential: async () => server.credential,
    } as const;
    const dataDir = join(world.folder(), 'data');
    const workspaces = world.another({ dataDir });
    const holds = (held: string) => workspaces.readFile(source, held, 'a.txt');
    await holds(sha);
    const second = commit('two\n');
    await holds(second);
    const mirror = join(dataDir, 'mirrors', readdirSync(join(dataDir, 'mirrors'))[0] ?? '');
    git(mirror, 'repack', '-q', '-a', '-d');
    git(mirror, 'pack-refs', '--all');
    const third = commit('three\n');
    await holds(third);
    return { source, bare, dataDir, shas: [sha, second, third], newest: commit('four\n') };
  }
  type Published = Awaited<ReturnType<typeof published>>;
  let shared: Promise<Published> | null = null;

  /** Workspaces over a data folder of their own that say what was damaged. */
  async function mirrored(of?: Published) {
    shared ??= published();
    const made = of ?? (await shared);
    const dataDir = join(world.folder(), 'data');
    execFileSync('cp', ['-a', made.dataDir, dataDir]);
    const told: string[] = [];
    const log: Log = {
      ...silent,
      error: (...words: readonly unknown[]) => void told.push(JSON.stringify(words)),
    };
    let damaged = 0;
    const onDamage = (): void => {
      damaged += 1;
    };
    const workspaces = world.another({ dataDir, log, onDamage });
    const mirror = join(dataDir, 'mirrors', readdirSync(join(dataDir, 'mirrors'))[0] ?? '');
    return { ...made, workspaces, mirror, told, dataDir, damages: () => damaged };
  }

  /** As a stage does it: once more where stored data was found damaged meanwhile. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      expect(thrown instanceof Fault && thrown.code, String(thrown)).toBe('STORED_DATA_DAMAGED');
      expect(String(thrown)).not.toContain('/');
      return await work();
    }
  }

  async function readsAll(workspaces: Workspaces, made: Awaited<ReturnType<typeof mirrored>>): Promise<void> {
    const { source, shas, mirror, newest } = made;
    expect(await patiently(() => workspaces.readFile(source, newest, 'a.txt'))).toBe('four\n');
    expect(await patiently(() => workspaces.resolve(source, 'main'))).toBe(newest);
    for (const [at, text] of ['one\n', 'two\n', 'three\n'].entries()) {
      expect(await patiently(() => workspaces.readFile(source, shas[at] ?? '', 'a.txt'))).toBe(text);
    }
    expect(await patiently(() => workspaces.listFiles(source, shas[0] ?? ''))).toEqual(['a.txt', 'b/c.txt']);
    git(mirror, 'fsck', '--full', '--strict');
  }

  const cases = Object.keys(WHICH).flatMap((which) =>
    Object.keys(HOW)
      // A ref that is not there is no damage: its commit is fetched again.
      .filter((how) => !(which === 'a ref' && how === 'removed'))
      .map((how) => [which, how] as const),
  );

  test.each(cases)('is detected in a mirror whose %s is %s', async (which, how) => {
    tried({
      id: 'mirror-damaged',
      part: 'Stored data is damaged',
      what: '`config`, `HEAD`, `packed-refs`, a ref, a pack, its index or a loose object of a mirror is truncated, emptied, zeroed, corrupted or removed, also with unchanged timestamps.',
      held: 'The mirror is rebuilt with all its commits, GitHub is not blamed, and it is reported once.',
    });
    const made = await mirrored();
    const path = WHICH[which]?.(made.mirror) ?? '';
    expect(path).not.toBe('');
    chmodSync(path, 0o644);
    HOW[how]?.(path);
    await readsAll(made.workspaces, made);
    // Of a file whose times tell nothing, only what is read of it can be missed; refs that are not there are fetched again.
    if (how !== 'garbled, with its times kept' && !(which === 'packed-refs' && how !== 'garbled')) {
      expect(made.told).toHaveLength(1);
      expect(made.told[0]).toContain(made.mirror);
    }
    expect(made.damages()).toBe(made.told.length);
  });

  test('is detected in a mirror whose object folder is missing or unreadable', async () => {
    for (const spoil of [
      (mirror: string) => rmSync(join(mirror, 'objects'), { recursive: true }),
      (mirror: string) => chmodSync(join(mirror, 'objects'), 0o000),
      (mirror: string) => rmSync(join(mirror, 'objects/pack'), { recursive: true }),
      (mirror: string) => rmSync(join(mirror, 'refs'), { recursive: true }),
    ]) {
      const made = await mirrored();
      spoil(made.mirror);
      await readsAll(made.workspaces, made);
    }
  });

  test('is not reported for an abandoned lock file', async () => {
    const made = await mirrored();
    for (const name of [
      'HEAD.lock',
      'config.lock',
      'packed-refs.lock',
      'shallow.lock',
      'objects/pack/tmp_pack_x',
    ]) {
      writeFileSync(join(made.mirror, name), '');
    }
    await readsAll(made.workspaces, made);
    expect(made.told).toEqual([]);
  });

  test('still provides a commit that the source no longer has', async () => {
    const made = await mirrored(await published());
    const { bare } = made;
    git(bare, 'update-ref', 'refs/heads/main', made.shas[0] ?? '');
    git(bare, 'reflog', 'expire', '--expire=now', '--all');
    git(bare, 'gc', '-q', '--prune=now');
    truncateSync(join(made.mirror, 'HEAD'), 0);
    writeFileSync(join(made.mirror, 'HEAD'), 'ref: refs/heads/other\n');
    rmSync(filesBelow(made.mirror).find((path) => /objects\/[0-9a-f]{2}\//.test(path)) ?? '');
    const read = () => made.workspaces.readFile(made.source, made.shas[1] ?? '', 'a.txt');
    expect(await patiently(read)).toBe('two\n');
  });

  test('is rebuilt so that an active run can commit its patch', async () => {
    const made = await mirrored();
    const { workspaces, source, shas, mirror } = made;
    const base = await workspaces.prepare(source, shas[1] ?? '');
    const area = await workspaces.open(base, 'run-A');
    await world.run(area, 'echo mine > a.txt');
    writeFileSync(join(mirror, 'config'), '[core]\n\tbigFileThreshold = much\n');
    const again = await patiently(() => workspaces.prepare(source, shas[1] ?? ''));
    const collected = await patiently(() => workspaces.collect(again, area));
    if (collected.kind !== 'patch') throw new Error(collected.kind);
    const sha = await workspaces.commit(again, {
      tree: collected.patch.tree,
      base: shas[1] ?? '',
      message: 'Mine',
      author: { name: 'A', email: 'a@example.org' },
      at: 1,
    });
    const pushed = await workspaces.push(
      again,
      { url: source.url, credential: server.credential },
      'auto-dev/1/A',
      sha,
    );
    expect(pushed).toEqual({ kind: 'pushed' });
  });

  test('counts against nobody while another process rebuilds the checkout', async () => {
    const { workspaces, source, shas } = await mirrored();
    const base = await workspaces.prepare(source, shas[1] ?? '');
    const area = await workspaces.open(base, 'run-A');
    await world.run(area, 'echo mine > a.txt');
    const checkout = join(base.lower, '..');
    renameSync(checkout, `${checkout}.damaged`);
    await expect(workspaces.collect(base, area)).rejects.toMatchObject({ code: 'STORED_DATA_DAMAGED' });
    expect(await workspaces.prepare(source, shas[1] ?? '')).toMatchObject({ lower: base.lower });
    expect(await workspaces.collect(base, area)).toMatchObject({ kind: 'patch' });
  });

  test('counts against nobody when a checkout loses an object while a coder works', async () => {
    const { workspaces, source, shas } = await mirrored();
    const base = await workspaces.prepare(source, shas[2] ?? '');
    const area = await workspaces.open(base, 'run-A');
    await world.run(area, 'echo mine > a.txt');
    rmSync(join(base.lower, '.git/objects'), { recursive: true });
    await expect(workspaces.collect(base, area)).rejects.toMatchObject({ code: 'STORED_DATA_DAMAGED' });
    const again = await workspaces.prepare(source, shas[2] ?? '');
    const another = await workspaces.open(again, 'run-B');
    await world.run(another, 'echo mine > a.txt');
    expect(await workspaces.collect(again, another)).toMatchObject({ kind: 'patch' });
  });

  test('counts against nobody when a checkout loses a file while a coder works', async () => {
    const { workspaces, source, shas } = await mirrored();
    const base = await workspaces.prepare(source, shas[2] ?? '');
    const area = await workspaces.open(base, 'run-A');
    await world.run(area, 'echo mine > a.txt');
    rmSync(join(base.lower, 'b/c.txt'));
    // Without a look at the checkout, the candidate would have deleted the file.
    await expect(workspaces.collect(base, area)).rejects.toMatchObject({ code: 'STORED_DATA_DAMAGED' });
    const again = await workspaces.prepare(source, shas[2] ?? '');
    expect(changes(await workspaces.collect(again, area))).toEqual(['M a.txt']);
  });

  test('counts against nobody when a checkout loses an object while it is made', async () => {
    tried({
      id: 'checkout-damaged-in-the-making',
      part: 'Stored data is damaged',
      what: 'The git objects of a base checkout are removed while it is made.',
      held: 'It is made again in a fresh folder, in the same attempt.',
    });
    const { workspaces, source, shas } = await mirrored();
    const [programs, done] = [world.folder(), join(world.folder(), 'done')];
    chmodSync(join(done, '..'), 0o777);
    const lose = `case "$1" in reset) mkdir ${done} 2> /dev/null && rm -rf .git/objects/* ;; esac`;
    writeFileSync(join(programs, 'git'), `#!/bin/sh\n${lose}\nexec /usr/bin/git "$@"\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${programs}:${process.env.PATH}`);
    try {
      const base = await workspaces.prepare(source, shas[0] ?? '');
      expect(existsSync(done)).toBe(true);
      const area = await workspaces.open(base, 'run-A');
      expect((await world.run(area, 'cat a.txt; git fsck')).stdout).toBe('one\n');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test.each([
    ['an object of git', 'mkdir deps; echo lib > deps/lib', '.git/objects'],
    ['a file', 'mkdir deps; echo lib > deps/lib', 'b/c.txt'],
    ['a file that set-up needs', 'cat b/c.txt && mkdir deps && echo lib > deps/lib', 'b/c.txt'],
  ])(
    'counts against nobody when a checkout loses %s while set-up runs: it runs again',
    async (_, command, lost) => {
      tried({
        id: 'checkout-damaged-in-setup',
        part: 'Stored data is damaged',
        what: 'A file or git object of a base checkout is removed while the set-up command runs, or right before.',
        held: 'Neither the repository nor Runoff is blamed; the checkout is rebuilt, and the set-up runs again on it.',
      });
      const { source, shas, dataDir, workspaces } = await mirrored();
      let runs = 0;
      const sandbox: Sandbox = {
        ...world.sandbox,
        exec(spec) {
          if (spec.argv[2] === command && ++runs === 1)
            rmSync(join(spec.area.lowers.at(-1) ?? '', lost), { recursive: true });
          return world.sandbox.exec(spec);
        },
      };
      const spoiled = world.another({ dataDir, sandbox });
      const wish = { command, egress: [], limits: LIMITS };
      const installed = await patiently(async () =>
        spoiled.install(await spoiled.prepare(source, shas[0] ?? ''), wish),
      );
      if (installed.kind !== 'ready') throw new Error(installed.why);
      expect(runs).toBe(2);
      const area = await workspaces.open(installed.base, 'run-A');
      expect((await world.run(area, 'cat deps/lib; wc -c < b/c.txt')).stdout).toBe('lib\n10001\n');
      await world.run(area, 'echo mine > a.txt');
      expect(changes(await workspaces.collect(installed.base, area))).toEqual(['M a.txt']);
    },
  );

  test.each([
    ['what the candidate left as it is', (path: string) => path.endsWith('.pack')],
    ['what the candidate changed', (path: string) => !path.includes('/pack/')],
  ])('counts against nobody when a mirror loses %s while a coder works', async (_, isLost) => {
    const { workspaces, source, shas, mirror } = await mirrored();
    const base = await workspaces.prepare(source, shas[2] ?? '');
    const area = await workspaces.open(base, 'run-A');
    await world.run(area, 'echo mine > a.txt');
    for (const path of filesBelow(join(mirror, 'objects'))) if (isLost(path)) rmSync(path);
    await expect(workspaces.collect(base, area)).rejects.toMatchObject({ code: 'STORED_DATA_DAMAGED' });
    const again = await workspaces.prepare(source, shas[2] ?? '');
    expect(await workspaces.collect(again, area)).toMatchObject({ kind: 'patch' });
  });

  test("of candidates' trees is set aside and reported as missing", async () => {
    const { workspaces, source, shas, dataDir } = await mirrored();
    const base = await workspaces.prepare(source, shas[0] ?? '');
    const area = await workspaces.open(base, 'run-A');
    await world.run(area, 'echo mine > a.txt');
    const collected = await workspaces.collect(base, area);
    if (collected.kind !== 'patch') throw new Error(collected.kind);
    const { tree } = collected.patch;
    expect(await workspaces.holds(base, tree)).toBe(true);
    for (const path of filesBelow(join(dataDir, 'objects')).filter((file) => file.endsWith('.pack'))) {
      chmodSync(path, 0o644);
      truncateSync(path, 20);
    }
    expect(await workspaces.holds(base, tree)).toBe(false);
    const anew = await patiently(() => workspaces.collect(base, area));
    expect(anew).toEqual(collected);
    expect(await workspaces.holds(base, tree)).toBe(true);
  });

  const BASES: readonly (readonly [string, Damage])[] = [
    ['a file is cut off', (base) => truncateSync(join(base, 'lower/a.txt'), 1)],
    ['a file is gone', (base) => rmSync(join(base, 'lower/b/c.txt'))],
    ['there is a file too much', (base) => writeFileSync(join(base, 'lower/d.txt'), '')],
    ['a file is closed', (base) => chmodSync(join(base, 'lower/a.txt'), 0o000)],
    ['the index of git is cut off', (base) => truncateSync(join(base, 'lower/.git/index'), 10)],
    ['what is known of it is cut off', (base) => truncateSync(join(base, 'facts.json'), 3)],
    ['its mark is gone', (base) => rmSync(join(base, 'runoff-mark'))],
  ];

  test.each(BASES)('of a checkout is rebuilt: %s', async (_, spoil) => {
    tried({
      id: 'checkout-damaged',
      part: 'Stored data is damaged',
      what: 'A file of a base checkout, or of its record, is truncated, made unreadable, removed or added.',
      held: 'The checkout is rebuilt; an area that uses the old one keeps it.',
    });
    const { workspaces, source, shas, dataDir, told } = await mirrored();
    const [sha = ''] = shas;
    const base = await workspaces.prepare(source, sha);
    expect(await workspaces.isWhole(base)).toBe(true);
    spoil(join(base.lower, '..'));
    expect(await workspaces.isWhole(base)).toBe(false);
    const again = await workspaces.prepare(source, sha);
    expect(await workspaces.isWhole(again)).toBe(true);
    const area = await workspaces.open(again, 'run-A');
    const seen = await world.run(area, 'cat a.txt; ls; wc -c < b/c.txt; git status --porcelain');
    expect(seen.stdout).toBe('one\na.txt\nb\n10001\n');
    expect(told).toHaveLength(1);
    expect(existsSync(join(dataDir, 'bases'))).toBe(true);
  });

  const LAYERS: readonly (readonly [string, Damage])[] = [
    ['a file is cut off', (layer) => truncateSync(join(layer, 'files/deps/lib'), 1)],
    ['its files are gone', (layer) => rmSync(join(layer, 'files'), { recursive: true })],
    ['what is known of it is gone', (layer) => rmSync(join(layer, 'brought'))],
  ];

  test.each(LAYERS)('of a dependency layer is rebuilt: %s', async (_, spoil) => {
    tried({
      id: 'layer-damaged',
      part: 'Stored data is damaged',
      what: 'A file of the layer that `setup` wrote is truncated or removed.',
      held: 'The set-up runs again.',
    });
    const { workspaces, source, shas } = await mirrored();
    const wish = { command: 'mkdir deps; echo lib > deps/lib', egress: [], limits: LIMITS };
    const installed = async () => {
      const base = await workspaces.prepare(source, shas[0] ?? '');
      const made = await workspaces.install(base, wish);
      if (made.kind !== 'ready') throw new Error(made.why);
      return made.base;
    };
    const base = await installed();
    const [layer = ''] = base.layers;
    const withAnArea = { ...base, layers: [join(layer, '../../../elsewhere'), layer] };
    expect(await workspaces.isWhole(withAnArea)).toBe(true);
    spoil(join(layer, '..'));
    expect(await workspaces.isWhole(withAnArea)).toBe(false);
    const area = await workspaces.open(await installed(), 'run-A');
    expect((await world.run(area, 'cat deps/lib')).stdout).toBe('lib\n');
  });

  test.each(['cut off', 'emptied', 'removed'])(
    'of the settings of git, %s, condemns no mirror',
    async (how) => {
      const made = await mirrored();
      const { dataDir, workspaces, damages } = made;
      const settings = join(dataDir, 'gitconfig');
      const whole = readFileSync(settings, 'utf8');
      HOW[how]?.(settings);
      await readsAll(workspaces, made);
      HOW[how]?.(settings);
      await readsAll(workspaces, made);
      expect(damages()).toBe(0);
      expect(readFileSync(settings, 'utf8')).toBe(whole);
    },
  );
});
