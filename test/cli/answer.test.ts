import { expect, test } from 'vitest';
import type { NewReply } from '../../src/core/brief/index.ts';
import type { Question } from '../../src/core/model/index.ts';
import { memoryStore } from '../world/memory-store.ts';
import { shellOver } from './shell.ts';

const RUN = 'r0000000001';

/** A shell with one run that asks this; `said` is what was said to it, `told` which keys the engine was told. */
async function shellWith(ask: 'question' | 'plan' | 'nothing') {
  const store = memoryStore();
  await store.createRun({ id: RUN, origin: { kind: 'local', path: '/x' }, title: 'x', request: {}, at: 0 });
  await store.transition(RUN, 'admitted', 'test', 0);
  const question: Question = { text: 'Which?', options: ['up', 'down'], severity: 'blocking', assume: 'up' };
  const base = { number: 1, askedAt: 0, until: 9_000_000 };
  if (ask !== 'nothing') {
    const inquiry =
      ask === 'plan'
        ? ({ ...base, kind: 'approval' } as const)
        : ({ ...base, kind: 'answer', question } as const);
    await store.updateRun(RUN, { dialogue: { inquiries: [inquiry], lastReply: 0, repliesUsed: 0 } }, 0);
    await store.transition(RUN, ask === 'plan' ? 'awaiting_approval' : 'awaiting_answer', 'test', 0);
  }
  const told: string[] = [];
  const engine = {
    launch: async () => {},
    signal: async (id: string, topic: string, key: string) => void told.push(`${id} ${topic} ${key}`),
  };
  const world = { store, engine, clock: { now: () => 1_000 } };
  const shell = shellOver(world, { newRunId: () => 'r0000000009' });
  const said = (): Promise<readonly NewReply[]> => store.replies(RUN);
  return { ...shell, said, told };
}

const by = { by: null, at: 1_000, number: 1 };

test.each([
  ['question', ['answer', RUN, '2'], { kind: 'answer', option: 2, text: '', ...by }],
  ['question', ['answer', RUN, 'half', 'up'], { kind: 'answer', text: 'half up', ...by }],
  ['question', ['revise', RUN, 'half up'], { kind: 'revise', text: 'half up', ...by }],
  ['plan', ['approve', RUN], { kind: 'approve', text: '', ...by }],
  ['plan', ['revise', RUN, 'Smaller', 'steps.'], { kind: 'revise', text: 'Smaller steps.', ...by }],
] as const)('a reply to a %s is accepted: %j', async (ask, argv, reply) => {
  const { type, said, told, out } = await shellWith(ask);
  expect(await type(...argv)).toBe(0);
  expect(await said()).toEqual([reply]);
  expect(told).toEqual([`${RUN} reply cli:r0000000009`]);
  expect(out()).toBe(
    `Run ${RUN} accepted your reply. If its process has ended, resume it: runoff resume ${RUN}\n`,
  );
});

test.each([
  ['nothing', ['approve', RUN], 1, 'RUN_NOT_WAITING'],
  ['question', ['answer', RUN, '3'], 2, 'REPLY_UNFIT'],
  ['question', ['approve', RUN], 2, 'REPLY_UNFIT'],
  ['plan', ['answer', RUN, 'yes'], 2, 'REPLY_UNFIT'],
  ['plan', ['approve', 'r0000000002'], 2, 'RUN_UNKNOWN'],
] as const)('a reply to %s is rejected: %j', async (ask, argv, exit, code) => {
  const { type, said, told, out } = await shellWith(ask);
  expect(await type(...argv, '--json')).toBe(exit);
  expect(JSON.parse(out())).toMatchObject({ error: { code } });
  expect(await said()).toEqual([]);
  expect(told).toEqual([]);
});

test('a reply prints JSON, and has help', async () => {
  const { type, out } = await shellWith('plan');
  expect(await type('approve', RUN, '--json')).toBe(0);
  expect(JSON.parse(out())).toEqual({ run: RUN, accepted: true });
  expect(await type('answer', '--help')).toBe(0);
  expect(out()).toContain('option number or free text');
  expect(await type('answer', RUN)).toBe(2);
});
