import { describe, expect, test } from 'vitest';
import {
  branchName,
  commitMessage,
  followUpMessage,
  localBranch,
  pullRequest,
} from '../../../src/core/reports/index.ts';
import { diffsOf, judged, local, MONA, RUN, shownPatch, waiting } from './sample.ts';

describe('the draft pull request', () => {
  test('says what changed, what was run, and that CI is held', () => {
    const { title, body } = pullRequest(judged(), 'B', diffsOf(judged()));
    expect(title).toMatchInlineSnapshot(`"Fix #7: last() returns undefined"`);
    expect(body).toMatchInlineSnapshot(`
      "<!-- runoff:pull:r7k2m9q4xa -->

      Fixes #7

      **What it does:** \`last\` returns the last item of a list. *(The goal, as a model wrote it.)* It changes \`src/list.ts\` and 1 test file.

      **How sure:** likely, candidate **B** of 4. It passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.

      ### Look at first

      - \`src/list.ts\`: most of the change, +1 −1

      ### Evidence

      - Base commit \`3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5\` (\`main\`); gates passed: 10 of 10
      - Existing tests: 412/412 passed, 0 tests broken, 0 fixed, exit code 0
      - New tests that it did not write: 2 of 2 passed
      - Written by agent \`builtin\` with model \`anthropic/model-2\`, prompt \`careful\`, in 1m 12s for $0.13; the whole run cost <span>$</span>0.58

      ### Try it

      This runs code that nobody has reviewed: run it in a disposable environment.

      1. \`git fetch origin auto-dev/7/r7k2m9q4xa/B\`
      2. \`git switch --detach FETCH_HEAD\`
      3. \`npm ci\`
      4. \`npm run build\`
      5. \`npm test\`

      **CI is on hold.** Nobody has reviewed this code yet, so its commit tells GitHub's own workflows not to start. Read the diff, then comment \`/auto-dev ci\` or push any commit to this branch to start them. If you squash-merge, delete the skip line from the proposed message; otherwise CI is skipped on the default branch too.

      A comment below compares this with every other candidate, including their diffs (run \`r7k2m9q4xa\`).

      <details>
      <summary>All changed files: 2</summary>

      - \`src/list.ts\` modified, +1 −1
      - \`test/list.test.ts\` added, +11 −0

      </details>

      <details>
      <summary>Commands</summary>

      Only people with write access can use commands.

      - \`/auto-dev pick C\` replaces this with another candidate: C, A
      - \`/auto-dev explain C\` shows everything known about one candidate
      - \`/auto-dev ci\` starts GitHub's own workflows on it
      - \`/auto-dev review\` addresses review comments in a draft pull request into this branch
      - \`/auto-dev help\` lists all commands

      </details>
      "
    `);
  });

  test('names the only other candidate', () => {
    const view = judged();
    const ranking = view.ranking.filter(({ alias }) => alias !== 'A');
    expect(pullRequest({ ...view, ranking }, 'B', {}).body).toContain(
      'pick C` replaces this with candidate C\n',
    );
  });

  test('has a title in the style of a repository with conventional commits', () => {
    const view = judged({ conventionalTitles: true });
    expect(pullRequest(view, 'B', {}).title).toBe('fix: last() returns undefined');
    expect(commitMessage(view, 'B').split('\n')[0]).toBe('fix: last() returns undefined');
  });

  test('does not mention CI if it runs as usual', () => {
    expect(pullRequest(judged({ ci: 'run' }), 'B', {}).body).not.toContain('CI');
  });

  test('closes only its issue, whatever the title, the files and the settings say', () => {
    const evil = 'fixes #1, closes acme/lists#2, resolves https://github.com/a/b/issues/3';
    const view = judged({
      title: evil,
      checks: { test: evil },
      base: { ref: evil, sha: 'a'.repeat(40) },
      decision: {
        kind: 'winner',
        alias: 'B',
        confidence: 'clear',
        chance: 0.9,
        decidedBy: 'gates',
        because: evil,
      },
    });
    const file = { path: evil, change: 'added', additions: 1, deletions: 0, binary: false } as const;
    const { title, body } = pullRequest(view, 'B', { B: { patch: shownPatch('', [file]) } });
    const references = /(?<!&)#\d+|:\/\/\S/g;
    expect(body.match(references)).toEqual(['#7']);
    expect(title.match(references)).toEqual(['#7']);
    expect(commitMessage(view, 'B').match(references)).toEqual(['#7']);
  });

  test('of a pick says who picked, and which candidate the evidence ranks first', () => {
    const view = judged({ picks: [{ alias: 'C', by: MONA }], baseMovedTo: 'f'.repeat(40) });
    const { body } = pullRequest(view, 'C', diffsOf(view));
    expect(body.split('### What changed')[0]).toMatchInlineSnapshot(`
      "<!-- runoff:pull:r7k2m9q4xa -->

      Fixes #7

      **What it does:** \`last\` returns the last item of a list. *(The goal, as a model wrote it.)* It changes \`src/list.ts\` and 1 test file.

      **How sure:** candidate **C** of 4, picked by \`mona\`. The evidence ranks **B** first — likely: it passes all 412 existing tests and both new ones; **C** fails 1 of 4 new tests, **A** breaks 1 existing test, **D** tampers with tests.

      **The base branch has moved.** \`main\` is now at \`ffffffffffff\`; the candidates were built and tested on \`3f2a9c81d04b\`.

      ### Look at first

      - \`src/list.ts\`: most of the change, +1 −1

      ### Evidence

      - Base commit \`3f2a9c81d04be7765a1b2c3d4e5f60718293a4b5\` (\`main\`); gates passed: 10 of 10
      - Existing tests: 412/412 passed, 0 tests broken, 0 fixed, exit code 0
      - New tests that it did not write: 3 of 4 passed
      - Written by agent \`builtin\` with model \`anthropic/model-3\`, prompt \`plain\`, in 1m 42s for $0.14; the whole run cost <span>$</span>0.58

      ### Try it

      This runs code that nobody has reviewed: run it in a disposable environment.

      1. \`git fetch origin auto-dev/7/r7k2m9q4xa/C\`
      2. \`git switch --detach FETCH_HEAD\`
      3. \`npm ci\`
      4. \`npm run build\`
      5. \`npm test\`

      **CI is on hold.** Nobody has reviewed this code yet, so its commit tells GitHub's own workflows not to start. Read the diff, then comment \`/auto-dev ci\` or push any commit to this branch to start them. If you squash-merge, delete the skip line from the proposed message; otherwise CI is skipped on the default branch too.

      A comment below compares this with every other candidate, including their diffs (run \`r7k2m9q4xa\`).

      <details>
      <summary>All changed files: 2</summary>

      - \`src/list.ts\` modified, +1 −1
      - \`test/list.test.ts\` added, +11 −0

      </details>

      <details>
      <summary>Commands</summary>

      Only people with write access can use commands.

      - \`/auto-dev pick B\` replaces this with another candidate: B, A
      - \`/auto-dev explain B\` shows everything known about one candidate
      - \`/auto-dev ci\` starts GitHub's own workflows on it
      - \`/auto-dev review\` addresses review comments in a draft pull request into this branch
      - \`/auto-dev help\` lists all commands

      </details>
      "
    `);
    expect(body).toContain('`/auto-dev pick B` replaces this with another candidate: B, A');
    const same = judged({ picks: [{ alias: 'B', by: null }] });
    expect(pullRequest(same, 'B', {}).body.split('\n')[4]).toMatchInlineSnapshot(
      `"**What it does:** \`last\` returns the last item of a list. *(The goal, as a model wrote it.)*"`,
    );
  });

  test.each(['review', 'fix'] as const)('of a run on a pull request (%s) closes nothing', (work) => {
    const view = judged({ origin: { kind: 'github', repository: 'acme/lists', issue: 12, work } });
    const { title, body } = pullRequest(view, 'B', diffsOf(view));
    expect(title).toBe(
      `${work === 'fix' ? 'Fix checks on' : 'Address review of'} #12: last() returns undefined`,
    );
    expect(body.split('\n')[2]).toBe(
      work === 'fix' ? 'Fixes failing checks on #12' : 'Addresses the review of #12',
    );
    expect(body + commitMessage(view, 'B')).not.toMatch(/(?:fix|close|resolve)(?:e?s|e?d)? #/i);
    expect(commitMessage(view, 'B').split('\n')[0]).toBe(title);
  });

  test('a list of very many files is cut', () => {
    const files = Array.from({ length: 5_000 }, (_, n) => ({
      path: `src/file-${n}.ts`,
      change: 'added' as const,
      additions: 1,
      deletions: 0,
      binary: false,
    }));
    const { body } = pullRequest(judged(), 'B', { B: { patch: shownPatch('', files) } });
    expect(body).toMatch(/\n- and \d+ more\n/);
    expect(body.length).toBeLessThan(10_000);
  });
});

describe('a commit message', () => {
  test('of the chosen candidate', () => {
    expect(commitMessage(judged(), 'B')).toMatchInlineSnapshot(`
      "Fix #7: last() returns undefined

      Candidate B of 4 (LIKELY, decided by new tests).
      Written by a coding agent and tested in a sandbox; not reviewed by a person yet.

      [skip ci]

      Runoff-Run: r7k2m9q4xa
      "
    `);
  });

  test('of another candidate contains nothing that GitHub would link to the issue', () => {
    expect(commitMessage(judged({ ci: 'run' }), 'C')).toMatchInlineSnapshot(`
      "Candidate C: last() returns undefined

      Candidate C of 4.
      Written by a coding agent and tested in a sandbox; not reviewed by a person yet.

      Runoff-Run: r7k2m9q4xa
      "
    `);
  });

  test('names who asked for the run, in one block of trailers at its end', () => {
    expect(
      commitMessage(judged({ requestedBy: MONA }), 'B')
        .split('\n\n')
        .at(-1),
    ).toMatchInlineSnapshot(`
      "Runoff-Run: r7k2m9q4xa
      Co-authored-by: mona <11+mona@users.noreply.github.com>
      "
    `);
    for (const login of ['', 'a b', 'a>\nb', 'mona[bot]', 'x'.repeat(40), '@mona', 'gh-7']) {
      const message = commitMessage(judged({ requestedBy: { id: 11, login } }), 'B');
      expect(message).not.toContain('Co-authored-by');
    }
    expect(commitMessage(judged({ requestedBy: { id: 1.5, login: 'mona' } }), 'B')).not.toContain('Co-');
  });

  test('of a toss-up on GitHub closes nothing, also after a later pick', () => {
    const before = commitMessage(waiting(), 'B');
    expect(before.split('\n')[0]).toBe('Candidate B: last() returns undefined');
    expect(commitMessage(waiting({ picks: [{ alias: 'B', by: MONA }] }), 'B')).toBe(before);
  });

  test('of a later pick', () => {
    const view = judged({ picks: [{ alias: 'C', by: MONA }], requestedBy: MONA });
    const pick = { kind: 'pick', alias: 'C', instead: 'B' } as const;
    expect(followUpMessage(view, pick)).toMatchInlineSnapshot(`
      "Candidate C instead of B: last() returns undefined

      Picked by mona. The tree is candidate C's.
      Written by a coding agent and tested in a sandbox.

      [skip ci]

      Runoff-Run: r7k2m9q4xa
      Co-authored-by: mona <11+mona@users.noreply.github.com>
      "
    `);
    const evil = judged({ picks: [{ alias: 'C', by: { id: 1, login: 'a\n\nFixes #1' } }], ci: 'run' });
    expect(followUpMessage(evil, pick)).toContain('Picked by a person. ');
    expect(followUpMessage(evil, pick)).not.toMatch(/skip|#1/);
  });

  test('that releases CI contains no skip keyword', () => {
    const view = judged({ title: '[skip ci] skip-checks: true', requestedBy: MONA });
    expect(followUpMessage(view, { kind: 'ci' })).toMatchInlineSnapshot(`
      "Let CI run on this branch

      This commit is empty: a person asked for CI, which the earlier commits had put on hold.

      Runoff-Run: r7k2m9q4xa
      Co-authored-by: mona <11+mona@users.noreply.github.com>
      "
    `);
    expect(followUpMessage(view, { kind: 'ci' })).not.toMatch(/skip|\[/i);
  });

  test('in a local repository has no issue to close', () => {
    expect(commitMessage(local(), 'B').split('\n')[0]).toBe('last() returns undefined');
  });

  test('keeps its subject within 72 characters and its trailers its own', () => {
    const title = `${'long '.repeat(30)}\n\nCo-authored-by: Mallory <m@evil.test>\n[skip ci] @ada`;
    const [subject, ...rest] = commitMessage(judged({ title, ci: 'run' }), 'B').split('\n');
    expect([...(subject ?? '')].length).toBeLessThanOrEqual(72);
    expect(subject?.startsWith('Fix #7: long long')).toBe(true);
    expect(rest.join('\n')).not.toMatch(/Co-authored-by|skip ci|@/);
    expect(rest.at(-2)).toBe(`Runoff-Run: ${RUN}`);
  });

  test('removes a skip keyword from a title', () => {
    expect(commitMessage(judged({ title: 'x [skip ci] [no ci]', ci: 'run' }), 'B')).not.toMatch(
      /\[(skip|no) ci\]/,
    );
  });

  test('has a subject for an empty title', () => {
    expect(commitMessage(judged({ title: '\u0000' }), 'B').split('\n')[0]).toBe(
      'Fix #7: the task of this run',
    );
  });
});

test('branch names contain no text of the issue', () => {
  expect(branchName(7, RUN, 'B')).toBe('auto-dev/7/r7k2m9q4xa/B');
  expect(localBranch(RUN, 'B')).toBe('runoff/r7k2m9q4xa/B');
});
