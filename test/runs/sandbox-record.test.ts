import { expect, test } from 'vitest';
import type { SandboxProbe } from '../../src/ports/index.ts';
import { recordSandbox } from '../../src/runs/context.ts';
import type { World } from '../../src/runs/index.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';

const STRONG: SandboxProbe = { kind: 'ready', backend: 'bubblewrap', detail: 'strong', weaker: [] };
const NONE: SandboxProbe = { kind: 'ready', backend: 'none', detail: 'plain', weaker: ['Nothing holds.'] };

async function noted(...probes: readonly SandboxProbe[]) {
  const store = memoryStore();
  const origin = { kind: 'local', path: '/r' } as const;
  await store.createRun({ id: 'r1', origin, title: 't', request: {}, at: 1 });
  // Candidates start at the same time, maybe on several machines.
  await Promise.all(
    probes.map((probe) => {
      const world = { store, sandbox: { probe: async () => probe }, clock: { now: () => 1 } };
      return recordSandbox(partial<World>(world), 'r1');
    }),
  );
  return (await store.run('r1'))?.sandbox;
}

test('a run that once continued without a sandbox never claims one again', async () => {
  expect(await noted(STRONG, NONE)).toMatchObject({ backend: 'none', weaker: ['Nothing holds.'] });
  expect(await noted(NONE, STRONG)).toMatchObject({ backend: 'none', weaker: ['Nothing holds.'] });
});

test('a run in the same sandbox records it once', async () => {
  expect(await noted(STRONG, STRONG)).toEqual({ backend: 'bubblewrap', detail: 'strong', weaker: [] });
});

test('a run without a working sandbox does not continue', async () => {
  const missing: SandboxProbe = { kind: 'missing', why: 'No bwrap.', remedy: 'Install it.' };
  await expect(noted(missing)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
});
