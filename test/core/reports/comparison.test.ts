import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  BODY_LIMIT,
  comparison,
  type DiffView,
  MAX_REPORT_COMMENTS,
  outcomeComment,
  pickComment,
  type RunView,
} from '../../../src/core/reports/index.ts';
import {
  BEHAVIOUR,
  candidate,
  diffsOf,
  evidence,
  JUDGEMENT,
  judged,
  MONA,
  nobody,
  published,
  shownPatch,
  TABLE,
  TOSS_UP,
  VOTES,
  waiting,
} from './sample.ts';
import { scan } from './scanner.ts';

/** Six candidates that tests tell apart, and the marks of each existing test on the base and on them. */
const toldApart = (tests: Readonly<Record<string, string>>, change: Partial<RunView> = {}): RunView => {
  const aliases = ['A', 'B', 'C', 'D', 'E', 'F'];
  const [first] = judged().ranking;
  if (!first) throw new Error('The sample has no ranking.');
  return judged({
    candidates: aliases.map((alias) => candidate(alias)),
    evidence: aliases.map((alias) => evidence(alias)),
    ranking: aliases.map((alias, at) => ({ ...first, alias, place: at + 1 })),
    decision: { ...TOSS_UP, alias: 'A', among: ['A', 'B'], decidedBy: 'tests' },
    testTable: {
      columns: ['base', ...aliases],
      inputs: [],
      suites: [
        {
          kind: 'base',
          author: null,
          more: 0,
          tests: Object.entries(tests).map(([id, marks]) => ({ id, marks })),
        },
      ],
    },
    ...change,
  });
};

const matrixIn = (view: RunView): string =>
  /\| who passes[\s\S]*?\n\n(?:.* with different results\.)?/.exec(comparison(view, {})[0].body)?.[0] ?? '';

const manyLines = (lines: number): string =>
  `diff --git a/a b/a\n${Array.from({ length: lines }, (_, n) => `+line ${n}`).join('\n')}\n`;

/** Headings, summaries and notes of the diffs: all but the diffs. */
const frameOf = (body: string): string =>
  scan(body.slice(Math.max(0, body.indexOf('#### The other diffs'))))
    .outside.filter((line) => line !== '')
    .join('\n');

describe('the comparison', () => {
  test('is in the README as it is written, up to what is folded', async () => {
    const [shown = ''] = comparison(judged(), diffsOf(judged()))[0].body.split('<details>');
    const sample = shown.split('\n').slice(2).join('\n').trimEnd();
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
    expect(readme).toContain(sample.replace(/^.*$/gm, (line) => `> ${line}`.trimEnd()));
  });

  test('has verdict, table, reasons and evidence on one screen, then brief and losing diffs in collapsed sections', () => {
    expect(comparison(judged(), diffsOf(judged()))[0].body).toMatchInlineSnapshot(`
      "<!-- runoff:comparison:r7k2m9q4xa -->

      ### **B** is the pick — likely

      It passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.

      |  | verdict | existing tests | new tests | lines |
      | --- | --- | --: | --: | --: |
      | **B** | **the pick, likely** | ✓&nbsp;412/412 | ✓ 2/2 | +13&nbsp;−3 |
      | **C** | fails 1 of 4 new tests | ✓&nbsp;412/412 | ✗ 3/4 | +14&nbsp;−3 |
      | **A** | breaks 1 existing test | ✗&nbsp;411/412 | not run | +12&nbsp;−3 |
      | **D** | tampers with tests | ✓&nbsp;412/412 | not run | +15&nbsp;−3 |

      | who passes which test | **B** | **C** | **A** |
      | --- | --- | --- | --- |
      | of an empty list | ✓ | ✓ | ✗ |
      | of one item (of B) | its own | ✗ | not run |

      #### Why not the others

      - **C**: It fails 1 of 4 new tests, such as \`test/b.test.ts > last > of one item\`.
      - **A**: It breaks 1 existing test: \`test/list.test.ts > last > of an empty list\`.
      - **D**: It removes an assertion in \`test/list.test.ts\`, line 41.

      <details>
      <summary>More about each of them: failing tests, inputs, lines in question</summary>

      **C**: It fails 1 of 4 tests that B added; B passes all 2 of its.
      - fails tests of B: \`test/b.test.ts > last > of one item\`

      **A**: It breaks 1 test that passes on base.
      - fails existing tests: \`test/list.test.ts > last > of an empty list\`

      **D**: It removes an assertion in \`test/list.test.ts\`, line 41.

      <details>
      <summary>The lines in question</summary>

      \`\`\`diff
      @@ -40,3 +40,2 @@
       test("last", () => {
      -  expect(last([1])).toBe(1);
      \`\`\`

      </details>

      </details>

      <details>
      <summary>Who wrote them, and what they cost</summary>

      |  | contestant | cost | tokens | time |
      | --- | --- | --: | --: | --: |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | $0.12 | 12.3k | 42 s |
      | **B** | \`builtin × anthropic/model-2 (careful)\` | $0.13 | 12.3k | 1m 12s |
      | **C** | \`builtin × anthropic/model-3 (plain)\` | $0.14 | 12.3k | 1m 42s |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | $0.15 | 12.3k | 2m 12s |

      The whole run cost $0.58.

      </details>

      <details>
      <summary>What was executed: commands, exit codes, commits</summary>

      - Run \`r7k2m9q4xa\`: 4 candidates, built and tested in sandboxes on the same base commit
      - Base commit: \`3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5\` (\`main\`); the exit code is that of the test command on the existing tests
      - How it was decided: B passes all tests that C added, C fails one of the 4 that B added.
      - Commands: setup \`npm ci\` (detected from \`.github/workflows/ci.yml\`), build \`npm run build\` (detected from \`package.json\`), test \`npm test\` (settings)
      - Existing tests: the base commit's own test files, run on each candidate's production code
      - New tests: independent ones, written by no coder, and those of candidates that passed the gates, run on the production code of all of these; nobody's own tests count for them

      | candidate | gates | existing tests | broke | fixed | exit code | test time | patch SHA-256 |
      | --- | --- | --: | --: | --: | --: | --: | --- |
      | **B** | 10/10 | 412/412 | 0 | 0 | 0 | 8.1 s | \`6262626262626262\` |
      | **C** | 10/10 | 412/412 | 0 | 0 | 0 | 8.1 s | \`6363636363636363\` |
      | **A** | 10/10 | 411/412 | 1 | 0 | 1 | 8.3 s | \`6161616161616161\` |
      | **D** | stopped at \`untampered\` | 412/412 | 0 | 0 | 0 | 8.1 s | \`6464646464646464\` |

      </details>

      <details>
      <summary>The brief given to every coder</summary>

      **Goal.** \`last\` returns the last item of a list.

      **Definition of done**

      - \`last([1, 2])\` is 2
      - A test covers the empty list

      **Plan**

      - Correct the index

      **Assumptions**

      - An empty list has no last item

      **Files likely to change**

      - \`src/list.ts\`

      </details>

      #### The other diffs

      <details>
      <summary><b>C</b>: +14 −3 in 2 files</summary>

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
      <summary><b>A</b>: +12 −3 in 2 files</summary>

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
      <summary><b>D</b>: +15 −3 in 2 files</summary>

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

  test('continues in further comments, with complete diffs as far as five comments can hold them', () => {
    const view = judged();
    const small = diffsOf(view);
    const large = manyLines(12_000);
    const parts = comparison(view, {
      ...small,
      A: { ...(small.A as DiffView), patch: shownPatch(large, small.A?.patch.files ?? []) },
    });
    expect(parts.map(({ marker }) => marker)).toMatchInlineSnapshot(`
      [
        "<!-- runoff:comparison:r7k2m9q4xa -->",
        "<!-- runoff:comparison:r7k2m9q4xa:2 -->",
        "<!-- runoff:comparison:r7k2m9q4xa:3 -->",
      ]
    `);
    for (const { body } of parts) {
      expect(body.length).toBeLessThanOrEqual(BODY_LIMIT);
      expect(scan(body).unclosed).toBe(false);
      expect(body.match(/<details>/g)?.length).toBe(body.match(/<\/details>/g)?.length);
    }
    const blocks = parts.flatMap(({ body }) => scan(body).blocks);
    const shown = blocks.filter(({ info }) => info === 'diff').flatMap(({ lines }) => lines);
    expect(shown.filter((line) => /^\+line \d/.test(line))).toEqual(large.trim().split('\n').slice(1));
    expect(shown.filter((line) => line === '-  list[list.length];')).toHaveLength(2);
    expect(parts.map(({ body }) => frameOf(body)).join('\n---\n')).toMatchInlineSnapshot(`
      "#### The other diffs
      <details>
      <summary><b>C</b>: +14 −3 in 2 files</summary>
      </details>
      <details>
      <summary><b>A</b>: +12 −3 in 2 files</summary>
      Continues in the next comment.
      </details>
      The diffs continue in the next 2 comments.
      ---
      #### The other diffs, continued: part 2 of 3
      <details>
      <summary><b>A</b>: +12 −3 in 2 files, continued</summary>
      Continues in the next comment.
      </details>
      ---
      #### The other diffs, continued: part 3 of 3
      <details>
      <summary><b>A</b>: +12 −3 in 2 files, continued</summary>
      </details>
      <details>
      <summary><b>D</b>: +15 −3 in 2 files</summary>
      </details>"
    `);
  });

  test('says in the fifth comment what is left out, and where it is', () => {
    const view = judged();
    const small = diffsOf(view);
    const parts = comparison(view, {
      ...small,
      A: { ...(small.A as DiffView), patch: shownPatch(manyLines(60_000), small.A?.patch.files ?? []) },
    });
    expect(parts).toHaveLength(MAX_REPORT_COMMENTS);
    const last = parts.at(-1)?.body ?? '';
    expect(parts.map(({ body }) => body).join('')).toContain('<b>D</b>');
    expect(last.match(/^Shortened.*$/m)?.[0].replace(/\d+ of/, 'N of')).toMatchInlineSnapshot(
      `"Shortened: N of 60001 lines. Full diff: [compare](https://github.test/acme/lists/compare/3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5...auto-dev/7/r7k2m9q4xa/A)."`,
    );
  });

  test('shares five comments between several large diffs', () => {
    const parts = comparison(judged(), diffsOf(judged(), manyLines(60_000)));
    const whole = parts.map(({ body }) => body).join('');
    const shown = [...whole.matchAll(/Shortened: (\d+) of/g)].map((match) => Number(match[1]));
    expect(shown).toHaveLength(3);
    expect(Math.min(...shown)).toBeGreaterThan(0.8 * Math.max(...shown));
  });

  test('says who made the same change, separates judges from execution, and shows failing inputs', () => {
    const view = judged({ judgement: JUDGEMENT });
    const evidence = view.evidence.map((one) =>
      one.alias === 'C' || one.alias === 'B'
        ? { ...one, alike: ['B', 'C'], ...(one.alias === 'C' ? { behaviour: BEHAVIOUR } : {}) }
        : one,
    );
    const [{ body }] = comparison({ ...view, evidence }, {});
    expect(body.match(/^\| \*\*[BC]\*\* \| (?!`).*$/gm)?.join('\n')).toMatchInlineSnapshot(`
      "| **B** | **the pick, likely** | ✓&nbsp;412/412 | ✓ 2/2 | +13&nbsp;−3 | 1-1-0 | B = C |
      | **C** | fails 1 of 4 new tests | ✓&nbsp;412/412 | ✗ 3/4 | +14&nbsp;−3 | 0-1-1 | B = C |
      | **B** | 10/10 | 412/412 | 0 | 0 | 0 | 8.1 s | \`6262626262626262\` |
      | **C** | 10/10 | 412/412 | 0 | 0 | 0 | 8.1 s | \`6363636363636363\` |"
    `);
    expect(body.match(/^\*\*C\*\*: [\s\S]*?(?=\n\n)/m)?.[0]).toMatchInlineSnapshot(`
      "**C**: It fails 1 of 4 tests that B added; B passes all 2 of its.
      - fails tests of B: \`test/b.test.ts > last > of one item\`
      - For \`last([])\` it returns a TypeError, most others that pass the given tests undefined"
    `);
    expect(
      body.match(/<summary>Model opinions[\s\S]*?<\/details>\n\n<\/details>/)?.[0],
    ).toMatchInlineSnapshot(`
      "<summary>Model opinions: what blind judges said</summary>

      Blind judges compared the undecided candidates without knowing who wrote them. These are opinions, not executed evidence; they never make a candidate win that failed a gate.

      - Blind judges preferred B to C. 2 of 2 judges answered, for $0.02.
      - \`judge-1\` (\`openai/gpt-6\`): 2 of 2 answers usable
      - \`judge-2\` (\`x/y\`): 2 of 2 answers usable; a candidate comes from its own model family
      - One judge is of the family of a candidate.
      - **Review C closely:** \`src/list.ts:3\` A comment speaks to whoever reads it. The judges were not shown it.

      <details>
      <summary>Verdicts on each pair</summary>

      - **B** and **C**: \`judge-1\` prefers **B**. Reason: It handles the empty list.
      - **B** and **C**: \`judge-2\` sees no difference (its answer changed with the order, so it counts as a tie). Reason: The first one is shorter.

      </details>

      </details>"
    `);
  });

  test('of a pick says who picked, how people voted, and that the base has moved', () => {
    const view = published({
      picks: [{ alias: 'C', by: MONA }],
      votes: VOTES,
      baseMovedTo: 'f'.repeat(40),
    });
    const [{ body }] = comparison(view, diffsOf(view));
    expect(body.split('#### Why not the others')[0]).toMatchInlineSnapshot(`
      "<!-- runoff:comparison:r7k2m9q4xa -->

      ### **C** — picked by \`mona\`

      The evidence ranks **B** first — likely: it passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.

      3 votes: **C** 2 (\`ada\`, \`bob\`); **B** 1 (\`mona\`).

      |  | verdict | existing tests | new tests | lines |
      | --- | --- | --: | --: | --: |
      | **B** | ranked first by evidence | ✓&nbsp;412/412 | ✓ 2/2 | +13&nbsp;−3 |
      | **C** | **picked by a person** | ✓&nbsp;412/412 | ✗ 3/4 | +14&nbsp;−3 |
      | **A** | breaks 1 existing test | ✗&nbsp;411/412 | not run | +12&nbsp;−3 |
      | **D** | tampers with tests | ✓&nbsp;412/412 | not run | +15&nbsp;−3 |

      | who passes which test | **B** | **C** | **A** |
      | --- | --- | --- | --- |
      | of an empty list | ✓ | ✓ | ✗ |
      | of one item (of B) | its own | ✗ | not run |

      "
    `);
    expect(body).toContain('**B**: The evidence ranks it first, but a person picked another candidate.');
    expect(body).toContain('<b>B</b>');
    expect(body).not.toContain('<b>C</b>');
  });

  test('of a toss-up says after a pick what the evidence ranks first, and whether all were rejected', () => {
    const bodyAfter = (alias: string | null) => {
      const view = waiting({ state: 'published', picks: [{ alias, by: MONA }] });
      return pickComment(view, diffsOf(view))[0].body;
    };
    expect(bodyAfter('C')).toContain('| **B** | ranked first by evidence |');
    expect(bodyAfter(null)).toContain('The evidence ranks it first, but a person rejected all candidates.');
    for (const body of [bodyAfter('C'), bodyAfter(null)]) expect(body).not.toContain('| toss-up |');
  });

  test('of a winner whose pull request GitHub rejected shows its diff and says what to do', () => {
    const outcome = { ...TABLE, refusedBecause: 'The branch `main` is locked.' };
    const [{ body }] = outcomeComment(judged({ outcome }), diffsOf(judged()));
    expect(body.match(/^\*\*Next.*$/m)?.[0]).toMatchInlineSnapshot(
      `"**Next:** **B** has no pull request: The branch \`main\` is locked. Its branch is \`auto-dev/7/r7k2m9q4xa/B\`: [open a pull request from it](https://github.test/acme/lists/compare/3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5...auto-dev/7/r7k2m9q4xa/B) manually. Or fix what GitHub reports, then comment \`/auto-dev pick B\`, or with the letter of another candidate: this opens the pull request, and no coder runs again."`,
    );
    expect(body).toContain('<b>B</b>');
  });

  test('tells tests of the same title apart by their suite, and by their file if the suite is the same, too', () => {
    const view = toldApart({
      'a.test.js > parse > empty input': 'pfppppp',
      'b.test.js > format > empty input': 'pppppfp',
      'c.test.js > format > empty input': 'ppfpppp',
      'c.test.js > format > one row': 'ppfpppp',
    });
    expect(matrixIn(view)).toMatchInlineSnapshot(`
      "| who passes which test | **A** | **B** | **C** | **D** | **E** |
      | --- | --- | --- | --- | --- | --- |
      | parse &gt; empty input | ✗ | ✓ | ✓ | ✓ | ✓ |
      | b.test.js &gt; format &gt; empty input | ✓ | ✓ | ✓ | ✓ | ✗ |
      | c.test.js &gt; format &gt; empty input | ✓ | ✗ | ✓ | ✓ | ✓ |
      | one row | ✓ | ✗ | ✓ | ✓ | ✓ |

      "
    `);
  });

  test('has the candidate that a person picked among those whose tests are shown, and counts the other tests', () => {
    const tests = Array.from({ length: 10 }, (_, at) => [`t${at}`, 'pfppppp']);
    const view = toldApart(Object.fromEntries(tests), { picks: [{ alias: 'F', by: MONA }] });
    expect(matrixIn(view)).toMatchInlineSnapshot(`
      "| who passes which test | **A** | **B** | **C** | **D** | **F** |
      | --- | --- | --- | --- | --- | --- |
      | t0 | ✗ | ✓ | ✓ | ✓ | ✓ |
      | t1 | ✗ | ✓ | ✓ | ✓ | ✓ |
      | t2 | ✗ | ✓ | ✓ | ✓ | ✓ |
      | t3 | ✗ | ✓ | ✓ | ✓ | ✓ |
      | t4 | ✗ | ✓ | ✓ | ✓ | ✓ |
      | t5 | ✗ | ✓ | ✓ | ✓ | ✓ |
      | t6 | ✗ | ✓ | ✓ | ✓ | ✓ |
      | t7 | ✗ | ✓ | ✓ | ✓ | ✓ |

      2 more tests with different results."
    `);
  });

  test('names the branch if there is no compare page', () => {
    const view = published();
    const { A } = diffsOf(view, manyLines(60_000));
    const { compareUrl: _none, ...bare } = A as NonNullable<typeof A>;
    expect(comparison(view, { A: bare }).at(-1)?.body).toContain(
      'The full diff is on branch <code>auto-dev/7/r7k2m9q4xa/A</code>.',
    );
  });

  test('lists a candidate without a patch in the table with the reason, without a diff', () => {
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
    expect(body).toContain('| **D** | left no patch | not&nbsp;run | not run | – |');
    expect(body).toContain('**D**: It reached its budget of 2.00.');
    expect(body).not.toContain('<b>D</b>');
  });

  test('shows exit codes for tests without a structured report', () => {
    const view = judged();
    const evidence = view.evidence.map((one) =>
      one.baseTests
        ? { ...one, baseTests: { ...one.baseTests, source: 'exit-code' as const, passed: 0, total: 0 } }
        : one,
    );
    expect(comparison({ ...view, evidence }, {})[0].body).toContain('| ✓&nbsp;exit&nbsp;0 | ✓ 2/2 |');
  });
});

test('without a survivor, the table says so, and what to do next', () => {
  const body = outcomeComment(nobody(), diffsOf(nobody()))[0].body;
  expect(body.split('<summary>What was executed')[0]).toMatchInlineSnapshot(`
    "<!-- runoff:outcome:r7k2m9q4xa -->

    ### No candidate passed

    Every candidate breaks tests that pass on base.

    |  | verdict | existing tests | lines |
    | --- | --- | --: | --: |
    | **A** | breaks 1 existing test | ✗&nbsp;411/412 | +12&nbsp;−3 |
    | **D** | tampers with tests | ✓&nbsp;412/412 | +15&nbsp;−3 |

    No pull request was opened. **Next:** decide whether the existing tests that A breaks should change. If so, comment \`/auto-dev pick A\`; if not, describe the issue more precisely (the expected behaviour, a test that shows it), then add the label \`auto-dev\` again or comment \`/auto-dev retry\`.

    #### Why no candidate won

    - **A**: It breaks 1 existing test: \`test/list.test.ts > last > of an empty list\`.
    - **D**: It removes an assertion in \`test/list.test.ts\`, line 41.

    <details>
    <summary>More about each of them: failing tests, inputs, lines in question</summary>

    **A**: It breaks 1 test that passes on base.
    - fails existing tests: \`test/list.test.ts > last > of an empty list\`

    **D**: It removes an assertion in \`test/list.test.ts\`, line 41.

    <details>
    <summary>The lines in question</summary>

    \`\`\`diff
    @@ -40,3 +40,2 @@
     test("last", () => {
    -  expect(last([1])).toBe(1);
    \`\`\`

    </details>

    </details>

    <details>
    <summary>Who wrote them, and what they cost</summary>

    |  | contestant | cost | tokens | time |
    | --- | --- | --: | --: | --: |
    | **A** | \`builtin × anthropic/model-1 (plain)\` | $0.12 | 12.3k | 42 s |
    | **D** | \`builtin × anthropic/model-4 (careful)\` | $0.15 | 12.3k | 2m 12s |

    The whole run cost $0.58.

    </details>

    <details>
    "
  `);
  expect(body).toContain('<b>A</b>');
  expect(body).toContain('<b>D</b>');
});
