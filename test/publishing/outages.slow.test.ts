import { describe, expect, test } from 'vitest';
import { TOSS_UP } from '../core/reports/sample.ts';
import { tried } from '../world/tried.ts';
import type { Call, Trouble } from './api-calls.ts';
import { closePulls, outcomeOf } from './outcome.ts';
import { type Fixture, openFixture, sharedFixture } from './publishing-world.ts';

const shared = sharedFixture('file');

/** Something that a run or a person does, from a run that is ready for it. */
interface Deed {
  ready(): Promise<Fixture>;
  does(fixture: Fixture): Promise<unknown>;
}

const PUBLISHING: Deed = {
  ready: () => openFixture(shared(), { pushes: 'rest' }),
  does: (fixture) => fixture.publishes(),
};
const ASKING: Deed = {
  ready: () => openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' }),
  does: (fixture) => fixture.publishes(),
};

async function published(fixture: Fixture): Promise<Fixture> {
  await fixture.publishes();
  return fixture;
}

async function pullOf({ store, runId }: Fixture): Promise<number> {
  const outcome = (await store.run(runId))?.outcome;
  return outcome?.kind === 'pull' ? outcome.number : 0;
}

const PICKING: Deed = {
  ready: async () => published(await openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' })),
  does: (fixture) => fixture.says('/auto-dev pick C'),
};
const PICKING_ANOTHER: Deed = {
  ready: async () => published(await openFixture(shared(), { pushes: 'rest' })),
  does: async (fixture) => fixture.says('/auto-dev pick C', { on: await pullOf(fixture) }),
};
const LETTING_CI_RUN: Deed = {
  ready: async () => published(await openFixture(shared(), { pushes: 'rest' })),
  does: async (fixture) => fixture.says('/auto-dev ci', { on: await pullOf(fixture) }),
};
const EXPLAINING: Deed = {
  ready: async () => published(await openFixture(shared(), { decision: TOSS_UP, pushes: 'rest' })),
  does: (fixture) => fixture.says('/auto-dev explain A'),
};

/** Giving tokens back is not publishing: they run out by themselves. */
const matters = ({ path }: Call): boolean => path !== '/installation/token';
const reads = ({ method, path }: Call): boolean => method === 'GET' || path.endsWith('/access_tokens');

/** Calls that differ in a label or a commit only are one kind. */
const kindOf = ({ method, path }: Call): string =>
  `${method} ${path.replace(/[0-9a-f]{40}/, 'SHA').replace(/auto-dev%3A\w+$/, 'LABEL')}`;

/** Does the deed with each trouble that there is for it; those after which something else stands than without. */
async function differing({ ready, does }: Deed) {
  const calm = await ready();
  const before = calm.line.calls.length;
  const said = await does(calm);
  const wanted = await outcomeOf(calm);
  await closePulls(calm);
  const differ: object[] = [];
  const seen = new Set<string>();
  for (const [at, call] of calm.line.calls.slice(before).entries()) {
    if (!matters(call) || seen.has(kindOf(call))) continue;
    seen.add(kindOf(call));
    for (const kind of troublesOf(call)) {
      const fixture = await ready();
      fixture.line.fails({ kind, at: fixture.line.calls.length + at });
      const answer = await does(fixture);
      const stands = await outcomeOf(fixture);
      await closePulls(fixture);
      const same = JSON.stringify(stands) === JSON.stringify(wanted);
      if (!same) differ.push({ kind, call, answer, ...differenceOf(stands, wanted) });
    }
  }
  return { said, wanted, differ };
}

/** An answer that is lost after the deed is what doubles things. */
const troublesOf = (call: Call): readonly Trouble['kind'][] =>
  reads(call) ? ['outage'] : ['before', 'after'];

const differenceOf = <T extends object>(one: T, other: T): object =>
  Object.fromEntries(
    Object.entries(one).flatMap(([key, value]) => {
      const wanted = other[key as keyof T];
      return JSON.stringify(value) === JSON.stringify(wanted) ? [] : [[key, { wanted, value }]];
    }),
  );

const DEEDS: readonly (readonly [string, Deed, number])[] = [
  ['publishing a pull request', PUBLISHING, 1],
  ['asking for a pick', ASKING, 0],
  ['a pick', PICKING, 1],
  ['another pick', PICKING_ANOTHER, 1],
  ['letting CI run', LETTING_CI_RUN, 1],
  ['explaining a candidate', EXPLAINING, 0],
];

describe('F3: one outage of GitHub at any call leaves everything done exactly once:', () => {
  test.each(DEEDS)(
    '%s',
    async (_what, deed, pulls) => {
      tried({
        id: 'github-away-once',
        part: 'GitHub is unavailable',
        what: 'GitHub becomes unavailable once at each call of each operation: before the call takes effect, and after it, without an answer.',
        held: 'Everything exists in the end, exactly once.',
      });
      const { wanted, differ } = await differing(deed);
      expect(differ).toEqual([]);
      expect(wanted.pulls).toHaveLength(pulls);
      expect(wanted.checks).toHaveLength(pulls);
      // Some hundred plays, one for each call and moment.
    },
    900_000,
  );
});
