import type { WrittenTests } from '../../../core/neutral/index.ts';

const file = (title: string, input: string, rows: string): string =>
  String.raw`import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv } from '../src/csv.js';

test('${title}', () => {
  assert.deepEqual(parseCsv(${input}), ${rows});
});
`;

/** What a scripted writer makes of the issue before it has seen a candidate. */
export const NEUTRAL: WrittenTests = {
  tests: [
    {
      title: 'a comma in a quoted field',
      quote: 'a comma inside a quoted field belongs to the field',
      why: 'The quoted field is one cell, with its comma.',
      now: 'fails',
      file: file(
        'a comma in a quoted field',
        String.raw`'a,b\n"Lamp, bedroom",1\n'`,
        `[['a', 'b'], ['Lamp, bedroom', '1']]`,
      ),
    },
    {
      title: 'a doubled quote',
      quote: 'a quote inside a quoted field is written twice',
      why: 'Two quotes stand for one.',
      now: 'fails',
      file: file(
        'a doubled quote',
        String.raw`'a,b\n"""Left Hand"", used",1\n'`,
        `[['a', 'b'], ['"Left Hand", used', '1']]`,
      ),
    },
    {
      title: 'a line break in a quoted field',
      quote: 'a line break inside a quoted field belongs to the field too',
      why: 'The row goes on behind the line break.',
      now: 'fails',
      file: file(
        'a line break in a quoted field',
        String.raw`'a,b\n"for Ada\n(birthday)",1\n'`,
        String.raw`[['a', 'b'], ['for Ada\n(birthday)', '1']]`,
      ),
    },
    {
      title: 'a file without quotes',
      quote: 'Files without quotes should go on working as they do now.',
      why: 'Nothing about it may change.',
      now: 'passes',
      file: file('a file without quotes', String.raw`'a,b\n1, 2\n'`, `[['a', 'b'], ['1', '2']]`),
    },
  ],
  note: '',
};
