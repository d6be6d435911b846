import { expect, test } from 'vitest';
import { includedText } from '../../../src/cli/render/index.ts';
import type { KeptChange } from '../../../src/ports/index.ts';

const many = (count: number, name: string, change: KeptChange['change']): KeptChange[] =>
  Array.from({ length: count }, (_, at) => ({ path: `${name}${at}`, change }));

test('new files are named first, and deleted ones are not among those that coders get', () => {
  const changes = [
    { path: 'a.txt', change: 'modified' },
    { path: 'gone.txt', change: 'deleted' },
    { path: 'secret.env', change: 'added' },
  ] as const;
  expect(includedText(changes)).toBe(
    'The coders and their models see 2 uncommitted files (1 deleted file is left out):\n  secret.env (new)\n  a.txt\n',
  );
});

test('each of fifty new files is named, however many others there are', () => {
  const text = includedText([...many(500, 'changed', 'modified'), ...many(50, 'new', 'added')]);
  expect(text.match(/ \(new\)\n/g)).toHaveLength(50);
  expect(text).toMatch(/^The coders and their models see 550 uncommitted files:\n {2}new0 \(new\)\n/);
  expect(text).toMatch(/ {2}and 500 more\n$/);
});

test('what is not named is counted, new files apart', () => {
  expect(includedText(many(120, 'new', 'added'))).toMatch(/ {2}and 20 more, 20 of them new\n$/);
  expect(includedText(many(20, 'changed', 'modified'))).toMatch(/ {2}changed11\n {2}and 8 more\n$/);
});

test('deletions alone are told, and names cannot write to the terminal', () => {
  expect(includedText(many(2, 'gone', 'deleted'))).toBe(
    'The coders start from your working tree (2 deleted files are left out).\n',
  );
  expect(includedText([{ path: '\u001b[2Jx', change: 'added' }])).not.toContain('\u001b');
});
