import { expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import type { Store } from '../../src/ports/index.ts';
import { retire, type World } from '../../src/runs/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { branchesOf, closePulls } from './outcome.ts';
import { ALICE, type Fixture, NOON, openFixture, sharedFixture } from './publishing-world.ts';

const shared = sharedFixture('file');
const DAY = 86_400_000;
const KEEP = { runs: 180 * DAY, ledger: 400 * DAY };

/** What upkeep does, so many days after the run was over. */
async function retires(fixture: Fixture, days: number, over: { readonly github?: undefined } = {}) {
  const clock = { ...fixture.world.clock, now: () => NOON + days * DAY };
  const engine = { ...fixture.world.engine, forget: async () => 0 };
  const world = { ...fixture.world, clock, engine, ...over } as World;
  const { branches, held, runs } = await retire(world, KEEP);
  return { branches, held, runs };
}

const lettersOf = async (fixture: Fixture) =>
  (await branchesOf(fixture)).map(({ branch }) => branch.split('/').at(-1));

/** A run whose result nobody wanted. */
async function closed(options: Parameters<typeof openFixture>[1] = {}): Promise<Fixture> {
  const fixture = await openFixture(shared(), { pushes: 'rest', ...options });
  expect(await fixture.publishes()).not.toContain(':');
  await fixture.store.transition(fixture.runId, 'closed', 'nobody wanted it', NOON);
  return fixture;
}

test('an expired run loses the branches of its losers, but not that of its pull request', async () => {
  const fixture = await closed({ audited: true });
  expect(await lettersOf(fixture)).toEqual(['A', 'B', 'C']);
  expect(await retires(fixture, 179)).toEqual({ branches: 0, held: 0, runs: 0 });
  expect(await retires(fixture, 181)).toEqual({ branches: 2, held: 0, runs: 1 });
  const outcome = (await fixture.store.audited({ limit: 2 })).map(({ entry, run }) => ({ ...entry, run }));
  const gone = { kind: 'write', what: 'delete-branch', outcome: 'done', run: fixture.runId };
  expect(outcome).toMatchObject([gone, gone]);
  expect(await lettersOf(fixture)).toHaveLength(1);
  expect(await fixture.store.run(fixture.runId)).toBeNull();
});

test('an expired run keeps a branch that somebody pushed to or opened a pull request from', async () => {
  const fixture = await closed({ decision: TOSS_UP });
  const { hub, base } = shared();
  const { owner, name } = hub.repository;
  const branch = (letter: string) => `auto-dev/${fixture.issue}/${fixture.runId}/${letter}`;
  const as = hub.github.as(ALICE);
  await as.request('PATCH', `/repos/${owner}/${name}/git/refs/heads/${branch('A')}`, {
    sha: base,
    force: true,
  });
  const pull = { head: branch('B'), base: 'main', title: 'Mine now' };
  await as.request('POST', `/repos/${owner}/${name}/pulls`, pull);
  expect(await retires(fixture, 181)).toEqual({ branches: 1, held: 0, runs: 1 });
  expect(await lettersOf(fixture)).toEqual(['A', 'B']);
});

test('an expired run stays for another day while GitHub rejects deletion, for up to 30 days', async () => {
  const fixture = await closed({ decision: TOSS_UP });
  const nobody = { github: undefined };
  expect(await retires(fixture, 181, nobody)).toEqual({ branches: 0, held: 1, runs: 0 });
  fixture.line.fails({ kind: 'outage', at: fixture.line.calls.length });
  expect(await retires(fixture, 182)).toEqual({ branches: 0, held: 1, runs: 0 });
  expect(await fixture.store.run(fixture.runId)).not.toBeNull();
  expect(await retires(fixture, 211)).toEqual({ branches: 0, held: 0, runs: 1 });
  expect(await lettersOf(fixture)).toEqual(['A', 'B', 'C']);
});

test('an expired run whose candidate outcomes cannot be kept stays with them for another day, for up to 30 days', async () => {
  let full = true;
  const keepsNoOutcome = (inner: Store): Store => ({
    ...inner,
    async keepOutcomes(...given) {
      if (full) throw new Fault('INTERNAL', 'The outcomes were not kept.');
      return inner.keepOutcomes(...given);
    },
  });
  const fixture = await closed({ decision: TOSS_UP, store: keepsNoOutcome });
  expect(await retires(fixture, 181)).toEqual({ branches: 0, held: 1, runs: 0 });
  full = false;
  expect(await retires(fixture, 182)).toEqual({ branches: 3, held: 0, runs: 1 });
  expect((await fixture.store.outcomes({ runs: 9 })).map(({ runId }) => runId)).toContain(fixture.runId);

  full = true;
  const other = await closed({ decision: TOSS_UP, store: keepsNoOutcome });
  expect(await retires(other, 211)).toEqual({ branches: 3, held: 0, runs: 1 });
});

/** The run fails after its pushes: its result cannot be stored. */
const storesNoOutcome = (inner: Store): Store => ({
  ...inner,
  async updateRun(id, patch, at) {
    if (typeof patch === 'object' && patch.outcome) throw new Fault('INTERNAL', 'The result was not stored.');
    return inner.updateRun(id, patch, at);
  },
});

test('a run that failed after its pushes, before its result was stored, loses its branches', async () => {
  const fixture = await openFixture(shared(), {
    pushes: 'rest',
    decision: TOSS_UP,
    store: storesNoOutcome,
  });
  expect(await fixture.publishes()).toContain('was not stored');
  expect((await fixture.store.run(fixture.runId))?.state).toBe('failed');
  expect(await lettersOf(fixture)).toEqual(['A', 'B', 'C']);
  expect(await retires(fixture, 181)).toEqual({ branches: 3, held: 0, runs: 1 });
  expect(await lettersOf(fixture)).toEqual([]);
});

test('a run that failed with its pull request open keeps the branch of that one when it is closed', async () => {
  const fixture = await openFixture(shared(), { pushes: 'rest', store: storesNoOutcome });
  expect(await fixture.publishes()).toContain('was not stored');
  await closePulls(fixture);
  const before = await lettersOf(fixture);
  expect(before).toHaveLength(1);
  expect(await retires(fixture, 181)).toEqual({ branches: 0, held: 0, runs: 1 });
  expect(await lettersOf(fixture)).toEqual(before);
});
