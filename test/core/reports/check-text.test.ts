import { expect, test } from 'vitest';
import { checkText, type RunView } from '../../../src/core/reports/index.ts';
import { judged, MONA, nobody, published, waiting } from './sample.ts';

const { decision: _none, ...undecided } = judged();
const runs: readonly (readonly [string, RunView, string, string])[] = [
  ['a winner', judged(), 'B of 4: LIKELY, decided by new tests', 'success'],
  [
    'a toss-up',
    waiting(),
    'B of 4: TOSS-UP between B, C: please choose; ranked first by agreement',
    'neutral',
  ],
  ['a pick', waiting({ picks: [{ alias: 'C', by: MONA }] }), 'C of 4, picked by a person', 'success'],
  [
    'none of them',
    judged({ picks: [{ alias: null, by: MONA }] }),
    'A person rejected all candidates',
    'neutral',
  ],
  ['nobody', nobody(), 'No candidate passed', 'neutral'],
  ['no decision', undecided, 'No decision yet', 'neutral'],
];

test.each(runs)('the check of %s', (_name, view, title, conclusion) => {
  expect(checkText(view)).toMatchObject({ title, conclusion });
});

test('the summary of the check is the first screen of the comparison', () => {
  expect(checkText(published()).summary).toMatchInlineSnapshot(`
    "### **B** — LIKELY, decided by new tests

    B passes all tests that C added, C fails one of the 4 that B added.

    Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit.

    | candidate | contestant | build | base tests | new tests | lines | cost | time | result |
    | --- | --- | --- | --: | --: | --: | --: | --: | --- |
    | **B** | \`builtin × anthropic/model-2 (careful)\` | ok | 412/412 | peers 2/2 | +13 −3 | $0.13 | 1m 12s | **chosen** |
    | **C** | \`builtin × anthropic/model-3 (plain)\` | ok | 412/412 | peers 3/4 | +14 −3 | $0.14 | 1m 42s | behind B on new tests |
    | **A** | \`builtin × anthropic/model-1 (plain)\` | ok | 411/412 | – | +12 −3 | $0.12 | 42 s | breaks 1 base test |
    | **D** | \`builtin × anthropic/model-4 (careful)\` | – | 412/412 | – | +15 −3 | $0.15 | 2m 12s | tampers with tests |

    [Compare with the other candidates](https://github.test/acme/lists/pull/8#issuecomment-1)."
  `);
});
