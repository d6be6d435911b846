import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import type { Turn } from '../../src/demo/scripted-models/index.ts';
import { withDemoApp } from '../world/demo-app.ts';

/** The same work, without the tests that the coder would have added. */
const untested = (turns: readonly Turn[]): readonly Turn[] =>
  turns.filter((turn) => turn.kind !== 'call' || !JSON.stringify(turn.input).includes('test/csv'));

const REVIEW = {
  claims: [
    {
      file: 'src/csv.js',
      line: 1,
      quote: 'COMMA_OUTSIDE_QUOTES',
      input: 'a doubled quote',
      expected: 'one quote',
      got: 'two',
    },
  ],
  because: 'It only looks for commas.',
  verdict: 'pass',
};

// Its parts are in every run (`test/runs/independent-tests-*`); the whole takes a minute.
test('if no candidate adds a test, a writer that saw no candidate writes tests, and execution decides', () => {
  const { answers, structured } = SCRIPTS['scripted-heron'];
  const asked = {
    structured,
    answers: [...answers, { holds: 'You review one candidate patch', structured: REVIEW }],
  };
  return withDemoApp(
    {
      settings: stringify({
        budget: { run: 2, candidate: 0.5 },
        // npm takes longer to start than what the sample's scripts name.
        checks: { build: 'node scripts/build.mjs', test: 'node --test' },
        evaluator: ['evidence', 'reviewer', 'model'],
        coders: ['anthropic/scripted-heron', 'openai/scripted-otter'].map((model) => ({
          agent: 'builtin',
          model,
        })),
        candidates: 2,
      }),
      scripts: {
        ...SCRIPTS,
        'scripted-heron': { turns: untested(SCRIPTS['scripted-heron'].turns), ...asked },
        'scripted-otter': { turns: untested(SCRIPTS['scripted-otter'].turns), ...asked },
      },
    },
    async (demo) => {
      const issue = await demo.label();
      const view = await demo.run(issue);
      const [heron, otter] = ['heron', 'otter'].map(
        (name) => view.candidates.find(({ contestant }) => contestant?.model.endsWith(name))?.alias ?? '',
      );
      const found = (alias = '') => view.evidence.find((one) => one.alias === alias);

      expect(found(heron)?.addedTests).toBe(0);
      expect(found(otter)?.addedTests).toBe(0);
      expect(found(heron)?.independentTests).toMatchObject({ failing: [] });
      expect(found(otter)?.independentTests?.failing.map(({ origin }) => origin)).toContain('writer');
      expect(view.decision).toMatchObject({ kind: 'winner', alias: heron });
      expect(view.independentTests).toMatchObject({ models: [expect.stringContaining('scripted-')] });

      const pull = view.outcome?.kind === 'pull' ? view.outcome.number : 0;
      const [comparison = ''] = await demo.comments(pull);
      expect(comparison).toMatch(/Tests written from the brief by .*: \d admitted/);
      expect(comparison).toContain(
        'Candidates that passed every gate change the same places: src/csv.js (2 of 2)',
      );
      expect(comparison).toContain(`“a doubled quote”: ${heron} passes, ${otter} fails.`);
    },
  );
});
