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
  expect(tools.time.cut()?.leftOut).toEqual([
    { what: 'repeats', count: 2, of: 2 },
    { what: 'peer-tests', count: 4, of: 4 },
  ]);
});

test.each([
  ['memory', 'p', ['B-from-A', 'A-on-base-2', 'B-from-A-2']],
  ['wall', 'f', ['B-from-A', 'A-on-base-2']],
] as const)('a run on another candidate that reached a limit (%s) once', async (stopped, result, areas) => {
  const { tools, pass, commands } = await openTimedWorld({
    parallel: 1,
    suiteMs: 1_000,
    commandMs: () => 1_000,
    examine: '1h',
    endOf: (area) =>
      area === 'B-from-A' ? { exitCode: null, stopped } : { exitCode: area.startsWith('A-on-base') ? 1 : 0 },
  });
  const { own: _, ...other } = survivor('B');
  const { results } = await pass(runPeerTests(tools, [survivor('A'), other], NOBODY));
  expect(results.map(({ onPeers }) => onPeers.map(({ proven }) => proven))).toEqual([[[result]]]);
  const begun = commands.map((one) => one.split(' ')[0]).slice(1);
  expect(begun.toSorted()).toEqual(areas.toSorted());
});

/** The tests of A on the code of B and on the base, whose commands end with these exit codes, or stopped by a limit. */
async function repeatedTests(
  endings: Readonly<Record<'B-from-A' | 'A-on-base', readonly (number | 'memory')[]>>,
) {
  const world = await openTimedWorld({
    parallel: 1,
    suiteMs: 1_000,
    commandMs: () => 1_000,
    examine: '1h',
    endOf(area) {
      const [, name = '', nth = '1'] = /^(\w-\w+-\w+?)(?:-(\d))?$/.exec(area) ?? [];
      const codes = new Map<string, readonly (number | 'memory')[]>(Object.entries(endings)).get(name);
      const end = codes?.[Number(nth) - 1] ?? null;
      return end === 'memory' ? { exitCode: null, stopped: end } : { exitCode: end };
    },
  });
  const { own: _, ...other } = survivor('B');
  const { results } = await world.pass(runPeerTests(world.tools, [survivor('A'), other], NOBODY));
  return { proven: results.map(({ onPeers }) => onPeers.map(({ proven }) => proven.join(''))), ...world };
}

test.each([
  ['fails twice', [1, 1], 'f'],
  ['fails once in three runs', [1, 0, 0], 'p'],
  ['fails twice in three runs', [1, 0, 1], 'f'],
  ['passes', [0], 'p'],
  ['fails once in three runs after one that reached a limit', ['memory', 1, 0, 0], 'p'],
  ['fails twice after a run that reached a limit', ['memory', 1, 1], 'f'],
] as const)('a test of a candidate that %s on another one', async (_, codes, result) => {
  const { proven, commands } = await repeatedTests({ 'A-on-base': [1, 1], 'B-from-A': codes });
  expect(proven).toEqual([[result]]);
  expect(commands.filter((one) => one.startsWith('B-from-A'))).toHaveLength(codes.length);
});

test('a test that sometimes passes on the base shows nothing', async () => {
  const { proven } = await repeatedTests({ 'A-on-base': [1, 0, 0], 'B-from-A': [1, 1] });
  expect(proven).toEqual([['']]);
});
