import { describe, expect, test } from 'vitest';
import type { FailedTry } from '../../src/core/settings/index.ts';
import { loadRun, taskOf } from '../../src/runs/context.ts';
import { openSuggestions } from '../../src/runs/recipe/index.ts';
import { planningWorld, RUN } from './planning-world.ts';

const failed: FailedTry = {
  recipe: {
    commands: { setup: 'npm ci', test: 'npm test' },
    from: { setup: 'package.json', test: 'package.json' },
  },
  step: 'set-up',
  output: `npm error no such package\n${'npm error usage\n'.repeat(1_000)}`,
};
const ANSWER = { setup: 'npm install --force', build: '', test: 'npm test', because: 'Peers.' };

async function asking(answer: unknown, named: readonly ('setup' | 'build' | 'test')[] = []) {
  const { world, asked } = await planningWorld({ planner: () => null, setup: () => answer });
  const task = taskOf(await loadRun(world, RUN));
  const source = { kind: 'local', path: '/' } as const;
  const suggest = openSuggestions(world, { task, source, named, signal: new AbortController().signal });
  return { suggest, asked };
}

describe('commands that a model suggests', () => {
  test('are marked as such, and those that were there keep their file', async () => {
    const { suggest } = await asking(ANSWER);
    expect(await suggest([failed])).toEqual({
      commands: { setup: 'npm install --force', test: 'npm test' },
      from: { setup: 'suggested by a model', test: 'package.json' },
    });
  });

  test('come from the output and the files of the repository, never from the words of the task', async () => {
    const { suggest, asked } = await asking(ANSWER);
    await suggest([failed]);
    const [{ prompt, spender }] = asked as [(typeof asked)[number]];
    expect(spender).toBe('setup');
    expect(prompt).toContain('npm error no such package');
    expect(prompt).toContain('# Tally');
    for (const word of ['Notes break the import', 'They break.', 'It is RFC 4180.', 'Use tabs.']) {
      expect(prompt, word).not.toContain(word);
    }
    expect(prompt.length).toBeLessThan(10_000);
  });

  test('never replace what the settings name', async () => {
    const { suggest, asked } = await asking({ ...ANSWER, build: 'make', test: 'true' }, ['build', 'test']);
    expect((await suggest([failed]))?.commands).toEqual({ setup: 'npm install --force', test: 'npm test' });
    const all = await asking(ANSWER, ['setup', 'build', 'test']);
    expect([await all.suggest([failed]), all.asked, asked.length]).toEqual([null, [], 1]);
  });

  test('are asked for twice at most, and what was tried is no answer', async () => {
    const { suggest, asked } = await asking({ ...ANSWER, setup: 'npm ci' });
    expect(await suggest([failed])).toBeNull();
    const second: FailedTry = { ...failed, output: 'other' };
    expect(await suggest([failed, second])).toBeNull();
    expect(await suggest([failed, second, { ...failed, output: 'more' }])).toBeNull();
    expect(asked).toHaveLength(2);
  });

  test('without an answer there are none', async () => {
    const { suggest } = await asking(null);
    expect(await suggest([failed])).toBeNull();
  });
});
