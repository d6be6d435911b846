import { expect, test } from 'vitest';
import { staticScore } from '../../../src/core/likeness/index.ts';
import { change, created, patch } from './sample.ts';

const MESSAGE = 'Adds instead of subtracting';
const lines = (sign: string, n: number): readonly string[] =>
  Array.from({ length: n }, (_, i) => `${sign}x${i}`);
const files = (n: number, each: number): string =>
  patch(...Array.from({ length: n }, (_, i) => change(`src/${i}.ts`, lines('+', each))));
/** A diff of one file that has so many lines, its headers and the end of the last one included. */
const long = (all: number): string => files(1, all + 1 - files(1, 1).split('\n').length);

test.each([
  ['a small patch of one file', files(1, 10), MESSAGE, 120],
  ['49 lines', long(49), MESSAGE, 120],
  ['50 lines', long(50), MESSAGE, 110],
  ['200 lines', long(200), MESSAGE, 110],
  ['201 lines', long(201), MESSAGE, 90],
  ['300 lines', long(300), MESSAGE, 90],
  ['301 lines', long(301), MESSAGE, 60],
  ['two files', files(2, 30), MESSAGE, 100],
  ['5 files', files(5, 12), MESSAGE, 100],
  ['6 files', files(6, 12), MESSAGE, 85],
  ['no commit message', files(2, 30), undefined, 70],
  ['a blank commit message', files(2, 30), ' \n', 70],
  ['a commit message of 9 characters', files(2, 30), 'Fix a bug', 90],
  ['a commit message of 10 characters', files(2, 30), 'Fix a bugs', 100],
  ['3 times as many deletions', change('a.ts', [...lines('-', 60), ...lines('+', 20)]), MESSAGE, 110],
  ['more than that', change('a.ts', [...lines('-', 61), ...lines('+', 20)]), MESSAGE, 90],
  ['deletions only', change('a.ts', lines('-', 1)), MESSAGE, 100],
  ['no hunk header', 'diff --git a/x b/x\n--- /dev/null\n+++ b/x\n', MESSAGE, 70],
  ['no lines of the file either', 'diff --git a/x b/x\nnew file mode 100644\n', MESSAGE, 20],
  ['no header at all', 'hello', MESSAGE, 10],
  ['nothing at all', '', undefined, 0],
])('%s', (_, text, message, score) => {
  expect(staticScore(text, message).score).toBe(score);
});

test('each rule that applied is a sentence', () => {
  expect(staticScore(created('src/a.ts', lines('', 250)), 'Fix')).toEqual({
    score: 80,
    because: [
      '−20: 256 lines of diff, more than 200.',
      '+10: 1 file.',
      '−10: a commit message of 3 characters, shorter than 10.',
    ],
  });
});
