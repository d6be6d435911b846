import { expect, test } from 'vitest';
import { priorityOf } from '../../src/core/model/index.ts';
import type { ChildInput, ChildResult, FlowContext } from '../../src/ports/index.ts';
import { queueCandidates } from '../../src/runs/code/queue.ts';
import { loadRun } from '../../src/runs/context.ts';
import { examineRounds } from '../../src/runs/rounds.ts';
import { workTimeOf } from '../../src/runs/stage.ts';
import { found } from '../core/ranking/round-facts.ts';
import { partial } from '../world/partial.ts';
import { codingWorld, RUN } from './coding-world.ts';

const PLACE = {
  alias: 'A',
  ordinal: 0,
  contestant: { agent: 'builtin', model: 'anthropic/m', prompt: 'plain' },
} as const;

/** Notes what a run asks the engine for. */
function noting(children: ChildInput[]): FlowContext {
  return partial<FlowContext>({
    patched: async () => true,
    step: <T>(_name: string, work: (signal: AbortSignal) => Promise<T>) => work(new AbortController().signal),
    async fanOut<T>(inputs: readonly ChildInput[]): Promise<readonly ChildResult<T>[]> {
      children.push(...inputs);
      return inputs.map(() => ({ kind: 'done', value: { kind: 'ok', value: 'examined' } as T }));
    },
  });
}

test.each([
  ['label', 1],
  ['command', 0],
] as const)(
  'candidates and their examination have the priority of a run that a %s started',
  async (trigger, priority) => {
    const { world } = await codingWorld({ found: (alias) => found(alias, undefined) });
    const queueEntry = { share: 'github-1', priority: priorityOf(trigger), since: 0 };
    await world.store.updateRun(RUN, { queueEntry }, 0);
    const children: ChildInput[] = [];
    const context = noting(children);
    await context.fanOut(await queueCandidates(world, await loadRun(world, RUN), [PLACE]));
    const baseRun = { sha256: 'aa', bytes: 2 };
    await examineRounds(world, context, { runId: RUN, baseRun }, workTimeOf(1_000), async () => false);
    expect(children.map(({ key, priority }) => [key, priority])).toEqual([
      ['A', priority],
      ['examination', priority],
    ]);
  },
);
