import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pruneUnused, startUpkeep } from '../../src/compose/upkeep.ts';
import { Fault } from '../../src/core/model/index.ts';
import type { GitHubReader, Log, RepositoryHandle, Workspaces } from '../../src/ports/index.ts';
import type { World } from '../../src/runs/index.ts';
import { memorySessions } from '../world/memory-lists.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

const DAY = 24 * 60 * 60_000;
const NOW = 1_800_000_000_000;
type Wish = Parameters<Workspaces['prune']>[0];

/** Areas, by how many days ago they were used last. */
function areasUsed(days: Readonly<Record<string, number>>) {
  const areas = new Map(Object.entries(days));
  const sweep: Workspaces['sweep'] = async (keep) => {
    const removed = [...areas].flatMap(([id, ago]) => (keep(id, NOW - ago * DAY) ? [] : [id]));
    for (const id of removed) areas.delete(id);
    return removed;
  };
  return { sweep, left: () => [...areas.keys()] };
}

test('data that no run used for two weeks is removed, except that of active runs', async () => {
  const wishes: Wish[] = [];
  const areas = areasUsed({ 'r0000000001-A': 2, 'a0000000001-x': 15, 'a0000000002-x': 13 });
  const said: string[] = [];
  const tools: number[] = [];
  const log = partial<Log>({ info: (_: object, text: string) => void said.push(text) });
  await pruneUnused({
    clock: { now: () => NOW, elapsed: () => NOW, sleep: () => Promise.resolve() },
    log,
    engine: { activeExecutors: async () => new Set() },
    store: { idsIn: async () => ['ropen'], runsIn: async () => [], run: async () => null },
    workspaces: {
      sweep: areas.sweep,
      async prune(wish) {
        wishes.push(wish);
        return { checkouts: 1, layers: 0, patches: 0, repositories: 0, bytes: 5e6, busy: 0 };
      },
    },
    toolchains: {
      async prune(before) {
        tools.push(before);
        return { tools: 1, bytes: 2e6 };
      },
    },
  });
  // The area of a run that is not stored goes after a day, that of a killed contest after two weeks.
  expect(areas.left()).toEqual(['a0000000002-x']);
  expect(wishes[0]?.before).toBe(NOW - 14 * DAY);
  expect(tools).toEqual([NOW - 14 * DAY]);
  expect(wishes[0]?.keep('ropen-A')).toBe(true);
  expect(wishes[0]?.keep('ropenother-A')).toBe(false);
  expect(said).toEqual(['Freed 7 MB that no run used for two weeks.']);
});

test.each([
  ['whose process was killed holds nothing but the mirror of its repository', false, 14],
  ['that a process works on holds what it has prepared', true, 60],
])('a `runoff run` %s', async (_, isThere, days) => {
  const store = memoryStore();
  const path = '/home/ada/lists';
  const origin = { kind: 'local', path } as const;
  await store.createRun({ id: 'r0000000001', origin, title: 'x', request: {}, at: NOW - 60 * DAY });
  for (const state of ['admitted', 'briefed'] as const)
    await store.transition('r0000000001', state, 'test', NOW - 60 * DAY);
  await store.markStage('r0000000001', 'code', 'start', NOW - 60 * DAY);
  const wishes: Wish[] = [];
  const areas = areasUsed({ 'r0000000001-A': 59 });
  await pruneUnused({
    clock: { now: () => NOW, elapsed: () => NOW, sleep: () => Promise.resolve() },
    log: silent,
    engine: { activeExecutors: async (names) => new Set(isThere ? names : []) },
    store,
    workspaces: {
      sweep: areas.sweep,
      async prune(wish) {
        wishes.push(wish);
        return { checkouts: 0, layers: 0, patches: 0, repositories: 0, bytes: 0, busy: 0 };
      },
    },
  });
  expect(wishes).toMatchObject([{ before: NOW - days * DAY, mirrorsKept: [path] }]);
  expect(wishes[0]?.keep('r0000000001-A')).toBe(true);
  expect(areas.left()).toEqual(isThere ? ['r0000000001-A'] : []);
});

const MINUTE = 60_000;

describe('the search for missed webhooks', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Upkeep over an App with two repositories and no runs. `answer` is what asking one of them for labels does. */
  async function kept(answer: (repositoryId: number) => Promise<readonly []>) {
    const asked: number[] = [];
    const sessions = memorySessions();
    let recovered = 0;
    const at = { installationId: 1, owner: 'acme', installedAt: 0 };
    const repository = (repositoryId: number) => ({ ...at, repositoryId, name: `shop-${repositoryId}` });
    const world = partial<World>({
      clock: { now: () => Date.now(), elapsed: () => Date.now() },
      log: silent,
      store: {
        ...sessions,
        idsIn: async () => [],
        runsIn: async () => [],
        endedWithout: async () => [],
        mergesSince: async () => [],
        outcomesDue: async () => [],
      },
      workspaces: {
        sweep: async () => [],
        prune: async () => ({ checkouts: 0, layers: 0, patches: 0, repositories: 0, bytes: 0, busy: 0 }),
      },
      toolchains: { prune: async () => ({ tools: 0, bytes: 0 }) },
      github: {
        repositories: async () => [repository(1), repository(2)],
        reader: async ({ repositoryId }: RepositoryHandle) =>
          partial<GitHubReader>({
            labelled: () => {
              asked.push(repositoryId);
              return answer(repositoryId);
            },
          }),
      },
    });
    const recover = async () => {
      recovered += 1;
    };
    const upkeep = await startUpkeep(world, { recover }, { runs: 180 * DAY, ledger: 400 * DAY });
    return { asked, sessions, upkeep, recovered: () => recovered };
  }

  test('runs at a start, shortly afterwards, and then four times an hour', async () => {
    const { asked, upkeep } = await kept(async () => []);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(asked).toEqual([1, 2]);
    await vi.advanceTimersByTimeAsync(3 * MINUTE);
    expect(asked).toEqual([1, 2, 1, 2]);
    await vi.advanceTimersByTimeAsync(27 * MINUTE);
    upkeep.stop();
    expect(asked).toEqual([1, 2, 1, 2, 1, 2]);
  });

  test('delays no recovery while GitHub is slow, and does not run twice at once', async () => {
    const { asked, recovered, upkeep } = await kept(() => new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(31 * MINUTE);
    upkeep.stop();
    expect([asked, recovered()]).toEqual([[1], 11]);
  });

  test('ends when GitHub does not answer, and the next one starts after that repository', async () => {
    const { asked, upkeep } = await kept((id) => (id === 1 ? Promise.reject(down) : Promise.resolve([])));
    await vi.advanceTimersByTimeAsync(16 * MINUTE);
    upkeep.stop();
    expect(asked).toEqual([1, 2, 1]);
  });

  test('is not all that upkeep does: sessions that are over are deleted within minutes, the others stay', async () => {
    const { sessions, upkeep } = await kept(async () => []);
    const add = (hash: string, ms: number) =>
      sessions.addSession({ hash, userId: 5, login: 'mona', createdAt: 0, expiresAt: Date.now() + ms });
    await add('short', MINUTE);
    await add('long', DAY);
    await vi.advanceTimersByTimeAsync(6 * MINUTE);
    upkeep.stop();
    // As it was before it ended, if it were still there.
    expect([await sessions.session('short', 0), (await sessions.session('long', 0))?.hash]).toEqual([
      null,
      'long',
    ]);
  });

  const down = new Fault('GITHUB_UNAVAILABLE', 'GitHub answered 502.');
});
