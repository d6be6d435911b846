import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchElsewhere } from '../../src/compose/elsewhere.ts';
import { untaken } from '../../src/compose/untaken.ts';
import type { Candidate } from '../../src/core/model/index.ts';
import type { World } from '../../src/pipeline/index.ts';
import type { ExecutorRecord } from '../../src/ports/index.ts';
import { silent } from '../world/silent.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const worker = { role: 'worker', coders: 2, examinations: 0, silentMs: 10 } as ExecutorRecord;

test('a run that workers code is announced when it has moved, and only then', async () => {
  const announced: string[] = [];
  let note = 'reads';
  const world = {
    log: silent,
    announcer: { soon: (id: string) => announced.push(id) },
    store: {
      executors: async () => [worker],
      unfinished: async () => [
        { id: 'r1', state: 'briefed' },
        { id: 'r2', state: 'awaiting_pick' },
      ],
      candidates: async () => [{ alias: 'A', state: 'coding', note } as Candidate],
    },
  } as unknown as World;
  const watch = watchElsewhere(world);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(announced).toEqual([]);
  note = 'writes';
  await vi.advanceTimersByTimeAsync(30_000);
  expect(announced).toEqual(['r1']);
  watch.stop();
});

test('work that no process takes is named, with what to do; one that has left takes nothing', () => {
  expect(untaken([worker])).toEqual([expect.stringMatching(/builds and tests.*EXAMINATIONS_PER_WORKER/)]);
  expect(untaken([{ ...worker, silentMs: null }])).toHaveLength(2);
  expect(untaken([{ ...worker, examinations: 1 }])).toEqual([]);
});
