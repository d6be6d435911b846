import { describe, expect, test } from 'vitest';
import { editedShare, effectOn, revertedAt, revertsNamed } from '../../../src/core/learning/index.ts';
import type { PatchFile } from '../../../src/core/patches/index.ts';

const sha = 'a'.repeat(40);
const other = 'b'.repeat(40);
const pull = { number: 12, shas: [sha] };
const commit = (message: string, at: number) => ({ sha: String(at).padStart(40, '0'), message, at });
const timesOf = (...messages: readonly string[]) =>
  revertsNamed(
    pull,
    messages.map((message, i) => commit(message, i + 1)),
  ).map(({ at }) => at);

describe('commits that name a pull request as reverted', () => {
  test.each([
    ['by git', `Revert "Round half up"\n\nThis reverts commit ${sha}.`, true],
    [
      'of a merge',
      `Revert "Merge"\n\nThis reverts commit ${sha}, reversing\nchanges made to ${other}.`,
      true,
    ],
    ['by an abbreviated name', `This reverts commit ${sha.slice(0, 9)}.`, true],
    ["by GitHub's button, squashed", 'Revert "Round half up" (#13)\n\nReverts acme/shop#12', true],
    ["by GitHub's button, merged", 'Merge pull request #13 from acme/revert-12-half\n\nRevert "Half"', true],
    ['under a new name of the repository', 'Reverts acme/store#12', true],
    ['in the same repository, unnamed', 'Reverts #12', true],
    ['of another commit', `This reverts commit ${other}.`, false],
    ['of another pull request', 'Reverts acme/shop#121', false],
    ['only mentioned', `See commit ${sha}; we may revert #12.`, false],
  ])('%s', (_, message, isOne) => {
    expect(timesOf('Something else', message)).toEqual(isOne ? [2] : []);
  });

  test('and those that revert one of these in turn, by its commit or its pull request', () => {
    const first = `This reverts commit ${sha}.`;
    expect(timesOf(first, `This reverts commit ${commit('', 1).sha}.`)).toEqual([1, 2]);
    const squashed = 'Revert "Round half up" (#13)\n\nReverts acme/shop#12';
    const again = 'Revert "Revert \\"Round half up\\"" (#14)\n\nReverts acme/shop#13';
    expect(timesOf(squashed, again, 'Reverts acme/shop#14')).toEqual([1, 2, 3]);
    const merged = 'Merge pull request #13 from acme/revert-12-half';
    expect(timesOf(merged, 'Merge pull request #14 from acme/revert-13-revert-12-half')).toEqual([1, 2]);
    expect(timesOf(again)).toEqual([]);
  });
});

test('a revert counts until the change is put back, and what was known stays if nothing is seen', () => {
  const back = (at: number) => ({ at, effect: 'takes back' }) as const;
  const again = (at: number) => ({ at, effect: 'puts back' }) as const;
  expect(revertedAt(null, [])).toBeNull();
  expect(revertedAt(null, [back(5)])).toBe(5);
  expect(revertedAt(5, [back(5), { at: 6, effect: null }])).toBe(5);
  expect(revertedAt(5, [back(5), again(6)])).toBeNull();
  expect(revertedAt(null, [back(5), again(6), back(7)])).toBe(7);
  // The branch was renamed, or the commit is too long ago to be read.
  expect(revertedAt(5, [])).toBe(5);
});

/** A change of one file: lines that it removes and adds. */
const change = (removed: readonly string[], added: readonly string[], path = 'a.js'): PatchFile => ({
  path,
  change: 'modified',
  oldMode: '100644',
  newMode: '100644',
  role: 'production',
  additions: added.length,
  deletions: removed.length,
  binary: false,
  section: '',
  hunks: [
    {
      oldStart: 1,
      oldCount: removed.length,
      newStart: 1,
      newCount: added.length,
      heading: '',
      lines: [
        { kind: 'context', text: 'same', line: 1, base: 1 },
        ...removed.map((text) => ({ kind: 'removed' as const, text, line: 1, base: 1 })),
        ...added.map((text) => ({ kind: 'added' as const, text, line: 1, base: 1 })),
      ],
    },
  ],
});
const own = [change(['x'], ['y', 'z', 'w'])];

describe('edits before a merge', () => {
  test.each([
    ['the same change', own, 0],
    ['one more line', [change(['x'], ['y', 'z', 'w', 'v'])], 0.25],
    ['a line replaced', [change(['x'], ['y', 'z', 'v'])], 0.5],
    ['nothing left of it', [], 1],
    ['other files', [...own, change([], ['more'], 'b.js')], 0],
    ['far more in the same file', [change(['x'], ['y', 'z', 'w', ...'abcdefgh'])], 1],
  ])('%s', (_, merged, share) => {
    expect(editedShare(own, merged)).toBe(share);
  });
});

describe('a commit that says that it reverts', () => {
  test.each([
    ['takes all back', [change(['y', 'z', 'w'], ['x'])], 'takes back'],
    ['takes half of it back', [change(['z', 'w'], [])], 'takes back'],
    ['takes one line back', [change(['z'], [])], null],
    ['puts it back', own, 'puts back'],
    ['changes another file', [change(['y', 'z', 'w'], ['x'], 'b.js')], null],
    ['changes nothing', [], null],
  ])('%s', (_, changed, effect) => {
    expect(effectOn(own, changed, 0)).toBe(effect);
  });

  test('needs half of what people left of the candidate', () => {
    expect(effectOn(own, [change(['z'], [])], 0.5)).toBe('takes back');
    expect(effectOn(own, [change(['v'], [])], 1)).toBeNull();
  });
});
