import { expect, test } from 'vitest';
import type { Task } from '../../../src/core/model/index.ts';
import { Settings, storedTask } from '../../../src/core/settings/index.ts';

const taskWith = (settings: unknown): Task => ({ title: 'Fix it', settings }) as Task;
const DEFAULTS = Settings.parse({});

test('settings of a stored task keep their values, and new ones have defaults', () => {
  const { answer, critics, approval, review, debate, ...before } = Settings.parse({
    candidates: 2,
    timeout: { candidate: '7m' },
    protect: [],
    budget: { tokens: 9 },
  });
  const { settings, title } = storedTask(taskWith({ ...before, gone: true }));
  expect(title).toBe('Fix it');
  expect(settings).toEqual({ ...before, gone: true, answer, critics, approval, review, debate });
  expect(settings.timeout.candidate).toBe(420);
  expect(settings.protect).toEqual([]);
});

test('settings within a group get defaults, too', () => {
  const { otherwise, ...answer } = DEFAULTS.answer;
  expect(storedTask(taskWith({ ...DEFAULTS, answer })).settings.answer).toEqual({ ...answer, otherwise });
});

test.each([undefined, null, 'odd', [], {}])('settings that are %j are the defaults', (settings) => {
  expect(storedTask(taskWith(settings))).toEqual({ ...taskWith(DEFAULTS), lowered: [] });
});

test('complete settings stay unchanged', () => {
  const whole = { ...taskWith(Settings.parse({ approval: 'plan' })), lowered: ['A sentence.'] };
  expect(storedTask(whole)).toEqual(whole);
});
