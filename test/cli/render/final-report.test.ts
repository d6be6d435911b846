import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayWidth, finalReport, mergeCommand, shellWord } from '../../../src/cli/render/index.ts';
import { hostile, poisoned, poisonedDiffs } from '../../core/reports/hostile.ts';
import {
  coding,
  diffsOf,
  judged,
  local,
  nobody,
  published,
  RUN,
  TOSS_UP,
  waiting,
} from '../../core/reports/sample.ts';

const plain = { width: 100, colour: false } as const;
const text = (lines: readonly string[]): string => lines.join('\n');

const OUTAGE = {
  code: 'MODEL_UNAVAILABLE',
  message: 'The provider answered 401 to every call.',
  advice: 'Check the key with `runoff doctor`.',
} as const;

describe('the final report', () => {
  test('of a local run ends with the commands that take the winner over', () => {
    const view = local();
    expect(text(finalReport(view, { ...plain, diffs: diffsOf(view) }))).toMatchInlineSnapshot(`
      "Done · 2m 51s
      B is the pick — likely. It passes all 412 existing tests and both new ones; C fails 1 of 4 new
      tests, A breaks 1 existing test, D tampers with tests.
      Spent $0.58 of $5.00.

         verdict                 existing tests  new tests   lines   cost
      B  the pick, likely             ✓ 412/412      ✓ 2/2  +13 −3  $0.13
      C  fails 1 of 4 new tests       ✓ 412/412      ✗ 3/4  +14 −3  $0.14
      A  breaks 1 existing test       ✗ 411/412    not run  +12 −3  $0.12
      D  tampers with tests           ✓ 412/412    not run  +15 −3  $0.15

      B  builtin × anthropic/model-2 (careful)  1m 12s
      C  builtin × anthropic/model-3 (plain)  1m 42s
      A  builtin × anthropic/model-1 (plain)  42 s
      D  builtin × anthropic/model-4 (careful)  2m 12s

      Why not
        C  It fails 1 of 4 tests that B added; B passes all 2 of its.
           fails tests of B:
             test/b.test.ts > last > of one item
        A  It breaks 1 test that passes on base.
           fails existing tests:
             test/list.test.ts > last > of an empty list
        D  It removes an assertion in \`test/list.test.ts\`, line 41.
           | @@ -40,3 +40,2 @@
           |  test("last", () => {
           | -  expect(last([1])).toBe(1);

      What B changes
         +1 −1  src/list.ts
        +11 −0  test/list.test.ts

      Branches
        A  runoff/r7k2m9q4xa/A
        B  runoff/r7k2m9q4xa/B
        C  runoff/r7k2m9q4xa/C
        D  runoff/r7k2m9q4xa/D

      Next
        git -C /home/ada/lists diff 3f2a9c81d04b...runoff/r7k2m9q4xa/B   # show the chosen change
        git -C /home/ada/lists merge runoff/r7k2m9q4xa/B   # merge it
        git -C /home/ada/lists branch --list 'runoff/r7k2m9q4xa/*'   # list the branches of all candidates
        runoff show r7k2m9q4xa C   # show the diff of C
        runoff explain r7k2m9q4xa C   # everything known about C
        runoff pick r7k2m9q4xa   # choose a candidate yourself, or none"
    `);
  });

  test('of a run on GitHub names the pull request', () => {
    expect(text(finalReport(published(), plain)).split('\n\n').slice(-2).join('\n\n')).toMatchInlineSnapshot(`
      "Result
        Draft pull request #8: https://github.test/acme/lists/pull/8
        Comparison: https://github.test/acme/lists/pull/8#issuecomment-1
        A  auto-dev/7/r7k2m9q4xa/A
        B  auto-dev/7/r7k2m9q4xa/B
        C  auto-dev/7/r7k2m9q4xa/C
        D  auto-dev/7/r7k2m9q4xa/D

      Next
        git fetch origin auto-dev/7/r7k2m9q4xa/B && git diff 3f2a9c81d04b...FETCH_HEAD   # show the change in your clone"
    `);
  });

  test('without a survivor says what to do', () => {
    const { candidates } = nobody();
    const branches = Object.fromEntries(candidates.map(({ alias }) => [alias, `runoff/${RUN}/${alias}`]));
    const view = nobody({
      state: 'published',
      origin: { kind: 'local', path: '/home/ada/lists' },
      outcome: { kind: 'branches', branches },
    });
    expect(text(finalReport(view, { width: 64, colour: false }))).toMatchInlineSnapshot(`
      "No candidate passed · 2m 51s
      Every candidate breaks tests that pass on base.
      Next: decide whether the existing tests that A breaks should
      change. If so, run \`runoff pick r7k2m9q4xa A\`; if not, describe
      the task more precisely (the expected behaviour, a test that
      shows it), then start the run again.
      Spent $0.58 of $5.00.

         verdict                 existing tests   lines   cost
      A  breaks 1 existing test       ✗ 411/412  +12 −3  $0.12
      D  tampers with tests           ✓ 412/412  +15 −3  $0.15

      A  builtin × anthropic/model-1 (plain)  42 s
      D  builtin × anthropic/model-4 (careful)  2m 12s

      Why not
        A  It breaks 1 test that passes on base.
           fails existing tests:
             test/list.test.ts > last > of an empty list
        D  It removes an assertion in \`test/list.test.ts\`, line 41.
           | @@ -40,3 +40,2 @@
           |  test("last", () => {
           | -  expect(last([1])).toBe(1);

      Branches
        A  runoff/r7k2m9q4xa/A
        D  runoff/r7k2m9q4xa/D

      Next
        git -C /home/ada/lists branch --list 'runoff/r7k2m9q4xa/*'   # list the branches of all candidates
        runoff show r7k2m9q4xa A   # show the diff of A
        runoff explain r7k2m9q4xa A   # everything known about A
        runoff pick r7k2m9q4xa   # choose a candidate yourself, or none"
    `);
  });

  test('covers runs that failed, were refused or cancelled', () => {
    expect(
      text(finalReport({ ...coding(), state: 'failed', trouble: OUTAGE }, plain)),
    ).toMatchInlineSnapshot(`
      "Run failed · 1m 12s
      The provider answered 401 to every call.
      Next: Check the key with \`runoff doctor\`.
      Spent $0.58 of $5.00."
    `);
    const refused = { ...OUTAGE, code: 'REFUSED' } as const;
    expect(finalReport({ ...coding(), state: 'refused', trouble: refused }, plain)[0]).toBe(
      'Run not started · 1m 12s',
    );
    expect(text(finalReport({ ...coding(), state: 'cancelled' }, plain))).toMatchInlineSnapshot(`
      "Run cancelled · 1m 12s
      The run's record keeps all work done so far. To start again, add the label \`auto-dev\` again or
      comment \`/auto-dev retry\`.
      Spent $0.58 of $5.00."
    `);
    const kept = "The run's record keeps all work done so far.";
    expect(finalReport(local({ state: 'cancelled' }), plain).slice(0, 2)).toEqual([
      'Run cancelled · 2m 51s',
      kept,
    ]);
  });

  describe('after a pick', () => {
    const { ranking } = judged();
    const none = local({
      decision: { kind: 'none', decidedBy: 'regressions', because: 'Every candidate breaks existing tests.' },
      ranking: ranking.filter(({ alias }) => alias === 'A').map((one) => ({ ...one, place: 1 })),
    });

    test('of a candidate that breaks tests says who picked it, and no longer that none passed', () => {
      const view = { ...none, picks: [{ alias: 'A', by: null }] };
      const lines = finalReport(view, plain);
      expect(lines.slice(0, 3)).toMatchInlineSnapshot(`
        [
          "Done · 2m 51s",
          "A — picked by somebody at the command line. The evidence ranks no candidate first. Every candidate",
          "breaks existing tests.",
        ]
      `);
      expect(text(lines)).not.toContain('start the run again');
      expect(text(lines)).toContain(`merge runoff/${RUN}/A   # merge it`);
    });

    test('of none says what to do instead', () => {
      const view = { ...none, picks: [{ alias: null, by: null }] };
      expect(finalReport(view, plain).slice(0, 4)).toMatchInlineSnapshot(`
        [
          "No candidate passed · 2m 51s",
          "Every candidate breaks existing tests.",
          "Next: describe the task more precisely (the expected behaviour, a test that shows it), then start",
          "the run again.",
        ]
      `);
    });
  });

  test('asks for no choice that nobody can make any more', () => {
    const view = waiting({ state: 'closed' });
    expect(finalReport(view, plain).slice(0, 3)).toMatchInlineSnapshot(`
      [
        "No candidate was picked · 2m 51s",
        "The run ended before anyone chose. No pull request was opened.",
        "Next: to start again, add the label \`auto-dev\` again or comment \`/auto-dev retry\`.",
      ]
    `);
  });

  test('says why there is no pull request if GitHub refused it', () => {
    const { branches } = published().outcome ?? { branches: {} };
    const refusedBecause = 'The branch `main` is locked.';
    const view = published({ outcome: { kind: 'table', branches, refusedBecause } });
    expect(finalReport(view, plain).slice(0, 6)).toMatchInlineSnapshot(`
      [
        "Candidate B won, but GitHub refused its pull request · 2m 51s",
        "B is the pick — likely. It passes all 412 existing tests and both new ones; C fails 1 of 4 new",
        "tests, A breaks 1 existing test, D tampers with tests.",
        "B has no pull request: The branch \`main\` is locked. Its branch is \`auto-dev/7/r7k2m9q4xa/B\`: open a",
        "pull request from it manually. Or fix what GitHub reports, then comment \`/auto-dev pick B\`, or with",
        "the letter of another candidate: this opens the pull request, and no coder runs again.",
      ]
    `);
  });

  test('offers the commands it is given', () => {
    const lines = finalReport(local(), {
      ...plain,
      commands: [['runoff show r7k2m9q4xa C', 'read another']],
    });
    expect(lines.at(-1)).toBe('  runoff show r7k2m9q4xa C   # read another');
  });

  test('keeps verdicts readable on a narrow terminal', () => {
    for (const width of [60, 80, 100, 140]) {
      const lines = finalReport(judged(), { width, colour: false });
      expect(lines.some((line) => line.startsWith('C  fails 1 of 4 new tests '))).toBe(true);
    }
  });

  test('of a toss-up has the difference as its headline, until somebody picks', () => {
    const view = local({ decision: TOSS_UP });
    expect(finalReport(view, plain).slice(0, 2)).toEqual([
      'Please choose a candidate · 2m 51s',
      'Which do you want: B or C?',
    ]);
    const picks = [{ alias: 'C', by: null }] as const;
    expect(finalReport({ ...view, picks }, plain)[1]).toMatch(
      /^C — picked by somebody at the command line\. /,
    );
  });

  test('keeps the width and contains no control sequences, whatever others wrote', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 20, max: 140 }), (bad, width) => {
        const view = { ...poisoned(bad), state: 'published' } as const;
        for (const one of [
          view,
          { ...view, decision: { kind: 'none', decidedBy: 'gates', because: bad } } as const,
        ]) {
          const lines = finalReport(one, { width, colour: false, diffs: poisonedDiffs(view, `+${bad}`) });
          for (const line of lines) {
            expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
            expect(displayWidth(line)).toBeLessThanOrEqual(width);
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('the merge command', () => {
  test("names the repository's folder, unless it is the current one", () => {
    expect(mergeCommand(local())).toBe(`git -C /home/ada/lists merge runoff/${RUN}/B`);
    expect(mergeCommand(local(), '/home/ada/lists')).toBe(`git merge runoff/${RUN}/B`);
  });

  test('is absent if there is a pull request or no winner', () => {
    expect(mergeCommand(published())).toBeNull();
    expect(mergeCommand(nobody({ origin: { kind: 'local', path: '/x' } }))).toBeNull();
  });

  test('quotes a path as a shell needs it', () => {
    expect(shellWord("/home/o'neil/my lists")).toBe(`'/home/o'\\''neil/my lists'`);
    expect(shellWord('$(rm -rf .)')).toBe("'$(rm -rf .)'");
    expect(shellWord('a\u202eb')).toBe("'a<U+202E>b'");
  });
});
