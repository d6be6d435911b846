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
