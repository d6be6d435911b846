import { describe, expect, test } from 'vitest';
import { conventionalTitle, writesConventionalCommits } from '../../../src/core/learning/index.ts';

const history = (...messages: readonly string[]) => messages.map((message) => ({ message }));

describe('titles in the style of a repository', () => {
  test('are conventional where most of its newest commits are', () => {
    const own = ['feat: a', 'fix(csv): b', 'chore!: c', 'docs: d', 'Merge branch main', 'Release 2'];
    expect(writesConventionalCommits(history(...own))).toBe(true);
    expect(writesConventionalCommits(history('feat: a', 'fix: b'))).toBe(false);
    expect(writesConventionalCommits(history(...own, 'Fix b', 'Add c', 'More', 'Even more'))).toBe(false);
    const before = Array.from({ length: 40 }, (_, n) => `feat: ${n}`);
    const since = Array.from({ length: 30 }, (_, n) => `Change ${n}`);
    expect(writesConventionalCommits(history(...before, ...since))).toBe(false);
  });

  test.each([
    ['Notes with commas break the import', 'fix: notes with commas break the import'],
    ['Add a --json flag', 'feat: add a --json flag'],
    ['Typo in the README', 'docs: typo in the README'],
    ['Add missing tests for rounding', 'test: add missing tests for rounding'],
    ['CSV is read wrongly', 'fix: CSV is read wrongly'],
    ['feat(csv): read quotes', 'feat(csv): read quotes'],
  ])('%s', (title, wanted) => {
    expect(conventionalTitle(title)).toBe(wanted);
  });
});
