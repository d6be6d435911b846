import { expect, test } from 'vitest';
import { plainCommand, Settings } from '../../src/core/settings/index.ts';
import type { ExecResult, ExecSpec, WorkArea } from '../../src/ports/index.ts';
import type { CheckRunner } from '../../src/runs/examine/areas.ts';
import { runTests } from '../../src/runs/examine/run-tests.ts';

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

test('a command of tests that does nothing is stopped after half of its time, but at least two minutes', async () => {
  expect(stoppedAfter(await specOf('10m'), false)).toBe(300);
  expect(stoppedAfter(await specOf('1m'), false)).toBe(120);
});

test('one that computes is not, however long it prints nothing, nor is one that was refused a host sooner', async () => {
  const spec = await specOf('10m');
  expect(stoppedAfter(spec, true)).toBeNull();
  spec.onRefusedHost?.('registry.example:443');
  expect(stoppedAfter(spec, false)).toBe(300);
});
