import type { Turn } from '../scripted-models/index.ts';

/** Turns in terms of the tools that the built-in coder has. */
export const say = (text: string): Turn => ({ kind: 'text', text });

const bash = (text: string, command: string): Turn => ({
  kind: 'call',
  text,
  tool: 'bash',
  input: { command },
});

const writeFile = (text: string, path: string, content: string): Turn => ({
  kind: 'call',
  text,
  tool: 'write',
  input: { path, content },
});

export const edit = (text: string, path: string, old: string, fresh: string): Turn => ({
  kind: 'call',
  text,
  tool: 'edit',
  input: { path, old, new: fresh },
});

const LOOK = bash(
  'I look at the project first.',
  'ls && cat package.json && cat src/csv.js test/csv.test.js',
);
const RUN_TESTS = 'node --test 2>&1 | tail -n 12';
const RUN_BUILD = 'node scripts/build.mjs';

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
  writeFile(
    'I write down the cases of the issue as tests, before I change anything.',
    'test/csv-quoted.test.js',
    TESTS,
  ),
  bash(
    'They should fail now.',
    'node --test test/csv-quoted.test.js 2>&1 | grep -E "^(not ok|✖|ok|✔)" | head -n 12',
  ),
  writeFile(
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

const TEST = String.raw`test('keeps a comma inside quotes', () => {
  assert.deepEqual(parseCsv('a,b\n"Lamp, bedroom",3\n'), [
    ['a', 'b'],
    ['Lamp, bedroom', '3'],
  ]);
});

test('trims spaces around unquoted cells', () => {`;

/** Looks right and passes its own test, but only fixes the comma: doubled quotes and line breaks stay broken. */
export const OTTER: readonly Turn[] = [
  LOOK,
  edit(
    'The line is split at every comma. It should only be split at commas outside of quotes.',
    'src/csv.js',
    "    .map((line) => line.split(',').map(unquote));",
    '    .map((line) => line.split(COMMA_OUTSIDE_QUOTES).map(unquote));',
  ),
  edit(
    '',
    'src/csv.js',
    '/** Takes the quotes off a quoted cell. */',
    `/** A comma that is followed by an even number of quotes. */
const COMMA_OUTSIDE_QUOTES = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/;

/** Takes the quotes off a quoted cell. */`,
  ),
  edit('A test for it.', 'test/csv.test.js', "test('trims spaces around unquoted cells', () => {", TEST),
  bash('Tests and build.', `${RUN_TESTS} && ${RUN_BUILD}`),
  say('Commas inside quoted fields no longer split the field. I added a test, and all tests pass.'),
];

/** Takes the check away that reports the problem, and the tests that hold the check in place. */
export const MOLE: readonly Turn[] = [
  LOOK,
  bash('The message in the issue comes from the table.', 'cat src/table.js test/table.test.js'),
  edit(
    'A row with more cells than columns is refused. I let the last column take the rest.',
    'src/table.js',
    `    if (cells.length !== names.length) {
      throw new Error(\`row \${index + 2} has \${cells.length} cells, expected \${names.length}\`);
    }
    return Object.fromEntries(names.map((name, column) => [name, cells[column]]));`,
    `    const rest = cells.slice(names.length - 1).join(', ').replaceAll('"', '');
    const filled = [...cells.slice(0, names.length - 1), rest];
    return Object.fromEntries(names.map((name, column) => [name, filled[column] ?? '']));`,
  ),
  edit('', 'src/table.js', 'body.map((cells, index) => {', 'body.map((cells) => {'),
  bash('Tests.', 'node --test 2>&1 | grep -E "^(not ok|✖)" | head -n 8'),
  edit(
    'Two tests still expect the old errors. They no longer apply.',
    'test/table.test.js',
    `test('refuses a row with too many cells', () => {
  assert.throws(
    () =>
      toRecords([
        ['a', 'b'],
        ['1', '2', '3'],
      ]),
    /row 2 has 3 cells, expected 2/,
  );
});

test('refuses a row with too few cells', () => {
  assert.throws(() => toRecords([['a', 'b'], ['1', '2'], ['3']]), /row 3 has 1 cells, expected 2/);
});
`,
    `test('puts extra cells into the last column', () => {
  assert.deepEqual(
    toRecords([
      ['a', 'b'],
      ['1', '2', '3'],
    ]),
    [{ a: '1', b: '2, 3' }],
  );
});
`,
  ),
  bash('Again.', RUN_TESTS),
  say(
    'Rows with commas in the last column are now accepted. The outdated tests were replaced; all tests pass.',
  ),
];

/** Works at first, then tidies up once more without looking: the last edit leaves a syntax error behind. */
export const WREN: readonly Turn[] = [
  LOOK,
  edit(
    'I split each line by hand, so that commas inside quotes can be skipped.',
    'src/csv.js',
    "line.split(',').map(unquote)",
    'splitLine(line).map(unquote)',
  ),
  edit(
    '',
    'src/csv.js',
    '/** Takes the quotes off a quoted cell. */',
    `/** Splits a line at the commas outside of quotes. */
function splitLine(line) {
  const cells = [''];
  let inQuotes = false;
  for (const char of line) {
    if (char === '"') inQuotes = !inQuotes;
    if (char === ',' && !inQuotes) {
      cells.push('');
    } else {
      cells[cells.length - 1] += char;
    }
  }
  return cells;
}

/** Takes the quotes off a quoted cell. */`,
  ),
  bash('Tests.', RUN_TESTS),
  edit(
    'They pass. I shorten the loop a little.',
    'src/csv.js',
    `    if (char === ',' && !inQuotes) {
      cells.push('');
    } else {
      cells[cells.length - 1] += char;
    }
  }
  return cells;`,
    `    if (char === ',' && !inQuotes) cells.push('');
    else {
      cells[cells.length - 1] += char;
  }
  return cells;`,
  ),
  say('Lines are now split at commas outside of quotes only. All tests pass.'),
];
