import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import { say, write } from '../../src/demo/sample/scripts/turns.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/stage.ts';
import { onStage } from '../world/theatre.ts';

const MINUTES = 60_000;
const settings = (...names: string[]) =>
  stringify({
    budget: { run: 2, candidate: 0.5 },
    candidates: names.length,
    coders: names.map((name) => ({ agent: 'builtin', model: `anthropic/scripted-${name}` })),
  });

test(
  'after a run without a winner, the label taken off and set again starts a new run',
  { timeout: 3 * MINUTES },
  () =>
    onStage({ settings: settings('idle') }, async (stage) => {
      const issue = await stage.label();
      const first = await stage.run(issue);
      expect(first).toMatchObject({ state: 'published', decision: { kind: 'none' } });

      const maintainer = stage.theatre.github.as(MAINTAINER);
      await maintainer.removeLabel(REPOSITORY, issue, 'auto-dev');
      await maintainer.addLabel(REPOSITORY, issue, 'auto-dev');
      const second = await stage.run(issue, (view) => view.id !== first.id && view.state === 'published');
      expect(second.id).not.toBe(first.id);
      await stage.theatre.world.engine.settled(second.id);
    }),
);

test(
  'a patch whose own tests are red does not survive, though it breaks no base test',
  { timeout: 3 * MINUTES },
  () =>
    onStage(
      {
        settings: settings('idle'),
        scripts: {
          ...SCRIPTS,
          'scripted-idle': {
            turns: [
              write('A new file.', 'src/extra.js', 'export const extra = () => 1;\n'),
              write(
                'Its test.',
                'test/extra.test.js',
                "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { extra } from '../src/extra.js';\n\ntest('extra is two', () => assert.equal(extra(), 2));\n",
              ),
              say('Done.'),
            ],
            structured: SCRIPTS['scripted-idle'].structured,
          },
        },
      },
      async (stage) => {
        const view = await stage.run(await stage.label());
        expect(view.decision?.kind).toBe('none');
        expect(view.evidence[0]?.baseTests?.regressions).toEqual([]);
        expect(view.evidence[0]?.gates.find((gate) => !gate.passed)).toMatchObject({
          gate: 'tests-run',
          because: expect.stringContaining('extra is two'),
        });
      },
    ),
);
