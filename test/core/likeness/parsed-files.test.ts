import { expect, test } from 'vitest';
import { comparableFiles } from '../../../src/core/likeness/file-kinds.ts';
import { readDiff } from '../../../src/core/patches/index.ts';
import { patchBetween, type Tree } from '../git.ts';

const BASE: Tree = {
  'src/sum.js': 'exports.sum = (list) => {\n  return 0;\n};\n',
  'src/windows.js': 'one\r\ntwo\r\n',
  'src/gone.js': 'old();\n',
  'src/now-a-link.js': 'text\n',
  'docs/page.md': 'no newline at the end',
};
const CHANGED: Tree = {
  'src/sum.js': `exports.sum = (list) => {\n  return ${'1 + '.repeat(1_000)}0;\n};\n`,
  'src/windows.js': 'one\r\n2\r\n',
  'src/now-a-link.js': { link: 'sum.js' },
  'docs/page.md': 'still none',
  'src/new.js': 'fresh();\n',
  'src/empty.js': '',
  'run.sh': { executable: '#!/bin/sh\n' },
  'icon.png': Buffer.from([0, 255, 1, 254]),
};

test('a parsed patch is compared as its text would be', async () => {
  const { files, text } = patchBetween(BASE, CHANGED);
  expect(files).toHaveLength(9);
  expect(readDiff(text)).toMatchObject(comparableFiles(files));
});
