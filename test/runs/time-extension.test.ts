import { expect, test } from 'vitest';
import { timesOf } from '../../src/core/settings/index.ts';
import { progressLimitFor } from '../../src/runs/code/ending.ts';

const usual = timesOf({ candidate: 100, silence: 20, extendWhileProgressing: true }, 1_000);

function coder(times = usual) {
  const now = { ms: 0, activity: null as number | null };
  const patience = progressLimitFor({ elapsed: () => now.ms }, { lastActivity: () => now.activity }, times);
  return { now, patience };
}

test('a coder that does something new near its end gets more time', () => {
  const { now, patience } = coder();
  now.ms = 95_000;
  patience.step('edit src/a.ts');
  now.ms = 100_000;
  expect(patience.onLimit('wall')).toBe(25_000);
});

test('a coder that only repeats its last steps gets no more time', () => {
  const { now, patience } = coder();
  for (let at = 1_000; at < 100_000; at += 1_000) {
    now.ms = at;
    patience.step(at % 2_000 === 0 ? 'bash: npm test' : 'read src/a.ts');
  }
  now.ms = 100_000;
  expect(patience.onLimit('wall')).toBe(0);
});

test('a coder that did nothing yet gets no more time, also with a time limit below the silence limit', () => {
  const { now, patience } = coder(
    timesOf({ candidate: 10, silence: 20, extendWhileProgressing: true }, 1_000),
  );
  now.ms = 10_000;
  expect(patience.onLimit('wall')).toBe(0);
  patience.step('edit src/a.ts');
  expect(patience.onLimit('wall')).toBe(2_500);
});

test('a silent coder is not stopped while its model is answering', () => {
  const { now, patience } = coder();
  now.ms = 20_000;
  now.activity = 15_000;
  expect(patience.onLimit('silence')).toBe(15_000);
  now.ms = 35_000;
  expect(patience.onLimit('silence')).toBe(0);
});

test('the silence of a coder that never called a model counts from its start', () => {
  const { now, patience } = coder();
  now.ms = 20_000;
  expect(patience.onLimit('silence')).toBe(0);
});
