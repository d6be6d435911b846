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
    "### **B** is the pick — likely

    It passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.

    |  | verdict | existing tests | new tests | lines |
    | --- | --- | --: | --: | --: |
    | **B** | **the pick, likely** | ✓&nbsp;412/412 | ✓ 2/2 | +13&nbsp;−3 |
    | **C** | fails 1 of 4 new tests | ✓&nbsp;412/412 | ✗ 3/4 | +14&nbsp;−3 |
    | **A** | breaks 1 existing test | ✗&nbsp;411/412 | not run | +12&nbsp;−3 |
    | **D** | tampers with tests | ✓&nbsp;412/412 | not run | +15&nbsp;−3 |

    [Compare with the other candidates](https://github.test/acme/lists/pull/8#issuecomment-1)."
  `);
});
