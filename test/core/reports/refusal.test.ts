import { expect, test } from 'vitest';
import { pushRefusal, type Refusal, refusalComment, refusalText } from '../../../src/core/reports/index.ts';
import { RUN } from './sample.ts';

const ALL: { readonly [K in Refusal['kind']]: Extract<Refusal, { kind: K }> } = {
  'no-permission': { kind: 'no-permission', login: 'ada' },
  'set-by-app': { kind: 'set-by-app', login: 'ada' },
  'label-gone': { kind: 'label-gone' },
  'not-an-issue': { kind: 'not-an-issue' },
  'issue-closed': { kind: 'issue-closed' },
  locked: { kind: 'locked' },
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
  'nobody-approves': { kind: 'nobody-approves', file: '.github/auto-dev.yml' },
};

test('each refusal says what happened and what to do next', () => {
  const words = Object.values(ALL).map((refusal) => {
    const { message, advice } = refusalText(refusal);
    return `${refusal.kind}: ${message} ${advice}`;
  });
  expect(words.join('\n')).toMatchInlineSnapshot(`
    "no-permission: \`ada\` has no write access to this repository, or GitHub did not confirm it. Ask someone with write access to add the label.
    set-by-app: An App added the label on behalf of \`ada\`; only a person can start a run. Add the label again on GitHub itself, or comment \`/auto-dev run\` there.
    label-gone: The label was removed before the run started. Add the label again to start a run.
    not-an-issue: The label is on a pull request, but runs start from issues. Open an issue that describes the task and add the label there. On a pull request, comment \`/auto-dev review\` or \`/auto-dev fix\`.
    issue-closed: The issue is closed. Reopen it, then add the label again.
    locked: The conversation is locked, so Runoff could neither ask questions nor post a result. Unlock it, then add the label again.
    not-a-pull: #12 is not a pull request. Comment on the pull request you want changed. For an issue, comment \`/auto-dev run\`.
    pull-closed: The pull request is no longer open. Reopen it, then add the label again.
    branch-moved: The branch \`topic\` has moved since the run that this one continues. Comment \`/auto-dev retry\` to start over.
    from-a-fork: The code of this pull request is in a fork or in a deleted repository, but runs work only on branches of this repository. Push its branch to this repository, open a pull request from it, and add the label there.
    nothing-to-do: This pull request has no review comments by people with write access. Write a review or comment on a line, then comment \`/auto-dev review\` again.
    archived: The repository is archived, so nobody can write to it. Unarchive it, then add the label again.
    repository-empty: The repository has no commit on its default branch \`main\` yet, so a run has nothing to start from. Push a first commit, then add the label again.
    cap-reached: \`ada\` has started 20 runs today (UTC), the daily limit of this server. The limit resets at midnight UTC; add the label again then. The operator of this server can raise it with \`MAX_RUNS_USER_DAY\`.
    already-running: Run \`r0123456789\` is already active here. Wait for it to finish, or cancel it with \`/auto-dev cancel\` and try again.
    base-missing: There is no branch, tag or commit named \`develop\`. Name an existing one, or push it first, then start the run again.
    settings-invalid: \`.github/auto-dev.yml\` is invalid: line 3, column 5: unknown key \`bugdet\`, did you mean \`budget\`? line 7, column 1: expected a number. Correct the file on the default branch, then start the run again.
    nobody-approves: \`.github/auto-dev.yml\` requires plan approval (\`approval: plan\`), but this run cannot ask anyone. Run it in a terminal without \`--no-ask\` and \`--json\` and approve the plan with \`runoff approve\`, or set \`approval: never\`."
  `);
});

test('each refusal has different words for different cases', () => {
  const others: readonly Refusal[] = [
    { kind: 'no-permission', login: 'ada', mayLabel: true },
    { kind: 'nothing-to-do', work: 'fix' },
    { kind: 'cap-reached', cap: 'runs-user', most: 1, login: 'ada' },
    { kind: 'cap-reached', cap: 'runs-repository', most: 50, login: 'ada' },
    { kind: 'cap-reached', cap: 'runs-installation', most: 200, login: 'ada' },
    { kind: 'cap-reached', cap: 'budget-user', most: 7.5, login: 'ada' },
    { kind: 'cap-reached', cap: 'budget-installation', most: 100, login: 'ada' },
  ];
  const words = others.map((refusal) => Object.values(refusalText(refusal)).join(' '));
  expect(words.join('\n')).toMatchInlineSnapshot(`
    "\`ada\` can add labels here, but starting a run requires write access to this repository. Ask someone with write access to add the label.
    No check failed on the latest commit, and there are no review comments by people with write access. Wait for the checks to finish, or write a review, then comment \`/auto-dev fix\` again.
    \`ada\` has started 1 run today (UTC), the daily limit of this server. The limit resets at midnight UTC; add the label again then. The operator of this server can raise it with \`MAX_RUNS_USER_DAY\`.
    This repository has had 50 runs today (UTC), the daily limit of this server. The limit resets at midnight UTC; add the label again then. The operator of this server can raise it with \`MAX_RUNS_REPOSITORY_DAY\`.
    The repositories of this installation have had 200 runs today (UTC), the daily limit of this server. The limit resets at midnight UTC; add the label again then. The operator of this server can raise it with \`MAX_RUNS_INSTALLATION_DAY\`.
    The runs of \`ada\` have spent $7.50 today (UTC), the daily limit of this server. The limit resets at midnight UTC; add the label again then. The operator of this server can raise it with \`MAX_BUDGET_USER_DAY\`.
    The repositories of this installation have spent $100.00 today (UTC), the daily limit of this server. The limit resets at midnight UTC; add the label again then. The operator of this server can raise it with \`MAX_BUDGET_INSTALLATION_DAY\`."
  `);
});

const ABOUT_LABELS: ReadonlySet<Refusal['kind']> = new Set(['set-by-app', 'label-gone']);

test('a refused command is not answered with advice about labels', () => {
  for (const refusal of Object.values(ALL)) {
    if (ABOUT_LABELS.has(refusal.kind)) continue;
    expect(refusalText(refusal, 'command').advice, refusal.kind).not.toMatch(/(?:set|add) the label/i);
  }
  expect(refusalText({ kind: 'archived' }, 'command').advice).toBe(
    'Unarchive it, then give the command again.',
  );
  expect(refusalText({ kind: 'from-a-fork' }, 'command').advice).toMatch(/, and give the command there\.$/);
});

test('a refusal is rendered as a comment', () => {
  expect(refusalComment(RUN, ALL['settings-invalid']).body).toMatchInlineSnapshot(`
    "<!-- runoff:refusal:r7k2m9q4xa -->

    **No run was started.** \`.github/auto-dev.yml\` is invalid: line 3, column 5: unknown key \`bugdet\`, did you mean \`budget\`? line 7, column 1: expected a number.

    **Next:** Correct the file on the default branch, then start the run again.
    "
  `);
});

test('a refusal names the first problems of a file with very many', () => {
  const problems = Array.from({ length: 40 }, (_, n) => `line ${n}, column 1: wrong`);
  expect(refusalText({ kind: 'settings-invalid', file: 'f', problems }).message).toMatch(
    /line 4, column 1: wrong\. And 35 more\.$/,
  );
  const asking = refusalText({ kind: 'settings-invalid', file: 'f', problems: ['Did you mean `run`?'] });
  expect(asking.message).toBe('`f` is invalid: Did you mean `run`?');
});

test('a refused push is told in words, with what to do about it', () => {
  const branch = 'auto-dev/7/r1/A';
  const ref = `refs/heads/${branch}`;
  const said = [
    `[remote rejected] (cannot lock ref '${ref}': 'refs/heads/auto-dev' exists; cannot create '${ref}')`,
    '[remote rejected] (directory file conflict)',
    `[remote rejected] (hook declined) remote: error: GH013: Repository rule violations found for ${ref}. remote: - Cannot create ref due to creations being restricted. remote: error: hook declined to update ${ref}`,
    '[remote rejected] (push declined) remote: error: GH013: Repository rule violations found. remote: - GITHUB PUSH PROTECTION remote: - Push cannot contain secrets',
    'Pushing failed: remote: This repository was archived so it is read-only.',
    '[remote rejected] (internal `error`)',
  ].map((why) => pushRefusal(branch, why));
  expect(said.join('\n')).toMatchInlineSnapshot(`
    "The branch \`auto-dev/7/r1/A\` cannot be created, because a branch \`auto-dev\` exists: git cannot have both. Rename or delete \`auto-dev\`.
    The branch \`auto-dev/7/r1/A\` cannot be created, because a branch \`auto-dev\` exists: git cannot have both. Rename or delete \`auto-dev\`.
    A rule of this repository does not let Runoff push the branch \`auto-dev/7/r1/A\`: \`Cannot create ref due to creations being restricted\`. Change the rule, or let Runoff's App bypass it.
    GitHub found a secret in the changes, so the branch \`auto-dev/7/r1/A\` was not pushed: \`GITHUB PUSH PROTECTION Push cannot contain secrets\`. Pick another candidate, or start the run again.
    The branch \`auto-dev/7/r1/A\` cannot be pushed, because the repository is archived. Unarchive it.
    GitHub refused the push of the branch \`auto-dev/7/r1/A\`: \`[remote rejected] (internal 'error')\`."
  `);
});
