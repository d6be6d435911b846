import { expect, test } from 'vitest';
import { type Refusal, refusalComment, refusalWords } from '../../../src/core/reports/index.ts';
import { RUN } from './sample.ts';

const ALL: { readonly [K in Refusal['kind']]: Extract<Refusal, { kind: K }> } = {
  'no-permission': { kind: 'no-permission', login: 'ada' },
  'set-by-app': { kind: 'set-by-app', login: 'ada' },
  'label-gone': { kind: 'label-gone' },
  'not-an-issue': { kind: 'not-an-issue' },
  'issue-closed': { kind: 'issue-closed' },
  'not-a-pull': { kind: 'not-a-pull', number: 12 },
  'pull-closed': { kind: 'pull-closed' },
  'branch-moved': { kind: 'branch-moved', branch: 'topic' },
  'from-a-fork': { kind: 'from-a-fork' },
  'nothing-to-do': { kind: 'nothing-to-do', work: 'review' },
  archived: { kind: 'archived' },
  'repository-empty': { kind: 'repository-empty', branch: 'main' },
  'cap-reached': { kind: 'cap-reached', cap: 'runs-user', most: 20, login: 'ada' },
  'already-running': { kind: 'already-running', run: 'r0123456789' },
  'base-missing': { kind: 'base-missing', ref: 'develop' },
  'settings-invalid': {
    kind: 'settings-invalid',
    file: '.github/auto-dev.yml',
    problems: [
      'line 3, column 5: unknown key `bugdet`, did you mean `budget`?',
      'line 7, column 1: expected a number.',
    ],
  },
  'no-test-command': { kind: 'no-test-command', file: '.github/auto-dev.yml' },
  'nobody-approves': { kind: 'nobody-approves', file: '.github/auto-dev.yml' },
};

test('each refusal says what happened and what to do next', () => {
  const words = Object.values(ALL).map((refusal) => {
    const { message, advice } = refusalWords(refusal);
    return `${refusal.kind}: ${message} ${advice}`;
  });
  expect(words.join('\n')).toMatchInlineSnapshot(`
    "no-permission: \`ada\` may not write to this repository, or GitHub did not say so. Ask someone with write access to set the label: only they can start a run.
    set-by-app: The label was set by an App in the name of \`ada\`; only a person can start a run. Set the label again on GitHub itself, or comment \`/auto-dev run\` there.
    label-gone: The label was taken off again before the run began. Set the label again to start one.
    not-an-issue: The label is on a pull request; a run starts from an issue. Open an issue that says what is to be done, and set the label there. On a pull request, comment \`/auto-dev review\` or \`/auto-dev fix\`.
    issue-closed: The issue is closed. Reopen it, then set the label again.
    not-a-pull: #12 is no pull request. Comment on the pull request that is to be worked on. For an issue, comment \`/auto-dev run\`.
    pull-closed: The pull request is not open any more. Reopen it, then give the command again.
    branch-moved: The branch \`topic\` has moved since the run that this one carries on. Comment \`/auto-dev retry\` to do all of it anew.
    from-a-fork: The code of this pull request is in another repository, a fork or one that is gone; runs work on this repository's own branches only. Push its branch to this repository, open a pull request from there, and give the command on it.
    nothing-to-do: No review of this pull request by anyone with write access says anything. Write a review, or a comment on a line, then comment \`/auto-dev review\` again.
    archived: The repository is archived: nobody can write to it. Unarchive it, and set the label again.
    repository-empty: The repository has no commit on its default branch \`main\` yet, so there is nothing to start from. Push a first commit, then set the label again.
    cap-reached: \`ada\` has started 20 runs today (UTC), the most that this server allows. It starts anew at midnight UTC; set the label again then. The operator of this server can raise the cap with \`MAX_RUNS_USER_DAY\`.
    already-running: The run \`r0123456789\` is at work here. Wait for it to end. To start afresh, cancel it with \`/auto-dev cancel\`, then ask again.
    base-missing: There is no branch, tag or commit named \`develop\` to start from. Name one that exists, or push it first, and start the run again.
    settings-invalid: \`.github/auto-dev.yml\` cannot be used: line 3, column 5: unknown key \`bugdet\`, did you mean \`budget\`?; line 7, column 1: expected a number. Correct the file on the default branch and start the run again.
    no-test-command: No test command was found: Runoff decides by what runs. Set \`checks.test\` in \`.github/auto-dev.yml\`, for example \`test: npm test\`, and start the run again.
    nobody-approves: \`.github/auto-dev.yml\` wants the plan approved (\`approval: plan\`), and nobody is asked here. Run it at a terminal, without \`--no-ask\` and \`--json\`, and approve the plan with \`runoff approve\`; or set \`approval: never\`."
  `);
});

test('and in other words where the case is another', () => {
  const others: readonly Refusal[] = [
    { kind: 'no-permission', login: 'ada', mayLabel: true },
    { kind: 'nothing-to-do', work: 'fix' },
    { kind: 'cap-reached', cap: 'runs-user', most: 1, login: 'ada' },
    { kind: 'cap-reached', cap: 'runs-repository', most: 50, login: 'ada' },
    { kind: 'cap-reached', cap: 'runs-installation', most: 200, login: 'ada' },
    { kind: 'cap-reached', cap: 'budget-user', most: 7.5, login: 'ada' },
    { kind: 'cap-reached', cap: 'budget-installation', most: 100, login: 'ada' },
  ];
  const words = others.map((refusal) => Object.values(refusalWords(refusal)).join(' '));
  expect(words.join('\n')).toMatchInlineSnapshot(`
    "\`ada\` may set labels here, but to start a run takes the right to write to this repository. Ask someone with write access to set the label: only they can start a run.
    No check of the newest commit has failed, and no review by anyone with write access says anything. Wait for the checks to end, or write a review, then comment \`/auto-dev fix\` again.
    \`ada\` has started 1 run today (UTC), the most that this server allows. It starts anew at midnight UTC; set the label again then. The operator of this server can raise the cap with \`MAX_RUNS_USER_DAY\`.
    This repository has had 50 runs today (UTC), the most that this server allows. It starts anew at midnight UTC; set the label again then. The operator of this server can raise the cap with \`MAX_RUNS_REPOSITORY_DAY\`.
    The repositories of this installation have had 200 runs today (UTC), the most that this server allows. It starts anew at midnight UTC; set the label again then. The operator of this server can raise the cap with \`MAX_RUNS_INSTALLATION_DAY\`.
    The runs of \`ada\` have used up $7.50 today (UTC), the most that this server allows. It starts anew at midnight UTC; set the label again then. The operator of this server can raise the cap with \`MAX_BUDGET_USER_DAY\`.
    The repositories of this installation have used up $100.00 today (UTC), the most that this server allows. It starts anew at midnight UTC; set the label again then. The operator of this server can raise the cap with \`MAX_BUDGET_INSTALLATION_DAY\`."
  `);
});

const ABOUT_LABELS: ReadonlySet<Refusal['kind']> = new Set([
  'no-permission',
  'set-by-app',
  'label-gone',
  'not-an-issue',
]);

test('whoever gave a command is not told to set a label', () => {
  for (const refusal of Object.values(ALL)) {
    if (ABOUT_LABELS.has(refusal.kind)) continue;
    expect(refusalWords(refusal, 'command').advice, refusal.kind).not.toMatch(/set the label/i);
  }
  expect(refusalWords({ kind: 'archived' }, 'command').advice).toBe(
    'Unarchive it, and give the command again.',
  );
});

test('as a comment', () => {
  expect(refusalComment(RUN, ALL['settings-invalid']).body).toMatchInlineSnapshot(`
    "<!-- runoff:refusal:r7k2m9q4xa -->

    **No run was started.** \`.github/auto-dev.yml\` cannot be used: line 3, column 5: unknown key \`bugdet\`, did you mean \`budget\`?; line 7, column 1: expected a number.

    **Next:** Correct the file on the default branch and start the run again.
    "
  `);
});

test('a file with very many problems names the first few', () => {
  const problems = Array.from({ length: 40 }, (_, n) => `line ${n}, column 1: wrong`);
  expect(refusalWords({ kind: 'settings-invalid', file: 'f', problems }).message).toMatch(
    /line 4, column 1: wrong; and 35 more\.$/,
  );
});
