import { describe, expect, test } from 'vitest';
import {
  classifyChanges,
  type HistoryChange,
  latestByCommit,
  type MinedRecord,
  progressText,
  summaryOf,
  summaryRows,
  taskIdOf,
  taskPaths,
  verdictOn,
} from '../../../src/core/mining/index.ts';

const sha = (letter: string): string => letter.repeat(40);
const change = (letter: string, over: Partial<HistoryChange> = {}): HistoryChange => ({
  commit: sha(letter),
  parents: [sha('0')],
  message: 'Parse durations without a unit',
  at: 0,
  files: [
    { path: 'src/parse.ts', status: 'M' },
    { path: 'test/parse.test.ts', status: 'A' },
  ],
  ...over,
});
const only = (over: Partial<HistoryChange>) => {
  const [one] = classifyChanges([change('a', over)]);
  return one?.kind === 'left-out' ? one.why : one?.kind;
};
const files = (...paths: readonly string[]) => ({
  files: paths.map((path) => ({ path, status: 'M' as const })),
});

describe('changes of a history', () => {
  test('one with sources and tests may become a task', () => {
    const [one] = classifyChanges([change('a', { message: 'Parse durations without a unit (#7)' })]);
    expect(one).toMatchObject({
      kind: 'found',
      found: { base: sha('0'), statement: 'Parse durations without a unit', issue: '#7' },
    });
  });

  test.each([
    ['root', { parents: [] }],
    ['revert', { message: 'Revert "Parse durations"\n\nThis reverts commit x.' }],
    ['revert', { message: `Back to bytes\n\nIt reverts ${sha('b')}, which was too slow.` }],
    ['revert', { message: 'Merge pull request #14 from a/undo\n\nRevert "Revert \\"Parse durations\\""' }],
    ['found', { message: 'Merge pull request #5 from a/revert-handling\n\nHandle refunds of orders' }],
    ['release', { message: 'Merge pull request #6 from a/next\n\nchore: release 1.2.0' }],
    ['release', { message: 'v1.2.3' }],
    ['release', { message: 'chore(release): 1.2.0' }],
    ['release', { message: 'Release 2.0.0-beta.1 (#12)' }],
    ['release', { message: 'Bump version to 1.2.3' }],
    ['release', { message: "Merge branch 'release/2.x' into main", parents: [sha('0'), sha('1')] }],
    ['no-tests', files('src/parse.ts')],
    [
      'no-tests',
      {
        files: [
          { path: 'src/a.ts', status: 'M' as const },
          { path: 'test/a.test.ts', status: 'D' as const },
        ],
      },
    ],
    ['no-sources', files('test/parse.test.ts')],
    ['no-sources', files('test/parse.test.ts', 'README.md', 'package-lock.json', '.github/workflows/ci.yml')],
    ['generated', files('test/parse.test.ts', 'dist/parse.js', 'vendor/x/y.go')],
    ['too-large', files('test/parse.test.ts', ...Array.from({ length: 60 }, (_, at) => `src/${at}.ts`))],
    ['no-statement', { message: 'fix' }],
    ['found', { message: 'Read version 1.2 of the manifest' }],
    [
      'found',
      {
        message: 'Merge pull request #1 from a/release\n\nParse durations without a unit',
        parents: [sha('0'), sha('1')],
      },
    ],
    ['found', files('pkg/parse.go', 'pkg/parse_test.go')],
    ['found', files('parse.py', 'tests/test_parse.py')],
  ] as const)('%s: %j', (why, over) => {
    expect(only(over)).toBe(why);
  });

  test('one that a later commit reverts makes no task, wherever the revert stands', () => {
    const revert = change('b', { message: `Back to bytes\n\nThis reverts commit ${sha('a')}.` });
    for (const changes of [
      [revert, change('a')],
      [change('a'), revert],
    ])
      expect(classifyChanges(changes).find((one) => one.change.commit === sha('a'))).toMatchObject({
        kind: 'left-out',
        why: 'reverted',
      });
  });

  test.each([
    [
      'merged',
      'Merge pull request #12 from acme/durations\n\nParse durations without a unit',
      'Merge pull request #13 from acme/revert-12-durations\n\nRevert "Parse durations without a unit"',
    ],
    [
      'squashed',
      'Parse durations without a unit (#12)',
      'Revert "Parse durations without a unit (#12)" (#13)\n\nReverts acme/shop#12',
    ],
    ['an abbreviated name', 'Parse durations without a unit', 'Bytes\n\nThis reverts commit aaaaaaa.'],
  ])("one that GitHub's button or git reverted makes no task: %s", (_, message, revert) => {
    const changes = [change('b', { message: revert }), change('a', { message }), change('c')];
    expect(classifyChanges(changes).map((one) => (one.kind === 'left-out' ? one.why : one.kind))).toEqual([
      'revert',
      'reverted',
      'found',
    ]);
  });

  test('settings of CI and test runners are no part of a task, snapshots are', () => {
    const all = files(
      'src/a.ts',
      'test/a.test.ts',
      'test/__snapshots__/a.test.ts.snap',
      '.github/workflows/ci.yml',
      'jest.config.js',
    );
    expect(taskPaths(change('a', all))).toEqual([
      'src/a.ts',
      'test/a.test.ts',
      'test/__snapshots__/a.test.ts.snap',
    ]);
  });

  test('ids of tasks are readable, and distinct by commit', () => {
    const id = taskIdOf({ title: 'Größe: parse "../x" & $(y)', change: change('a') });
    expect(id).toMatch(/^[a-z0-9-]+-aaaaaaaaaa$/);
    expect(taskIdOf({ title: '修正', change: change('b') })).toBe('change-bbbbbbbbbb');
  });
});

test.each([
  [[false], [true], null],
  [[false, false, false], [true, true, true], null],
  [[true], [true], null],
  [[true, true], [true, true], 'passes-before'],
  [[false, false], [false, false], 'fails-after'],
  [[false, false], [true, false], 'flaky'],
  [[false, true], [true, true], 'flaky'],
  [[false, false, false], [true, true, false], 'flaky'],
] as const)('tests that passed %j without the change and %j with it: %s', (before, after, verdict) => {
  expect(verdictOn(before, after)).toBe(verdict);
});

describe('records of what was executed', () => {
  const record = (outcome: MinedRecord['outcome'], at: string): MinedRecord => ({
    version: 1,
    id: `${sha('a')} ${at}`,
    commit: sha('a'),
    base: sha('0'),
    title: 'Parse',
    outcome,
    why: outcome === 'kept' ? null : 'No.',
    task: null,
    seconds: 1,
    at,
  });

  test('the latest counts, in whatever order lines were merged', () => {
    const [old, fresh] = [
      record('base-broken', '2026-01-01T00:00:00Z'),
      record('kept', '2026-02-01T00:00:00Z'),
    ];
    for (const records of [
      [old, fresh],
      [fresh, old],
    ])
      expect(latestByCommit(records).get(sha('a'))?.outcome).toBe('kept');
  });

  test('the summary adds up', () => {
    const classified = classifyChanges([change('a'), change('b'), change('c', { message: 'fix' })]);
    const summary = summaryOf(classified, ['kept'], 'limit');
    expect(summary).toMatchObject({ commits: 3, found: 2, kept: 1, unchecked: 1, dropped: {} });
    expect(summaryRows(summary)).toContainEqual(['not executed yet', 1]);
  });

  test('the time left follows from what was executed, and ends at the limit', () => {
    expect(progressText({ before: 0, kept: 0, checked: 0, seconds: 0 }, { found: 80, limit: 50 })).toBe(
      '0 of 50 tasks, 0 of 80 changes executed',
    );
    expect(progressText({ before: 0, kept: 5, checked: 10, seconds: 600 }, { found: 80, limit: 10 })).toBe(
      '5 of 10 tasks, 10 of 80 changes executed, about 10 min left',
    );
    // Tasks of an earlier call say nothing about how many this one finds.
    expect(progressText({ before: 40, kept: 40, checked: 5, seconds: 600 }, { found: 200, limit: 50 })).toBe(
      '40 of 50 tasks, 5 of 200 changes executed, about 390 min left',
    );
  });
});
