import { packageOf, type SelectionTask } from './task.ts';

const source = (values: string, body: string) => `const VALUES = ${values};

/** A number from 1 to 3999 in Roman numerals. */
export function roman(number) {
${body}}
`;

const LETTERS = `[
  [1000, 'M'], [500, 'D'], [100, 'C'], [50, 'L'], [10, 'X'], [5, 'V'], [1, 'I'],
]`;
const PAIRS = `[
  [1000, 'M'], [900, 'CM'], [500, 'D'], [400, 'CD'], [100, 'C'], [90, 'XC'],
  [50, 'L'], [40, 'XL'], [10, 'X'], [9, 'IX'], [5, 'V'], [4, 'IV'], [1, 'I'],
]`;
const body = `  let left = number;
  let text = '';
  for (const [value, letters] of VALUES) {
    while (left >= value) {
      text += letters;
      left -= value;
    }
  }
  return text;
`;
const before = source(LETTERS, body);

const tests = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roman } from '../src/roman.js';

test('letters in a row', () => {
  assert.equal(roman(3), 'III');
  assert.equal(roman(20), 'XX');
});

test('from large to small', () => {
  assert.equal(roman(1666), 'MDCLXVI');
});
`;

/** Two that are wrong in the same way, against two that are right. */
export const numerals: SelectionTask = {
  name: 'roman: a wrong pair',
  issue: `# Four and nine are written out

\`roman(4)\` returns \`IIII\`, but should return \`IV\`; the same for all that are written by subtraction:

- \`roman(9)\` should be \`'IX'\`
- \`roman(1994)\` should be \`'MCMXCIV'\`
`,
  files: { ...packageOf('roman'), 'src/roman.js': before, 'test/roman.test.js': tests },
  candidates: [
    { name: 'pairs in the table', right: true, files: { 'src/roman.js': source(PAIRS, body) } },
    {
      name: 'digit by digit',
      right: true,
      files: {
        'src/roman.js': `const DIGITS = ['', 'a', 'aa', 'aaa', 'ab', 'b', 'ba', 'baa', 'baaa', 'ac'];
const LETTERS = ['IVX', 'XLC', 'CDM', 'M  '];

/** A number from 1 to 3999 in Roman numerals. */
export function roman(number) {
  return [...String(number)]
    .reverse()
    .map((digit, place) => DIGITS[digit].replace(/[abc]/g, (letter) => LETTERS[place]['abc'.indexOf(letter)]))
    .reverse()
    .join('');
}
`,
      },
    },
    {
      name: 'small ones only',
      right: false,
      files: {
        'src/roman.js': source(
          LETTERS.replace("[1, 'I']", "[4, 'IV'], [1, 'I']").replace("[5, 'V']", "[9, 'IX'], [5, 'V']"),
          body,
        ),
      },
    },
    {
      name: 'small ones only, again',
      right: false,
      files: {
        'src/roman.js': source(
          LETTERS.replace("[1, 'I']", "[4, 'IV'], [1, 'I']").replace("[5, 'V']", "[9, 'IX'], [5, 'V']"),
          body.replace('let left = number;', 'let left = Math.trunc(number);'),
        ),
      },
    },
    {
      name: 'the pairs at the end',
      right: false,
      files: {
        'src/roman.js': source(LETTERS.replace("[1, 'I'],", "[1, 'I'], [4, 'IV'], [9, 'IX'],"), body),
      },
    },
  ],
};
