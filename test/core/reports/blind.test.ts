import { describe, expect, test } from 'vitest';
import type { RunState } from '../../../src/core/model/index.ts';
import { hiddenNames, hidesNames, withHiddenNames, withoutNames } from '../../../src/core/reports/index.ts';
import { writtenTests } from '../ranking/sample.ts';
import { judged, TOSS_UP } from './sample.ts';

describe('names of contestants', () => {
  test.each<[RunState, boolean, boolean, boolean]>([
    ['queued', false, false, true],
    ['briefed', false, false, true],
    ['judged', false, false, true],
    ['awaiting_pick', true, false, true],
    ['awaiting_pick', true, true, false],
    ['published', false, false, false],
    // A local run with an inconclusive result.
    ['published', true, false, true],
    ['published', true, true, false],
    ['merged', false, true, false],
    ['closed', false, false, false],
    ['failed', false, false, false],
    ['cancelled', false, false, false],
  ])(
    'in a blind run that is %s (choice left: %s, picked: %s) are hidden: %s',
    (state, leavesChoice, isPicked, hidden) => {
      expect(hidesNames({ blind: true, state, leavesChoice, isPicked })).toBe(hidden);
      expect(hidesNames({ blind: false, state, leavesChoice, isPicked })).toBe(false);
      // Stored before there was such a setting.
      expect(hidesNames({ blind: undefined, state, leavesChoice, isPicked })).toBe(false);
    },
  );

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

  test('and families, of who wrote patches and of who wrote tests', () => {
    const view = judged();
    const evidence = view.evidence.map((one) => ({
      ...one,
      family: 'qwen',
      independentTests: writtenTests(3, ['1'], 0, 'qwen'),
    }));
    const hidden = withHiddenNames({ ...view, evidence }, names).evidence;
    expect(hidden[0]?.independentTests).toMatchObject({ passed: 2, failing: [{ id: '1' }] });
    expect(JSON.stringify(hidden)).not.toContain('qwen');
  });

  test('are taken out of every reason that repeats what an agent printed last, or what a model said', () => {
    const because = 'The coder left no patch: openrouter/acme/heron answered 429.';
    const view = judged();
    const told = judged({
      evidence: view.evidence.map((one) => ({
        ...one,
        gates: [{ gate: 'collected', passed: false, because }],
        doubt: because,
      })),
      ranking: view.ranking.map((one) => ({ ...one, because })),
      decision: { ...TOSS_UP, because, caps: [{ most: 0.8, because }] },
    });
    expect(JSON.stringify(withHiddenNames(told, names))).not.toContain('heron');
    const none = judged({ decision: { kind: 'none', decidedBy: 'gates', because } });
    expect(withHiddenNames(none, names).decision?.because).toBe(
      'The coder left no patch: [hidden] answered 429.',
    );
  });
});
