import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Sha, Task } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import { type CommitPorts, commitCandidates } from '../../src/runs/publish/branches.ts';
import { candidate, evidence } from '../core/reports/sample.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

const RUN = candidate('A').runId;
const BASE = 'f'.repeat(40);

/** A judged run whose candidates have these letters, and commits that are made when the test says so. */
async function judgedRun(letters: readonly string[], lost: readonly string[] = []) {
  const store = memoryStore();
  const origin = { kind: 'local', path: '/r' } as const;
  await store.createRun({ id: RUN, origin, title: 'Sums', request: {}, at: 0 });
  for (const alias of letters) {
    const { patch, ...one } = candidate(alias);
    if (patch) await store.putCandidate({ ...one, patch: { ...patch, tree: `tree of ${alias}` } });
  }
  await store.updateRun(RUN, { evidence: letters.map((alias) => evidence(alias)) }, 0);
  const run = await store.run(RUN);
  if (!run) throw new Error('The run is gone.');
  const making = new Map<string, (sha: Sha) => void>();
  const world = partial<CommitPorts>(
    {
      store,
      artifacts: memoryArtifacts(),
      clock: { now: () => 0 },
      log: silent,
      workspaces: {
        prepare: async () => ({ sha: BASE, repositoryKey: 'k', lower: '/l', layers: [] }),
        holds: async (_, tree) => !lost.some((alias) => tree === `tree of ${alias}`),
        commit: (_, { tree }) => new Promise((resolve) => making.set(tree, resolve)),
      },
    },
    ['diskSpace'],
  );
  const task = partial<Task>({
    ...{ runId: RUN, origin, base: { ref: 'main', sha: BASE }, settings: Settings.parse({}) },
  });
  return { making, done: commitCandidates(world, run, task, new AbortController().signal) };
}

test('commits are made side by side, and listed in the order of candidates', async () => {
  const { making, done } = await judgedRun(['A', 'B', 'C']);
  await expect.poll(() => making.size).toBe(3);
  for (const alias of ['C', 'B', 'A']) {
    making.get(`tree of ${alias}`)?.(alias.toLowerCase().repeat(40));
    await setImmediate();
  }
  const { byAlias, damaged } = await done;
  expect([...byAlias]).toEqual(['A', 'B', 'C'].map((alias) => [alias, alias.toLowerCase().repeat(40)]));
  expect([...damaged]).toEqual([]);
});

test('one whose tree and patch cannot be read is left out, and the others are committed', async () => {
  const { making, done } = await judgedRun(['A', 'B'], ['A']);
  await expect.poll(() => making.size).toBe(1);
  making.get('tree of B')?.('b'.repeat(40));
  const { byAlias, damaged } = await done;
  expect([[...byAlias.keys()], [...damaged]]).toEqual([['B'], ['A']]);
});
