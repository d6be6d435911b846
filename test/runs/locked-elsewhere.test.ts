import { expect, test } from 'vitest';
import { GATES, readAssertionRecords, type TestRun } from '../../src/core/evidence/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { BaseCheckout } from '../../src/ports/index.ts';
import type { CheckRunner } from '../../src/runs/examine/areas.ts';
import type { ExaminationTools, ExaminedCandidate } from '../../src/runs/examine/candidate.ts';
import { openElsewhere, testElsewhere, withUnsteadyProbes } from '../../src/runs/examine/steadiness.ts';
import type { Tree } from '../../src/runs/examine/trees.ts';
import { patchBetween } from '../core/git.ts';
import { partial } from '../world/partial.ts';

type Place = 'here' | 'locked' | 'unlocked';

const PATCH = patchBetween({ 'src/a.js': 'one();\n' }, { 'src/a.js': 'two();\n' });
const BASE: BaseCheckout = { sha: 'a'.repeat(40), repositoryKey: 'k', lower: '/lower', layers: ['/layer'] };
const tree = (patch: string): Tree =>
  partial<Tree>({
    patch,
    ready: true,
    gates: [],
    built: partial<Tree['built']>({ ownPackages: false, upper: '' }),
  });
const RECORDS = readAssertionRecords(
  '["used","assert","/repo/test/a.test.js"]\n["ended","/repo/test/a.test.js"]',
);
const green: TestRun = {
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 10,
  tests: { a: 'passed' },
  tail: '',
};
const red: TestRun = { ...green, exitCode: 1, tests: { a: 'failed' } };
const dead: TestRun = { ...green, exitCode: 1, source: 'exit-code', tests: {} };
const locked: TestRun = { ...green, assertions: RECORDS };

/** The gates of a candidate, where its tests and those of the base give this; a list: by attempt. */
async function examined(
  base: Record<Place, TestRun>,
  own: Record<Place, TestRun | readonly TestRun[]>,
  time: Partial<ExaminationTools['time']> = {},
) {
  const runner = partial<CheckRunner>(
    {
      base: BASE,
      baseFiles: [],
      binds: [],
      plan: { commands: [{ command: 'node --test', args: [], env: {}, report: null, prefix: '' }] },
      task: { runId: 'r1', settings: Settings.parse({}) },
      world: { parallelChecks: 1 },
      async remember<T>(key: string): Promise<T> {
        const [, , , [patch], , [, attempt, surroundings, locks]] = JSON.parse(key);
        const place = surroundings === null ? 'here' : locks ? 'locked' : 'unlocked';
        const runs = [(patch === '' ? base : own)[place]].flat();
        return { kind: 'ran', run: runs[Math.min(attempt, runs.length) - 1] } as T;
      },
    },
    ['surroundings', 'locksAssertions', 'codeRan', 'keeps', 'lanes', 'baseTests', 'testSeconds'],
  );
  const tools = partial<ExaminationTools>({
    runner,
    onBase: base.here,
    trees: { of: async () => tree('') },
    time: {
      allows: async () => true,
      left: () => 300_000,
      step: () => () => {},
      measured: <T>(_: unknown, work: () => Promise<T>) => work(),
      ...time,
    },
  });
  const candidate = partial<ExaminedCandidate>({
    candidate: { alias: 'A' },
    gates: [{ gate: 'untampered', passed: true, because: 'Nothing.' }],
    patch: PATCH,
    tree: tree('diff'),
  });
  const elsewhere = await openElsewhere(tools, [candidate]);
  const [one] = await testElsewhere(tools, [candidate], elsewhere);
  return { elsewhere, one, gates: one?.gates ?? [] };
}

const BASE_RUNS = { here: green, locked, unlocked: green };

test('a base on which the lock cannot start is compared without it', async () => {
  const base = { ...BASE_RUNS, locked: dead };
  const steady = await examined(base, { here: green, locked: dead, unlocked: green });
  expect(steady.elsewhere?.runner.locksAssertions).toBeUndefined();
  expect(steady.gates).toMatchObject([
    { gate: 'untampered', passed: true },
    {
      gate: 'steady',
      passed: true,
      because: expect.stringContaining('give the same'),
      unlocked: 'base',
    },
  ]);
  const unsteady = await examined(base, { here: green, locked: dead, unlocked: red });
  expect(unsteady.gates).toMatchObject([{ passed: true }, { gate: 'steady', passed: false }]);
});

test('other surroundings are tried only while there is time to run candidates there, too', async () => {
  const red90 = { ...red, ms: 90_000 };
  const base = { here: { ...green, ms: 50_000 }, locked: red90, unlocked: red90 };
  const attemptsIn = async (minutes: number, runs = base) => {
    let left = minutes * 60_000;
    const tried: string[] = [];
    const { gates } = await examined(runs, BASE_RUNS, {
      left: () => left,
      allows: async (_what, _unit, _part, expectedMs = 0) => left > expectedMs,
      measured: async (name, work) => {
        if (name.includes(': ')) tried.push(name.replace(/.*: elsewhere-/, ''));
        left -= name.includes(': ') ? 90_000 : 0;
        return work();
      },
    });
    expect(gates.map(({ gate, passed }) => [gate, passed])).toEqual([
      ['untampered', true],
      ['steady', true],
    ]);
    return tried;
  };
  expect(await attemptsIn(14)).toEqual(['everything-locked', 'everything', 'names-locked', 'names']);
  // An attempt and a run of the candidate are expected to take 100 seconds, and half of the time remains for the rest.
  expect(await attemptsIn(8)).toEqual(['everything-locked', 'everything']);
  expect(await attemptsIn(4)).toEqual(['everything-locked']);
  expect(await attemptsIn(1)).toEqual([]);
  // One that reached its time limit is not tried again with other paths, but at last without the lock.
  const lockedUntil = (stopped: 'wall' | 'memory') => ({ ...base, locked: { ...red90, stopped } });
  expect(await attemptsIn(14, lockedUntil('wall'))).toEqual(['everything-locked', 'names-locked', 'names']);
  expect(await attemptsIn(14, lockedUntil('memory'))).toContain('everything');
});

test('a candidate on which nothing shows that the lock started is compared without it, and asked about', async () => {
  for (const silent of [red, dead]) {
    const { gates } = await examined(BASE_RUNS, { here: green, locked: silent, unlocked: green });
    expect(gates).toMatchObject([
      { gate: 'untampered', passed: true, because: expect.stringContaining('left no records') },
      {
        gate: 'steady',
        passed: true,
        because: expect.stringContaining('so the results without the lock count'),
        unlocked: 'differs',
      },
    ]);
  }
  const { gates } = await examined(BASE_RUNS, { here: green, locked: red, unlocked: red });
  expect(gates).toMatchObject([{ passed: true }, { gate: 'steady', passed: false }]);
  const hanging = { ...green, stopped: 'wall' } as const;
  const hidden = await examined(BASE_RUNS, { here: green, locked: red, unlocked: hanging });
  expect(hidden.gates).toMatchObject([
    { gate: 'untampered', because: expect.stringContaining('left no records') },
    { gate: 'steady', unlocked: 'differs' },
  ]);
});

test('a candidate whose tests fail only where the lock works depends on what it replaces', async () => {
  const { gates } = await examined(BASE_RUNS, {
    here: green,
    locked: { ...red, assertions: RECORDS },
    unlocked: green,
  });
  expect(gates).toMatchObject([
    { passed: true },
    { gate: 'steady', passed: false, because: expect.stringContaining('cannot replace functions') },
  ]);
});

test('a candidate that leaves no records, but the same results, is not said to be locked', async () => {
  const { gates } = await examined(BASE_RUNS, { here: green, locked: green, unlocked: green });
  expect(gates).toMatchObject([
    { gate: 'untampered', passed: true },
    { passed: true, because: expect.stringContaining('Nothing shows'), unlocked: 'unrecorded' },
  ]);
});

test('a candidate whose tests reach a limit only in the other surroundings is not said to be steady', async () => {
  const stopped = { ...locked, stopped: 'wall' } as const;
  const { gates } = await examined(BASE_RUNS, { here: green, locked: stopped, unlocked: stopped });
  expect(gates[1]).toMatchObject({
    gate: 'steady',
    passed: true,
    because: expect.stringContaining('stopped by a limit'),
    unlocked: 'stopped',
  });
});

test('what is found in one attempt alone counts only if another one finds it, too', async () => {
  const stopped = { ...locked, stopped: 'wall' } as const;
  const differs = { ...red, assertions: RECORDS };
  const steadyAfter = async (...attempts: readonly TestRun[]) => {
    const { gates } = await examined(BASE_RUNS, { here: green, locked: attempts, unlocked: green });
    const { passed, unlocked } = gates[1] ?? {};
    return [passed, unlocked];
  };
  expect(await steadyAfter(stopped, locked)).toEqual([true, undefined]);
  expect(await steadyAfter(stopped, differs, locked)).toEqual([true, undefined]);
  expect(await steadyAfter(differs, stopped, differs)).toEqual([false, undefined]);
  expect(await steadyAfter(stopped, differs, stopped)).toEqual([true, 'stopped']);
});

test('a candidate that reaches a limit there is named also where the base tolerates no lock', async () => {
  const stopped = { ...green, stopped: 'wall' } as const;
  const base = { ...BASE_RUNS, locked: dead };
  const { gates } = await examined(base, { here: green, locked: stopped, unlocked: stopped });
  expect(gates[1]).toMatchObject({ gate: 'steady', passed: true, unlocked: 'stopped' });
});

test('it is said whether anything was locked; a project without a known library is not blamed for that', async () => {
  const whole = await examined(BASE_RUNS, { here: green, locked, unlocked: green });
  expect(whole.gates[1]?.because).toContain('Assertion libraries were locked there, so');
  expect(whole.gates[1]).not.toHaveProperty('unlocked');
  const nothing = { here: green, locked: green, unlocked: green };
  const without = await examined(nothing, nothing);
  expect(without.gates[1]?.because).toContain('No assertion library was locked there: ');
  expect(without.gates[1]).not.toHaveProperty('unlocked');
});

test('a gate that probes fail claims no lock where nothing showed that it started', async () => {
  const found = [
    { id: 'p1', what: '1 gives 2 in one environment and 3 in the other', results: ['2', '3'] },
  ] as const;
  const because = async (own: Record<Place, TestRun>) => {
    const { elsewhere, one } = await examined(BASE_RUNS, own);
    if (!elsewhere || !one) return expect.fail('It ran elsewhere.');
    const others = GATES.filter((gate) => gate !== 'steady' && gate !== 'untampered');
    const passed = others.map((gate) => ({ gate, passed: true, because: 'It passes.' }));
    const survivor = { ...one, gates: [...passed, ...one.gates] };
    const [probed] = withUnsteadyProbes([survivor], elsewhere, new Map([['A', found]]));
    const steady = probed?.gates.filter(({ gate }) => gate === 'steady') ?? [];
    expect(steady).toMatchObject([{ passed: false, because: expect.stringContaining('1 gives 2') }]);
    return steady[0]?.because;
  };
  const claim = 'cannot replace functions of assertion libraries';
  expect(await because({ here: green, locked, unlocked: green })).toContain(claim);
  // Its tests fail with the lock only, or leave no records.
  expect(await because({ here: green, locked: red, unlocked: green })).not.toContain(claim);
  expect(await because({ here: green, locked: green, unlocked: green })).not.toContain(claim);
});
