import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { apartFromWorkers, unclaimedWork } from '../../src/compose/doctor.ts';
import { watchWorkers } from '../../src/compose/upkeep.ts';
import type { Candidate, RunState } from '../../src/core/model/index.ts';
import type { ExecutorRecord } from '../../src/ports/index.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const worker = { role: 'worker', coders: 2, examinations: 0, silentMs: 10 } as ExecutorRecord;

test('a run on workers is announced when its state has changed, and only then', async () => {
  const announced: string[] = [];
  let note = 'reads';
  const world = partial<Parameters<typeof watchWorkers>[0]>({
    log: silent,
    announcer: { soon: (id: string) => announced.push(id) },
    store: {
      executors: async () => [worker],
      idsIn: async (states: readonly RunState[]) =>
        Object.entries({ r1: 'briefed', r2: 'awaiting_pick' } as const)
          .filter(([, state]) => states.includes(state))
          .map(([id]) => id),
      candidates: async () => [{ alias: 'A', state: 'coding', note } as Candidate],
    },
  });
  const watch = watchWorkers(world);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(announced).toEqual([]);
  note = 'writes';
  await vi.advanceTimersByTimeAsync(30_000);
  expect(announced).toEqual(['r1']);
  watch.stop();
});

test('work that no process takes is reported with advice; a process that has left takes nothing', () => {
  expect(unclaimedWork([worker])).toEqual([
    expect.stringMatching(/builds and tests.*EXAMINATIONS_PER_WORKER/),
  ]);
  expect(unclaimedWork([{ ...worker, silentMs: null }])).toHaveLength(2);
  expect(unclaimedWork([{ ...worker, examinations: 1 }])).toEqual([]);
});

test('an App without shared artifacts is told so while it has workers', () => {
  const app = { ...worker, role: 'app' } as ExecutorRecord;
  expect(apartFromWorkers([app, worker], {})).toEqual([expect.stringContaining('ARTIFACTS_URL is not set')]);
  expect(apartFromWorkers([app, { ...worker, silentMs: null }], {})).toEqual([]);
  expect(apartFromWorkers([app, worker], { artifacts: { kind: 'folder', path: '/mnt/artifacts' } })).toEqual(
    [],
  );
});
