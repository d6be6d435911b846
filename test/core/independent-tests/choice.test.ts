import { expect, test } from 'vitest';
import { taskKindOf, writersInOrder } from '../../../src/core/independent-tests/index.ts';

const familyOf = (model: string) => model.split('/')[1]?.split('-')[0] ?? '';

test('models of families that wrote no candidate come first, then those that wrote fewer', () => {
  const models = ['a/claude-1', 'b/gpt-1', 'c/gemini-1', 'b/claude-2', 'a/claude-1'];
  expect(writersInOrder(models, ['a/claude-9', 'a/claude-1', 'b/gpt-1'], familyOf)).toEqual([
    'c/gemini-1',
    'b/gpt-1',
    'a/claude-1',
    'b/claude-2',
  ]);
  expect(writersInOrder(models, [], familyOf)).toEqual(['a/claude-1', 'b/gpt-1', 'c/gemini-1', 'b/claude-2']);
  expect(writersInOrder([], ['a/claude-1'], familyOf)).toEqual([]);
});

test.each([
  ['Refactor the parser', 'The parser is split in two modules.', 'refactoring'],
  ['Split the parser', 'It is in two modules; behaviour stays the same.', 'refactoring'],
  ['Notes break the import', 'Quoted fields are read.', 'change'],
  ['Refactor the parser and fix quotes', 'It is in two modules.', 'change'],
  ['Refactor the parser', 'It is in two modules and supports quotes.', 'change'],
] as const)('%s: a %s is a %s', (title, goal, aim) => {
  expect(taskKindOf(title, { goal })).toBe(aim);
});
