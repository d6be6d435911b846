import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IndependentTest } from '../../src/core/independent-tests/index.ts';
import { admitTests, type TestedSurvivor, type TestTrialOptions } from '../../src/runs/examine/admit.ts';
import type { CheckRunner } from '../../src/runs/examine/areas.ts';
import { independentTest } from '../core/independent-tests/sample.ts';
import {
  expecting,
  type Fixture,
  HASTY,
  IDLE,
  openSharedFixture,
  RIGHT,
  type SharedFixture,
} from './independent-tests-world.ts';

const wish = (id: string, text: string): IndependentTest => independentTest(id, { text });
const SPACE = wish('space', expecting(' a ,b', ['a', 'b']));
const EMPTY = wish('empty', expecting('', []));
const OLD = wish('old', expecting('a,b', ['a', 'b']));
const WRONG = wish('wrong', expecting('a;b', ['a', 'b']));

let calls = 0;
const admission = (
  fixture: Fixture,
  tests: readonly IndependentTest[],
  survivors: readonly TestedSurvivor[],
  more: Partial<TestTrialOptions> = {},
) => {
  calls += 1;
  return admitTests(fixture.bench, tests, {
    survivors,
    onBase: fixture.onBase,
    taskKind: 'change',
    name: `n${calls}`,
    ...more,
  });
};
const statuses = ({ votes }: { readonly votes: readonly { id: string; status: string }[] }) =>
  votes.map(({ id, status }) => `${id}: ${status}`);

describe('independent tests are admitted by their results:', () => {
  let shared: SharedFixture;
  let fixture: Fixture;
  let right: TestedSurvivor;
  let hasty: TestedSurvivor;
  let idle: TestedSurvivor;
  beforeAll(async () => {
    shared = await openSharedFixture();
    fixture = await shared.fixture();
    right = await fixture.survivor('A', RIGHT);
    hasty = await fixture.survivor('B', HASTY);
    idle = await fixture.survivor('C', IDLE);
  });
  afterAll(() => shared.close());

  test('some count, one requires nothing new, one is probably wrong', async () => {
    const found = await admission(fixture, [SPACE, EMPTY, OLD, WRONG], [right, hasty, idle]);
    expect(statuses(found)).toEqual(['space: admitted', 'empty: admitted', 'old: refused', 'wrong: suspect']);
    expect(found.votes[0]).toMatchObject({ passedBy: ['A', 'B'], failedBy: ['C'] });
    expect(found.votes[1]).toMatchObject({ passedBy: ['A'], failedBy: ['B', 'C'] });
    expect(found.byAlias).toMatchObject({
      A: { passed: 2, total: 2, failing: [] },
      B: { passed: 1, total: 2, failing: [{ id: 'empty', message: expect.stringContaining('deep-equal') }] },
      C: { passed: 0, total: 2 },
    });
  });

  test('the order and names of survivors do not matter, and equal trees run once', async () => {
    let runs = 0;
    const { remember } = fixture.bench;
    const bench: CheckRunner = {
      ...fixture.bench,
      remember: (key, work, keeps) =>
        remember(
          key,
          () => {
            runs += 1;
            return work();
          },
          keeps,
        ),
    };
    const called = (alias: string, survivor: TestedSurvivor): TestedSurvivor => ({ ...survivor, alias });
    const survivors = [called('X', idle), called('Z', hasty), called('Y', right), called('W', hasty)];
    const { votes, byAlias } = await admission({ ...fixture, bench }, [SPACE, EMPTY, OLD, WRONG], survivors);
    expect(votes[1]).toMatchObject({ passedBy: ['Y'], failedBy: ['W', 'X', 'Z'] });
    expect(byAlias.W).toEqual(byAlias.Z);
    // All of it was run for the story before this one.
    expect(runs).toBe(0);
  });

  test('a test of what must stay shows who broke it', async () => {
    const body = RIGHT['src/csv.js'].replace("split(',')", 'split(/[,;]/)');
    const breaking = await fixture.survivor('D', { 'src/csv.js': body });
    const guard = { ...wish('semicolon', expecting('a;b', ['a;b'])), onBase: 'passes' } as const;
    const { votes } = await admission(fixture, [guard], [right, breaking, hasty]);
    expect(votes).toMatchObject([{ status: 'admitted', passedBy: ['A', 'B'], failedBy: ['D'] }]);
  });

  test('a file fails on a candidate that left a folder in its place', async () => {
    const inTheWay = await fixture.survivor('E', { ...RIGHT, 'test/space.test.js/index.txt': 'x' });
    const { votes } = await admission(fixture, [SPACE, EMPTY], [right, inTheWay]);
    expect(votes).toMatchObject([
      { id: 'space', status: 'admitted', passedBy: ['A'], failedBy: ['E'] },
      { id: 'empty', status: 'admitted', passedBy: ['A', 'E'] },
    ]);
  });

  test('nothing runs without tests, and nothing is admitted without survivors', async () => {
    expect(await admission(fixture, [], [right])).toEqual({ tests: [], votes: [], byAlias: {} });
    expect(statuses(await admission(fixture, [SPACE], []))).toEqual(['space: refused']);
  });

  /** Node 24 names the file of a test in its report; older ones name only files that end as a whole. */
  test('also if the runner names no files', async () => {
    const old = await shared.fixture({ test: 'node --test' });
    const survivors = [await old.survivor('A', RIGHT), await old.survivor('B', HASTY)];
    const found = await admission(old, [EMPTY, OLD], survivors);
    expect(statuses(found)).toEqual(['empty: admitted', 'old: refused']);
    expect(found.byAlias).toMatchObject({ A: { passed: 1, total: 1 }, B: { passed: 0, total: 1 } });
  });

  test('with exit codes only, a test is the whole command, and a failing survivor does not count', async () => {
    const plain = await shared.fixture({
      test: 'for f in test/*.js; do node "$f" > /dev/null || exit 1; done',
    });
    const survivors = [
      await plain.survivor('A', RIGHT),
      await plain.survivor('B', IDLE),
      { ...(await plain.survivor('C', RIGHT)), passesBaseTests: false },
    ];
    expect(plain.onBase.source).toBe('exit-code');
    const found = await admission(plain, [SPACE, OLD, WRONG], survivors);
    expect(statuses(found)).toEqual(['space: admitted', 'old: refused', 'wrong: suspect']);
    expect(found.votes[0]).toMatchObject({ passedBy: ['A'], failedBy: ['B'] });
    expect(found.byAlias).not.toHaveProperty('C');
  });

  /** Two survivors, and a count of builds. */
  async function countedBuilds(test?: string) {
    const own = await shared.fixture({ build: 'true', ...(test === undefined ? {} : { test }) });
    const survivors = [await own.survivor('A', RIGHT), await own.survivor('B', HASTY)];
    let builds = 0;
    const { sandbox } = own.bench.world;
    const counting: typeof sandbox = {
      probe: () => sandbox.probe(),
      exec(spec) {
        if (spec.argv[2] === 'true') builds += 1;
        return sandbox.exec(spec);
      },
    };
    const bench: CheckRunner = { ...own.bench, world: { ...own.bench.world, sandbox: counting } };
    return { fixture: { ...own, bench }, survivors, builds: () => builds };
  }

  test('tests that run together are built once for each tree, and no run sees what another one left', async () => {
    const { fixture: own, survivors, builds } = await countedBuilds();
    const leaves = `import { writeFileSync } from 'node:fs';\nwriteFileSync('left.txt', '', { flag: 'wx' });\n`;
    const tests = [SPACE, EMPTY].map((one) => ({ ...one, text: leaves.replace('left', one.id) + one.text }));
    const found = await admission(own, tests, survivors);
    expect(statuses(found)).toEqual(['space: admitted', 'empty: admitted']);
    // The base and two survivors.
    expect(builds()).toBe(3);
  });

  test('a refused test stays in the build of the others where files that are not named do not run', async () => {
    const expected = ['space: admitted', 'empty: admitted', 'old: refused'];
    const alone = await countedBuilds();
    expect(statuses(await admission(alone.fixture, [SPACE, EMPTY, OLD], alone.survivors))).toEqual(expected);
    expect(alone.builds()).toBe(3);
    // Where files may share a process, one that is not named might run all the same.
    const shared = await countedBuilds('/opt/toolchain/bin/node --test --test-isolation=none');
    expect(statuses(await admission(shared.fixture, [SPACE, EMPTY, OLD], shared.survivors))).toEqual(
      expected,
    );
    expect(shared.builds()).toBe(4);
  });

  test('tests are built, too, and one that does not build does not affect the others', async () => {
    const build =
      'mkdir -p out && for f in test/*.js; do node --check "$f" || exit 1; done; cp -r src test package.json out';
    const built = await shared.fixture({ build, test: 'cd out && /opt/toolchain/bin/node --test' });
    const survivors = [await built.survivor('A', RIGHT), await built.survivor('B', HASTY)];
    const found = await admission(built, [EMPTY, wish('broken', 'import {')], survivors);
    expect(statuses(found)).toEqual(['empty: admitted', 'broken: refused']);
  });

  test('a cancelled run stops', async () => {
    const stop = new AbortController();
    const left = await shared.fixture({ signal: stop.signal });
    stop.abort();
    await expect(admission(left, [SPACE], [right])).rejects.toMatchObject({ name: 'AbortError' });
  });
});
