import type { Turn } from '../../scripted-models/index.ts';
import { bash, edit, LOOK, RUN_BUILD, RUN_TESTS, say, write } from './turns.ts';

const TESTS = String.raw`import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv } from '../src/csv.js';
import { readExpenses } from '../src/expenses.js';

test('keeps a comma inside quotes', () => {
  assert.deepEqual(parseCsv('a,b\n"1,2",3\n'), [
    ['a', 'b'],
    ['1,2', '3'],
  ]);
});

test('reads two quotes inside quotes as one', () => {
  assert.deepEqual(parseCsv('a,b\n"say ""hi""",""\n'), [
    ['a', 'b'],
    ['say "hi"', ''],
  ]);
});

test('keeps a line break inside quotes', () => {
  assert.deepEqual(parseCsv('a,b\r\n"one\r\ntwo",3\r\n"four\n\nfive",6\r\n'), [
    ['a', 'b'],
    ['one\r\ntwo', '3'],
    ['four\n\nfive', '6'],
  ]);
});

test('keeps spaces inside quotes and drops those around them', () => {
  assert.deepEqual(parseCsv('" a " , b\n'), [[' a ', 'b']]);
});

test('leaves a quote in the middle of an unquoted cell alone', () => {
  assert.deepEqual(parseCsv('pipe 5",1\n'), [['pipe 5"', '1']]);
});

test('reads a bank export with all three kinds of notes', () => {
  const text = [
    'date,category,amount,note',
    '2024-03-03,household,129.00,"Lamp, bedroom"',
    '2024-03-09,books,18.50,"""The Left Hand of Darkness"", used"',
    '2024-03-15,gifts,45.00,"for Ada\n(birthday)"',
  ].join('\n');
  assert.deepEqual(
    readExpenses(text).map((expense) => expense.note),
    ['Lamp, bedroom', '"The Left Hand of Darkness", used', 'for Ada\n(birthday)'],
  );
});
`;

const PARSER = String.raw`/**
 * Splits CSV text into rows of cells, as RFC 4180 describes: a cell in quotes may hold commas and line breaks, and
 * a quote written twice. Blank lines are skipped; line ends may be LF or CRLF. Spaces around a cell are dropped.
 * @param {string} text
 * @returns {string[][]}
 */
export function parseCsv(text) {
  const rows = [];
  let cells = [];
  let cell = { text: '', quoted: false };
  let inQuotes = false;

  const endCell = () => {
    cells.push(cell);
    cell = { text: '', quoted: false };
  };
  const endRow = () => {
    endCell();
    const blank = cells.length === 1 && !cells[0].quoted && cells[0].text.trim() === '';
    if (!blank) rows.push(cells.map(content));
    cells = [];
  };

  const source = text.replace(/^\uFEFF/, '');
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at];
    if (inQuotes) {
      if (char !== '"') cell.text += char;
      else if (source[at + 1] === '"') {
        cell.text += char;
        at += 1;
      } else inQuotes = false;
    } else if (char === '"' && !cell.quoted && cell.text.trim() === '') {
      cell = { text: '', quoted: true };
      inQuotes = true;
    } else if (char === ',') endCell();
    else if (char === '\n') endRow();
    else if (!cell.quoted || char.trim() !== '') cell.text += char;
  }
  if (inQuotes) throw new Error('a quoted cell is not closed');
  endRow();
  return rows;
}

function content(cell) {
  return cell.quoted ? cell.text : cell.text.trim();
}
`;

/** Does what the issue asks for, with tests for each case. */
export const HERON: readonly Turn[] = [
  LOOK,
  bash(
    'The parser splits by lines first and by commas then, so it cannot know about quotes. I check who uses it.',
    'grep -rn "parseCsv\\|toRecords" src test | head -n 20',
  ),
  write(
    'I write down the cases of the issue as tests, before I change anything.',
    'test/csv-quoted.test.js',
    TESTS,
  ),
  bash(
    'They should fail now.',
    'node --test test/csv-quoted.test.js 2>&1 | grep -E "^(not ok|✖|ok|✔)" | head -n 12',
  ),
  write(
    'Now the parser: one pass over the characters that knows when it is inside quotes.',
    'src/csv.js',
    PARSER,
  ),
  bash('All tests and the build.', `${RUN_TESTS} && ${RUN_BUILD}`),
  edit(
    'Everything passes. The README should say what is possible now.',
    'README.md',
    'Amounts are kept in cents, so sums are exact.\n',
    'Amounts are kept in cents, so sums are exact.\nFields may be in quotes, as RFC 4180 describes: they can hold commas, line breaks, and quotes written twice.\n',
  ),
  say(
    'Quoted fields are now read in one pass that keeps commas, doubled quotes and line breaks inside quotes. New tests cover each case and the example of the issue; the whole suite and the build pass.',
  ),
];
