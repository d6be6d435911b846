import { describe, expect, test } from 'vitest';
import type { TestRun } from '../../src/core/evidence/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { BaseCheckout, Sandbox, SandboxProbe, Workspaces } from '../../src/ports/index.ts';
import type { CheckRunner } from '../../src/runs/examine/index.ts';
import { keepTests, keptTests } from '../../src/runs/recipe/kept-tests.ts';
import { memoryArtifacts } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';

const HOUR_MS = 3_600_000;
const SHA = 'a'.repeat(40);
const PASSED: TestRun = {
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 900,
  tests: { 'sum.test.js > adds': 'passed', 'sum.test.js > later': 'skipped' },
  tail: '',
};
const BASE: BaseCheckout = { sha: SHA, repositoryKey: 'k', lower: '/lower', layers: ['/packages'] };
const USUAL = { test: 'node --test', settings: {}, base: BASE };

function openWorld() {
  const notes = new Map<string, string>();
  const keyIn = ({ repositoryKey, sha }: BaseCheckout, key: string) => `${repositoryKey} ${sha} ${key}`;
  const probe: SandboxProbe = { kind: 'ready', backend: 'bubblewrap', detail: 'bubblewrap', weaker: [] };
  let now = 10 * HOUR_MS;
  const ports = {
    artifacts: memoryArtifacts(),
    clock: { now: () => now, elapsed: () => now, sleep: async () => {} },
    sandbox: partial<Sandbox>({ probe: async () => probe }),
    workspaces: partial<Workspaces>({
      noteOf: async (base, key) => notes.get(keyIn(base, key)) ?? null,
      note: async (base, key, text) => void notes.set(keyIn(base, key), text),
    }),
  };
  const runnerOf = ({ test, settings, base }: typeof USUAL): CheckRunner =>
    partial<CheckRunner>({
      base,
      plan: { commands: [{ command: test, args: [], env: {}, report: null, prefix: '' }] },
      services: null,
      task: { settings: Settings.parse(settings) },
      types: [],
    });
  return {
    notes,
    pass: (ms: number) => {
      now += ms;
    },
    keep: (run: TestRun, on = USUAL) => keepTests(ports, runnerOf(on), run),
    kept: (on = USUAL) => keptTests(ports, runnerOf(on)),
  };
}

describe('tests of a base commit that all passed', () => {
  test('are found again within the hour, and run again after it', async () => {
    const world = openWorld();
    expect(await world.kept()).toBeNull();
    await world.keep(PASSED);
    world.pass(HOUR_MS);
    expect(await world.kept()).toEqual(PASSED);
    world.pass(1);
    expect(await world.kept()).toBeNull();
  });

  test('are not found if the clock was set back, or if what was kept is damaged or gone', async () => {
    const world = openWorld();
    await world.keep(PASSED);
    world.pass(-1);
    expect(await world.kept()).toBeNull();
    world.pass(1);
    const [key = ''] = world.notes.keys();
    const gone = { at: 10 * HOUR_MS, tests: { sha256: 'f'.repeat(64), bytes: 1 } };
    for (const text of ['', '{', '{"at":0}', JSON.stringify(gone)]) {
      world.notes.set(key, text);
      expect(await world.kept()).toBeNull();
    }
  });

  test('are those of a run with another limit for its coders', async () => {
    const world = openWorld();
    await world.keep(PASSED);
    expect(await world.kept({ ...USUAL, settings: { timeout: { candidate: '20m' } } })).toEqual(PASSED);
  });

  test.each([
    ['another commit', { base: { ...BASE, sha: 'b'.repeat(40) } }],
    ['other packages', { base: { ...BASE, layers: ['/other'] } }],
    ['another version of a tool', { base: { ...BASE, toolVersions: ['Node 24.0.0'] } }],
    ['another test command', { test: 'node --test test/sum.test.js' }],
    ['another time limit', { settings: { timeout: { check: '77s' } } }],
    ['another build', { settings: { checks: { build: 'npm run build' } } }],
  ])('are not those of %s', async (_, other) => {
    const world = openWorld();
    await world.keep(PASSED);
    expect(await world.kept({ ...USUAL, ...other })).toBeNull();
  });
});

test.each([
  ['a failed test', { ...PASSED, tests: { ...PASSED.tests, 'sum.test.js > more': 'failed' } }],
  ['a flaky test', { ...PASSED, flaky: ['sum.test.js > now and then'] }],
  ['another exit code', { ...PASSED, exitCode: 1 }],
  ['a limit that was exceeded', { ...PASSED, stopped: 'wall' }],
  ['a service that did not start', { ...PASSED, refusedServices: ['postgres'] }],
  ['a step that was left out because it failed', { ...PASSED, notes: ['`npm run lint` fails on the base.'] }],
  [
    'a package whose tests left no results',
    {
      ...PASSED,
      packages: [{ folder: 'db', exitCode: 1, stopped: null, ms: 9, source: 'none', steps: [] }],
    },
  ],
  [
    'a type check that was stopped',
    { ...PASSED, types: [{ name: 'tsc', exitCode: null, stopped: 'wall', ms: 9, findings: [] }] },
  ],
] satisfies [string, TestRun][])('a result with %s is not kept', async (_, run) => {
  const world = openWorld();
  await world.keep(run);
  expect(world.notes.size).toBe(0);
});

test('tests that may use the network are always run', async () => {
  const world = openWorld();
  const online = { ...USUAL, settings: { network: { checks: true } } };
  await world.keep(PASSED, online);
  expect(world.notes.size).toBe(0);
  expect(await world.kept(online)).toBeNull();
});
