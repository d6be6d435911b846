import { describe, expect, test } from 'vitest';
import { decisionLabel } from '../../../src/core/reports/format.ts';
import {
  checkboxEdit,
  choiceText,
  pickComment,
  pickOptions,
  type RunView,
  statusComment,
} from '../../../src/core/reports/index.ts';
import { diffsOf, judged, local, MONA, nobody, published, TOSS_UP, VOTES, waiting } from './sample.ts';

const first = (view: RunView): string => pickComment(view, diffsOf(view))[0].body;
const top = (view: RunView): string => first(view).split('#### ')[0] ?? '';

describe('when a person must pick', () => {
  test('the issue gets the comparison with a checkbox for each candidate that can be picked', () => {
    expect(top(waiting())).toMatchInlineSnapshot(`
      "<!-- runoff:choice:r7k2m9q4xa -->

      ### Which do you want: **B** or **C**?

      **B** passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests. Ranked first by agreement.

      **B** changes +13 −3 in 2 files, **C** changes +14 −3 in 2 files.

      |  | verdict | existing tests | new tests | lines |
      | --- | --- | --: | --: | --: |
      | **B** | **toss-up, first** | ✓&nbsp;412/412 | ✓ 2/2 | +13&nbsp;−3 |
      | **C** | fails 1 of 4 new tests | ✓&nbsp;412/412 | ✗ 3/4 | +14&nbsp;−3 |
      | **A** | breaks 1 existing test | ✗&nbsp;411/412 | not run | +12&nbsp;−3 |
      | **D** | tampers with tests | ✓&nbsp;412/412 | not run | +15&nbsp;−3 |

      **Which candidate should become the draft pull request?**

      - [ ] **B**: +13 −3 in 2 files
      - [ ] **C**: +14 −3 in 2 files, fails 1 of 4 new tests
      - [ ] **A**: +12 −3 in 2 files, breaks 1 existing test
      - [ ] None of them

      Tick one box, or comment \`/auto-dev pick B\` or \`/auto-dev pick none\`. To state a preference without deciding, comment \`/auto-dev vote B\`. Only people with write access can choose. There is no deadline, and waiting costs nothing.

      "
    `);
    expect(first(waiting())).toContain('<summary>More about each of them');
    for (const alias of 'ABCD') expect(first(waiting())).toContain(`<b>${alias}</b>`);
  });

  test('the comparison says that the settings leave it to a person, and how people voted', () => {
    const view = waiting({ decision: { ...TOSS_UP, chance: 0.9 }, votes: VOTES });
    expect(top(view)).toContain('### Please choose: your settings leave the choice to you');
    expect(top(view)).toContain('3 votes: **C** 2 (`ada`, `bob`); **B** 1 (`mona`).');
    expect(top(view)).toContain('| **ranked first by evidence** |');
  });

  test('if only one candidate passed, people decide whether they want it, and choose nothing', () => {
    const ranking = judged().ranking.map((one) => ({ ...one, survivor: one.alias === 'B' }));
    const single = { ...TOSS_UP, among: ['B'] } as const;
    const body = top(waiting({ ranking, decision: single }));
    expect(body).toContain(
      '### Only **B** passed: open a pull request for it?\n\n**B** passes all 412 existing tests and both new ones;',
    );
    expect(body).toContain(
      '**Should B become the draft pull request?**\n\n- [ ] **B**: +13 −3 in 2 files\n- [ ] None',
    );
    expect(body).not.toMatch(/please choose|which do you want|Which candidate/i);
    expect(top(waiting({ ranking, decision: { ...single, chance: 0.9 } }))).toContain(
      'Your settings leave the decision to you.',
    );
    const here = choiceText(local({ ranking, decision: single }));
    expect(here.title).toBe('Only **B** passed: do you want it?');
    const status = statusComment(waiting({ ranking, decision: single })).body;
    expect(status).toContain('### Runoff: please decide on the only candidate that passed · ');
    expect(status).toContain('Only **B** passed: open a pull request for it?');
    expect(top(waiting({ decision: single }))).toContain(
      '### Is **B** good enough for a pull request?\n\n**B** passes',
    );
    expect(decisionLabel(single)).toBe('TOSS-UP: please decide; ranked first by agreement');
  });

  test('the comparison offers no candidate that failed a gate or left no patch', () => {
    expect(pickOptions(waiting())).toEqual(['B', 'C', 'A', null]);
    const candidates = waiting().candidates.map((one) => {
      const { patch: _none, ...rest } = one;
      return one.alias === 'C' ? rest : one;
    });
    expect(pickOptions(waiting({ candidates }))).toEqual(['B', 'A', null]);
    expect(pickOptions(waiting({ ranking: [] }))).toEqual([null]);
  });

  test('each checkbox stands for its line, whatever the diffs contain', () => {
    const view = waiting();
    const ours = pickComment(view, diffsOf(view, '- [ ] a line of a list that is removed\n'))[0].body;
    const boxes = ours.split('\n').filter((line) => line.startsWith('- [ ] '));
    pickOptions(view).forEach((alias, index) => {
      const line = boxes[index] ?? '';
      expect(line).toContain(alias === null ? 'None of them' : `**${alias}**:`);
      const ticked = ours.replace(line, line.replace('[ ]', '[x]'));
      expect(checkboxEdit(ours, ticked)).toEqual({ kind: 'ticked', box: index + 1 });
    });
    expect(pickOptions(view)[boxes.length - 1]).toBeUndefined();
  });

  test('the text is the same for the same run at any time', () => {
    const view = waiting();
    expect(first({ ...view, now: view.now + 1e9, state: 'judged' })).toBe(first(view));
  });
});

describe('once a person picked', () => {
  test('the comparison says who picked what, and has no checkboxes', () => {
    const view = published({ decision: TOSS_UP, picks: [{ alias: 'C', by: MONA }] });
    expect(top(view)).toMatchInlineSnapshot(`
      "<!-- runoff:choice:r7k2m9q4xa -->

      ### **C** — picked by \`mona\`

      The evidence ranks **B** first — but does not decide: it passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests. Ranked first by agreement.

      |  | verdict | existing tests | new tests | lines |
      | --- | --- | --: | --: | --: |
      | **B** | ranked first by evidence | ✓&nbsp;412/412 | ✓ 2/2 | +13&nbsp;−3 |
      | **C** | **picked by a person** | ✓&nbsp;412/412 | ✗ 3/4 | +14&nbsp;−3 |
      | **A** | breaks 1 existing test | ✗&nbsp;411/412 | not run | +12&nbsp;−3 |
      | **D** | tampers with tests | ✓&nbsp;412/412 | not run | +15&nbsp;−3 |

      **Next:** review the draft pull request [#8](https://github.test/acme/lists/pull/8). To switch to another candidate, comment \`/auto-dev pick\` with its letter.

      "
    `);
    expect(pickOptions(view)).toEqual([]);
  });

  test('the comparison covers `none` and runs that ended before', () => {
    const none = waiting({ state: 'closed', picks: [{ alias: null, by: MONA }] });
    expect(top(none).split('| candidate')[0]).toMatchInlineSnapshot(`
      "<!-- runoff:choice:r7k2m9q4xa -->

      ### \`mona\` rejected all candidates

      The evidence ranks **B** first — but does not decide: it passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests. Ranked first by agreement.

      |  | verdict | existing tests | new tests | lines |
      | --- | --- | --: | --: | --: |
      | **B** | ranked first by evidence | ✓&nbsp;412/412 | ✓ 2/2 | +13&nbsp;−3 |
      | **C** | fails 1 of 4 new tests | ✓&nbsp;412/412 | ✗ 3/4 | +14&nbsp;−3 |
      | **A** | breaks 1 existing test | ✗&nbsp;411/412 | not run | +12&nbsp;−3 |
      | **D** | tampers with tests | ✓&nbsp;412/412 | not run | +15&nbsp;−3 |

      No pull request was opened. To start again, add the label \`auto-dev\` again or comment \`/auto-dev retry\`.

      "
    `);
    expect(top(none).match(/^No pull.*$/m)?.[0]).toMatchInlineSnapshot(
      `"No pull request was opened. To start again, add the label \`auto-dev\` again or comment \`/auto-dev retry\`."`,
    );
    const ended = top(waiting({ state: 'closed' }));
    expect(ended).toContain('### No candidate was picked');
    expect(ended).toContain('The run ended before anyone chose. No pull request was opened.');
    expect(ended).not.toContain('- [ ]');
  });

  test('the comparison tells how to open the pull request that GitHub refused', () => {
    const { branches } = published().outcome ?? { branches: {} };
    const outcome = { kind: 'table', branches, refusedBecause: 'The branch `main` is locked.' } as const;
    const view = published({ outcome, decision: TOSS_UP, picks: [{ alias: 'C', by: MONA }] });
    const next = (some: RunView): string | undefined => top(some).match(/^\*\*Next.*$/m)?.[0];
    expect(next(view)).toMatchInlineSnapshot(
      `"**Next:** **C** has no pull request: The branch \`main\` is locked. Its branch is \`auto-dev/7/r7k2m9q4xa/C\`: [open a pull request from it](https://github.test/acme/lists/compare/3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5...auto-dev/7/r7k2m9q4xa/C) manually. Or fix what GitHub reports, then comment \`/auto-dev pick C\`, or with the letter of another candidate: this opens the pull request, and no coder runs again."`,
    );
    const only = { ...view, ranking: view.ranking.filter(({ alias }) => alias === 'C') };
    expect(next(only)).toContain('comment `/auto-dev pick C`: this opens');
  });

  test('the comparison keeps the pull request in sight when its candidate is rejected', () => {
    const view = published({ decision: TOSS_UP, picks: [{ alias: null, by: MONA }] });
    expect(top(view).match(/^\*\*Next.*$/m)?.[0]).toMatchInlineSnapshot(
      `"**Next:** close the draft pull request [#8](https://github.test/acme/lists/pull/8), or choose a candidate for it with \`/auto-dev pick B\`."`,
    );
  });

  test('the comparison covers a run in which nobody passed', () => {
    expect(pickOptions(nobody({ state: 'published' }))).toEqual([]);
    expect(pickOptions(judged({ state: 'failed' }))).toEqual([]);
  });
});
