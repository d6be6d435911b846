import { expect, test } from 'vitest';
import type { Evidence } from '../../../src/core/evidence/index.ts';
import { blindPatch, comparisonQuestion, factsOf, identitiesOf } from '../../../src/core/judging/index.ts';
import { AUTHORS, candidate, NOTHING_RAN } from './sample.ts';

const evidence: Evidence = {
  alias: 'A',
  gates: [],
  survivor: true,
  patchSha256: 'f',
  productionLines: 3,
  addedTests: 1,
  coderMs: 1_234_567,
  baseTests: {
    passed: 11,
    total: 12,
    failed: 1,
    regressions: ['list > sorts'],
    fixed: [],
    source: 'report',
    exitCode: 1,
    ms: 7_654_321,
  },
  independentTests: {
    passed: 1,
    total: 2,
    failing: [{ id: 'empty list', origin: 'writer', message: 'printed by the candidate' }],
  },
  peerTests: [
    { author: 'B', passed: 2, total: 3, failing: ['choose B'] },
    { author: 'C', passed: 1, total: 1, failing: [] },
  ],
};

test.each([
  'Store the model\nplain in the table.',
  'The form has a prompt:\n\nplain text is shown.',
  'const name = "clau" +\n  "de";',
])('no text of the task keeps judges from reading the patches: %j', (task) => {
  const identities = identitiesOf([AUTHORS.claude]);
  const side = { patch: blindPatch(candidate('A', ['go();']).files, identities), facts: NOTHING_RAN };
  expect(comparisonQuestion(task, { first: side, second: side }, identities, 'abc').kind).toBe('question');
});

test('judges learn the results of execution, but no times and no text that a candidate could have chosen', () => {
  const facts = factsOf(evidence);
  expect(facts).toEqual({
    base: { passed: 11, total: 12, failing: ['list > sorts'] },
    independent: { passed: 1, total: 2, failing: ['empty list'] },
    peers: { passed: 3, total: 4 },
    inputs: [],
    differences: [],
  });
  const identities = identitiesOf([]);
  const patch = blindPatch(candidate('A', ['go();']).files, identities);
  const question = comparisonQuestion(
    'Sort it.',
    { first: { patch, facts }, second: { patch, facts: NOTHING_RAN } },
    identities,
    'abc',
  );
  const text = question.kind === 'question' ? question.text : '';
  expect(text).toContain(
    [
      '<<<FIRST RAN abc',
      "the repository's tests: 11 of 12 pass",
      '  breaks: list > sorts',
      'tests written from the task alone: 1 of 2 pass',
      '  fails: empty list',
      'tests that other candidates wrote: 3 of 4 pass',
      'FIRST RAN abc>>>',
    ].join('\n'),
  );
  expect(text).toContain('<<<SECOND RAN abc\nnothing was executed\n');
  expect(text).not.toMatch(/choose B|printed by|1234|7654|ms\b/);
});
