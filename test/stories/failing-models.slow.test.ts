import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import type { Turn } from '../../src/demo/scripted-models/index.ts';
import { withDemoApp } from '../world/demo-app.ts';

const always = (turn: Turn) => ({
  ...SCRIPTS['scripted-idle'],
  turns: [turn],
  afterwards: 'repeat' as const,
});
const scripts = {
  ...SCRIPTS,
  'scripted-mole': always({ kind: 'status', status: 529 }),
  'scripted-otter': always({ kind: 'status', status: 401 }),
  'scripted-wren': always({ kind: 'cut', text: 'I look at the files that the issue names. '.repeat(5) }),
  'scripted-idle': always({ kind: 'text', text: 'I cannot help with this request.' }),
};
const FAILING = [
  'anthropic/scripted-mole',
  'openai/scripted-otter',
  'openai/scripted-wren',
  'anthropic/scripted-idle',
];
const settings = (models: readonly string[]) =>
  stringify({
    budget: { run: 2, candidate: 0.5 },
    checks: { build: 'node scripts/build.mjs', test: 'node --test' },
    candidates: models.length,
    coders: models.map((model) => ({ agent: 'builtin', model })),
    evaluator: ['evidence'],
  });

test('a run in which every model fails opens no pull request, and shows each reason with advice', () =>
  withDemoApp({ scripts, settings: settings(FAILING) }, async (demo) => {
    const issue = await demo.label();
    const view = await demo.run(issue);

    expect(view.state).toBe('published');
    const reasons = Object.fromEntries(view.candidates.map((one) => [one.contestant?.model, one.note]));
    expect(reasons).toEqual({
      'anthropic/scripted-mole':
        'stopped after its last model call was refused: The model provider is overloaded (HTTP 529).',
      'openai/scripted-otter':
        'stopped after its last model call was refused: The model provider refused the key. (HTTP 401)',
      'openai/scripted-wren':
        'stopped after its last model call was refused: The model provider broke off its answer.',
      'anthropic/scripted-idle':
        'ended without changing a file; its last words: “I cannot help with this request.”',
    });
    expect(view.decision).toMatchObject({
      kind: 'none',
      because: expect.stringContaining('None of the 4 coders left a patch.'),
    });
    // What was refused is not charged, and nothing stays booked. An answer that broke off counts for the most that it can
    // have cost.
    const charged = await demo.environment.world.store.usage(view.id);
    const byCoders = view.candidates.reduce((sum, { usage }) => sum + (usage?.usd ?? 0), 0);
    const planned = await demo.environment.world.store.usage(view.id, 'brief');
    expect(view.budget.spent).toBeCloseTo(charged.usd, 9);
    expect(byCoders + planned.usd).toBeCloseTo(charged.usd, 9);
    expect(charged.usd).toBeLessThan(0.5);
    for (const model of ['mole', 'otter'])
      expect(view.candidates.find(({ contestant }) => contestant?.model.endsWith(model))?.usage?.usd).toBe(0);

    expect(await demo.environment.github.as(MAINTAINER).pulls(REPOSITORY)).toEqual([]);
    const [status = '', table = ''] = await demo.comments(issue);
    const [first, second, third] = view.candidates
      .filter(({ contestant }) => !contestant?.model.endsWith('idle'))
      .map(({ alias }) => alias)
      .toSorted();
    expect(status).toContain(`**Next:** find out what stopped ${first}, ${second} and ${third}, fix it`);
    expect(status).not.toContain('more precisely');
    for (const { alias, note } of view.candidates) expect(table).toContain(`**${alias}**: ${note}`);
    expect(await demo.labels(issue)).toEqual(['auto-dev:none']);
  }));

// Half a minute each; the first is the one that always runs.
test('a run in which one of three models works continues with its patch', () =>
  withDemoApp(
    {
      scripts,
      settings: settings(['anthropic/scripted-mole', 'openai/scripted-otter', 'anthropic/scripted-heron']),
    },
    async (demo) => {
      const issue = await demo.label();
      const view = await demo.run(issue);
      const heron = view.candidates.find(({ contestant }) => contestant?.model.endsWith('heron'));
      expect(view.decision).toMatchObject({ kind: 'winner', alias: heron?.alias });
      expect(await demo.environment.github.as(MAINTAINER).pulls(REPOSITORY)).toHaveLength(1);
    },
  ));
