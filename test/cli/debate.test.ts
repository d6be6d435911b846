import { expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import { shellOver } from './shell.ts';

const PERSONA = { spec: 'Look for gaps.', code: 'Look for bugs.' };

function shell(defaults: readonly string[] = ['openai/known']) {
  return shellOver(
    {
      defaults: { models: defaults, providers: [] },
      prompts: { personas: new Map(['qa', 'product', 'security'].map((name) => [name, PERSONA])) },
      gateway: {
        route(model: string) {
          if (model.startsWith('nosuch'))
            throw new Fault('MODEL_UNKNOWN', `There is no provider for ${model}.`);
          return { protocol: 'openai-chat', model };
        },
      },
    },
    { readText: async () => 'A spec.', onInterrupt: () => () => {} },
  );
}

test.each([
  ['an unknown critic', ['--personas', 'secuirty'], /no persona "secuirty".*Did you mean security/],
  ['a critic twice', ['--personas', 'qa,qa'], /no persona twice/],
  ['more approvals than critics', ['--require', '9'], /9 critics cannot approve if only 3 are asked/],
  ['an unknown model', ['--models', 'nosuch/x'], /no provider for nosuch\/x/],
])('an option of a debate names %s: the command line is to be corrected', async (_, flags, words) => {
  const { type, err, out } = shell();
  expect(await type('debate', 'SPEC.md', ...flags, '--json')).toBe(2);
  expect(err()).toMatch(words);
  expect(err()).toMatch(/→ Correct the command line; `runoff COMMAND --help`/);
  expect(JSON.parse(out())).toMatchObject({ error: { code: 'COMMAND_LINE_INVALID' } });
});

test("a model of the operator's settings is not the command line's", async () => {
  const { type, err } = shell(['nosuch/x']);
  expect(await type('debate', 'SPEC.md')).toBe(1);
  expect(err()).toContain('`runoff models` lists those');
});
