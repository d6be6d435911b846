import { expect, test } from 'vitest';
import { loadOnGitHub, proposeSettings } from '../../src/runs/publish/index.ts';
import { commandWorld, shown } from '../commands/command-world.ts';
import { forbidden, SHA } from '../commands/fake-repository.ts';
import { partial } from '../world/partial.ts';

const ADDED = `:000000 100644 ${'0'.repeat(40)} ${'1'.repeat(40)} A\0.github/auto-dev.yml\0`;

/** A run that found a test command; what it proposes lands in a pretended repository. */
async function withFoundChecks() {
  const s = commandWorld();
  const id = await shown(s, 'pull');
  const checks = {
    test: 'npm test',
    setup: 'npm ci',
    from: { test: 'package.json' },
    named: [],
    settled: true,
  };
  await s.store.updateRun(id, { checks: checks as never }, s.now());
  const world = {
    ...s.world,
    workspaces: {
      ...s.world.workspaces,
      resolve: async () => s.repository.branches.get('main') ?? null,
      listFiles: async () => [],
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
