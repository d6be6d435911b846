import { expect, test } from 'vitest';
import { runPeerTests } from '../../src/runs/examine/peer-tests.ts';
import { openTimedWorld, survivor } from './peer-tests-world.ts';

const NOBODY = (): readonly string[] => [];

test('tests of candidates begin only while time is left, as many at a time as commands', async () => {
  const { tools, pass, commands, clock } = await openTimedWorld({
    parallel: 2,
    suiteMs: 9_000,
    commandMs: () => 9_000,
    examine: '10s',
  });
  await pass(runPeerTests(tools, ['A', 'B', 'C', 'D'].map(survivor), NOBODY));
  expect(commands).toEqual(['A-on-base at 0 s', 'B-on-base at 0 s']);
  expect(clock.elapsed()).toBe(9_000);
  expect(tools.time.cut()?.leftOut).toEqual([{ what: 'peer-tests', count: 4, of: 4 }]);
});

test.each([
  ['memory', 'p', ['B-from-A', 'B-from-A-2']],
  ['wall', 'f', ['B-from-A']],
] as const)('a run on another candidate that reached a limit (%s) once', async (stopped, result, areas) => {
  const { tools, pass, commands } = await openTimedWorld({
    parallel: 1,
    suiteMs: 1_000,
    commandMs: () => 1_000,
    examine: '1h',
    endOf: (area) =>
      area === 'B-from-A' ? { exitCode: null, stopped } : { exitCode: area === 'A-on-base' ? 1 : 0 },
  });
  const { own: _, ...other } = survivor('B');
  const { results } = await pass(runPeerTests(tools, [survivor('A'), other], NOBODY));
  expect(results.map(({ onPeers }) => onPeers.map(({ proven }) => proven))).toEqual([[[result]]]);
  expect(commands.map((one) => one.split(' ')[0]).slice(1)).toEqual(areas);
});
