import { expect, test } from 'vitest';
import { isFinal, isOver, move, RUN_STATES, type RunState } from '../../../src/core/model/index.ts';

const legal = (from: RunState): readonly RunState[] =>
  RUN_STATES.filter((to) => move(from, to).kind === 'moved');

test('the transition table', () => {
  expect(
    Object.fromEntries(RUN_STATES.map((state) => [state, legal(state).join(' ')])),
  ).toMatchInlineSnapshot(`
    {
      "admitted": "awaiting_answer awaiting_approval briefed failed cancelled",
      "awaiting_answer": "admitted awaiting_approval briefed failed cancelled",
      "awaiting_approval": "admitted awaiting_answer briefed failed cancelled",
      "awaiting_pick": "published closed",
      "briefed": "coded failed cancelled",
      "cancelled": "",
      "closed": "published merged",
      "coded": "examined failed cancelled",
      "examined": "briefed judged failed cancelled",
      "failed": "",
      "judged": "awaiting_pick published failed cancelled",
      "merged": "",
      "published": "merged closed",
      "queued": "admitted refused failed cancelled",
      "refused": "",
    }
  `);
});

test('a repeated step may request the current state', () => {
  for (const state of RUN_STATES) expect(move(state, state)).toEqual({ kind: 'same' });
});

test('a rejection names the forbidden transition', () => {
  expect(move('published', 'coded')).toEqual({
    kind: 'refused',
    why: 'A run that is published cannot become coded.',
  });
});

test('a final state is never left, except for a pull request that people reopen, and an ended run can neither fail nor be cancelled', () => {
  for (const state of RUN_STATES.filter(isFinal))
    expect(legal(state)).toEqual(state === 'closed' ? ['published', 'merged'] : []);
  for (const state of RUN_STATES.filter(isOver)) {
    expect(move(state, 'failed').kind === 'moved' || move(state, 'cancelled').kind === 'moved').toBe(false);
  }
  expect(RUN_STATES.filter((state) => isOver(state) && !isFinal(state))).toEqual([
    'awaiting_pick',
    'published',
  ]);
});

test('every state can be reached, and every run can end from any state', () => {
  const reached = new Set<RunState>(['queued']);
  for (const state of reached) for (const next of legal(state)) reached.add(next);
  expect([...reached].sort()).toEqual([...RUN_STATES].sort());
  for (const state of RUN_STATES) {
    const from = new Set<RunState>([state]);
    for (const one of from) for (const next of legal(one)) from.add(next);
    expect([...from].some(isFinal), state).toBe(true);
  }
});
