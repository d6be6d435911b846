import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Evidence, TestRun } from '../../src/core/evidence/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import { type ServicePlan, Settings, timesOf } from '../../src/core/settings/index.ts';
import type { ExecResult, ExecSpec } from '../../src/ports/index.ts';
import { collectText, gatherEvidence, readBaseRun, testBase } from '../../src/runs/examine/index.ts';
import { found } from '../core/ranking/round-facts.ts';
import { memoryEngine } from '../world/memory-engine.ts';
import { tried } from '../world/tried.ts';
import { codingWorld, type Doing, flowsOf, played, RUN } from './coding-world.ts';
import { entryOf, type FixtureOptions, openSharedFixture, type SharedFixture } from './examination-world.ts';

const testOf = (name: string, expectation: string) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { add } from '../add.js';
test('${name}', () => assert.equal(${expectation}));
`;
const FILES = {
  'package.json': '{ "type": "module" }\n',
  'add.js': 'export const add = (a, b) => a - b;\n',
  'test/add.test.js': testOf('adds nothing', 'add(2, 0), 2'),
};
const RIGHT = {
  'add.js': 'export const add = (a, b) => a + b;\n',
  'test/more.test.js': testOf('adds', 'add(1, 2), 3'),
};
const WRONG = { 'add.js': 'export const add = (a, b) => a * b;\n' };

/** What one candidate is known by that no busy machine changes. */
const told = (one: Evidence | undefined) => [
  one?.survivor,
  one?.gates.map(({ gate, passed }) => `${gate} ${passed}`),
  one?.baseTests?.regressions,
  one?.provenTests,
  one?.peerTests,
];

describe('checks whose process is killed', () => {
  let shared: SharedFixture;
  let base: TestRun;
  let calm: readonly unknown[];
  beforeAll(async () => {
    shared = await openSharedFixture();
    const fixture = await shared.fixture({ files: FILES });
    base = await fixture.base();
    const { A, B } = await fixture.examine(base, { A: RIGHT, B: WRONG });
    calm = [told(A), told(B)];
  });
  afterAll(() => shared.close());

  /** What the first so many commands of every area of the examination come to. */
  const losing = (times: number, how: 'launcher' | 'command'): NonNullable<FixtureOptions['exec']> => {
    const lost = new Map<string, number>();
    return async (spec, real) => {
      const before = lost.get(spec.area.id) ?? 0;
      const result = await real(spec);
      if (!spec.area.id.includes('-x-') || before >= times) return result;
      lost.set(spec.area.id, before + 1);
      if (how === 'launcher') throw new Fault('PROGRAM_KILLED', 'bwrap was killed.');
      return { ...result, exitCode: null };
    };
  };

  test.each(['launcher', 'command'] as const)('by a kill of the %s have the same result', async (how) => {
    const fixture = await shared.fixture({ files: FILES, exec: losing(2, how) });
    const onBase = await fixture.base();
    expect(onBase).toMatchObject({ tests: base.tests, source: base.source, runs: 3 });
    const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: WRONG });
    expect([told(A), told(B)]).toEqual(calm);
  });

  test('by a signal each time end like a command that kills itself', async () => {
    let times = 0;
    const exec: FixtureOptions['exec'] = async (spec, real) => {
      if (!spec.area.id.endsWith('x-A-base')) return real(spec);
      if (isTest(spec)) times += 1;
      return { ...(await real(spec)), exitCode: isTest(spec) ? null : 1 };
    };
    const fixture = await shared.fixture({ files: FILES, exec });
    const { A, B } = await fixture.examine(base, { A: RIGHT, B: WRONG });
    expect([A?.survivor, B?.survivor]).toEqual([false, true]);
    expect(times).toBe(5);
  });

  test.each([1, 3])(
    'in run %i of the base tests do not make the base broken or its tests flaky',
    async (which) => {
      let runs = 0;
      const exec: FixtureOptions['exec'] = async (spec, real) => {
        if (isTest(spec)) runs += 1;
        if (isTest(spec) && runs === which)
          await writeFile(join(spec.area.upper, 'add.js'), 'process.exit(1);\n');
        return real(spec);
      };
      const onBase = await (await shared.fixture({ files: FILES, exec })).base();
      // The first one is repeated before another form of the command is kept.
      expect(onBase).toMatchObject({ tests: base.tests, runs: which === 1 ? 3 : 2 });
      expect(onBase.forms).toBeUndefined();
      expect(onBase.flaky).toBeUndefined();
    },
  );

  test('inside, while the base tests run, are repeated once', async () => {
    const exec: FixtureOptions['exec'] = async (spec, real) => {
      const result = await real(spec);
      return spec.area.id.endsWith('x-base-1') && isTest(spec) ? { ...result, exitCode: 137 } : result;
    };
    const fixture = await shared.fixture({ files: FILES, exec });
    expect(await fixture.base()).toMatchObject({ tests: base.tests, exitCode: 0, runs: 3 });
    expect(fixture.tested.filter((area) => area.endsWith('again'))).toEqual(['base-1-again']);
  });

  test('while their checkout is damaged run again on a new one', async () => {
    tried({
      part: 'Stored data is damaged',
      id: 'checkout-damaged-under-checks',
      what: 'A file of the base commit is removed while its tests run.',
      held: 'The failure counts against nobody; the checkout is rebuilt, and the tests pass.',
    });
    let damaged = false;
    const exec: FixtureOptions['exec'] = async (spec, real) => {
      if (isTest(spec) && !damaged) {
        damaged = true;
        await rm(join(fixture.bench.base.lower, 'add.js'));
      }
      return real(spec);
    };
    const fixture = await shared.fixture({ files: FILES, exec });
    await expect(fixture.base()).rejects.toMatchObject({ code: 'STORED_DATA_DAMAGED' });
    await fixture.prepare();
    expect(await fixture.base()).toMatchObject({ tests: base.tests });
  });

  test('or whose stored result is damaged: base runs are repeated, and a lost patch is reported', async () => {
    tried({
      part: 'Stored data is damaged',
      id: 'patch-damaged',
      what: 'The stored base run is truncated, and the patch of one of two candidates.',
      held: 'The base run is repeated; the candidate is eliminated with a sentence that says why, and the other one is examined.',
    });
    const fixture = await shared.fixture({ files: FILES });
    const { artifacts } = fixture.bench.world;
    const stored = await artifacts.put(JSON.stringify(await fixture.base()));
    await fixture.truncate(stored);
    const onBase = await readBaseRun(fixture.bench, stored);
    expect(onBase).toMatchObject({ tests: base.tests, source: base.source });
    const entries = [
      { ...(await entryOf(fixture.bench, fixture.bench.world.workspaces, 'A', RIGHT)), ordinal: 0 },
      { ...(await entryOf(fixture.bench, fixture.bench.world.workspaces, 'B', WRONG)), ordinal: 1 },
    ] as const;
    const text = entries[0].patch?.text;
    if (!text) throw new Error('A left no patch.');
    await fixture.truncate(text);
    const { evidence } = await gatherEvidence(fixture.bench, entries, onBase);
    expect(evidence.find(({ alias }) => alias === 'A')).toMatchObject({
      survivor: false,
      gates: [
        {
          gate: 'collected',
          passed: false,
          because: 'its stored patch is damaged and cannot be read',
        },
      ],
    });
    expect(evidence.find(({ alias }) => alias === 'B')?.baseTests?.regressions).not.toEqual([]);
  });
});

/** Fails as `make` does when a compiler is killed: with its own exit code. */
const BUILD = `if [ -n "$KILL_IT" ]; then sh -c 'kill -KILL $$'; exit 2; fi`;

describe('a build with a program that is killed inside', () => {
  let shared: SharedFixture;
  beforeAll(async () => {
    shared = await openSharedFixture();
  });
  afterAll(() => shared.close());

  /** Kills in the first so many builds of each area. */
  async function killing(kills: number) {
    const builds = new Map<string, number>();
    const exec: FixtureOptions['exec'] = (spec, real) => {
      if (spec.argv[2] !== BUILD) return real(spec);
      const count = (builds.get(spec.area.id) ?? 0) + 1;
      builds.set(spec.area.id, count);
      return real(count > kills ? spec : { ...spec, env: { ...spec.env, KILL_IT: '1' } });
    };
    return { fixture: await shared.fixture({ files: FILES, build: BUILD, exec }), builds };
  }

  test('is repeated once, on the base and of a candidate', async () => {
    tried({
      part: 'Child processes are killed',
      id: 'build-child-killed',
      what: 'A program inside a build, which then ends with an exit code of its own; once and every time.',
      held: 'The build is repeated once in a fresh area before it counts, for the base commit as for a candidate.',
    });
    const once = await killing(1);
    const onBase = await once.fixture.base();
    expect(onBase.buildMs).toBeGreaterThan(0);
    const { A } = await once.fixture.examine(onBase, { A: RIGHT });
    expect(A).toMatchObject({ survivor: true });
    const always = await killing(Number.POSITIVE_INFINITY);
    await expect(always.fixture.base()).rejects.toMatchObject({ code: 'BASE_BROKEN' });
    const { A: failed } = await always.fixture.examine(onBase, { A: RIGHT });
    expect(failed?.gates).toContainEqual(expect.objectContaining({ gate: 'builds', passed: false }));
    expect([...always.builds.values()].every((count) => count === 2)).toBe(true);
  });
});

describe('a service for the tests', () => {
  let shared: SharedFixture;
  beforeAll(async () => {
    shared = await openSharedFixture();
  });
  afterAll(() => shared.close());

  test('that does not start is an outage that names it, unless the tests only say so', async () => {
    let alone = 0;
    const exec: FixtureOptions['exec'] = async (spec, real) => {
      const end = await real(spec);
      // The check that starts services alone.
      alone += spec.argv.length === 3 && spec.argv[2]?.includes('Redis') ? 1 : 0;
      return end;
    };
    const { bench } = await shared.fixture({ files: FILES, exec, test: 'exit 75' });
    const failing = {
      script: 'echo "Redis could not be started for the tests." >&2; exit 75; ',
      env: {},
      notes: [],
      tolerantScript: '',
      refusedIn: () => null,
      without: () => null,
    };
    await expect(testBase({ ...bench, services: failing })).rejects.toMatchObject({
      code: 'RESOURCES_EXHAUSTED',
      message: 'Redis could not be started for the tests.',
    });
    expect(alone).toBe(5);
    expect(await testBase({ ...bench, services: { ...failing, script: ': Redis; ' } })).toMatchObject({
      exitCode: 75,
    });
    expect(alone).toBeGreaterThan(5);
  });
});

describe('a service that refuses to start', () => {
  let shared: SharedFixture;
  beforeAll(async () => {
    shared = await openSharedFixture();
  });
  afterAll(() => shared.close());

  const SAID = 'Redis (cache) does not start for the tests: bind: Permission denied';
  const refusing: ServicePlan = {
    script: `echo "${SAID}" >&2; exit 78; `,
    tolerantScript: '',
    env: {},
    notes: ['The tests ran with Redis 7.0; CI asks for redis:7.'],
    refusedIn: (said) => (said.includes(SAID) ? 'cache' : null),
    without: (service) => (service === 'cache' ? null : refusing),
  };

  test('on the base commit is noted, and base and candidates are tested without it', async () => {
    tried({
      id: 'service-refuses',
      part: 'Child processes are killed',
      what: 'A service of the CI job ends by itself on the base commit, as with a port that it cannot have.',
      held: 'It is no outage: a note says so, and base and candidates are tested without it.',
    });
    const { bench } = await shared.fixture({ files: FILES });
    const on = { ...bench, services: refusing, notes: refusing.notes };
    const base = await testBase(on);
    expect(base).toMatchObject({ source: 'report', exitCode: 0, refusedServices: ['cache'] });
    expect(base.notes).toEqual([`${SAID}. The tests ran without it.`]);
    const entry = { ...(await entryOf(bench, bench.world.workspaces, 'A', RIGHT)), ordinal: 0 };
    const { evidence } = await gatherEvidence(on, [entry], base);
    expect(evidence).toMatchObject([{ survivor: true }]);
  });

  test('on a candidate alone is an outage: its files may be the reason', async () => {
    const { base, bench } = await shared.fixture({ files: FILES });
    const entry = { ...(await entryOf(bench, bench.world.workspaces, 'A', RIGHT)), ordinal: 0 };
    const on = { ...bench, services: refusing };
    await expect(gatherEvidence(on, [entry], await base())).rejects.toMatchObject({
      code: 'RESOURCES_EXHAUSTED',
      message: SAID,
    });
  });
});

describe("Runoff's own programs among the checks", () => {
  let shared: SharedFixture;
  beforeAll(async () => {
    shared = await openSharedFixture();
  });
  afterAll(() => shared.close());

  /** Kills these commands, of all or of the first so many areas, and records the waits before another area. */
  async function killing(is: (spec: ExecSpec) => boolean, times: number, how: Partial<ExecResult> = {}) {
    const waits: number[] = [];
    let kills = 0;
    const fixture = await shared.fixture({
      files: FILES,
      clock: { sleep: async (ms) => void waits.push(ms) },
      exec: async (spec, real) => {
        const result = await real(spec);
        if (!is(spec) || kills >= times) return result;
        kills += 1;
        return { ...result, exitCode: null, ...how };
      },
    });
    return { fixture, waits };
  }

  const OWN: readonly (readonly [string, RegExp, (spec: ExecSpec) => boolean])[] = [
    ['git apply', /^`git apply` was killed/, ({ argv }) => argv[0] === 'git' && argv[1] === 'apply'],
    ['the syntax check', /^The syntax check was killed/, ({ argv }) => argv.join(' ').includes('check.mjs')],
  ];

  test.each(OWN)('do not count against a candidate when they are killed: %s', async (_, said, is) => {
    tried({
      part: 'Child processes are killed',
      id: 'own-checks-killed',
      what: "Runoff's own programs among the checks (git apply, the syntax check, the reader of reports), once and every time.",
      held: 'No gate fails because of it: the work is repeated in fresh areas after growing waits, and then waits for the end of the outage, which names the program.',
    });
    const once = await killing(is, 1);
    const onBase = await once.fixture.base();
    const { A } = await once.fixture.examine(onBase, { A: RIGHT });
    expect(A).toMatchObject({ survivor: true });
    expect(once.waits).toEqual([100]);
    const always = await killing(is, Number.POSITIVE_INFINITY);
    await expect(always.fixture.examine(onBase, { A: RIGHT })).rejects.toMatchObject({
      code: 'PROGRAM_KILLED',
      message: said,
    });
    expect(always.waits).toEqual([100, 500, 2_000, 4_000]);
  });

  test('do not count against a candidate when the machine has no memory for them', async () => {
    const how = {
      exitCode: 128,
      stderr: 'fatal: Out of memory, malloc failed (tried to allocate 8192 bytes)\n',
    };
    const is = OWN[0]?.[2] ?? (() => false);
    const { fixture } = await killing(is, Number.POSITIVE_INFINITY, how);
    await expect(fixture.examine(await fixture.base(), { A: RIGHT })).rejects.toMatchObject({
      code: 'RESOURCES_EXHAUSTED',
      message: /^`git apply` failed: fatal: Out of memory/,
    });
  });

  test('leave a file that makes the syntax check crash to the build', async () => {
    const is = OWN[1]?.[2] ?? (() => false);
    const { fixture } = await killing(is, Number.POSITIVE_INFINITY, { signal: 6 });
    const { A } = await fixture.examine(await fixture.base(), { A: RIGHT });
    expect(A).toMatchObject({ survivor: true });
  });

  test.each(['apply', 'write-tree', 'diff-index'])(
    'read a given patch again after a kill: git %s',
    async (word) => {
      tried({
        part: 'Child processes are killed',
        id: 'given-patch-killed',
        what: 'Each git program that reads a patch given as text, once and every time.',
        held: 'It is never said that the patch does not apply: it is read again, or the fault names the program.',
      });
      const inPlace = `git() { case "$*" in *${word}*) command sh -c 'kill -KILL $$' ;; *) command git "$@" ;; esac; }\n`;
      let left = 1;
      const exec: FixtureOptions['exec'] = (spec, real) => {
        const [shell = '', option = '', script = '', ...rest] = spec.argv;
        if (rest[0] !== 'take' || left === 0) return real(spec);
        left -= 1;
        return real({ ...spec, argv: [shell, option, `${inPlace}${script}`, ...rest] });
      };
      const { bench } = await shared.fixture({ files: FILES, exec });
      const text = [
        'diff --git a/add.js b/add.js',
        ...['--- a/add.js', '+++ b/add.js', '@@ -1 +1 @@'],
        ...['-export const add = (a, b) => a - b;', '+export const add = (a, b) => a + b;', ''],
      ].join('\n');
      expect(await collectText(bench, 'A', text)).toMatchObject({ note: 'given' });
      left = Number.POSITIVE_INFINITY;
      await expect(collectText(bench, 'A', text)).rejects.toMatchObject({
        code: 'PROGRAM_KILLED',
        message: /^The program that reads a given patch \(git\) was killed/,
      });
      left = 0;
      expect(await collectText(bench, 'A', text.replace('a - b', 'a * b'))).toMatchObject({
        note: expect.stringMatching(/^does not apply to the base/),
      });
    },
  );
});

const isTest = ({ argv }: ExecSpec): boolean => argv.join(' ').includes('node --test');

describe('a coder that a signal ends', () => {
  const ended = { stopped: null, stdout: '', stderr: '', truncated: false, ms: 1 } as const;

  /** A coder that is killed so many times; the other one is not. */
  async function killed(times: number, afterMs = 0) {
    const asked: string[] = [];
    let elapsed = 0;
    const A: Doing = async ({ stdin = '' }) => {
      asked.push(stdin);
      elapsed += afterMs;
      return { ...ended, exitCode: asked.length > times ? 0 : null };
    };
    const script = { settings: { candidates: 2 }, coders: { A }, found: () => found('A', {}) };
    const stage = await codingWorld(script);
    const world = { ...stage.world, clock: { ...stage.world.clock, elapsed: () => elapsed } };
    await played(memoryEngine(), flowsOf(world, script));
    const candidates = await world.store.candidates(RUN);
    return { asked, one: candidates.find(({ alias }) => alias === 'A') };
  }

  test('starts over with the same requests, which the gateway answers again', async () => {
    const { asked, one } = await killed(1);
    expect(one).toMatchObject({ state: 'coded', note: 'done' });
    expect(asked).toHaveLength(2);
    expect(new Set(asked).size).toBe(1);
  });

  test('each time is judged by what it left', async () => {
    const { asked, one } = await killed(Number.POSITIVE_INFINITY);
    expect(asked).toHaveLength(5);
    expect(one).toMatchObject({ state: 'coded', note: expect.stringContaining('ended with exit code none') });
  });

  test('shortly before its time limit works for less than twice that time', async () => {
    const { mostMs } = timesOf(Settings.parse({}).timeout, 7_200);
    const { asked, one } = await killed(Number.POSITIVE_INFINITY, mostMs * 0.9);
    expect(asked).toHaveLength(2);
    expect(one).toMatchObject({ state: 'coded', note: expect.stringContaining('ended with exit code none') });
  });
});
