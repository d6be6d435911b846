import { expect, test } from 'vitest';
import { loadOnGitHub, proposeSettings } from '../../src/runs/publish/index.ts';
import { commandWorld, shown } from '../commands/command-world.ts';
import { forbidden, SHA } from '../commands/fake-repository.ts';
import { partial } from '../world/partial.ts';

const ADDED = `:000000 100644 ${'0'.repeat(40)} ${'1'.repeat(40)} A\0.github/auto-dev.yml\0`;

interface Found {
  readonly from?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
}

/** A run that found a test command; what it proposes lands in a pretended repository. */
async function withFoundChecks({ from = { test: 'package.json' }, files = [] }: Found = {}) {
  const s = commandWorld();
  const id = await shown(s, 'pull');
  const checks = {
    test: 'npm test',
    setup: 'npm ci',
    from,
    named: [],
    settled: true,
  };
  await s.store.updateRun(id, { checks: checks as never }, s.now());
  const world = {
    ...s.world,
    workspaces: {
      ...s.world.workspaces,
      resolve: async () => s.repository.branches.get('main') ?? null,
      listFiles: async () => files,
      open: async () => partial({ id: 'x' }),
      remove: async () => undefined,
      collect: async () => ({ kind: 'patch', patch: { tree: 'f'.repeat(40), raw: ADDED } }),
    },
    sandbox: { exec: async () => ({ exitCode: 0, stderr: '' }) },
  } as never;
  return { s, propose: async (at: number) => proposeSettings(world, await loadOnGitHub(s.world, id), at) };
}

test('the settings can be proposed again after GitHub refused their pull request, also when the branch has moved', async () => {
  const { s, propose } = await withFoundChecks();
  s.repository.trouble.set('openDraftPull', forbidden);
  expect(await propose(s.now())).toMatchObject({ kind: 'refused', why: expect.stringContaining('403') });
  s.repository.trouble.clear();
  s.later(600_000);
  s.repository.branches.set('main', SHA.toUpperCase());
  expect(await propose(s.now())).toEqual({
    kind: 'done',
    note: 'draft pull request #12 adds the settings',
    pull: 12,
  });
  expect((await propose(s.now())).kind).toBe('done');
  expect([...s.repository.pulls.keys()]).toEqual([11, 12]);
});

test('of the commands of a run, those in the settings file are not to be added to it again', async () => {
  const file = '.github/auto-dev.yml';
  const some = await withFoundChecks({ from: { test: file, setup: 'package-lock.json' }, files: [file] });
  expect(await some.propose(some.s.now())).toMatchObject({
    why: '.github/auto-dev.yml exists already, and Runoff never changes it. The commands that this run found, to be added below `checks:` by hand: `setup: "npm ci"`.',
  });
  const all = await withFoundChecks({ from: { test: file, setup: file }, files: [file] });
  expect(await all.propose(all.s.now())).toMatchObject({
    why: 'The commands of this run come from .github/auto-dev.yml, so there is nothing to add.',
  });
});
