import { packageOf, type SelectionTask } from './task.ts';

const before = `/** Fields of one line of comma-separated values. */
export function fields(line) {
  return line.split(',');
}
`;

const tests = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fields } from '../src/csv.js';

test('plain fields', () => {
  assert.deepEqual(fields('a,b,c'), ['a', 'b', 'c']);
});

test('empty fields', () => {
  assert.deepEqual(fields('a,,c'), ['a', '', 'c']);
});
`;

/** Nobody is right: to abstain is right. */
export const csv: SelectionTask = {
  name: 'csv: nobody is right',
  issue: `# A comma in quotes splits the field

\`\`\`js
assert.deepEqual(fields('a,"b,c",d'), ['a', 'b,c', 'd']);
\`\`\`

A doubled quote inside quotes stands for one: \`fields('"a""b"')\` should return \`['a"b']\`.
`,
  files: { ...packageOf('csv'), 'src/csv.js': before, 'test/csv.test.js': tests },
  candidates: [
    {
      name: 'takes the quotes away',
      right: false,
      files: { 'src/csv.js': before.replace("line.split(',')", "line.replaceAll('\"', '').split(',')") },
    },
    {
      name: 'splits at quotes',
      right: false,
      files: { 'src/csv.js': before.replace("split(',')", 'split(/,|"/).filter(Boolean)') },
    },
    {
      name: 'keeps the quotes',
      right: false,
      files: { 'src/csv.js': before.replace("line.split(',')", 'line.match(/"[^"]*"|[^,]+/g) ?? []') },
    },
  ],
};
