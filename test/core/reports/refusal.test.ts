import { expect, test } from 'vitest';
import { type Refusal, refusalComment, refusalWords } from '../../../src/core/reports/index.ts';
import { RUN } from './sample.ts';

const ALL: { readonly [K in Refusal['kind']]: Extract<Refusal, { kind: K }> } = {
  'no-permission': { kind: 'no-permission', login: 'ada' },
  'not-an-issue': { kind: 'not-an-issue' },
  'issue-closed': { kind: 'issue-closed' },
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
    not-an-issue: The label is on a pull request; a run starts from an issue. Open an issue that says what is to be done, and set the label there.
    issue-closed: The issue is closed. Reopen it, then remove the label and set it again.
    already-running: The run \`r0123456789\` is at work on this issue. Wait for it to end. To start afresh, remove the label, which cancels it, and set it again.
    base-missing: There is no branch, tag or commit named \`develop\` to start from. Name one that exists, or push it first, and start the run again.
    settings-invalid: \`.github/auto-dev.yml\` cannot be used: line 3, column 5: unknown key \`bugdet\`, did you mean \`budget\`?; line 7, column 1: expected a number. Correct the file on the default branch and start the run again.
    no-test-command: No test command was found: Runoff decides by what runs. Set \`checks.test\` in \`.github/auto-dev.yml\`, for example \`test: npm test\`, and start the run again.
    nobody-approves: \`.github/auto-dev.yml\` wants the plan approved (\`approval: plan\`), and nobody is asked here. Run it at a terminal, without \`--no-ask\` and \`--json\`, and approve the plan with \`runoff approve\`; or set \`approval: never\`."
  `);
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
