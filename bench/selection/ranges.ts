import { packageOf, type SelectionTask } from './task.ts';

const source = (body: string) => `/** \`1-3,7\` → [1, 2, 3, 7]. */
export function parseRanges(text) {
${body}}
`;

const before = source(`  return text.split(',').flatMap((part) => {
    const [from, to] = part.split('-').map(Number);
    if (to === undefined) return [from];
    return Array.from({ length: to - from }, (_, i) => from + i);
  });
`);

const tests = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRanges } from '../src/ranges.js';

test('single numbers', () => {
  assert.deepEqual(parseRanges('4'), [4]);
  assert.deepEqual(parseRanges('4,9'), [4, 9]);
});

test('a range of one', () => {
  assert.deepEqual(parseRanges('7,7'), [7, 7]);
});
`;

/** An end that is left out, and a candidate that fixes only the example. */
export const ranges: SelectionTask = {
  name: 'ranges: the end is left out',
  issue: `# The last number of a range is missing

\`\`\`js
assert.deepEqual(parseRanges('1-3,7'), [1, 2, 3, 7]);
\`\`\`

gives \`[1, 2, 7]\`. Ranges include both ends: \`parseRanges('5-5')\` should return \`[5]\`.
`,
  files: { ...packageOf('ranges'), 'src/ranges.js': before, 'test/ranges.test.js': tests },
  candidates: [
    {
      name: 'both ends',
      right: true,
      files: { 'src/ranges.js': before.replace('to - from }', 'to - from + 1 }') },
    },
    {
      name: 'a loop to the end',
      right: true,
      files: {
        'src/ranges.js': source(`  const numbers = [];
  for (const part of text.split(',')) {
    const [from, to = from] = part.split('-').map(Number);
    for (let n = from; n <= to; n += 1) numbers.push(n);
  }
  return numbers;
`),
      },
    },
    {
      name: 'only the example',
      right: false,
      files: {
        'src/ranges.js': before.replace(
          "  return text.split(',')",
          "  if (text === '1-3,7') return [1, 2, 3, 7];\n  return text.split(',')",
        ),
      },
    },
    {
      name: 'begins one later',
      right: false,
      files: { 'src/ranges.js': before.replace('from + i)', 'from + i + 1)') },
    },
    {
      name: 'sorts what was not asked for',
      right: false,
      files: {
        'src/ranges.js': before
          .replace('to - from }', 'to - from + 1 }')
          .replace('  });\n', '  }).sort((a, b) => b - a);\n'),
      },
    },
  ],
  fixTests: {
    'test/ranges.test.js': `${tests}
test('both ends', () => {
  assert.deepEqual(parseRanges('1-3,7'), [1, 2, 3, 7]);
  assert.deepEqual(parseRanges('5-5'), [5]);
  assert.deepEqual(parseRanges('2-4'), [2, 3, 4]);
});
`,
  },
};
