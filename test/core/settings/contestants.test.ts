import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assignAliases,
  contestants,
  fullModelName,
  type Settings,
} from '../../../src/core/settings/index.ts';

const VARIANTS = ['plain', 'careful', 'test-first'];
const line = (
  coders: Settings['coders'],
  candidates: number,
  models: readonly string[] = ['a/x', 'o/y'],
): readonly string[] =>
  contestants({ coders, candidates }, { models, prompts: VARIANTS, fits: () => true }).map(
    ({ agent, model, prompt }) => `${agent} ${model} ${prompt}`,
  );

describe('contestants', () => {
  test('include one coder without a model once per default model, then with the next prompt', () => {
    expect(line([{ agent: 'builtin' }], 5)).toEqual([
      'builtin a/x plain',
      'builtin o/y plain',
      'builtin a/x careful',
      'builtin o/y careful',
      'builtin a/x test-first',
    ]);
  });

  test('keep named models and prompts, and repeat a coder with a new prompt', () => {
    const coders = [
      { agent: 'codex', model: 'o/z', prompt: 'careful' },
      { agent: 'builtin', model: 'a/x' },
    ];
    expect(line(coders, 5)).toEqual([
      'codex o/z careful',
      'builtin a/x plain',
      'codex o/z plain',
      'builtin a/x careful',
      'codex o/z test-first',
    ]);
  });

  test('are the first coders if there are more coders than candidates', () => {
    expect(line([{ agent: 'a' }, { agent: 'b' }, { agent: 'c' }], 2)).toEqual(['a a/x plain', 'b o/y plain']);
  });

  test('repeat prompts if there are more candidates than prompts', () => {
    expect(line([{ agent: 'a', model: 'm/m' }], 4)).toEqual([
      'a m/m plain',
      'a m/m careful',
      'a m/m test-first',
      'a m/m plain',
    ]);
  });

  test('without a model get the next default model of a shared protocol', () => {
    const speaks: Readonly<Record<string, string>> = { claude: 'a/', codex: 'o/' };
    const field = {
      models: ['a/x', 'o/y', 'a/z'],
      prompts: VARIANTS,
      fits: (agent: string, model: string) => model.startsWith(speaks[agent] ?? ''),
    };
    const coders = [{ agent: 'claude' }, { agent: 'codex' }];
    expect(
      contestants({ coders, candidates: 4 }, field).map(({ agent, model }) => `${agent} ${model}`),
    ).toEqual(['claude a/x', 'codex o/y', 'claude a/z', 'codex o/y']);
    const deaf = { ...field, fits: () => false };
    expect(contestants({ coders: [{ agent: 'codex' }], candidates: 1 }, deaf)[0]?.model).toBe('a/x');
  });

  test('differ by seed when the prompts are used up', () => {
    const coders = [{ agent: 'a', model: 'm/m' }];
    const field = { models: [], prompts: VARIANTS, fits: () => true };
    expect(contestants({ coders, candidates: 5 }, field).map(({ prompt, seed }) => [prompt, seed])).toEqual([
      ['plain', undefined],
      ['careful', undefined],
      ['test-first', undefined],
      ['plain', 1],
      ['careful', 1],
    ]);
  });

  test('are two for two programs of the same agent', () => {
    const coders: Settings['coders'] = [
      { agent: 'command', model: 'm/m', argv: ['./one'] },
      { agent: 'command', model: 'm/m', argv: ['./two', '-v'] },
    ];
    const field = { models: [], prompts: VARIANTS, fits: () => true };
    expect(contestants({ coders, candidates: 2 }, field)).toEqual([
      { agent: 'command', model: 'm/m', prompt: 'plain', argv: ['./one'] },
      { agent: 'command', model: 'm/m', prompt: 'plain', argv: ['./two', '-v'] },
    ]);
  });

  test('get a model name without a key if there is no default model', () => {
    expect(line([{ agent: 'a' }], 1, [])).toEqual(['a anthropic/default plain']);
  });
});

describe('aliases', () => {
  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

  test('are the first letters, each once, the same for the same run', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 26 }), (run, count) => {
        const aliases = assignAliases(run, count);
        expect([...aliases].sort().join('')).toBe(LETTERS.slice(0, count));
        expect(assignAliases(run, count)).toEqual(aliases);
      }),
    );
  });

  test('do not reveal the author: over many runs each contestant gets each letter equally often', () => {
    const runs = 4_000;
    const counts = new Map<string, number>();
    for (let i = 0; i < runs; i++) {
      for (const [place, alias] of assignAliases(`r${i.toString(32)}`, 4).entries()) {
        counts.set(`${place}${alias}`, (counts.get(`${place}${alias}`) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(16);
    for (const count of counts.values()) expect(Math.abs(count / runs - 1 / 4)).toBeLessThan(0.04);
  });

  test('there are 26', () => {
    expect(() => assignAliases('r1', 27)).toThrow('0 to 26');
  });
});

describe('the full name of a model', () => {
  test.each<[string, readonly string[], string]>([
    ['anthropic/claude-sonnet-5', [], 'anthropic/claude-sonnet-5'],
    ['claude-sonnet-5', ['openai'], 'anthropic/claude-sonnet-5'],
    ['gpt-6-sol', ['anthropic', 'openai'], 'openai/gpt-6-sol'],
    ['o5-mini', [], 'openai/o5-mini'],
    ['gemini-3.1-pro-preview', [], 'google/gemini-3.1-pro-preview'],
    ['grok-5', [], 'x-ai/grok-5'],
    // Another company's model: the only provider that there is, or nobody knows.
    ['llama-5', ['groq'], 'groq/llama-5'],
    ['llama-5', ['groq', 'openai'], 'llama-5'],
    ['llama-5', [], 'llama-5'],
    ['z-ai/glm-5', ['openrouter', 'openai'], 'openrouter/z-ai/glm-5'],
    ['z-ai/glm-5', ['openai'], 'z-ai/glm-5'],
    ['openrouter/z-ai/glm-5', ['openrouter'], 'openrouter/z-ai/glm-5'],
    ['constructor/x', ['openrouter'], 'openrouter/constructor/x'],
  ])('%s with keys of %j is %s', (name, withKey, full) => {
    expect(fullModelName(name, withKey)).toBe(full);
  });
});
