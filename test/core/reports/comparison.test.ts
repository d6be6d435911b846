import { describe, expect, test } from 'vitest';
import { comparison, noWinner } from '../../../src/core/reports/index.ts';
import { diffsOf, judged, nobody, published } from './sample.ts';

const manyLines = (lines: number): string =>
  `diff --git a/a b/a\n${Array.from({ length: lines }, (_, n) => `+line ${n}`).join('\n')}\n`;

describe('the comparison', () => {
  test('is one screen: verdict, table, why not the others, evidence; then brief and losing diffs folded away', () => {
    expect(comparison(judged(), diffsOf(judged()))[0].body).toMatchInlineSnapshot(`
      "<!-- runoff:comparison:r7k2m9q4xa -->

      ### **B** — LIKELY, decided by new tests

      B passes all tests that C added, C fails one of the 4 that B added.

      Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit.

      | candidate | contestant | build | base tests | new tests | lines | cost | time | verdict |
      | --- | --- | --- | --: | --: | --: | --: | --: | --- |
      | **B** | \`builtin × anthropic/model-2 (careful)\` | ok | 412/412 | peers 2/2 | +13 −3 | $0.13 | 1m 12s | **chosen** |
      | **C** | \`builtin × anthropic/model-3 (plain)\` | ok | 412/412 | peers 3/4 | +14 −3 | $0.14 | 1m 42s | behind B by new tests |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | ok | 411/412 | – | +12 −3 | $0.12 | 42s | breaks 1 base test |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | – | 412/412 | – | +15 −3 | $0.15 | 2m 12s | tampers with tests |

      #### Why not the others

      **C**: It fails 1 of 4 tests that B added; B passes all 2 of its.
      - fails tests of B: \`test/b.test.ts > last > of one item\`

      **A**: It breaks 1 test that passes on base.
      - fails base tests: \`test/list.test.ts > last > of an empty list\`

      **D**: It removes an assertion in \`test/list.test.ts\`, line 41.

      <details>
      <summary>The lines in question</summary>

      \`\`\`diff
      @@ -40,3 +40,2 @@
       test("last", () => {
      -  expect(last([1])).toBe(1);
      \`\`\`

      </details>

      #### Evidence

      - Executed by us, each candidate on base commit \`3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5\` (\`main\`); the exit code is that of the test command over the base tests
      - Commands: setup \`npm ci\`, build \`npm run build\`, test \`npm test\`
      - Base tests: the base commit's own test files, run over each candidate's production code
      - New tests, run over this candidate's production code: neutral ones, which nobody who competes has written, and those of peers, which other survivors added
      - Behaviour: how far it gives what the others give, on inputs derived from tests and issue on which not all agree

      | candidate | gates | base tests | broke | fixed | exit code | test time | patch SHA-256 |
      | --- | --- | --: | --: | --: | --: | --: | --- |
      | **B** | 8/8 | 412/412 | 0 | 0 | 0 | 8.1s | \`6262626262626262\` |
      | **C** | 8/8 | 412/412 | 0 | 0 | 0 | 8.1s | \`6363636363636363\` |
      | **A** | 8/8 | 411/412 | 1 | 0 | 1 | 8.3s | \`6161616161616161\` |
      | **D** | stopped at \`untampered\` | 412/412 | 0 | 0 | 0 | 8.1s | \`6464646464646464\` |

      <details>
      <summary>The brief that every coder gets</summary>

      **Goal.** \`last\` returns the last item of a list.

      **Definition of done**

      - \`last([1, 2])\` is 2
      - A test covers the empty list

      **Plan**

      - Correct the index

      **Assumptions**

      - An empty list has no last item

      **Files that will probably change**

      - \`src/list.ts\`

      </details>

      #### The other diffs

      <details>
      <summary><b>C</b>: <code>builtin × anthropic/model-3 (plain)</code>, +14 −3 in 2 files</summary>

      \`\`\`diff
      diff --git a/src/list.ts b/src/list.ts
      --- a/src/list.ts
      +++ b/src/list.ts
      @@ -1,3 +1,3 @@
       export const last = (list) =>
      -  list[list.length];
      +  list[list.length - 1];
      \`\`\`

      </details>

      <details>
      <summary><b>A</b>: <code>builtin × anthropic/model-1 (plain)</code>, +12 −3 in 2 files</summary>

      \`\`\`diff
      diff --git a/src/list.ts b/src/list.ts
      --- a/src/list.ts
      +++ b/src/list.ts
      @@ -1,3 +1,3 @@
       export const last = (list) =>
      -  list[list.length];
      +  list[list.length - 1];
      \`\`\`

      </details>

      <details>
      <summary><b>D</b>: <code>builtin × anthropic/model-4 (careful)</code>, +15 −3 in 2 files</summary>

      \`\`\`diff
      diff --git a/src/list.ts b/src/list.ts
      --- a/src/list.ts
      +++ b/src/list.ts
      @@ -1,3 +1,3 @@
       export const last = (list) =>
      -  list[list.length];
      +  list[list.length - 1];
      \`\`\`

      </details>
      "
    `);
  });

  test('names the branch where there is no compare page', () => {
    const view = published();
    const { A } = diffsOf(view, manyLines(60_000));
    const { compareUrl: _none, ...bare } = A as NonNullable<typeof A>;
    expect(comparison(view, { A: bare }).at(-1)?.body).toContain(
      'The whole diff is on the branch <code>auto-dev/7/r7k2m9q4xa/A</code>.',
    );
  });

  test('a candidate without a patch is in the table with the reason, and has no diff', () => {
    const view = judged();
    const candidates = view.candidates.map((one) => {
      if (one.alias !== 'D') return one;
      const { patch: _none, ...rest } = one;
      return { ...rest, state: 'failed', note: 'It reached its budget of 2.00.' } as const;
    });
    const body = comparison(
      { ...view, candidates, evidence: view.evidence.slice(0, 3), ranking: view.ranking.slice(0, 3) },
      diffsOf({ ...view, candidates: candidates.slice(0, 3) }),
    )[0].body;
    expect(body).toContain(
      '| **D** | `builtin × anthropic/model-4 (careful)` | – | – | – | – | $0.15 | 2m 12s | left no patch |',
    );
    expect(body).toContain('**D**: It reached its budget of 2.00.');
    expect(body).not.toContain('<b>D</b>');
  });

  test('tests without a structured report are told by exit code', () => {
    const view = judged();
    const evidence = view.evidence.map((one) =>
      one.baseTests
        ? { ...one, baseTests: { ...one.baseTests, source: 'exit-code' as const, passed: 0, total: 0 } }
        : one,
    );
    expect(comparison({ ...view, evidence }, {})[0].body).toContain('| ok | exit 0 | peers 2/2 |');
  });
});

test('when nobody survived, the table says so, and what to do next', () => {
  const body = noWinner(nobody(), diffsOf(nobody()))[0].body;
  expect(body.split('#### Evidence')[0]).toMatchInlineSnapshot(`
    "<!-- runoff:outcome:r7k2m9q4xa -->

    ### No candidate passed

    Every candidate breaks tests that pass on base.

    Run \`r7k2m9q4xa\`: 2 candidates, built and tested in sandboxes on the same base commit.

    | candidate | contestant | build | base tests | new tests | lines | cost | time | verdict |
    | --- | --- | --- | --: | --: | --: | --: | --: | --- |
    | **A** | \`builtin × anthropic/model-1 (plain)\` | ok | 411/412 | – | +12 −3 | $0.12 | 42s | breaks 1 base test |
    | **D** | \`builtin × anthropic/model-4 (careful)\` | – | 412/412 | – | +15 −3 | $0.15 | 2m 12s | tampers with tests |

    **Next:** No pull request was opened, since nothing that was tried holds up. Read below what each candidate ran into, make the task more precise (which behaviour, which test shows it), then set the label \`auto-dev\` again or comment \`/auto-dev retry\`.

    #### Why not

    **A**: It breaks 1 test that passes on base.
    - fails base tests: \`test/list.test.ts > last > of an empty list\`

    **D**: It removes an assertion in \`test/list.test.ts\`, line 41.

    <details>
    <summary>The lines in question</summary>

    \`\`\`diff
    @@ -40,3 +40,2 @@
     test("last", () => {
    -  expect(last([1])).toBe(1);
    \`\`\`

    </details>

    "
  `);
  expect(body).toContain('<b>A</b>');
  expect(body).toContain('<b>D</b>');
});
