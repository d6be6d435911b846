import { Semaphore } from 'async-mutex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/adapters/system/index.ts';
import type { Evidence } from '../../src/core/evidence/index.ts';
import { type Candidate, NO_USAGE } from '../../src/core/model/index.ts';
import { type Decision, rankingOptionsOf } from '../../src/core/ranking/index.ts';
import type { Clock, Workspaces } from '../../src/ports/index.ts';
import { examineAhead } from '../../src/runs/ahead.ts';
import type { CheckRunnerPorts } from '../../src/runs/examine/index.ts';
import { gatherEvidence, openCheckRunner } from '../../src/runs/examine/index.ts';
import { decideRanking } from '../../src/runs/judge/index.ts';
import type { Files } from '../adapters/git/world.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { entryOf, type FixtureOptions, openSharedFixture, type SharedFixture } from './examination-world.ts';

const sum = (body: string): Files => ({ 'src/sum.js': `export const sum = (list) => ${body};\n` });
const testOf = (name: string, body: string): Files => ({
  [`test/${name}.test.js`]: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';

test('${name}', () => ${body});
`,
});
const BASE: Files = {
  'package.json': '{ "type": "module" }\n',
  ...sum('list.reduce((a, b) => a + b)'),
  ...testOf('two', 'assert.equal(sum([1, 2]), 3)'),
};
/** A and B repair the empty list, C breaks the base test, D writes tests alone. */
const CANDIDATES: Readonly<Record<string, Files>> = {
  A: { ...sum('list.reduce((a, b) => a + b, 0)'), ...testOf('empty', 'assert.equal(sum([]), 0)') },
  B: { ...sum('[0, ...list].reduce((a, b) => a + b)'), ...testOf('none', 'assert.equal(sum([]), 0)') },
  C: sum('list.length'),
  D: testOf('one', 'assert.equal(sum([1]), 1)'),
};

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

/** A run whose coders end when the test says so, on a real repository and in a real sandbox. */
async function codingRun(options: Partial<FixtureOptions> = {}, clock: Partial<Clock> = {}) {
  const fixture = await shared.fixture({ files: BASE, ...options });
  const { bench, tested } = fixture;
  const { runId } = bench.task;
  const store = memoryStore();
  const origin = { kind: 'local', path: bench.source.kind === 'local' ? bench.source.path : '' } as const;
  await store.createRun({ id: runId, origin, title: 'Sums', request: {}, at: 0 });
  const text = { title: 'Sums', body: 'The sum of an empty list is 0.', comments: [], lowered: [] };
  await store.updateRun(runId, { task: { ...bench.task, ...text, origin } }, 0);
  const world = {
    ...partial<CheckRunnerPorts>({}, ['github', 'registries']),
    ...bench.world,
    store,
    clock: { ...systemClock, ...clock },
    log: silent,
    random: systemRandom,
  };
  const baseRun = await world.artifacts.put(JSON.stringify(await fixture.base()));
  const before = tested.length;
  const here = new Semaphore(2);
  const over = new AbortController();
  const cancel = new AbortController();
  const put = async (alias: string, state: Candidate['state'], more: Partial<Candidate> = {}) => {
    const contestant = { agent: 'builtin', model: `m/${alias}`, prompt: 'plain' };
    const ordinal = Object.keys(CANDIDATES).indexOf(alias);
    await store.putCandidate({
      ...{ runId, alias, ordinal, contestant, usage: NO_USAGE, ms: 1, state, note: '' },
      ...more,
    } as Candidate);
  };
  for (const alias of Object.keys(CANDIDATES)) await put(alias, 'coding');
  const context = async (signal = cancel.signal) => {
    const run = await store.run(runId);
    if (!run) throw new Error('The run is gone.');
    return { run, signal };
  };
  return {
    /** Areas in which test commands ran for candidates, or for the base beside them. */
    tested: () => tested.slice(before).map((area) => area.replace(OWN_AREA, '')),
    /** The same, with what the areas of each examination ahead have of their own. */
    areas: () => tested.slice(before),
    over,
    cancel,
    async finish(alias: string) {
      const { patch } = await entryOf(
        bench,
        bench.world.workspaces as Workspaces,
        alias,
        CANDIDATES[alias] ?? {},
      );
      await put(alias, 'coded', patch ? { patch } : {});
    },
    async ahead(concurrency: Semaphore = here) {
      return examineAhead(world, concurrency, baseRun)(await context(), over.signal);
    },
    /** What the stage `judge` decides from this evidence, without the words. */
    decide(evidence: readonly Evidence[]): Partial<Decision> {
      const order = rankingOptionsOf(bench.task.settings);
      const { decision } = decideRanking(evidence, order, undefined, { askPerson: false });
      const { because: _, ...decided } = decision;
      return decided;
    },
    /** The examination of all candidates, as the stage does it. */
    async examine(): Promise<readonly Evidence[]> {
      const runner = await openCheckRunner(world, await context(new AbortController().signal));
      const onBase = JSON.parse(await world.artifacts.get(baseRun));
      return (await gatherEvidence(runner, await store.candidates(runId), onBase)).evidence;
    },
  };
}

const ALL = Object.keys(CANDIDATES);
/** Areas in which the base's tests ran in other surroundings. */
const isBaseElsewhere = (area: string): boolean => area.startsWith('elsewhere-');
/** What an examination ahead adds to the ids of its areas. */
const OWN_AREA = /-ahead-[0-9a-f]+$/;
/** Without measured times, and what the id of the run decides: where tests ran besides the usual surroundings. */
const comparable = (evidence: readonly Evidence[]): unknown =>
  JSON.parse(
    JSON.stringify(evidence, (key, value) => (key === 'ms' ? 0 : value)).replace(
      /in \S+, for the user \S+ on [\w-]+\./g,
      'elsewhere.',
    ),
  );

describe('candidates that are examined while others are coded', () => {
  test('get the same evidence, and the examination of all of them executes nothing again', async () => {
    const plain = await codingRun();
    for (const alias of ALL) await plain.finish(alias);
    const expected = await plain.examine();

    const run = await codingRun();
    const watching = run.ahead();
    for (const alias of ['A', 'B', 'C']) await run.finish(alias);
    // What a candidate by itself needs: its code under the base's tests and its own, here and elsewhere.
    await expect
      .poll(() => ['A', 'B', 'C'].every((alias) => run.tested().includes(`${alias}-base`)))
      .toBe(true);
    // Then the tests of finished candidates on each other.
    await expect.poll(() => run.tested().filter((area) => area.includes('-from-')).length).toBe(2);
    await run.finish('D');
    const ahead = run.tested();
    run.over.abort();
    expect(await watching).toBeGreaterThanOrEqual(0);

    const found = await run.examine();
    expect(comparable(found)).toEqual(comparable(expected));
    expect(run.decide(found)).toEqual(plain.decide(expected));
    expect(new Set(run.tested())).toEqual(new Set(plain.tested()));
    const before = ahead.filter((area) => /^[AB]-(?:base|own)$/.test(area));
    expect(before).toHaveLength(4);
    expect(run.tested().filter((area) => before.includes(area))).toHaveLength(4);
    // A failure may come from the coders' load, so it is seen again without them.
    expect(run.tested().filter((area) => area === 'C-base')).toHaveLength(2);
    // Nobody else opens the areas of an examination ahead, whatever else is examined at the same time.
    const own = new Set(run.areas().flatMap((area) => OWN_AREA.exec(area) ?? []));
    expect(own.size).toBeGreaterThanOrEqual(3);
  });

  test('find that the base was tested in other surroundings before any coder had ended', async () => {
    const run = await codingRun();
    const slots = new Semaphore(1);
    const watching = run.ahead(slots);
    await expect.poll(() => run.tested().filter(isBaseElsewhere)).not.toEqual([]);
    await expect.poll(() => slots.isLocked()).toBe(false);
    run.over.abort();
    await watching;
    const before = run.tested();

    for (const alias of ALL) await run.finish(alias);
    await run.examine();
    expect(run.tested().filter(isBaseElsewhere)).toEqual(before);
  });

  test('lead to the same winner, with the same confidence', async () => {
    const plain = await codingRun();
    for (const alias of ['A', 'C', 'D']) await plain.finish(alias);
    const expected = plain.decide(await plain.examine());

    const run = await codingRun();
    const watching = run.ahead();
    for (const alias of ['A', 'C']) await run.finish(alias);
    await expect.poll(() => ['A', 'C'].every((alias) => run.tested().includes(`${alias}-base`))).toBe(true);
    await run.finish('D');
    run.over.abort();
    await watching;

    expect(run.decide(await run.examine())).toEqual(expected);
    expect(expected).toMatchObject({ kind: 'winner', alias: 'A' });
  });

  test('are no more at a time than the limit, and none in a process that examines nothing', async () => {
    const run = await codingRun();
    const concurrency = new Semaphore(1);
    await concurrency.acquire();
    const watching = run.ahead(concurrency);
    await run.finish('A');
    const none = run.ahead(new Semaphore(0));
    run.over.abort();
    await Promise.all([watching, none]);
    expect(run.tested()).toEqual([]);
  });

  test('after a crash are examined again from what was kept', async () => {
    const run = await codingRun();
    await run.finish('C');
    const killed = run.ahead();
    await expect.poll(() => run.tested()).toContain('C-base');
    run.cancel.abort();
    await expect(killed).rejects.toThrow();

    for (const alias of ['A', 'B', 'D']) await run.finish(alias);
    const plain = await codingRun();
    for (const alias of ALL) await plain.finish(alias);
    expect(comparable(await run.examine())).toEqual(comparable(await plain.examine()));
  });

  describe('when the last coder ends', () => {
    /** A run whose base tests on A stand still until the test says so, or until they are stopped. */
    async function heldRun() {
      const [go, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const held = { begun: false, stopped: false, elapsed: 0, go, late };
      const aborted = (signal: AbortSignal | undefined) =>
        new Promise<void>((resolve) => {
          if (signal?.aborted) resolve();
          signal?.addEventListener('abort', () => resolve());
        });
      const stopped = async (signal: AbortSignal | undefined) => {
        await aborted(signal);
        held.stopped = true;
      };
      const run = await codingRun(
        {
          async exec(spec, real) {
            if (!spec.area.id.includes('-A-base-ahead-') || held.begun) return real(spec);
            held.begun = true;
            const result = await real(spec);
            await Promise.race([held.go.promise, stopped(spec.signal)]);
            return held.stopped ? { ...result, stopped: 'cancelled' } : result;
          },
        },
        {
          elapsed: () => held.elapsed,
          // Looks for finishers each second, and waits half a suite at the end.
          sleep: (ms, signal) =>
            ms === 1_000 ? systemClock.sleep(ms, signal) : Promise.race([held.late.promise, aborted(signal)]),
        },
      );
      const watching = run.ahead();
      await run.finish('A');
      await expect.poll(() => held.begun).toBe(true);
      return { run, held, watching };
    }

    test('a command that has just begun is stopped, and runs again in the examination of all', async () => {
      const { run, held, watching } = await heldRun();
      run.over.abort();
      await watching;
      expect(held.stopped).toBe(true);
      await run.examine();
      expect(run.tested().filter((area) => area === 'A-base')).toHaveLength(2);
    });

    test('one that is almost done is waited for, and none begins after it', async () => {
      const { run, held, watching } = await heldRun();
      held.elapsed += 60 * 60_000;
      run.over.abort();
      held.go.resolve();
      await watching;
      expect(held.stopped).toBe(false);
      expect(run.tested().filter((area) => !isBaseElsewhere(area))).toEqual(['A-base']);
      await run.examine();
      expect(run.tested().filter((area) => area === 'A-base')).toHaveLength(1);
    });

    test('one that is almost done, but does not end, is waited for no longer than half of a suite', async () => {
      const { run, held, watching } = await heldRun();
      held.elapsed += 60 * 60_000;
      run.over.abort();
      held.late.resolve();
      await watching;
      expect(held.stopped).toBe(true);
      await run.examine();
      expect(run.tested().filter((area) => area === 'A-base')).toHaveLength(2);
    });
  });
});
