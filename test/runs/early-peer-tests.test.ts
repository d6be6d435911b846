import { expect, test } from 'vitest';
import type { ExecSpec } from '../../src/ports/index.ts';
import { besidePeerTests } from '../../src/runs/examine/early-peer-tests.ts';
import { runPeerTests } from '../../src/runs/examine/peer-tests.ts';
import { partial } from '../world/partial.ts';
import { openTimedWorld, survivor } from './peer-tests-world.ts';

const NOBODY = (): readonly string[] => [];
const SUITE_MS = 1_000;
const PROBE_MS = 1_000;
const HANGING_MS = 300_000;

const probeOf = (run: number): ExecSpec =>
  partial<ExecSpec>({ area: { id: `probe-${run}` }, argv: ['sh'] }, ['signal']);

/** Three probes of a second after each other, and beside them the tests of two survivors on other code. */
async function besideProbes({ parallel, testMs }: { parallel: number; testMs: number }) {
  const world = await openTimedWorld({
    parallel,
    suiteMs: SUITE_MS,
    commandMs: (area) => (area.startsWith('probe-') ? PROBE_MS : testMs),
    examine: '5m',
  });
  const { tools, clock, commands } = world;
  const { sandbox } = tools.runner.world;
  const examined = ['A', 'B'].map(survivor);
  const wholeMs = tools.time.left();
  async function probe() {
    await tools.time.measured('probes of the base', async () => {
      // Their area is opened first, so the first slot is one for which no probe waits.
      await clock.sleep(1);
      for (const run of [1, 2, 3]) await sandbox.exec(probeOf(run));
    });
    commands.push('end of the probes');
    return tools.time.allows('probes', 'all', 'candidates', 2 * PROBE_MS);
  }
  const mayProbeAll = await world.pass(besidePeerTests(tools, examined, NOBODY, probe));
  return { ...world, examined, mayProbeAll, countedMs: wholeMs - tools.time.left() };
}

test('a test that hangs is stopped after the time that all should take, so probes still run', async () => {
  const { mayProbeAll, commands, countedMs, tools, examined, pass } = await besideProbes({
    parallel: 1,
    testMs: HANGING_MS,
  });
  expect(commands).toEqual([
    'A-on-base at 0 s, stopped at 9 s',
    'probe-1 at 9 s',
    'probe-2 at 10 s',
    'probe-3 at 11 s',
    'end of the probes',
  ]);
  expect([mayProbeAll, countedMs]).toEqual([true, 12_000]);

  // When it is its turn, it runs until its own limit.
  await pass(runPeerTests(tools, examined, NOBODY));
  expect(commands.slice(5)).toEqual(['A-on-base at 12 s']);
  expect(tools.time.cut()?.leftOut).toEqual([
    { what: 'repeats', count: 1, of: 1 },
    { what: 'peer-tests', count: 2, of: 2 },
  ]);
});

test('what has begun when the probes end is counted until it ends', async () => {
  const { commands, countedMs, clock } = await besideProbes({ parallel: 4, testMs: 6_000 });
  expect(commands.at(-1)).toBe('end of the probes');
  expect([countedMs, clock.elapsed()]).toEqual([6_000, 6_000]);
});

test('a test that still waits for its slot when the probes end does not begin', async () => {
  const { commands, tools, examined, pass } = await besideProbes({ parallel: 1, testMs: 1_000 });
  expect(commands).toEqual([
    'A-on-base at 0 s',
    'probe-1 at 1 s',
    'probe-2 at 2 s',
    'B-on-base at 3 s',
    'probe-3 at 4 s',
    'end of the probes',
  ]);
  await pass(runPeerTests(tools, examined, NOBODY));
  expect(commands.slice(6)).toEqual([
    'B-from-A at 5 s',
    'A-from-B at 6 s',
    // What failed, once more.
    'A-on-base-2 at 7 s',
    'B-on-base-2 at 8 s',
    'B-from-A-2 at 9 s',
    'A-from-B-2 at 10 s',
  ]);
});
