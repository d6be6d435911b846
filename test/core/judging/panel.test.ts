import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  advancing,
  allPairs,
  familyOf,
  judgesForPair,
  judgingPlanOf,
  knockoutRound,
  MAX_CALLS,
} from '../../../src/core/judging/index.ts';
import { AUTHORS } from './sample.ts';

describe('the family of a model', () => {
  test.each([
    ['anthropic/claude-sonnet-5', 'claude'],
    ['openrouter/anthropic/claude-opus-5', 'claude'],
    ['anthropic/default', 'claude'],
    ['openai/o3-mini', 'gpt'],
    ['openrouter/openai/gpt-oss-120b', 'gpt'],
    ['google/gemini-3.1-pro-preview', 'gemini'],
    ['deepseek/deepseek-v4', 'deepseek'],
    ['openrouter/deepseek/deepseek-r1-distill-llama-70b', 'deepseek'],
    ['groq/llama-4-70b', 'llama'],
    ['groq/qwen-3-32b', 'qwen'],
    ['mistral/codestral-2', 'mistral'],
    ['x-ai/grok-5', 'grok'],
    ['openrouter/moonshotai/kimi-k3', 'kimi'],
    ['openrouter/z-ai/glm-5', 'glm'],
  ])('%s is %s, whoever serves it', (model, family) => {
    expect(familyOf(model)).toBe(family);
  });

  test('of unknown models is one per provider', () => {
    expect(familyOf('local/alpha')).toBe(familyOf('local/beta'));
    expect(familyOf('local/alpha')).not.toBe(familyOf('other/alpha'));
    expect(familyOf('')).toBe('unknown');
  });
});

describe('the judges of a pair', () => {
  const models = [
    'anthropic/claude-opus-5',
    'openai/gpt-6-sol',
    'google/gemini-3.1-pro',
    'x-ai/grok-5',
    'x-ai/grok-5-mini',
    'deepseek/deepseek-v4',
  ];
  const families = (...authors: Parameters<typeof judgesForPair>[0]) =>
    judgesForPair(authors, models, 3).map(({ family }) => family);

  test('are of families that wrote neither patch, one of each before a second of any', () => {
    expect(families(AUTHORS.claude, AUTHORS.gpt)).toEqual(['gemini', 'grok', 'deepseek']);
    expect(families(null, null)).toEqual(['claude', 'gpt', 'gemini']);
    const two = judgesForPair([AUTHORS.claude], ['x-ai/grok-5', 'x-ai/grok-5-mini', 'deepseek/v4'], 3);
    expect(two.map(({ model }) => model)).toEqual(['x-ai/grok-5', 'deepseek/v4', 'x-ai/grok-5-mini']);
  });

  test("are of the authors' families only if fewer than two others exist", () => {
    const few = judgesForPair([AUTHORS.claude, AUTHORS.gpt], models.slice(0, 3), 3);
    expect(few.map(({ family, isAuthorFamily }) => [family, isAuthorFamily])).toEqual([
      ['gemini', false],
      ['claude', true],
      ['gpt', true],
    ]);
    expect(
      judgesForPair([AUTHORS.claude, AUTHORS.gpt], models.slice(0, 4), 3).some(
        ({ isAuthorFamily }) => isAuthorFamily,
      ),
    ).toBe(false);
  });

  test('are each asked once, however often a model is listed', () => {
    expect(judgesForPair([], ['x-ai/grok-5', 'x-ai/grok-5'], 3)).toHaveLength(1);
    expect(judgesForPair([AUTHORS.claude], [], 3)).toEqual([]);
  });
});

describe('the plan', () => {
  const seeds = (n: number) => Array.from({ length: n }, (_, i) => `C${i}`);

  test('never exceeds the allowed calls, and says what it leaves out', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 60 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 2, max: 60 }),
        (n, models, most) => {
          const plan = judgingPlanOf(seeds(n), models, { maxCalls: most });
          const pairs =
            plan.format === 'knockout'
              ? plan.aliases.length - 1
              : (plan.aliases.length * (plan.aliases.length - 1)) / 2;
          expect(pairs * 2 * plan.judges).toBeLessThanOrEqual(most);
          expect(plan.judges).toBeGreaterThanOrEqual(1);
          const whole = plan.aliases.length === n && plan.judges === Math.min(3, models);
          if (!whole || plan.format === 'knockout') expect(plan.notes).not.toEqual([]);
        },
      ),
    );
  });

  test.each([
    [2, 'round-robin', 3],
    [4, 'round-robin', 3],
    [5, 'knockout', 3],
    [7, 'knockout', 3],
    [10, 'knockout', 2],
  ])('of %i candidates is a %s with %i judges', (n, format, judges) => {
    expect(judgingPlanOf(seeds(n), 3)).toMatchObject({ format, judges });
    expect(MAX_CALLS).toBe(36);
  });

  test('is a knockout on request', () => {
    expect(judgingPlanOf(seeds(4), 3, { knockout: true })).toMatchObject({ format: 'knockout', notes: [] });
  });
});

describe('a knockout', () => {
  test('gives the best seeds byes and pairs the best with the last', () => {
    expect(knockoutRound(['A', 'B', 'C', 'D', 'E'])).toEqual({
      byes: ['A', 'B', 'C'],
      matches: [{ a: 'D', b: 'E' }],
    });
    expect(knockoutRound(['A', 'B', 'C', 'D']).matches).toEqual([
      { a: 'A', b: 'D' },
      { a: 'B', b: 'C' },
    ]);
    expect(knockoutRound(['A']).matches).toEqual([]);
  });

  test('has one match less than candidates, and ends with the strongest', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (n, pick) => {
        const best = `C${pick % n}`;
        let left: readonly string[] = Array.from({ length: n }, (_, i) => `C${i}`);
        let matches = 0;
        while (left.length > 1) {
          const round = knockoutRound(left);
          expect(round.matches.length).toBeGreaterThan(0);
          matches += round.matches.length;
          left = advancing(left, round, ({ a, b }) => (a === best || b === best ? best : null));
        }
        expect(left).toEqual([best]);
        expect(matches).toBe(n - 1);
      }),
    );
  });

  test('goes to the better evidence if judges are even', () => {
    const left = ['A', 'B'];
    expect(advancing(left, knockoutRound(left), () => null)).toEqual(['A']);
  });
});

test('all pairs occur once, in an order that does not depend on the list', () => {
  expect(allPairs(['C', 'A', 'B'])).toEqual(allPairs(['A', 'B', 'C']));
  expect(allPairs(['A', 'B', 'C', 'D'])).toHaveLength(6);
});
