import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyPatchIn, restoreTree } from '../../src/runs/base/index.ts';
import { storePatch } from '../../src/runs/context.ts';
import { type GitWorld, LIMITS, openGitWorld } from '../adapters/git/world.ts';
import { patchOf } from '../contracts/workspaces.suite.ts';
import { memoryArtifacts } from '../world/memory-store.ts';
import { silent } from '../world/silent-log.ts';
import { openSharedFixture, type SharedFixture } from './examination-world.ts';

const lock = (version: number, ...packages: readonly string[]): string =>
  `${JSON.stringify({ lockfileVersion: version, packages }, null, 2)}\n`;

describe('a patch to files that set-up changes as well', () => {
  const { signal } = new AbortController();
  let world: GitWorld;
  beforeAll(() => {
    world = openGitWorld();
  });
  afterAll(() => world.close());

  /** A patch to a file that set-up changed, to one that it deleted, one with an odd name, and a new file. */
  async function patched() {
    const source = world.repository({
      'lock.json': lock(2, 'one'),
      'gone.txt': 'x\n',
      ':(top)a\nb': 'old\n',
      'a.js': 'a\n',
      'other.json': lock(2),
    });
    const prepareIn = async (workspaces: typeof world.workspaces) => {
      const bare = await workspaces.prepare({ kind: 'local', path: source.path }, source.sha);
      const command = `sed -i s/2/3/ lock.json other.json; rm gone.txt; echo new > ':(top)a\nb'`;
      const installed = await workspaces.install(bare, { command, egress: [], limits: LIMITS });
      if (installed.kind !== 'ready') throw new Error(installed.why);
      return installed.base;
    };
    const base = await prepareIn(world.workspaces);
    const area = await world.workspaces.open(base, 'r1-A');
    const line = `printf '%s' "$LOCK" > lock.json; echo y > gone.txt; echo newer > ':(top)a\nb'; rm a.js; echo b > b.js`;
    await world.run(area, line, { env: { LOCK: lock(3, 'one', 'two') } });
    const patch = patchOf(await world.workspaces.collect(base, area));
    return { base, patch, prepareIn };
  }

  test('applies over the files of set-up, and gives the same tree', async () => {
    const { base, patch } = await patched();
    const area = await world.workspaces.open(base, 'again');
    expect(await applyPatchIn(world, { base, area }, patch.text, signal)).toBeNull();
    expect((await world.run(area, 'cat other.json')).stdout).toBe(lock(3));
    expect(patchOf(await world.workspaces.collect(base, area)).tree).toBe(patch.tree);
    expect(await applyPatchIn(world, { base, area }, 'no patch', signal)).toContain('No valid patches');
  });

  test('is restored on another machine', async () => {
    const { patch, prepareIn } = await patched();
    const artifacts = memoryArtifacts();
    const workspaces = world.another({ dataDir: `${world.root}/other` });
    const base = await prepareIn(workspaces);
    const here = { workspaces, sandbox: world.sandbox, artifacts, log: silent };
    const stored = await storePatch(artifacts, patch);
    expect(await restoreTree(here, base, { runId: 'r1', alias: 'A', patch: stored }, signal)).toBe('there');
    expect(await workspaces.holds(base, patch.tree)).toBe(true);
  });
});

describe('a candidate that changes files which set-up changes as well', () => {
  let shared: SharedFixture;
  beforeAll(async () => {
    shared = await openSharedFixture();
  });
  afterAll(() => shared.close());

  const TEST = `const test = require('node:test');
test('one', () => require('node:assert').equal(require('../src/one.js').one, VALUE));\n`;

  test('is examined like any other, its own tests included', async () => {
    const fixture = await shared.fixture({
      files: {
        'src/one.js': 'exports.one = 1;\n',
        'package-lock.json': lock(2, 'one'),
        'test/one.test.js': TEST.replace('VALUE', '1'),
      },
      setup: `sed -i s/2/3/ package-lock.json; sed -i '1i // formatted' test/one.test.js`,
    });
    const { A } = await fixture.examine(await fixture.base(), {
      A: {
        'src/one.js': 'exports.one = 1; // as before\n',
        'package-lock.json': lock(3, 'one', 'two'),
        'test/one.test.js': TEST.replace('VALUE', '1').replace("'one'", "'still one'"),
      },
    });
    expect(A?.gates.filter(({ passed }) => !passed)).toEqual([]);
    expect(fixture.tested).toContain('A-own');
  });
});
