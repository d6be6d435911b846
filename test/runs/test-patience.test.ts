import { describe, expect, test } from 'vitest';
import type { TestRun } from '../../src/core/evidence/index.ts';
import { plainCommand, Settings } from '../../src/core/settings/index.ts';
import type { ExecResult, ExecSpec, WorkArea } from '../../src/ports/index.ts';
import type { CheckRunner } from '../../src/runs/examine/areas.ts';
import { runTests } from '../../src/runs/examine/run-tests.ts';
import { limitedByBase, stuckSeconds } from '../../src/runs/examine/trees.ts';

const RESULT: ExecResult = { exitCode: 0, stopped: null, stdout: '', stderr: '', truncated: false, ms: 1 };

/** What a sandbox is told about a command of tests with this time limit. */
async function specOf(check: string): Promise<ExecSpec> {
  const specs: ExecSpec[] = [];
  const runner = {
    plan: { commands: [plainCommand('make test')], otherwise: null, focus: () => null },
    task: { settings: Settings.parse({ timeout: { check } }) },
    signal: new AbortController().signal,
    services: null,
    world: {
      sandbox: {
        exec: async (spec: ExecSpec) => {
          specs.push(spec);
          return RESULT;
        },
      },
    },
  } as unknown as CheckRunner;
  await runTests(runner, { id: 'area' } as WorkArea);
  const spec = specs.find(({ argv }) => argv[2]?.endsWith('make test'));
  if (spec?.limits.silenceMs === undefined) throw new Error('No command of tests was run.');
  return spec;
}

/** Seconds after which a command that prints nothing is stopped, up to an hour. */
function stoppedAfter({ limits: { silenceMs = 0 }, ...spec }: ExecSpec, computes: boolean): number | null {
  for (let quietMs = silenceMs; quietMs <= 3_600_000; quietMs += silenceMs) {
    if (computes) for (let ms = 0; ms < silenceMs; ms += 2_000) spec.onComputing?.();
    if (spec.onLimit?.('silence', quietMs) === 0) return quietMs / 1000;
  }
  return null;
}

test('a command of tests that does nothing is stopped after a quarter of its time, but at least two minutes', async () => {
  expect(stoppedAfter(await specOf('20m'), false)).toBe(300);
  expect(stoppedAfter(await specOf('1m'), false)).toBe(120);
});

test('one that computes is not, however long it prints nothing, nor is one that was refused a host sooner', async () => {
  const spec = await specOf('20m');
  expect(stoppedAfter(spec, true)).toBeNull();
  spec.onRefusedHost?.('registry.example:443');
  expect(stoppedAfter(spec, false)).toBe(300);
});

describe('tests of a candidate may take', () => {
  const runner = { task: { settings: Settings.parse({}) } } as unknown as CheckRunner;
  const onBase = (minutes: number, more: Partial<TestRun> = {}): TestRun =>
    ({
      source: 'report',
      tests: { adds: 'passed' },
      flaky: [],
      exitCode: 0,
      stopped: null,
      ms: minutes * 60_000,
      ...more,
    }) as unknown as TestRun;
  const minutesFor = (base: TestRun) => (limitedByBase(runner, base).testSeconds ?? 0) / 60;

  test.each([
    ['five minutes where they take seconds on the base', onBase(0.1), 5],
    ['ten times as long', onBase(1), 10],
    ['twenty minutes where they take some on the base', onBase(5), 20],
    [
      'three times as long where they take nearly all of that on the base, as others run beside them',
      onBase(18),
      54,
    ],
    ['the same where some fail on the base', onBase(18, { exitCode: 1, tests: { adds: 'failed' } }), 54],
    ['no longer where they did not end on the base', onBase(20, { stopped: 'wall' }), 20],
  ])('%s', (_, base, minutes) => {
    expect(minutesFor(base)).toBe(minutes);
  });

  test('any time before they count as stuck, if they failed on the base', () => {
    expect(stuckSeconds(onBase(1, { exitCode: 1 }))).toBe(Number.POSITIVE_INFINITY);
    expect(stuckSeconds(onBase(18))).toBe(180 * 60);
  });
});
