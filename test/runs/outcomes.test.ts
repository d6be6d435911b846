import { expect, test } from 'vitest';
import type { CandidateOutcome } from '../../src/core/learning/index.ts';
import type { Candidate } from '../../src/core/model/index.ts';
import { decide, rank } from '../../src/core/ranking/index.ts';
import type { RunRecord } from '../../src/ports/index.ts';
import { keepDueOutcomes, type World } from '../../src/runs/index.ts';
import { keepOutcomes } from '../../src/runs/outcomes.ts';
import { takenOverNote } from '../../src/runs/taken-over.ts';
import { commandWorld, shown } from '../commands/command-world.ts';
import { RUN } from '../commands/dialogue-world.ts';
import { candidate } from '../core/ranking/sample.ts';
import { partial } from '../world/partial.ts';

test('a retry keeps what a program that asks no model did, and not what it took over', async () => {
  const evidence = [candidate('A', { family: 'x' }), candidate('B', { family: 'y' })];
  const ranking = rank(evidence, {
    weights: { tests: 50, simplicity: 30, speed: 20 },
    strategies: ['evidence'],
  });
  const run = partial<RunRecord>(
    {
      id: 'r1',
      createdAt: 1,
      state: 'published',
      origin: { kind: 'local', path: '/x' },
      title: 't',
      decision: decide(ranking, evidence),
      evidence,
      ranking,
      request: {
        runId: 'r1',
        text: { title: 't', body: { sha256: 'a', bytes: 1 } },
        triggeredAt: 1,
        carry: { run: 'r0', again: 'A' },
      },
    },
    ['brief', 'outcome', 'judgement', 'task'],
  );
  const coded = (alias: string, note: string) =>
    partial<Candidate>(
      {
        runId: 'r1',
        alias,
        state: 'coded',
        note,
        contestant: { agent: 'builtin', model: 'own/model', prompt: 'plain' },
        usage: { usd: 0, tokensIn: 0, tokensOut: 0, calls: 0 },
        ms: 5,
      },
      ['patch'],
    );
  const kept: CandidateOutcome[] = [];
  await keepOutcomes(
    partial<Parameters<typeof keepOutcomes>[0]>({
      clock: { now: () => 1 },
      artifacts: {},
      store: {
        run: async () => run,
        candidates: async () => [
          coded('A', 'done'),
          coded('B', takenOverNote({ runId: 'r0', alias: 'B' }, '')),
        ],
        picks: async () => [],
        intent: async () => null,
        keepOutcomes: async (_: string, found: readonly CandidateOutcome[]) => {
          kept.push(...found);
        },
      },
    }),
    'r1',
  );
  expect(kept.map(({ alias }) => alias)).toEqual(['A']);
});

const runsCounted = async ({ store }: Pick<World, 'store'>) => [
  ...new Set((await store.outcomes({ runs: 9 })).map(({ runId }) => runId)),
];

test('a blind run that waits for a pick does not keep others from being counted, and is counted after the pick', async () => {
  const s = commandWorld();
  await shown(s, 'choice');
  s.later(1_000);
  await shown(s, 'choice', { id: 'blind', settings: { blind: true }, origin: { issue: 8 } });
  // Only one fits into each pass.
  const store = { ...s.store, outcomesDue: () => s.store.outcomesDue(1) };
  for (let pass = 0; pass < 2; pass++) {
    s.later(1_000);
    await keepDueOutcomes({ ...s.world, store });
  }
  expect(await runsCounted(s)).toEqual([RUN]);
  await s.say('/auto-dev pick B', { on: 8 });
  expect((await runsCounted(s)).toSorted()).toEqual(['blind', RUN]);
});
