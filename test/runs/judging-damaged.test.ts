import { expect, test } from 'vitest';
import { Fault, NO_USAGE, type Task } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { World } from '../../src/runs/index.ts';
import { judge } from '../../src/runs/judge/index.ts';
import { candidate as evidenceOf } from '../core/ranking/sample.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { contextOf } from '../world/run-context.ts';
import { clockAt } from '../world/stand-ins.ts';
import { openJudging, prefers } from './judging-world.ts';

const RUN = 'r0000000000';
const WROTE: Readonly<Record<string, string>> = {
  A: 'return a + b + 0;',
  B: 'return Number(String(a) + b);',
  C: 'return [a, b].reduce((sum, one) => sum + one);',
};
const diffOf = (alias: string): string =>
  [
    'diff --git a/add.js b/add.js',
    `index ${'1'.repeat(40)}..${'2'.repeat(40)} 100644`,
    '--- a/add.js',
    '+++ b/add.js',
    '@@ -1 +1 @@',
    '-return a - b;',
    `+${WROTE[alias]}`,
    '',
  ].join('\n');

/** A run whose candidates no evidence tells apart; the patches of some are damaged. */
async function undecidedRun(aliases: readonly string[], damaged: readonly string[]) {
  const artifacts = memoryArtifacts();
  const store = memoryStore();
  const judges = ['deepseek/deepseek-v4', 'x-ai/grok-5', 'mistral/large-3'];
  const judging = openJudging(Object.fromEntries(judges.map((name) => [name, prefers(/reduce/)])));
  const { gateway, model, random } = judging.parts;
  const origin = { kind: 'local', path: '/repo' } as const;
  const settings = Settings.parse({ evaluator: ['evidence', 'model'] });
  const base = { ref: 'main', sha: 'a'.repeat(40) };
  const task: Task = {
    runId: RUN,
    origin,
    title: 'Add',
    body: '',
    comments: [],
    base,
    settings,
    lowered: [],
  };
  await store.createRun({ id: RUN, origin, title: 'Add', request: {}, at: 0 });
  for (const [ordinal, alias] of aliases.entries()) {
    const text = await artifacts.put(diffOf(alias));
    const raw = await artifacts.put(`:100644 100644 ${'1'.repeat(40)} ${'2'.repeat(40)} M\0add.js\0`);
    await store.putCandidate({
      runId: RUN,
      alias,
      ordinal,
      contestant: { agent: 'builtin', model: `anthropic/claude-${ordinal}`, prompt: 'plain' },
      state: 'examined',
      patch: { files: 1, additions: 1, deletions: 1, text, raw, sha256: text.sha256, tree: 'b'.repeat(40) },
      usage: NO_USAGE,
      ms: 0,
      note: '',
    });
  }
  await store.updateRun(RUN, { task, evidence: aliases.map((alias) => evidenceOf(alias)) }, 0);
  for (const state of ['admitted', 'briefed', 'coded', 'examined'] as const)
    await store.transition(RUN, state, 'it is', 0);
  const get: World['artifacts']['get'] = async (ref) => {
    const text = await artifacts.get(ref);
    if (damaged.some((alias) => text === diffOf(alias)))
      throw new Fault('STORED_DATA_DAMAGED', 'It is damaged.');
    return text;
  };
  const world = partial<World>({
    store,
    artifacts: { ...artifacts, get },
    gateway,
    model,
    random: { ...random, runId: () => RUN, port: () => 1 },
    clock: { ...clockAt(() => 1), ...judging.parts.clock },
    prompts: { judge: 'You compare two candidate patches.' },
    defaults: { models: judges, providers: [] },
  });
  return { world, judging };
}

test('judges choose among the candidates whose patches can still be read', async () => {
  const { world, judging } = await undecidedRun(['A', 'B', 'C'], ['A']);
  const decision = await judge(world, await contextOf(world, RUN));
  expect(decision).toMatchObject({ alias: 'C', decidedBy: 'judges' });
  expect(judging.seen.some(({ prompt }) => prompt.includes('+ 0;'))).toBe(false);
  const run = await world.store.run(RUN);
  expect(run?.judgement?.standings.map(({ alias }) => alias).toSorted()).toEqual(['B', 'C']);
});

test('a single readable patch is nothing to choose from: a person is asked', async () => {
  const { world, judging } = await undecidedRun(['A', 'C'], ['A']);
  expect(await judge(world, await contextOf(world, RUN))).toMatchObject({ kind: 'toss-up' });
  expect(judging.seen).toEqual([]);
});
