import { describe, expect, test } from 'vitest';
import { choice, choicesOf, type RunView, tickIn } from '../../../src/core/reports/index.ts';
import { diffsOf, judged, MONA, nobody, published, TOSS_UP, VOTES, waiting } from './sample.ts';

const first = (view: RunView): string => choice(view, diffsOf(view))[0].body;
const top = (view: RunView): string => first(view).split('#### ')[0] ?? '';

describe('when a person must pick', () => {
  test('the issue gets the comparison with a box for each candidate that may be picked', () => {
    expect(top(waiting())).toMatchInlineSnapshot(`
      "<!-- runoff:choice:r7k2m9q4xa -->

      ### A person should pick: the evidence does not decide

      B breaks no base test; execution does not separate it from C.

      Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit.

      | candidate | contestant | build | base tests | new tests | lines | cost | time | verdict |
      | --- | --- | --- | --: | --: | --: | --: | --: | --- |
      | **B** | \`builtin × anthropic/model-2 (careful)\` | ok | 412/412 | peers 2/2 | +13 −3 | $0.13 | 1m 12s | **first of a toss-up** |
      | **C** | \`builtin × anthropic/model-3 (plain)\` | ok | 412/412 | peers 3/4 | +14 −3 | $0.14 | 1m 42s | behind B by new tests |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | ok | 411/412 | – | +12 −3 | $0.12 | 42s | breaks 1 base test |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | – | 412/412 | – | +15 −3 | $0.15 | 2m 12s | tampers with tests |

      **Which one shall become the draft pull request?**

      - [ ] **B**: \`builtin × anthropic/model-2 (careful)\`, +13 −3 in 2 files, $0.13
      - [ ] **C**: \`builtin × anthropic/model-3 (plain)\`, +14 −3 in 2 files, $0.14
      - [ ] **A**: \`builtin × anthropic/model-1 (plain)\`, +12 −3 in 2 files, $0.12
      - [ ] None of them

      Tick one box, or comment \`/auto-dev pick B\` or \`/auto-dev pick none\`. To say what you would pick without deciding, comment \`/auto-dev vote B\`. Only people with write permission are heard. The run waits without limit and holds nothing meanwhile.

      "
    `);
    expect(first(waiting())).toContain('#### What is known of each');
    for (const alias of 'ABCD') expect(first(waiting())).toContain(`<b>${alias}</b>`);
  });

  test('says that the settings leave it to a person, and how people voted', () => {
    const view = waiting({ decision: { ...TOSS_UP, chance: 0.9 }, votes: VOTES });
    expect(top(view)).toContain('### A person picks: the settings leave it to you');
    expect(top(view)).toContain('3 votes: **C** 2 (`ada`, `bob`); **B** 1 (`mona`).');
    expect(top(view)).toContain('| **first by the evidence** |');
  });

  test('offers nobody that failed a gate or left no patch', () => {
    expect(choicesOf(waiting())).toEqual(['B', 'C', 'A', null]);
    const candidates = waiting().candidates.map((one) => {
      const { patch: _none, ...rest } = one;
      return one.alias === 'C' ? rest : one;
    });
    expect(choicesOf(waiting({ candidates }))).toEqual(['B', 'A', null]);
    expect(choicesOf(waiting({ ranking: [] }))).toEqual([null]);
  });

  test('each box stands for what its line says, whatever the diffs hold', () => {
    const view = waiting();
    const ours = choice(view, diffsOf(view, '- [ ] a line of a list that is removed\n'))[0].body;
    const boxes = ours.split('\n').filter((line) => line.startsWith('- [ ] '));
    choicesOf(view).forEach((alias, index) => {
      const line = boxes[index] ?? '';
      expect(line).toContain(alias === null ? 'None of them' : `**${alias}**:`);
      const ticked = ours.replace(line, line.replace('[ ]', '[x]'));
      expect(tickIn(ours, ticked)).toEqual({ kind: 'ticked', box: index + 1 });
    });
    expect(choicesOf(view)[boxes.length - 1]).toBeUndefined();
  });

  test('is the same text for the same run at any time', () => {
    const view = waiting();
    expect(first({ ...view, now: view.now + 1e9, state: 'judged' })).toBe(first(view));
  });
});

describe('once a person picked', () => {
  test('the comparison says who picked what, and has no boxes', () => {
    const view = published({ decision: TOSS_UP, picks: [{ alias: 'C', by: MONA }] });
    expect(top(view)).toMatchInlineSnapshot(`
      "<!-- runoff:choice:r7k2m9q4xa -->

      ### **C** — picked by \`mona\`

      The evidence put **B** first: TOSS-UP between B, C: a person should pick; first by agreement. B breaks no base test; execution does not separate it from C.

      Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit.

      | candidate | contestant | build | base tests | new tests | lines | cost | time | verdict |
      | --- | --- | --- | --: | --: | --: | --: | --: | --- |
      | **B** | \`builtin × anthropic/model-2 (careful)\` | ok | 412/412 | peers 2/2 | +13 −3 | $0.13 | 1m 12s | first by the evidence |
      | **C** | \`builtin × anthropic/model-3 (plain)\` | ok | 412/412 | peers 3/4 | +14 −3 | $0.14 | 1m 42s | **picked by a person** |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | ok | 411/412 | – | +12 −3 | $0.12 | 42s | breaks 1 base test |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | – | 412/412 | – | +15 −3 | $0.15 | 2m 12s | tampers with tests |

      **Next:** read the draft pull request in [#8](https://github.test/acme/lists/pull/8); nothing is merged without you. \`/auto-dev pick\` with another letter puts another candidate there.

      "
    `);
    expect(choicesOf(view)).toEqual([]);
  });

  test('none of them, or the run ended before', () => {
    const none = waiting({ state: 'closed', picks: [{ alias: null, by: MONA }] });
    expect(top(none).split('| candidate')[0]).toMatchInlineSnapshot(`
      "<!-- runoff:choice:r7k2m9q4xa -->

      ### \`mona\` picked none of them

      The evidence put **B** first: TOSS-UP between B, C: a person should pick; first by agreement. B breaks no base test; execution does not separate it from C.

      Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit.

      "
    `);
    expect(top(none).match(/^No pull.*$/m)?.[0]).toMatchInlineSnapshot(
      `"No pull request was opened. To start anew, set the label \`auto-dev\` again or comment \`/auto-dev retry\`."`,
    );
    const ended = top(waiting({ state: 'closed' }));
    expect(ended).toContain('### Nobody was picked');
    expect(ended).toContain('The run ended before anybody picked. No pull request was opened.');
    expect(ended).not.toContain('- [ ]');
  });

  test('from a run in which nobody passed, the same', () => {
    expect(choicesOf(nobody({ state: 'published' }))).toEqual([]);
    expect(choicesOf(judged({ state: 'failed' }))).toEqual([]);
  });
});
