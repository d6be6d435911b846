import { expect, test } from 'vitest';
import { ENDED_UNCHANGED, explanation } from '../../../src/core/reports/index.ts';
import { BEHAVIOUR, diffsOf, evidence, JUDGEMENT, judged } from './sample.ts';

test("the explanation of a candidate has everything known about it, and separates execution from models' words", () => {
  const view = judged({ judgement: JUDGEMENT, budget: { run: 5, candidate: 2, spent: 0.58 } });
  const found = view.evidence.map((one) =>
    one.alias === 'C' ? { ...one, behaviour: BEHAVIOUR, alike: ['B', 'C'], provenTests: 1 } : one,
  );
  const { marker, body } = explanation({ ...view, evidence: found }, diffsOf(view), 'C', 991);
  expect(marker).toBe('<!-- runoff:reply:c991 -->');
  expect(body).toMatchInlineSnapshot(`
    "<!-- runoff:reply:c991 -->

    ### Candidate C: fails 1 of 4 new tests, place 2 of 4

    Run \`r7k2m9q4xa\`, 4 candidates.

    - Written by agent \`builtin\` with model \`anthropic/model-3\`, prompt \`plain\`
    - Cost: $0.14 of <span>$</span>2.00 in 9 calls and 12.3k tokens, 1m 42s
    - Patch: +14 −3 in 2 files

    #### What decided its place

    **C**: It fails 1 of 4 tests that B added; B passes all 2 of its.
    - fails tests of B: \`test/b.test.ts > last > of one item\`
    - For \`last([])\` it returns a TypeError, most others that pass the given tests undefined

    #### Gates

    - \`collected\` passed: ok
    - \`content\` passed: ok
    - \`safe\` passed: ok
    - \`scope\` passed: ok
    - \`untampered\` passed: ok
    - \`parses\` passed: ok
    - \`builds\` passed: ok
    - \`types\` passed: ok
    - \`tests-run\` passed: ok
    - \`steady\` passed: ok

    #### What was executed

    - Commands: setup \`npm ci\` (detected from \`.github/workflows/ci.yml\`), build \`npm run build\` (detected from \`package.json\`), test \`npm test\` (settings)
    - Existing tests: 412/412, 0 broken, 0 fixed, exit code 0 on base commit \`3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5\`, 8.1 s
    - Tests of B: 3 of 4 pass
    - Its own new tests: 1, of which 1 fail without its change
    - Same change as B, apart from comments and layout
    - Behaviour: candidates return different results on 3 of 12 inputs from tests and issue; there it returns what the others return 33% of the time

    #### Scores

    - Evidence: 0.50 (tests 0.50, behaviour none, agreement none), 0 existing tests fixed
    - Metrics: 100.0 (tests 1.00, simplicity 1.00, speed 1.00)
    - Votes: 1 model family
    - Blind judges: strength -0.80

    #### Model opinions

    Blind judges said this; none of it was executed.

    - **B** and **C**: \`judge-1\` prefers **B**. Reason: It handles the empty list.
    - **B** and **C**: \`judge-2\` sees no difference (its answer changed with the order, so it counts as a tie). Reason: The first one is shorter.

    Full diff: [compare](https://github.test/acme/lists/compare/3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5...auto-dev/7/r7k2m9q4xa/C).
    "
  `);
});

test('the explanation of a candidate that failed a gate has the lines in question', () => {
  const { body } = explanation(judged(), diffsOf(judged()), 'D', 991);
  expect(body).toContain(
    '- `untampered` **failed**: It removes an assertion in `test/list.test.ts`, line 41.',
  );
  expect(body).toContain('-  expect(last([1])).toBe(1);');
  expect(body).not.toContain('Model opinions');
});

test('the explanation of a candidate without a patch has its last words, and no place and scores', () => {
  const note = `${ENDED_UNCHANGED}; its last words: “There is nothing to do here.”`;
  const view = judged();
  const [first, ...others] = view.candidates;
  if (!first) throw new Error('The sample has no candidate.');
  const { patch: _none, ...idle } = { ...first, note };
  const gate = { gate: 'collected', passed: false, because: note } as const;
  const [own, ...rest] = view.ranking.toSorted(({ alias }) => (alias === 'A' ? -1 : 1));
  if (!own) throw new Error('The sample is not ranked.');
  const { body } = explanation(
    {
      ...view,
      candidates: [idle, ...others],
      evidence: view.evidence.map((one) => (one.alias === 'A' ? evidence('A', {}, gate) : one)),
      ranking: [{ ...own, survivor: false }, ...rest],
    },
    {},
    'A',
    991,
  );
  expect(body).toContain('### Candidate A: left no usable patch\n');
  expect(body).toContain('- ended without changing a file; its last words: “There is nothing to do here.”');
  expect(body).not.toMatch(/Evidence:|Metrics:/);
});

test('the explanation of an unknown letter says so', () => {
  expect(explanation(judged(), {}, 'Z', 991).body.split('\n')[2]).toMatchInlineSnapshot(
    `"Run \`r7k2m9q4xa\` has no candidate \`Z\`. Its candidates are A, B, C, D."`,
  );
  expect(explanation(judged({ candidates: [] }), {}, 'A', 991).body).toContain(
    'The run has no candidates yet.',
  );
});
