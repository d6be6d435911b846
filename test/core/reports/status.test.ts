import { describe, expect, test } from 'vitest';
import { statusComment } from '../../../src/core/reports/index.ts';
import { coding, judged, MONA, nobody, published, TABLE, TOSS_UP, VOTES, waiting } from './sample.ts';

describe('the status comment', () => {
  test('while coders are at work', () => {
    expect(statusComment(coding()).body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: stage 3 of 6, coders at work · 1m 12s

      admit 0.4s · brief 4.1s · **code** · examine · judge · publish

      | candidate | contestant | state | time | tokens | cost |
      | --- | --- | --- | --: | --: | --: |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | coding: edits \`src/list.ts\` | 42s | 12.3k | $0.12 |
      | **B** | \`builtin × anthropic/model-2 (careful)\` | coded | 1m 12s | 12.3k | $0.13 |
      | **C** | \`builtin × anthropic/model-3 (plain)\` | failed: stopped after 5m of silence | 1m 42s | 12.3k | $0.14 |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | waiting | – | 0 | $0.00 |

      Spent $0.58 of 5.00. Base commit \`3f2a9c81d04b\` (\`main\`). Checks: setup \`npm ci\`, build \`npm run build\`, test \`npm test\`.

      To cancel, comment \`/auto-dev cancel\` or remove the label \`auto-dev:running\`. \`/auto-dev status\` brings this up to date, \`/auto-dev help\` names all commands. Later edits of the issue do not change this run (\`r7k2m9q4xa\`).
      "
    `);
  });

  test('says which comments a limit left out of the task', () => {
    const said = 'Comments older than the newest 200 by writers were left out.';
    expect(statusComment(coding()).body).not.toContain('left out');
    expect(statusComment({ ...coding(), leftOut: [said] }).body).toContain(`\n${said}\n`);
  });

  test('before there is anything to tell', () => {
    const { base: _base, checks: _checks, ...view } = coding();
    const early = { ...view, state: 'queued', candidates: [], stages: [] } as const;
    expect(statusComment({ ...early, budget: { run: 0, spent: 0 } }).body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: stage 1 of 6, queued, checking the request · 1m 12s

      **admit** · brief · code · examine · judge · publish

      To cancel, comment \`/auto-dev cancel\` or remove the label \`auto-dev:running\`. \`/auto-dev status\` brings this up to date, \`/auto-dev help\` names all commands. Later edits of the issue do not change this run (\`r7k2m9q4xa\`).
      "
    `);
  });

  test('when the pull request is open', () => {
    expect(statusComment(published()).body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: draft pull request [#8](https://github.test/acme/lists/pull/8) with candidate B · 2m 51s

      **B** — LIKELY, decided by new tests. B passes all tests that C added, C fails one of the 4 that B added.

      [The comparison with every other diff](https://github.test/acme/lists/pull/8#issuecomment-1).

      admit 0.4s · brief 4.1s · code 2m 06s · examine 40s · judge 0.1s · publish

      | candidate | contestant | state | time | tokens | cost |
      | --- | --- | --- | --: | --: | --: |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | examined | 42s | 12.3k | $0.12 |
      | **B** | \`builtin × anthropic/model-2 (careful)\` | examined | 1m 12s | 12.3k | $0.13 |
      | **C** | \`builtin × anthropic/model-3 (plain)\` | examined | 1m 42s | 12.3k | $0.14 |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | examined | 2m 12s | 12.3k | $0.15 |

      Spent $0.58 of 5.00. Base commit \`3f2a9c81d04b\` (\`main\`). Checks: setup \`npm ci\`, build \`npm run build\`, test \`npm test\`.

      **Next:** read the pull request; nothing is merged without you. The other 3 candidates can be read there too. \`/auto-dev help\` there names what you can ask for.
      "
    `);
  });

  test('when no candidate passed', () => {
    const outcome = {
      kind: 'table',
      branches: {},
      comparisonUrl: 'https://github.test/acme/lists/issues/7#2',
    } as const;
    expect(statusComment(nobody({ state: 'published', outcome })).body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: no candidate passed · 2m 51s

      Every candidate breaks tests that pass on base.

      No pull request was opened. [What each candidate ran into](https://github.test/acme/lists/issues/7#2).

      admit 0.4s · brief 4.1s · code 2m 06s · examine 40s · judge 0.1s · publish

      | candidate | contestant | state | time | tokens | cost |
      | --- | --- | --- | --: | --: | --: |
      | **A** | \`builtin × anthropic/model-1 (plain)\` | examined | 42s | 12.3k | $0.12 |
      | **D** | \`builtin × anthropic/model-4 (careful)\` | examined | 2m 12s | 12.3k | $0.15 |

      Spent $0.58 of 5.00. Base commit \`3f2a9c81d04b\` (\`main\`). Checks: setup \`npm ci\`, build \`npm run build\`, test \`npm test\`.

      **Next:** make the issue more precise (which behaviour, which test shows it), then set the label \`auto-dev\` again or comment \`/auto-dev retry\`.
      "
    `);
  });

  test('when the run failed', () => {
    const trouble = {
      code: 'BASE_BROKEN',
      message: 'The build fails on the base commit: `npm run build` ended with exit code 2.',
      advice: 'Make build and tests run on the base commit first.',
    } as const;
    const body = statusComment({ ...coding(), state: 'failed', candidates: [], trouble }).body;
    expect(body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: the run failed · 1m 12s

      The build fails on the base commit: \`npm run build\` ended with exit code 2.

      **Next:** Make build and tests run on the base commit first.

      admit 0.4s · brief 4.1s · code · examine · judge · publish

      Spent $0.58 of 5.00. Base commit \`3f2a9c81d04b\` (\`main\`). Checks: setup \`npm ci\`, build \`npm run build\`, test \`npm test\`.
      "
    `);
  });

  test('when the run was cancelled, refused, merged or closed', () => {
    const trouble = { code: 'REFUSED', message: 'The issue is closed.', advice: 'Reopen it.' } as const;
    const heading = (body: string): string | undefined => body.split('\n')[2];
    expect(heading(statusComment({ ...coding(), state: 'cancelled' }).body)).toMatchInlineSnapshot(
      `"### Runoff: the run was cancelled · 1m 12s"`,
    );
    expect(heading(statusComment({ ...coding(), state: 'refused', trouble }).body)).toMatchInlineSnapshot(
      `"### Runoff: no run was started · 1m 12s"`,
    );
    expect(heading(statusComment(published({ state: 'merged' })).body)).toMatchInlineSnapshot(
      `"### Runoff: merged · 2m 51s"`,
    );
    expect(heading(statusComment(published({ state: 'closed' })).body)).toMatchInlineSnapshot(
      `"### Runoff: the pull request was closed · 2m 51s"`,
    );
  });

  test('says that it waits for a person, how people voted, and how to pick', () => {
    const { body } = statusComment(waiting({ votes: VOTES }));
    expect(told(body)).toMatchInlineSnapshot(`
      "### Runoff: waits for a person to pick · 2m 51s
      The evidence does not decide, so that a person should. B breaks no base test; execution does not separate it from C.
      3 votes: **C** 2 (\`ada\`, \`bob\`); **B** 1 (\`mona\`).
      [The comparison with every diff](https://github.test/acme/lists/issues/7#issuecomment-1).
      **Next:** tick a box in the comparison, or comment \`/auto-dev pick B\` or \`/auto-dev pick none\`. The run waits without limit and holds nothing."
    `);
    const asked = statusComment(waiting({ decision: { ...TOSS_UP, chance: 0.9 } })).body;
    expect(asked).toContain('The settings leave the pick to a person.');
  });

  test('says who picked what, and what the evidence had put first', () => {
    const pick = { alias: 'C', by: MONA } as const;
    expect(told(statusComment(published({ picks: [pick] })).body)).toMatchInlineSnapshot(`
      "### Runoff: draft pull request [#8](https://github.test/acme/lists/pull/8) with candidate C, picked by \`mona\` · 2m 51s
      **C** — picked by \`mona\`. The evidence put **B** first: LIKELY, decided by new tests. B passes all tests that C added, C fails one of the 4 that B added.
      [The comparison with every other diff](https://github.test/acme/lists/pull/8#issuecomment-1).
      **Next:** read the pull request; nothing is merged without you. The other 3 candidates can be read there too. \`/auto-dev help\` there names what you can ask for."
    `);
    expect(
      told(statusComment(published({ picks: [pick, { alias: null, by: null }] })).body),
    ).toMatchInlineSnapshot(`
      "### Runoff: draft pull request [#8](https://github.test/acme/lists/pull/8), which nobody picked · 2m 51s
      Somebody at the command line picked none of them. The evidence put **B** first: LIKELY, decided by new tests. B passes all tests that C added, C fails one of the 4 that B added.
      [The comparison with every other diff](https://github.test/acme/lists/pull/8#issuecomment-1).
      **Next:** close the pull request, or put a candidate there by \`/auto-dev pick B\`."
    `);
  });

  test('that nobody was picked', () => {
    const picks = [{ alias: null, by: MONA }];
    expect(told(statusComment(waiting({ state: 'closed', picks })).body)).toMatchInlineSnapshot(`
      "### Runoff: nobody was picked · 2m 51s
      \`mona\` picked none of them. No pull request was opened.
      [The comparison with every diff](https://github.test/acme/lists/issues/7#issuecomment-1).
      **Next:** to start anew, set the label \`auto-dev\` again or comment \`/auto-dev retry\`."
    `);
    expect(told(statusComment(waiting({ state: 'closed' })).body)).toMatchInlineSnapshot(`
      "### Runoff: nobody was picked · 2m 51s
      The run ended before anybody picked. No pull request was opened.
      [The comparison with every diff](https://github.test/acme/lists/issues/7#issuecomment-1).
      **Next:** to start anew, set the label \`auto-dev\` again or comment \`/auto-dev retry\`."
    `);
  });

  test('that GitHub would not have the pull request, and what can be done', () => {
    const unopened = 'GitHub refused it: `Draft pull requests are not supported in this repository.`';
    const outcome = { ...TABLE, unopened };
    expect(told(statusComment(judged({ state: 'published', outcome })).body)).toMatchInlineSnapshot(`
      "### Runoff: candidate B won, but GitHub would not have its pull request · 2m 51s
      **B** — LIKELY, decided by new tests. B passes all tests that C added, C fails one of the 4 that B added.
      **B** has no pull request: GitHub refused it: \`Draft pull requests are not supported in this repository.\` Its branch is \`auto-dev/7/r7k2m9q4xa/B\` ([compare](https://github.test/acme/lists/compare/3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5...auto-dev/7/r7k2m9q4xa/B)): open a pull request of it by hand. Or mend what GitHub names, then set the label \`auto-dev\` again or comment \`/auto-dev retry\`.
      [The comparison with every diff](https://github.test/acme/lists/issues/7#issuecomment-1)."
    `);
    const nothing = { ...TABLE, unopened, branches: {} };
    expect(statusComment(judged({ state: 'published', outcome: nothing })).body).toContain(
      'Its branch could not be pushed either; its diff is in the comparison.',
    );
  });

  test('what each candidate may spend, where that is known, and that the base has moved', () => {
    const { body } = statusComment({
      ...coding(),
      budget: { run: 5, candidate: 2, spent: 0.58 },
      baseMovedTo: 'f'.repeat(40),
    });
    expect(body).toContain('| 42s | 12.3k | $0.12 of 2.00 |');
    expect(body.match(/^\*\*The base has moved.*$/m)?.[0]).toMatchInlineSnapshot(
      `"**The base has moved.** \`main\` is at \`ffffffffffff\` now; the candidates were built and tested on \`3f2a9c81d04b\`."`,
    );
  });

  test('of a run on a pull request, how to start it anew', () => {
    const origin = { kind: 'github', repository: 'acme/lists', issue: 12, work: 'fix' } as const;
    expect(statusComment({ ...coding(), origin }).body).toContain('Later edits of the pull request do not');
    expect(statusComment({ ...coding(), origin, state: 'cancelled' }).body).toContain(
      'To start anew, comment `/auto-dev fix` or `/auto-dev retry`.',
    );
  });
});

/** What it says, without candidates, stages and marker. */
const told = (body: string): string =>
  body
    .split('\n')
    .filter((line) => !/^(?:\||<!--|admit |Spent |$)/.test(line))
    .join('\n');
