import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { descendants, ownProcess, send } from './descendants.ts';
import { chosen, KINDS, planOf, SETTINGS } from './plan.ts';

const ALL = new Set(KINDS);

test('a seed and a round determine one plan, with the requested kinds that its setting supports', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 999_999 }),
      fc.integer({ min: 1, max: 5_000 }),
      fc.subarray([...KINDS], { minLength: 1 }),
      (seed, round, kinds) => {
        const only = new Set(kinds);
        const plan = planOf(seed, round, only);
        expect(planOf(seed, round, only)).toEqual(plan);
        expect(plan.faults.length).toBeGreaterThan(0);
        for (const { kind } of plan.faults) {
          expect(only.has(kind)).toBe(true);
          expect(SETTINGS[plan.setting]).toContain(kind);
        }
      },
    ),
  );
});

test('rounds of one seed differ, and together they have every kind and every setting', () => {
  const plans = Array.from({ length: 200 }, (_, round) => planOf(1, round + 1, ALL));
  expect(new Set(plans.map((plan) => JSON.stringify(plan))).size).toBe(200);
  expect(new Set(plans.flatMap(({ faults }) => faults.map(({ kind }) => kind)))).toEqual(ALL);
  expect(new Set(plans.map(({ setting }) => setting))).toEqual(new Set(Object.keys(SETTINGS)));
});

test('a draw chooses among existing processes, or nothing', () => {
  expect([0, 499, 500, 999].map((draw) => chosen(['a', 'b'], draw))).toEqual(['a', 'a', 'b', 'b']);
  expect(chosen([], 0)).toBeUndefined();
});

/** One that runs until it is ended, with a child of its own. */
async function parent(): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', 'sleep 1000 & echo ready; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout ?? child, 'data');
  return child;
}

test('only descendants of a process are found, and a reused process id is ignored', async () => {
  const [one, other] = [await parent(), await parent()];
  const found = descendants([one.pid ?? 0]);
  expect(found.map(({ name }) => name)).toEqual(['sleep']);
  expect(descendants([other.pid ?? 0]).map(({ pid }) => pid)).not.toContain(found[0]?.pid);

  const victim = found[0];
  if (!victim) throw new Error('There is a child.');
  expect(send({ ...victim, begun: '1' }, 'SIGKILL')).toBe(false);
  expect(ownProcess(victim.pid, '/nowhere')).toBeNull();
  expect(send(victim, 'SIGKILL')).toBe(true);
  await expect.poll(() => descendants([one.pid ?? 0])).toEqual([]);
  for (const child of [one, other]) {
    for (const left of descendants([child.pid ?? 0])) send(left, 'SIGKILL');
    child.kill('SIGKILL');
  }
});
