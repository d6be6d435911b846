import { expect, test } from 'vitest';
import { retire, type World } from '../../src/runs/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { ALICE, furnished, NOON, openRoom, type Room } from './room.ts';
import { branchesOf } from './standing.ts';

const house = furnished('file');
const DAY = 86_400_000;
const KEEP = { runs: 180 * DAY, ledger: 400 * DAY };

/** What upkeep does, so many days after the run was over. */
async function retires(room: Room, days: number, over: Partial<World> = {}) {
  const clock = { ...room.world.clock, now: () => NOON + days * DAY };
  const engine = { ...room.world.engine, forget: async () => 0 };
  const world = { ...room.world, clock, engine, ...over } as World;
  const { branches, held, runs } = await retire(world, KEEP);
  return { branches, held, runs };
}

const lettersOf = async (room: Room) =>
  (await branchesOf(room)).map(({ branch }) => branch.split('/').at(-1));

/** A run whose result nobody wanted. */
async function closed(options: Parameters<typeof openRoom>[1] = {}): Promise<Room> {
  const room = await openRoom(house(), { pushes: 'rest', ...options });
  expect(await room.publishes()).not.toContain(':');
  await room.store.transition(room.runId, 'closed', 'nobody wanted it', NOON);
  return room;
}

test('with a run that has expired go the branches of its losers, but not the one of its pull request', async () => {
  const room = await closed({ audited: true });
  expect(await lettersOf(room)).toEqual(['A', 'B', 'C']);
  expect(await retires(room, 179)).toEqual({ branches: 0, held: 0, runs: 0 });
  expect(await retires(room, 181)).toEqual({ branches: 2, held: 0, runs: 1 });
  const outcome = (await room.store.audited({ limit: 2 })).map(({ entry, run }) => ({ ...entry, run }));
  const gone = { kind: 'write', what: 'delete-branch', outcome: 'done', run: room.runId };
  expect(outcome).toMatchObject([gone, gone]);
  expect(await lettersOf(room)).toHaveLength(1);
  expect(await room.store.run(room.runId)).toBeNull();
});

test('a branch that somebody pushed to, or opened a pull request from, is theirs', async () => {
  const room = await closed({ decision: TOSS_UP });
  const { hub, base } = house();
  const { owner, name } = hub.repository;
  const branch = (letter: string) => `auto-dev/${room.issue}/${room.runId}/${letter}`;
  const as = hub.github.as(ALICE);
  await as.request('PATCH', `/repos/${owner}/${name}/git/refs/heads/${branch('A')}`, {
    sha: base,
    force: true,
  });
  const pull = { head: branch('B'), base: 'main', title: 'Mine now' };
  await as.request('POST', `/repos/${owner}/${name}/pulls`, pull);
  expect(await retires(room, 181)).toEqual({ branches: 1, held: 0, runs: 1 });
  expect(await lettersOf(room)).toEqual(['A', 'B']);
});

test('while GitHub does not let us, the run stays for another day; after 30 it goes all the same', async () => {
  const room = await closed({ decision: TOSS_UP });
  const nobody = { github: undefined } as unknown as Partial<World>;
  expect(await retires(room, 181, nobody)).toEqual({ branches: 0, held: 1, runs: 0 });
  room.line.fails({ kind: 'outage', at: room.line.calls.length });
  expect(await retires(room, 182)).toEqual({ branches: 0, held: 1, runs: 0 });
  expect(await room.store.run(room.runId)).not.toBeNull();
  expect(await retires(room, 211)).toEqual({ branches: 0, held: 0, runs: 1 });
  expect(await lettersOf(room)).toEqual(['A', 'B', 'C']);
});
