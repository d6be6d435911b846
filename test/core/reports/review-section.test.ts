import { describe, expect, test } from 'vitest';
import { finalReport, runJson } from '../../../src/cli/render/index.ts';
import type { WinnerReview } from '../../../src/core/judging/index.ts';
import { comparison, pullRequest } from '../../../src/core/reports/index.ts';
import { diffsOf, judged } from './sample.ts';

const OBJECTION = {
  file: 'src/list.ts',
  line: 2,
  input: '[]',
  expected: 'undefined',
  got: 'a TypeError',
  because: 'It fails on the base and passes on B.',
} as const;
const FIRST: WinnerReview = {
  alias: 'C',
  contested: true,
  critics: [
    {
      critic: 'qa',
      kind: 'objects',
      model: 'openai/gpt-6',
      because: 'The empty list is forgotten.',
      objections: [
        { ...OBJECTION, outcome: 'confirmed' },
        { ...OBJECTION, line: 3, outcome: 'doubt', because: 'There is no test of it that could be run.' },
        { ...OBJECTION, line: 4, outcome: 'refuted' },
      ],
    },
    { critic: 'security', kind: 'failed', why: 'The reviewer failed: HTTP 529' },
  ],
  after: { alias: 'B', because: 'B passes more of the tests that it did not write than C.' },
};
const SECOND: WinnerReview = {
  alias: 'B',
  contested: false,
  critics: [{ critic: 'qa', kind: 'passed', model: 'x/y', because: 'It holds.', objections: [] }],
};
const section = (...review: readonly WinnerReview[]): string => {
  const [{ body }] = comparison(judged({ review }), diffsOf(judged()));
  return body.match(/<summary>Review of the winner by critics[\s\S]*?(?=\n\n<\/details>)/)?.[0] ?? '';
};

describe('the review of the winner', () => {
  test('says what each critic said, what was executed, and who lost the place and why', () => {
    expect(section(FIRST, SECOND)).toMatchInlineSnapshot(`
      "<summary>Review of the winner by critics</summary>

      **C** was reviewed by 2 critics, who saw neither its author nor other reviews. B replaces it as the winner. B passes more of the tests that it did not write than C.

      - \`qa\` (\`openai/gpt-6\`) objects: The empty list is forgotten.
        - **confirmed by a test** (It fails on the base and passes on B.): \`src/list.ts:2\`, input \\[\\]: expected undefined, got a TypeError
        - **not confirmed by a test** (There is no test of it that could be run.): \`src/list.ts:3\`, input \\[\\]: expected undefined, got a TypeError
        - **refuted by its own test**: \`src/list.ts:4\`, input \\[\\]: expected undefined, got a TypeError
      - \`security\` failed to review: The reviewer failed: HTTP 529

      **B** was reviewed by 1 critic, who saw neither its author nor other reviews.

      - \`qa\` (\`x/y\`) raises no objection: It holds."
    `);
  });

  test('is missing if nobody was reviewed', () => {
    expect(section()).toBe('');
  });

  test('says that a winner kept its place, and that a third one was not reviewed', () => {
    const kept = { ...SECOND, after: { alias: 'B', because: 'It is ahead.' } };
    expect(section(kept)).toContain('It stays first.');
    expect(section({ ...SECOND, after: { alias: 'A', because: 'A is ahead.' } })).toContain(
      'A replaces it as the winner. A is ahead. A was not reviewed.',
    );
  });

  test('is one line of the pull request', () => {
    const line = (review: readonly WinnerReview[], alias: string) =>
      pullRequest(judged({ review }), alias, {}).body.match(/^- Review.*$/m)?.[0];
    expect(line([FIRST, SECOND], 'B')).toBe('- Review by 1 critic: no objection');
    expect(line([FIRST, SECOND], 'C')).toBe(
      '- Review by 2 critics: objections: 1 confirmed by a test, 1 not confirmed by a test, 1 refuted by its own test; 1 failed',
    );
    expect(line([], 'B')).toBeUndefined();
  });

  test('is in the terminal report and its JSON', () => {
    const view = judged({ review: [FIRST, SECOND] });
    const lines = finalReport(view, { width: 100, colour: false });
    const at = lines.indexOf('Review of the winner');
    expect(lines.slice(at).join('\n')).toMatchInlineSnapshot(`
      "Review of the winner
        C  B replaces it as the winner. B passes more of the tests that it did not write than C.
           - qa objects: The empty list is forgotten.
             confirmed by a test: src/list.ts:2, input []: expected undefined, got a TypeError
             not confirmed by a test: src/list.ts:3, input []: expected undefined, got a TypeError
             refuted by its own test: src/list.ts:4, input []: expected undefined, got a TypeError
           - security failed to review: The reviewer failed: HTTP 529
        B  Reviewed by 1 critic.
           - qa raises no objection: It holds."
    `);
    expect(runJson(view).run.review).toEqual([FIRST, SECOND]);
    expect(runJson(judged()).run.review).toEqual([]);
  });
});
