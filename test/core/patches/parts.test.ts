import { expect, test } from 'vitest';
import { joinSections, patchedText, productionLines, summarise } from '../../../src/core/patches/index.ts';
import { Git, patchBetween } from '../git.ts';

const before = { 'src/a.ts': '1\n2\n3\n', 'test/a.test.ts': 'x\n', 'vitest.config.ts': 'a\n' };
const after = {
  'src/a.ts': '1\ntwo\n3\n4\n',
  'test/a.test.ts': 'x\ny\n',
  'test/__snapshots__/a.snap': 's\n',
  'vitest.config.ts': 'b\n',
};

test('a patch is split into production and tests; configuration of the runner is in neither', () => {
  const patch = patchBetween(before, after);
  expect(patch.production.map((file) => file.path)).toEqual(['src/a.ts']);
  expect(patch.tests.map((file) => file.path)).toEqual(['test/__snapshots__/a.snap', 'test/a.test.ts']);
  expect(productionLines(patch)).toBe(3);
  expect(joinSections([])).toBe('');
});

test('hunks have kind and number of every line', () => {
  const [file] = patchBetween(before, after).production;
  const lines = file ? file.hunks.flatMap((hunk) => hunk.lines) : [];
  expect(lines.map(({ kind, line, text }) => `${line} ${kind} ${text}`)).toEqual([
    '1 context 1',
    '2 removed 2',
    '2 added two',
    '3 context 3',
    '4 added 4',
  ]);
});

test('a patch is counted, also a rejected one', () => {
  using git = new Git();
  expect(summarise(git.diff(before, after))).toEqual({ files: 4, additions: 5, deletions: 2 });
  expect(summarise(git.diff({}, { a: { link: '/etc' } }))).toEqual({ files: 1, additions: 0, deletions: 0 });
  expect(summarise({ raw: '', text: '' })).toEqual({ files: 0, additions: 0, deletions: 0 });
});

test('a patch on a wrong base text is reported', () => {
  const [file] = patchBetween(before, after).production;
  if (!file) throw new Error('no production file');
  expect(patchedText('1\nother\n3\n', file)).toEqual({ kind: 'unknown' });
  expect(patchedText('1\n2\n', file)).toEqual({ kind: 'unknown' });
  expect(patchedText('1\n2\n3\n', file)).toEqual({ kind: 'text', text: '1\ntwo\n3\n4\n' });
  const [gone] = patchBetween(before, {}).production;
  expect(gone && patchedText('1\n2\n3\n', gone)).toEqual({ kind: 'gone' });
});
