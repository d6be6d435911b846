import { packageOf, type SelectionTask } from './task.ts';

const source = (chain: string) => `/** A title as part of an address. */
export const slug = (title) =>
  title
${chain};
`;

const before = source(`    .toLowerCase()
    .replace(/[^a-z0-9]/g, '-')`);

const tests = `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slug } from '../src/slug.js';

describe('slug', () => {
  it('is in lower case', () => {
    assert.equal(slug('Hello'), 'hello');
  });

  it('joins words', () => {
    assert.equal(slug('hello world'), 'hello-world');
  });

  it('keeps figures', () => {
    assert.equal(slug('Top 10'), 'top-10');
  });
});
`;

/** Several signs in a row, at the edges too; one candidate mends half of it, one breaks figures. */
export const slugs: SelectionTask = {
  name: 'slug: hyphens in a row',
  issue: `# Too many hyphens

| Input | Output |
| --- | --- |
| \`Hello, world!\` | \`hello-world\` |
| \`  spaced  out  \` | \`spaced-out\` |

At the moment \`slug('Hello, world!')\` returns \`hello--world-\`.
`,
  files: { ...packageOf('slug'), 'src/slug.js': before, 'test/slug.test.js': tests },
  candidates: [
    {
      name: 'runs, then edges',
      right: true,
      files: {
        'src/slug.js': source(`    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')`),
      },
    },
    {
      name: 'words that are found',
      right: true,
      files: {
        'src/slug.js': `/** A title as part of an address. */
export const slug = (title) => (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-');
`,
        'test/hyphens.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slug } from '../src/slug.js';

test('no hyphen at an edge', () => {
  assert.equal(slug('!a!'), 'a');
  assert.equal(slug('a & b'), 'a-b');
});
`,
      },
    },
    {
      name: 'runs only',
      right: false,
      files: { 'src/slug.js': before.replace('0-9]/g', '0-9]+/g') },
    },
    {
      name: 'edges only',
      right: false,
      files: { 'src/slug.js': before.replace("'-')", "'-')\n    .replace(/^-+|-+$/g, '')") },
    },
    {
      name: 'letters only',
      right: false,
      files: {
        'src/slug.js': source(`    .toLowerCase()
    .replace(/[^a-z]+/g, '-')
    .replace(/^-|-$/g, '')`),
      },
    },
  ],
};
