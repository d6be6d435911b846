import { expect, test } from 'vitest';
import { type ArenaTask, taskLine } from '../../src/core/arena/index.ts';
import type { HistoryChange } from '../../src/core/mining/index.ts';
import type { ContestFolder } from '../../src/ports/index.ts';
import { mineHistory } from '../../src/runs/index.ts';
import { partial } from '../world/partial.ts';

const sha = (digit: string): string => digit.repeat(40);
const repository = '/srv/words';

/** A task that an earlier call made of a commit that is older than what is looked at now. */
const taskOf = (digit: string): ArenaTask => ({
  id: `words-${digit}`,
  kind: 'repo',
  base: { repository, commit: sha('0') },
  statement: 'Count words.',
  verify: ['npm test'],
  origin: { commit: sha(digit) },
});

const change = (digit: string): HistoryChange => ({
  commit: sha(digit),
  parents: [sha('0')],
  message: 'Parse durations without a unit',
  at: 0,
  files: [
    { path: 'src/parse.ts', status: 'M' },
    { path: 'test/parse.test.ts', status: 'A' },
  ],
});

/** Mines one change, `a`, into a dataset with these tasks. Nothing can be executed here. `end`: of the dataset's text. */
const mine = (digits: readonly string[], limit: number, end = '') =>
  mineHistory(
    partial<Parameters<typeof mineHistory>[0]>(
      {
        clock: { now: () => 0, elapsed: () => 0 },
        workspaces: {
          resolve: async () => sha('a'),
          mainline: async () => ({ changes: [change('a')], shallow: false }),
          origin: async () => null,
        },
      },
      ['github', 'githubUrl'],
    ),
    {
      repository,
      folder: partial<ContestFolder>({
        records: async (file) =>
          file === 'tasks.jsonl' ? digits.map((digit) => taskLine(taskOf(digit))).join('') + end : null,
      }),
      dataset: 'tasks.jsonl',
      since: 0,
      limit,
      again: false,
      trust: false,
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );

test('tasks that are there count to the limit, also those of changes before the time that is looked at', async () => {
  expect(await mine(['1', '2'], 2)).toMatchObject({ others: 2, summary: { stop: 'limit', kept: 0 } });
  // The task of a change that is looked at counts once.
  expect(await mine(['1', 'a'], 2)).toMatchObject({ others: 1, summary: { stop: 'limit', kept: 1 } });
  expect(await mine(['a'], 2)).toMatchObject({ others: 0, summary: { stop: 'done', kept: 1 } });
});

test('half a line of a process that was killed does not end mining, a wrong line does', async () => {
  const half = taskLine(taskOf('b')).slice(0, 40);
  expect(await mine(['a'], 2, half)).toMatchObject({ others: 0, summary: { stop: 'done', kept: 1 } });
  expect(await mine(['1'], 1, half)).toMatchObject({ others: 1, summary: { stop: 'limit' } });
  await expect(mine(['a'], 2, `${half}\n`)).rejects.toThrow('tasks.jsonl:2: This line is not valid JSON');
});
