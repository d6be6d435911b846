import { describe, expect, test } from 'vitest';
import type { BaseFacts } from '../../../src/core/evidence/index.ts';
import {
  comparison,
  excludedTestsNote,
  pickComment,
  pullRequest,
  silenceNote,
  statusComment,
  testNotes,
} from '../../../src/core/reports/index.ts';
import { judged, published } from './sample.ts';

const FACTS: BaseFacts = { exitCode: 1, passed: 0, total: 0, excluded: [], lines: [] };
const checks = (base: Partial<BaseFacts>, test: string | null = 'npm test') => ({
  checks: { ...(test === null ? {} : { test }), base: { ...FACTS, ...base } },
});

describe('what is said first of a run whose tests say nothing', () => {
  const silent: readonly Parameters<typeof checks>[] = [
    [{ silence: 'no-command', exitCode: null }, null],
    [{ silence: 'exit-code', lines: ['Error: no'] }],
    [{ silence: 'exit-code', lines: ['Error: connect ECONNREFUSED 127.0.0.1:5432'], need: 'database' }],
    [{ silence: 'exit-code', lines: ['Error: getaddrinfo ENOTFOUND example.com'], need: 'network' }],
    [{ silence: 'not-started', exitCode: 127, lines: ['sh: 1: cargo: not found'] }, 'cargo test'],
    [{ silence: 'stopped', stopped: 'wall', exitCode: null }],
    [{ silence: 'none-passes', total: 12, lines: ["E   ModuleNotFoundError: No module named 'click'"] }],
    [{ silence: 'none-reported', exitCode: 0 }],
  ];

  test('is what happened, what would help, and how candidates are compared instead', () => {
    expect(silent.map((one) => silenceNote(checks(...one))).join('\n')).toMatchInlineSnapshot(`
      "Nothing was tested, because Runoff found no test command in this repository: to add tests, set \`checks.test\` in \`.github/auto-dev.yml\`, for example \`test: npm test\`. Without tests, Runoff compares candidates by build, syntax, behaviour, agreement and judges, and calls no result clear.
      The test command \`npm test\` failed on the base commit (exit code 1): \`Error: no\`. Make the command pass there, or set \`checks.test\` to a runner whose report Runoff reads: then only the tests that fail are excluded. Without tests, Runoff compares candidates by build, syntax, behaviour, agreement and judges, and calls no result clear.
      The test command \`npm test\` failed on the base commit (exit code 1): \`Error: connect ECONNREFUSED 127.0.0.1:5432\`. It needs a database, which is not in the sandbox. Make the command pass there, or set \`checks.test\` to a runner whose report Runoff reads: then only the tests that fail are excluded. Without tests, Runoff compares candidates by build, syntax, behaviour, agreement and judges, and calls no result clear.
      The test command \`npm test\` failed on the base commit (exit code 1): \`Error: getaddrinfo ENOTFOUND example.com\`. Tests have no network: leave those that need it out of \`checks.test\`, or set \`network.checks: true\` with the hosts in \`network.allow\`. Make the command pass there, or set \`checks.test\` to a runner whose report Runoff reads: then only the tests that fail are excluded. Without tests, Runoff compares candidates by build, syntax, behaviour, agreement and judges, and calls no result clear.
      The test command \`cargo test\` failed on the base commit (exit code 127): \`sh: 1: cargo: not found\`. \`cargo\` is missing: install it on the machine that runs Runoff, or use an image that has it (\`RUNOFF_SANDBOX=container\`, \`RUNOFF_SANDBOX_IMAGE\`). Make the command start there (\`checks.setup\` installs packages), or set \`checks.test\` to another one. Without tests, Runoff compares candidates by build, syntax, behaviour, agreement and judges, and calls no result clear.
      The test command \`npm test\` failed on the base commit (stopped at its time limit), without any output. Raise \`timeout.check\`, or set \`checks.test\` to a smaller part of the tests. Without tests, Runoff compares candidates by build, syntax, behaviour, agreement and judges, and calls no result clear.
      None of 12 existing tests passes on the base commit (\`npm test\`, exit code 1): \`E   ModuleNotFoundError: No module named 'click'\`. \`click\` is not installed: set \`checks.setup\` to the command that installs the packages. Make at least one test pass there, or set \`checks.test\` to another command. As long as none passes, Runoff calls no result clear.
      The test command \`npm test\` reports no test on the base commit (exit code 0). Make at least one test pass there, or set \`checks.test\` to another command. As long as none passes, Runoff calls no result clear."
    `);
  });

  test('stands in the comparison, the choice, the pull request and the status', () => {
    const what = { ...judged(), ...checks({ silence: 'no-command' }, null) };
    const first =
      'Nothing was tested, because Runoff found no test command in this repository: to add tests, set `checks.test` in';
    expect(comparison(what, {})[0]?.body).toContain(first);
    expect(pickComment(what, {})[0]?.body).toContain(first);
    const shown = published(checks({ silence: 'no-command' }, null));
    expect(pullRequest(shown, 'A', {}).body).toContain(first);
    expect(statusComment(shown).body).toContain(first);
    expect(comparison(what, {})[0]?.body).toContain('and not tested');
  });

  test('is nothing where tests say something, or were not run yet', () => {
    expect(silenceNote(checks({ passed: 3, total: 3, exitCode: 0 }))).toBeNull();
    expect(silenceNote({ checks: { test: 'npm test' } })).toBeNull();
    expect(silenceNote({})).toBeNull();
  });
});

describe('tests that fail on the base', () => {
  test('are named, with what they need', () => {
    const excluded: BaseFacts['excluded'] = [
      { because: 'network', count: 12, names: ['a', 'b', 'c'] },
      { because: 'failing', count: 2, names: ['d', 'e'] },
    ];
    const view = checks({ passed: 2_286, total: 2_300, excluded });
    expect(excludedTestsNote(view)).toBe(
      'Runoff excluded 14 of 2300 existing tests, because they fail on the base commit: 12 tests need the network (a; b; c; and 9 more), 2 others (d; e).',
    );
    expect(testNotes({ ...judged(), ...view })[0]).toBe(excludedTestsNote(view));
  });

  test('without a known reason are named alone', () => {
    const excluded: BaseFacts['excluded'] = [{ because: 'failing', count: 1, names: ['d'] }];
    expect(excludedTestsNote(checks({ passed: 9, total: 10, excluded }))).toBe(
      'Runoff excluded 1 of 10 existing tests, because it fails on the base commit: d.',
    );
    expect(excludedTestsNote(checks({ passed: 10, total: 10 }))).toBeNull();
  });
});
