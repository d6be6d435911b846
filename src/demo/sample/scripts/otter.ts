import type { Turn } from '../../scripted-models/index.ts';
import { bash, edit, LOOK, RUN_BUILD, RUN_TESTS, say } from './turns.ts';

const TEST = String.raw`test('keeps a comma inside quotes', () => {
  assert.deepEqual(parseCsv('a,b\n"Lamp, bedroom",3\n'), [
    ['a', 'b'],
    ['Lamp, bedroom', '3'],
  ]);
});

test('trims spaces around unquoted cells', () => {`;

/** Looks right and passes its own test, but only mends the comma: doubled quotes and line breaks stay broken. */
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
