import { describe, expect, test } from 'vitest';
import type { RunState } from '../../../src/core/model/index.ts';
import { hiddenNames, hidesNames, withoutNames } from '../../../src/core/reports/index.ts';

describe('names of contestants', () => {
  test.each<[RunState, boolean, boolean]>([
    ['queued', false, true],
    ['briefed', false, true],
    ['judged', false, true],
    ['awaiting_pick', false, true],
    ['awaiting_pick', true, false],
    ['published', false, false],
    ['merged', true, false],
    ['closed', false, false],
    ['failed', false, false],
    ['cancelled', false, false],
  ])('in a blind run that is %s (picked: %s) are hidden: %s', (state, isPicked, hidden) => {
    expect(hidesNames({ blind: true, state, isPicked })).toBe(hidden);
    expect(hidesNames({ blind: false, state, isPicked })).toBe(false);
    // Stored before there was such a setting.
    expect(hidesNames({ blind: undefined, state, isPicked })).toBe(false);
  });

  const names = hiddenNames([
    { agent: 'claude-code', model: 'openrouter/acme/heron', prompt: 'careful' },
    { agent: 'command', model: 'acme/heron-2', prompt: 'plain', argv: ['/opt/my-agent', '--fast'] },
  ]);

  test.each([
    ['openrouter/acme/heron answered 429', '[hidden] answered 429'],
    ['ACME/Heron-2 and claude-code', '[hidden] and [hidden]'],
    ['/opt/my-agent: not found', '[hidden]: not found'],
    ['I am Claude Sonnet 4.5, not cl\u200baude', 'I am [hidden], not [hidden]'],
    ['gpt-5 and GEMINI_KEY', '[hidden] and [hidden]_KEY'],
    ['runs a plain command carefully', 'runs a plain command carefully'],
  ])('are taken out of %j', (text, shown) => {
    expect(withoutNames(text, names)).toBe(shown);
  });
});
