import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemRandom } from '../../src/adapters/system/index.ts';
import { NO_ADMISSION } from '../../src/core/independent-tests/index.ts';
import { identitiesOf } from '../../src/core/judging/index.ts';
import type { ModelQuestion } from '../../src/ports/index.ts';
import { rememberAnswers } from '../../src/runs/ask-model.ts';
import { askOnce, type DebatePanel } from '../../src/runs/brief/critics.ts';
import { distinguish } from '../../src/runs/examine/distinguish.ts';
import { type TestWriter, writeIndependentTests } from '../../src/runs/examine/independent-tests.ts';
import { review } from '../../src/runs/examine/review.ts';
import { AUTHORS, candidate } from '../core/judging/sample.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { type Fixture, openSharedFixture, type SharedFixture } from './independent-tests-world.ts';
import { openJudging, poolOf } from './judging-world.ts';

/** What a run keeps, which outlives every process. */
const whatIsKept = () => rememberAnswers({ store: memoryStore(), artifacts: memoryArtifacts() }, 'r1');

/** A model during whose answer the process is killed: what was asked is known, nothing came back. */
function killedWhileAsking() {
  const asked: string[] = [];
  const model = {
    async ask({ prompt }: ModelQuestion<unknown>): Promise<never> {
      asked.push(prompt);
      throw new Error('killed');
    },
  };
  return { asked, model };
}

const RIGHT = candidate('A', ['if (input.length === 0) return 0;'], AUTHORS.claude);
const WRONG = candidate('B', ['return parse(input) || 0;'], AUTHORS.gpt);
const delimiterOf = (prompt: string | undefined): string => /<<<TASK (\S+)/.exec(prompt ?? '')?.[1] ?? '';

describe('a question of a killed process is repeated verbatim', () => {
  let shared: SharedFixture;
  let fixture: Fixture;
  beforeAll(async () => {
    shared = await openSharedFixture();
    fixture = await shared.fixture();
  });
  afterAll(() => shared.close());

  /** Asks in two lives over one memory; what the second asked is what the first one did. */
  async function twice(ask: (killed: Pick<TestWriter, 'model' | 'random' | 'remember'>) => Promise<unknown>) {
    const remember = whatIsKept();
    const lives = [killedWhileAsking(), killedWhileAsking()];
    for (const { model } of lives)
      await expect(ask({ model, random: systemRandom, remember })).rejects.toThrow('killed');
    const [first, second] = lives.map(({ asked }) => asked.toSorted());
    expect(first?.length).toBeGreaterThan(0);
    expect(second).toEqual(first);
    return first ?? [];
  }

  test('by judges, all with the delimiter of their judgement', async () => {
    const prompts = await twice((killed) =>
      openJudging({ 'x-ai/grok-5': () => null }, killed).judge(poolOf(RIGHT, WRONG)),
    );
    expect(new Set(prompts.map(delimiterOf)).size).toBe(1);
    expect(delimiterOf(prompts[0])).toMatch(/^[0-9a-f]{32}$/);
  });

  test('by the writer of independent tests, with another delimiter in another run', async () => {
    const desk = await shared.desk([]);
    const ask = (killed: object) =>
      writeIndependentTests(fixture.bench, { ...desk, ...killed }, 'Write tests.');
    const [one] = await twice(ask);
    const [other] = await twice(ask);
    expect(delimiterOf(one)).not.toBe(delimiterOf(other));
  });

  test('by the writer of distinguishing tests, with the patches in the same order', async () => {
    const desk = await shared.desk([]);
    const { tree } = await fixture.survivor('A', {});
    const contenders = ['A', 'B', 'C', 'D'].map((alias) => ({
      survivor: { alias, tree, passesBaseTests: true },
      changeClass: alias,
      diff: `+ ${alias}`,
    }));
    await twice((killed) =>
      distinguish(
        fixture.bench,
        { ...desk, ...killed },
        {
          inTime: (_, work) => work(),
          contenders,
          undecided: () => ['A', 'B', 'C', 'D'],
          before: NO_ADMISSION,
          blind: (text) => text,
          instructions: 'Tell them apart.',
          onBase: fixture.onBase,
          taskKind: 'change',
        },
      ),
    );
  });

  test('by reviewers', async () => {
    const desk = await shared.desk([]);
    await twice((killed) =>
      review(
        fixture.bench,
        { ...desk, ...killed },
        {
          competitors: [RIGHT],
          reviewers: [{ name: 'qa', spender: 'review-qa', instructions: 'Look for defects.' }],
          survivors: async () => [],
          task: 'Return 0 for an empty input.',
          identities: identitiesOf([AUTHORS.claude]),
          onBase: fixture.onBase,
          taskKind: 'change',
        },
      ),
    );
  });

  test('by critics of a brief', async () => {
    const desk = await shared.desk([]);
    const payer = { runId: 'r1', repository: 'local-/', runCapUsd: 5 };
    const call = {
      spender: 'critic-qa',
      model: 'openai/m',
      instructions: 'Find faults.',
      schema: z.object({}),
    };
    await twice((killed) => {
      const table: DebatePanel = { ...desk, ...killed, payer };
      return askOnce(
        table,
        { ...call, budget: { usd: 1 } },
        (nonce) => `<<<TASK ${nonce}\nthe brief\nTASK ${nonce}>>>`,
      );
    });
  });
});
