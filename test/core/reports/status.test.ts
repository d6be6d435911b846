import { describe, expect, test } from 'vitest';
import { statusComment } from '../../../src/core/reports/index.ts';
import { coding, judged, MONA, nobody, published, TABLE, TOSS_UP, VOTES, waiting } from './sample.ts';

describe('the status comment', () => {
  test('shows active coders', () => {
    expect(statusComment(coding()).body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: stage 3 of 6, running the coders · 1m 12s

      |  | state | cost |
      | --- | --- | --: |
      | **A** | coding: edits \`src/list.ts\` | $0.12 |
      | **B** | coded (1m 12s) | $0.13 |
      | **C** | failed (1m 42s): stopped after 5m of silence | $0.14 |
      | **D** | waiting | $0.00 |

      Spent at most $0.58 of <span>$</span>5.00. Base commit \`3f2a9c81d04b\` (\`main\`). Checks: setup \`npm ci\` (detected from \`.github/workflows/ci.yml\`), build \`npm run build\` (detected from \`package.json\`), test \`npm test\` (settings).

      To cancel, comment \`/auto-dev cancel\` or remove the label \`auto-dev:running\`. \`/auto-dev status\` updates the status comment, \`/auto-dev help\` lists all commands. Editing the issue now does not affect this run (\`r7k2m9q4xa\`).

      <details>
      <summary>Who writes them</summary>

      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **B**: \`builtin × anthropic/model-2 (careful)\`
      - **C**: \`builtin × anthropic/model-3 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`

      </details>
      "
    `);
  });

  test('says what is probably left, where earlier runs of the repository tell, while nobody is waited for', () => {
    const minutes = (n: number) => n * 60_000;
    const ms = {
      admit: 0,
      brief: minutes(1),
      code: minutes(5),
      examine: minutes(4),
      judge: 0,
      publish: 1_000,
    };
    const timed = { ...coding(), times: { runs: 7, ms } };
    const { body } = statusComment(timed);
    expect(body).toMatch(/### Runoff: stage 3 of 6, running the coders · 1m 12s, about 8 min left\n/);
    expect(body).toContain('The time left is estimated from 7 earlier runs here.');
    const late = { ...timed, now: timed.now + minutes(30) };
    // Longer than usual: nothing tells how much longer.
    expect(statusComment(late).body).not.toMatch(/left\n|time left/);
    const last = { ...timed, state: 'judged', times: { runs: 7, ms: { ...ms, publish: 9_000 } } } as const;
    expect(statusComment(last).body).toMatch(/, less than a minute left\n/);
    for (const state of ['queued', 'awaiting_answer', 'awaiting_approval', 'failed'] as const)
      expect(statusComment({ ...timed, state }).body).not.toMatch(/left\n|time left/);
  });

  test('names open pull requests that change files of the plan while somebody can act on it', () => {
    const view = coding();
    const brief = { ...judged().brief, overlaps: { pulls: [{ number: 12, files: ['src/list.ts'] }] } };
    if (!brief.goal) return expect.fail('The sample has a brief.');
    const { body } = statusComment({ ...view, brief: brief as NonNullable<typeof view.brief> });
    expect(body).toContain('\n\n**Open pull requests change files of the plan, too:** #12.');
    expect(body).toMatch(/\*\*Open pull requests that change the same files\*\*\n\n- #12: `src\/list\.ts`\n/);
    const missing = 'Only the 30 open pull requests that changed last were compared.';
    const none = { ...brief, overlaps: { pulls: [], missing } } as NonNullable<typeof view.brief>;
    const { body: without } = statusComment({ ...view, brief: none });
    expect(without).toContain(`\n\n${missing}\n`);
    expect(without).not.toMatch(/change the same files|change files of the plan/);
  });

  test('says which comments a limit left out of the task', () => {
    const said = 'Comments older than the newest 200 by writers were left out.';
    expect(statusComment(coding()).body).not.toMatch(/omitted|left out/);
    expect(statusComment({ ...coding(), leftOut: [said] }).body).toContain(`\n${said}\n`);
  });

  test('covers a run without news', () => {
    const { base: _base, checks: _checks, ...view } = coding();
    const early = { ...view, state: 'queued', candidates: [], stages: [] } as const;
    expect(statusComment({ ...early, budget: { run: 0, spent: 0 } }).body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: stage 1 of 6, queued, checking the request · 1m 12s

      To cancel, comment \`/auto-dev cancel\` or remove the label \`auto-dev:running\`. \`/auto-dev status\` updates the status comment, \`/auto-dev help\` lists all commands. Editing the issue now does not affect this run (\`r7k2m9q4xa\`).
      "
    `);
  });

  test('says what is done with the base commit while the planner works', () => {
    const step = { name: 'set-up', command: 'npm ci `x`', since: 0 } as const;
    const view = {
      ...coding(),
      state: 'admitted',
      candidates: [],
      checks: { setup: 'npm ci', step },
    } as const;
    expect(statusComment(view).body).toContain(
      '### Runoff: stage 2 of 6, installing packages: <code>npm ci &#96;x&#96;</code> · 1m 12s',
    );
  });

  test('says what the examination does, how much of it is done, and how long it may still take', () => {
    const { now } = coding();
    const step = { name: 'probes', done: 1, of: 4, leftMs: 130_000, since: now } as const;
    expect(statusComment({ ...coding(), state: 'coded', checks: { step } }).body).toContain(
      '### Runoff: stage 4 of 6, comparing the behaviour of candidates, 1 of 4 done, at most 2m 10s left · 1m 12s',
    );
    const over = { ...coding(), state: 'examined', checks: { step } } as const;
    expect(statusComment(over).body).toContain('stage 5 of 6, weighing the evidence · ');
  });

  test('links the open pull request', () => {
    expect(statusComment(published()).body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: draft pull request [#8](https://github.test/acme/lists/pull/8) with candidate B · 2m 51s

      **B** is the pick — likely. It passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.

      [Compare with the other candidates](https://github.test/acme/lists/pull/8#issuecomment-1).

      **Next:** review the pull request; Runoff never merges. Its comparison covers the other 3 candidates. Comment \`/auto-dev help\` there for a list of commands.

      <details>
      <summary>How the run went</summary>

      admit 0.4 s · brief 4.1 s · code 2m 06s · examine 40 s · judge 0.1 s · publish

      |  | state | cost |
      | --- | --- | --: |
      | **A** | examined (42 s) | $0.12 |
      | **B** | examined (1m 12s) | $0.13 |
      | **C** | examined (1m 42s) | $0.14 |
      | **D** | examined (2m 12s) | $0.15 |

      Spent $0.58 of <span>$</span>5.00. Base commit \`3f2a9c81d04b\` (\`main\`). Checks: setup \`npm ci\` (detected from \`.github/workflows/ci.yml\`), build \`npm run build\` (detected from \`package.json\`), test \`npm test\` (settings).

      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **B**: \`builtin × anthropic/model-2 (careful)\`
      - **C**: \`builtin × anthropic/model-3 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`

      </details>
      "
    `);
  });

  test('says that no candidate passed', () => {
    const outcome = {
      kind: 'table',
      branches: {},
      comparisonUrl: 'https://github.test/acme/lists/issues/7#2',
    } as const;
    expect(statusComment(nobody({ state: 'published', outcome })).body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: no candidate passed · 2m 51s

      Every candidate breaks tests that pass on base.

      No pull request was opened.

      [Why each candidate failed](https://github.test/acme/lists/issues/7#2).

      **Next:** decide whether the existing tests that A breaks should change. If so, comment \`/auto-dev pick A\`; if not, describe the issue more precisely (the expected behaviour, a test that shows it), then add the label \`auto-dev\` again or comment \`/auto-dev retry\`.

      <details>
      <summary>How the run went</summary>

      admit 0.4 s · brief 4.1 s · code 2m 06s · examine 40 s · judge 0.1 s · publish

      |  | state | cost |
      | --- | --- | --: |
      | **A** | examined (42 s) | $0.12 |
      | **D** | examined (2m 12s) | $0.15 |

      Spent $0.58 of <span>$</span>5.00. Base commit \`3f2a9c81d04b\` (\`main\`). Checks: setup \`npm ci\` (detected from \`.github/workflows/ci.yml\`), build \`npm run build\` (detected from \`package.json\`), test \`npm test\` (settings).

      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`

      </details>
      "
    `);
  });

  test('says why the run failed', () => {
    const trouble = {
      code: 'BASE_BROKEN',
      message: 'The build fails on the base commit: `npm run build` ended with exit code 2.',
      advice: 'Make build and tests run on the base commit first.',
    } as const;
    const body = statusComment({ ...coding(), state: 'failed', candidates: [], trouble }).body;
    expect(body).toMatchInlineSnapshot(`
      "<!-- runoff:status:r7k2m9q4xa -->

      ### Runoff: run failed · 1m 12s

      The build fails on the base commit: \`npm run build\` ended with exit code 2.

      **Next:** Make build and tests run on the base commit first.

      <details>
      <summary>How the run went</summary>

      admit 0.4 s · brief 4.1 s · code · examine · judge · publish

      Spent $0.58 of <span>$</span>5.00. Base commit \`3f2a9c81d04b\` (\`main\`). Checks: setup \`npm ci\` (detected from \`.github/workflows/ci.yml\`), build \`npm run build\` (detected from \`package.json\`), test \`npm test\` (settings).

      </details>
      "
    `);
  });

  test('covers cancelled, refused, merged and closed runs', () => {
    const trouble = { code: 'REFUSED', message: 'The issue is closed.', advice: 'Reopen it.' } as const;
    const heading = (body: string): string | undefined => body.split('\n')[2];
    expect(heading(statusComment({ ...coding(), state: 'cancelled' }).body)).toMatchInlineSnapshot(
      `"### Runoff: run cancelled · 1m 12s"`,
    );
    expect(heading(statusComment({ ...coding(), state: 'refused', trouble }).body)).toMatchInlineSnapshot(
      `"### Runoff: run not started · 1m 12s"`,
    );
    expect(heading(statusComment(published({ state: 'merged' })).body)).toMatchInlineSnapshot(
      `"### Runoff: merged · 2m 51s"`,
    );
    expect(heading(statusComment(published({ state: 'closed' })).body)).toMatchInlineSnapshot(
      `"### Runoff: pull request closed · 2m 51s"`,
    );
  });

  test('says that a person must pick, how people voted, and how to pick', () => {
    const { body } = statusComment(waiting({ votes: VOTES }));
    expect(told(body)).toMatchInlineSnapshot(`
      "### Runoff: please choose a candidate · 2m 51s
      Which do you want: **B** or **C**?
      **B** passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests. Ranked first by agreement.
      **B** changes +13 −3 in 2 files, **C** changes +14 −3 in 2 files.
      3 votes: **C** 2 (\`ada\`, \`bob\`); **B** 1 (\`mona\`).
      [Compare all candidates](https://github.test/acme/lists/issues/7#issuecomment-1).
      **Next:** tick a box in the comparison, or comment \`/auto-dev pick B\` or \`/auto-dev pick none\`. There is no deadline, and waiting costs nothing.
      <details>
      <summary>How the run went</summary>
      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **B**: \`builtin × anthropic/model-2 (careful)\`
      - **C**: \`builtin × anthropic/model-3 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`
      </details>"
    `);
    const asked = statusComment(waiting({ decision: { ...TOSS_UP, chance: 0.9 } })).body;
    expect(asked).toContain('your settings leave the choice to you');
  });

  test('says who picked what, and which candidate the evidence ranks first', () => {
    const pick = { alias: 'C', by: MONA } as const;
    expect(told(statusComment(published({ picks: [pick] })).body)).toMatchInlineSnapshot(`
      "### Runoff: draft pull request [#8](https://github.test/acme/lists/pull/8) with candidate C, picked by \`mona\` · 2m 51s
      **C** — picked by \`mona\`. The evidence ranks **B** first — likely: it passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.
      [Compare with the other candidates](https://github.test/acme/lists/pull/8#issuecomment-1).
      **Next:** review the pull request; Runoff never merges. Its comparison covers the other 3 candidates. Comment \`/auto-dev help\` there for a list of commands.
      <details>
      <summary>How the run went</summary>
      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **B**: \`builtin × anthropic/model-2 (careful)\`
      - **C**: \`builtin × anthropic/model-3 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`
      </details>"
    `);
    expect(
      told(statusComment(published({ picks: [pick, { alias: null, by: null }] })).body),
    ).toMatchInlineSnapshot(`
      "### Runoff: draft pull request [#8](https://github.test/acme/lists/pull/8), no candidate picked · 2m 51s
      Somebody at the command line rejected all candidates. The evidence ranks **B** first — likely: it passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.
      [Compare all candidates](https://github.test/acme/lists/pull/8#issuecomment-1).
      **Next:** close the pull request, or choose a candidate for it with \`/auto-dev pick B\`.
      <details>
      <summary>How the run went</summary>
      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **B**: \`builtin × anthropic/model-2 (careful)\`
      - **C**: \`builtin × anthropic/model-3 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`
      </details>"
    `);
  });

  test('says that nobody was picked', () => {
    const picks = [{ alias: null, by: MONA }];
    expect(told(statusComment(waiting({ state: 'closed', picks })).body)).toMatchInlineSnapshot(`
      "### Runoff: no candidate was picked · 2m 51s
      \`mona\` rejected all candidates. No pull request was opened.
      [Compare all candidates](https://github.test/acme/lists/issues/7#issuecomment-1).
      **Next:** to start again, add the label \`auto-dev\` again or comment \`/auto-dev retry\`.
      <details>
      <summary>How the run went</summary>
      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **B**: \`builtin × anthropic/model-2 (careful)\`
      - **C**: \`builtin × anthropic/model-3 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`
      </details>"
    `);
    expect(told(statusComment(waiting({ state: 'closed' })).body)).toMatchInlineSnapshot(`
      "### Runoff: no candidate was picked · 2m 51s
      The run ended before anyone chose. No pull request was opened.
      [Compare all candidates](https://github.test/acme/lists/issues/7#issuecomment-1).
      **Next:** to start again, add the label \`auto-dev\` again or comment \`/auto-dev retry\`.
      <details>
      <summary>How the run went</summary>
      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **B**: \`builtin × anthropic/model-2 (careful)\`
      - **C**: \`builtin × anthropic/model-3 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`
      </details>"
    `);
  });

  test.each([
    ['mona cancelled it', 'To start again, add the label `auto-dev` again or comment `/auto-dev retry`.'],
    [
      'the issue was closed',
      'To start again, reopen the issue, then add the label `auto-dev` again or comment `/auto-dev retry`.',
    ],
    ['the issue was deleted', null],
  ])('says why the run was stopped, and how to start again: %s', (endedBecause, again) => {
    const kept = "The run's record keeps all work done so far.";
    const { body } = statusComment({ ...coding(), state: 'cancelled', endedBecause });
    expect(told(body)).toContain(
      [`It stopped because ${endedBecause}.`, kept, again].filter((one) => one !== null).join(' '),
    );
    const { body: unpicked } = statusComment(waiting({ state: 'closed', endedBecause }));
    expect(unpicked).toContain(`The run ended before anyone chose, because ${endedBecause}.`);
    expect(unpicked.includes('start again')).toBe(again !== null);
  });

  test('of a run that was cancelled before it started does not advise to repeat it', () => {
    const { base: _, ...queued } = coding();
    const { body } = statusComment({ ...queued, candidates: [], state: 'cancelled' });
    expect(body).toContain('add the label `auto-dev` again or comment `/auto-dev run`.');
  });

  test('says once that a candidate was cancelled', () => {
    const view = coding();
    const candidates = view.candidates.map((one) => ({
      ...one,
      state: 'cancelled' as const,
      note: 'cancelled',
    }));
    expect(statusComment({ ...view, candidates }).body).not.toContain('cancelled: cancelled');
  });

  test('says that GitHub rejected the pull request, and what to do', () => {
    const unopened = 'GitHub refused it: `Draft pull requests are not supported in this repository.`';
    const outcome = { ...TABLE, refusedBecause: unopened };
    expect(told(statusComment(judged({ state: 'published', outcome })).body)).toMatchInlineSnapshot(`
      "### Runoff: candidate B won, but GitHub refused its pull request · 2m 51s
      **B** is the pick — likely. It passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.
      **B** has no pull request: GitHub refused it: \`Draft pull requests are not supported in this repository.\` Its branch is \`auto-dev/7/r7k2m9q4xa/B\`: [open a pull request from it](https://github.test/acme/lists/compare/3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5...auto-dev/7/r7k2m9q4xa/B) manually. Or fix what GitHub reports, then comment \`/auto-dev pick B\`, or with the letter of another candidate: this opens the pull request, and no coder runs again.
      [Compare with the other candidates](https://github.test/acme/lists/issues/7#issuecomment-1).
      <details>
      <summary>How the run went</summary>
      - **A**: \`builtin × anthropic/model-1 (plain)\`
      - **B**: \`builtin × anthropic/model-2 (careful)\`
      - **C**: \`builtin × anthropic/model-3 (plain)\`
      - **D**: \`builtin × anthropic/model-4 (careful)\`
      </details>"
    `);
    const nothing = { ...TABLE, refusedBecause: unopened, branches: {} };
    expect(statusComment(judged({ state: 'published', outcome: nothing })).body).toContain(
      'Its branch could not be pushed either; the comparison has its diff.',
    );
    const { comparisonUrl: _none, ...unwritten } = nothing;
    expect(statusComment(judged({ state: 'published', outcome: unwritten })).body).toContain(
      'Its branch could not be pushed either. Fix what',
    );
  });

  test("shows each candidate's budget if known, and that the base has moved", () => {
    const { body } = statusComment({
      ...coding(),
      budget: { run: 5, candidate: 2, spent: 0.58 },
      baseMovedTo: 'f'.repeat(40),
    });
    expect(body).toContain('| coding: edits `src/list.ts` | $0.12 of <span>$</span>2.00 |');
    expect(body.match(/^\*\*The base branch has moved.*$/m)?.[0]).toMatchInlineSnapshot(
      `"**The base branch has moved.** \`main\` is now at \`ffffffffffff\`; the candidates were built and tested on \`3f2a9c81d04b\`."`,
    );
  });

  test('of a run on a pull request says how to restart it', () => {
    const origin = { kind: 'github', repository: 'acme/lists', issue: 12, work: 'fix' } as const;
    expect(statusComment({ ...coding(), origin }).body).toContain(
      'Editing the pull request now does not affect',
    );
    expect(statusComment({ ...coding(), origin, state: 'cancelled' }).body).toContain(
      'To start again, comment `/auto-dev fix` or `/auto-dev retry`.',
    );
  });
});

/** What it says, without candidates, stages and marker. */
const told = (body: string): string =>
  body
    .split('\n')
    .filter((line) => !/^(?:\||<!--|admit |Spent |$)/.test(line))
    .join('\n');
