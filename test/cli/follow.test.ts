import { expect, test } from 'vitest';
import { follow } from '../../src/cli/index.ts';
import type { FlowStatus } from '../../src/ports/index.ts';
import type { Screen } from '../../src/shell.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';

const screen: Screen = {
  out: () => {},
  err: () => {},
  outIsTerminal: false,
  width: null,
  colour: false,
  outColour: false,
  live: null,
};
const RUN = 'r0000000001';

/** A world in which a run stays `queued`; its engine answers one status after the other, and then the last one again. */
async function worldOf(answers: FlowStatus['kind'][], during: (looks: number) => Promise<void>) {
  const store = memoryStore();
  await store.createRun({
    id: RUN,
    origin: { kind: 'local', path: '/tmp/tally' },
    title: 'Quote commas',
    request: {},
    at: 0,
  });
  let looks = 0;
  const engine = {
    status: async () => {
      looks += 1;
      await during(looks);
      return { kind: answers[Math.min(looks, answers.length) - 1] } as FlowStatus;
    },
  };
  const clock = { now: () => 1_000, elapsed: () => performance.now(), sleep: async () => {} };
  return {
    store,
    world: partial<Parameters<typeof follow>[0]>({ store, engine, clock }, ['diskSpace']),
    looks: () => looks,
  };
}

test('a run without a process is a fault, not an endless wait', async () => {
  const { world, looks } = await worldOf(['running', 'running', 'cancelled', 'cancelled'], async () => {});
  await expect(follow(world, RUN, screen)).rejects.toMatchObject({
    code: 'INTERNAL',
    message: expect.stringMatching(
      /engine reports cancelled, the database queued.*runoff cancel r0000000001/,
    ),
  });
  expect(looks()).toBe(4);
});

test("an end that is recorded shortly after the engine's is recognised", async () => {
  const { store, world } = await worldOf(['done'], async () => {
    await store.transition(RUN, 'cancelled', 'somebody cancelled it', 2_000);
  });
  expect(await follow(world, RUN, screen)).toMatchObject({ state: 'cancelled' });
});
