import { describe, expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import type { Store } from '../../src/ports/index.ts';
import { TOSS_UP } from '../core/reports/sample.ts';
import { tried } from '../world/tried.ts';
import { closePulls, outcomeOf } from './outcome.ts';
import { type Fixture, type FixtureOptions, openFixture, sharedFixture } from './publishing-world.ts';

const shared = sharedFixture('file');

/** A process that dies: from its `at`th write to the store on, nothing reaches the store until it is started again. */
function dying() {
  const state = { at: Number.POSITIVE_INFINITY, writes: [] as string[] };
  const writing = ['fulfil', 'intend', 'updateRun', 'transition', 'addPick', 'settleCommand', 'markStage'];
  const store = (inner: Store): Store =>
    new Proxy(inner, {
      get(target, name, receiver) {
        const method = Reflect.get(target, name, receiver);
        if (typeof name !== 'string' || !writing.includes(name)) return method;
        return async (...given: unknown[]) => {
          state.writes.push(`${name} ${given.filter((one) => typeof one === 'string').join(' ')}`);
          // As the store port says it.
          if (state.writes.length > state.at) throw new Fault('DATABASE_UNAVAILABLE', 'The process is gone.');
          return method.apply(target, given);
        };
      },
    });
  return { state, store };
}

interface Deed {
  readonly options: FixtureOptions;
  readonly ready: (fixture: Fixture) => Promise<unknown>;
  readonly does: (fixture: Fixture) => Promise<unknown>;
}

const pullOf = async ({ store, runId }: Fixture): Promise<number> => {
  const outcome = (await store.run(runId))?.outcome;
  return outcome?.kind === 'pull' ? outcome.number : 0;
};

const DEEDS: readonly (readonly [string, Deed])[] = [
  [
    'publishing a pull request',
    { options: {}, ready: async () => null, does: (fixture) => fixture.publishes() },
  ],
  [
    'a pick',
    {
      options: { decision: TOSS_UP },
      ready: (fixture) => fixture.publishes(),
      does: (fixture) => fixture.says('/auto-dev pick C'),
    },
  ],
  [
    'another pick',
    {
      options: {},
      ready: (fixture) => fixture.publishes(),
      does: async (fixture) => fixture.says('/auto-dev pick C', { on: await pullOf(fixture) }),
    },
  ],
  [
    'letting CI run',
    {
      options: {},
      ready: (fixture) => fixture.publishes(),
      does: async (fixture) => fixture.says('/auto-dev ci', { on: await pullOf(fixture) }),
    },
  ],
];

async function played({ options, ready, does }: Deed, dies: number | null) {
  const { state, store } = dying();
  const fixture = await openFixture(shared(), { ...options, pushes: 'rest', store, onSleep: () => revive() });
  const revive = () => {
    state.at = Number.POSITIVE_INFINITY;
  };
  await ready(fixture);
  const before = state.writes.length;
  state.at = before + (dies ?? Number.POSITIVE_INFINITY);
  await does(fixture);
  const stands = await outcomeOf(fixture);
  await closePulls(fixture);
  return { stands, writes: state.writes.slice(before) };
}

describe('F2: if the process dies between two records,', () => {
  test.each(DEEDS)('%s is still done exactly once', async (_what, deed) => {
    tried({
      id: 'publishing-cut',
      part: 'The App is killed',
      what: 'The store rejects all writes from a given record on: each record of publishing, of a pick and of the release of CI in turn.',
      held: 'After a restart, everything is done exactly once.',
    });
    const calm = await played(deed, null);
    const differ: object[] = [];
    for (const [at, write] of calm.writes.entries()) {
      // What is done but not recorded is what matters; the rest is done anew.
      if (!/^(?:fulfil|updateRun|transition|addPick|settleCommand) /.test(write)) continue;
      const { stands } = await played(deed, at);
      if (JSON.stringify(stands) !== JSON.stringify(calm.stands)) differ.push({ write, stands });
    }
    expect(differ).toEqual([]);
    expect(calm.stands.pulls).toHaveLength(1);
  });
});
