import { expect, test } from 'vitest';
import { diffText, explainText, painter } from '../../src/cli/render/index.ts';
import { JUDGEMENT, judged, RUN } from '../core/reports/sample.ts';

const ESC = '\u001b';

test('a diff is coloured by what its lines are, not by what they look like', () => {
  const patch = [
    'diff --git a/x b/x',
    '--- a/x',
    '+++ b/x',
    '@@ -1,2 +1,2 @@',
    '--- was a comment',
    '+++i;',
    ' same',
    '',
  ].join('\n');
  expect(diffText(patch, painter(true)).split('\n')).toEqual([
    `${ESC}[1mdiff --git a/x b/x${ESC}[0m`,
    `${ESC}[1m--- a/x${ESC}[0m`,
    `${ESC}[1m+++ b/x${ESC}[0m`,
    `${ESC}[2m@@ -1,2 +1,2 @@${ESC}[0m`,
    `${ESC}[31m--- was a comment${ESC}[0m`,
    `${ESC}[32m+++i;${ESC}[0m`,
    ' same',
    '',
  ]);
  expect(diffText(patch, painter(false))).toBe(patch);
});

test('a line of a candidate cannot act on the terminal that shows its diff', () => {
  const shown = diffText(
    `diff --git a/x b/x\n@@ -0,0 +1 @@\n+a${ESC}[2J${ESC}]52;c;eA==\u0007\u202e\n`,
    painter(true),
  );
  expect(shown).toContain('a<U+001B>[2J<U+001B>]52;c;eA==<U+0007><U+202E>');
});

test('an explanation has the reasons, the checks, the scores and what each judge said', () => {
  const view = { ...judged(), judgement: JUDGEMENT };
  const text = explainText(view, 'B', { width: 100, colour: false }) ?? '';
  for (const part of [
    'Candidate B',
    'What decided its place',
    'Checks',
    'Scores',
    'Judges (opinions',
    'judge-1',
  ])
    expect(text).toContain(part);
  expect(text).not.toContain(ESC);
  // Strategies that are off by default, and odds that no gate let count.
  expect(text).toContain('counts only if `evaluator` or `weights` names `metrics`');
  const eliminated = explainText(view, 'D', { width: 200, colour: false });
  expect(eliminated).toContain('(logarithm of odds, without effect, because it failed a gate)');
  expect(explainText(view, 'Z', { width: 100, colour: false })).toBeNull();
  expect(view.id).toBe(RUN);
});
