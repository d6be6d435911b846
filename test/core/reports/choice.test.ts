import { describe, expect, test } from 'vitest';
import { checkboxEdit, pickComment, pickOptions, type RunView } from '../../../src/core/reports/index.ts';
import { diffsOf, judged, MONA, nobody, published, TOSS_UP, VOTES, waiting } from './sample.ts';

const first = (view: RunView): string => pickComment(view, diffsOf(view))[0].body;
const top = (view: RunView): string => first(view).split('#### ')[0] ?? '';

describe('when a person must pick', () => {
  test('the issue gets the comparison with a checkbox for each candidate that can be picked', () => {
    expect(top(waiting())).toMatchInlineSnapshot(`
      "<!-- runoff:choice:r7k2m9q4xa -->

      ### The evidence is inconclusive: please choose

      B breaks no base test; execution does not separate it from C.

      Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit.

      | candidate | contestant | build | base tests | new tests | lines | cost | time | result |
      | --- | --- | --- | --: | --: | --: | --: | --: | --- |
      | **B** | \`builtin × anthropic/model-2 (careful)\` | ok | 412/412 | peers 2/2 | +13 −3 | $0.13 | 1m 12s | **ranked first, toss-up** |
      | **C** | \`builtin × anthropic/model-3 (plain)\` | ok | 412/412 | peers 3/4 | +14 −3 | $0.14 | 1m 42s | behind B on new tests |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | ok | 411/412 | – | +12 −3 | $0.12 | 42 s | breaks 1 base test |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | – | 412/412 | – | +15 −3 | $0.15 | 2m 12s | tampers with tests |

      **Which candidate should become the draft pull request?**

      - [ ] **B**: \`builtin × anthropic/model-2 (careful)\`, +13 −3 in 2 files, $0.13
      - [ ] **C**: \`builtin × anthropic/model-3 (plain)\`, +14 −3 in 2 files, $0.14
      - [ ] **A**: \`builtin × anthropic/model-1 (plain)\`, +12 −3 in 2 files, $0.12
      - [ ] None of them

      Tick one box, or comment \`/auto-dev pick B\` or \`/auto-dev pick none\`. To state a preference without deciding, comment \`/auto-dev vote B\`. Only people with write access can choose. There is no deadline, and waiting costs nothing.

      "
    `);
    expect(first(waiting())).toContain('#### Details of each candidate');
    for (const alias of 'ABCD') expect(first(waiting())).toContain(`<b>${alias}</b>`);
  });

  test('the comparison says that the settings leave it to a person, and how people voted', () => {
    const view = waiting({ decision: { ...TOSS_UP, chance: 0.9 }, votes: VOTES });
    expect(top(view)).toContain('### Please choose: your settings leave the choice to you');
    expect(top(view)).toContain('3 votes: **C** 2 (`ada`, `bob`); **B** 1 (`mona`).');
    expect(top(view)).toContain('| **ranked first by evidence** |');
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

      The evidence ranks **B** first: TOSS-UP between B, C: please choose; ranked first by agreement. B breaks no base test; execution does not separate it from C.

      Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit.

      | candidate | contestant | build | base tests | new tests | lines | cost | time | result |
      | --- | --- | --- | --: | --: | --: | --: | --: | --- |
      | **B** | \`builtin × anthropic/model-2 (careful)\` | ok | 412/412 | peers 2/2 | +13 −3 | $0.13 | 1m 12s | ranked first by evidence |
      | **C** | \`builtin × anthropic/model-3 (plain)\` | ok | 412/412 | peers 3/4 | +14 −3 | $0.14 | 1m 42s | **picked by a person** |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | ok | 411/412 | – | +12 −3 | $0.12 | 42 s | breaks 1 base test |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | – | 412/412 | – | +15 −3 | $0.15 | 2m 12s | tampers with tests |

      **Next:** review the draft pull request in [#8](https://github.test/acme/lists/pull/8). To switch to another candidate, comment \`/auto-dev pick\` with its letter.

      "
    `);
    expect(pickOptions(view)).toEqual([]);
  });

  test('the comparison covers `none` and runs that ended before', () => {
    const none = waiting({ state: 'closed', picks: [{ alias: null, by: MONA }] });
    expect(top(none).split('| candidate')[0]).toMatchInlineSnapshot(`
      "<!-- runoff:choice:r7k2m9q4xa -->

      ### \`mona\` rejected all candidates

      The evidence ranks **B** first: TOSS-UP between B, C: please choose; ranked first by agreement. B breaks no base test; execution does not separate it from C.

      Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit.

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

  test('the comparison covers a run in which nobody passed', () => {
    expect(pickOptions(nobody({ state: 'published' }))).toEqual([]);
    expect(pickOptions(judged({ state: 'failed' }))).toEqual([]);
  });
});
