import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inParallel } from '../../src/core/model/index.ts';
import type { ExecResult, ExecSpec } from '../../src/ports/index.ts';
import { type CheckRunner, lanesOf, withCommandSlots } from '../../src/runs/examine/areas.ts';
import { partial } from '../world/partial.ts';

const SPEC = partial<ExecSpec>({ argv: ['true'] });

/** A runner for a machine with two processors whose commands end when the test says so. */
function heldRunner() {
  const waiting: { end(): void; fail(): void }[] = [];
  const exec = () => {
    const { promise, resolve, reject } = Promise.withResolvers<ExecResult>();
    waiting.push({
      end: () => resolve(partial<ExecResult>({ exitCode: 0 })),
      fail: () => reject(new Error('The sandbox is damaged.')),
    });
    return promise;
  };
  const runner = partial<CheckRunner>({ world: { parallelChecks: 2, sandbox: { exec } } }, ['lanes']);
  return { runner, waiting };
}

test('of twice as much work as there are processors, only as many commands run at a time', async () => {
  const { runner, waiting } = heldRunner();
  const slotted = withCommandSlots(runner);
  expect([lanesOf(runner), lanesOf(slotted)]).toEqual([2, 4]);

  const begun: number[] = [];
  const over: number[] = [];
  const all = inParallel(lanesOf(slotted), [1, 2, 3, 4, 5], async (piece) => {
    begun.push(piece);
    await slotted.world.sandbox.exec(SPEC);
    over.push(piece);
  });
  await setImmediate();
  expect([begun, waiting.length]).toEqual([[1, 2, 3, 4], 2]);

  waiting[0]?.end();
  await setImmediate();
  expect([begun, over, waiting.length]).toEqual([[1, 2, 3, 4, 5], [1], 3]);
  for (let at = 1; at < 5; at += 1) {
    waiting[at]?.end();
    await setImmediate();
  }
  await all;
  expect(over).toEqual([1, 2, 3, 4, 5]);
});

test('a command of work that can wait begins only in a slot for which no other command waits', async () => {
  const { runner, waiting } = heldRunner();
  const { spare, world } = withCommandSlots(runner);
  const sandbox = spare?.(new AbortController().signal);
  const ended: string[] = [];
  const run = async (name: string, sandbox = world.sandbox) => {
    await sandbox.exec(SPEC);
    ended.push(name);
  };
  const all = [run('first'), run('second'), run('can wait', sandbox), run('third'), run('fourth')];
  for (let at = 0; at < all.length; at += 1) {
    await setImmediate();
    waiting[at]?.end();
  }
  await Promise.all(all);
  expect(ended).toEqual(['first', 'second', 'third', 'fourth', 'can wait']);
});

test('a command that could not be run leaves its slot to the next one', async () => {
  const { runner, waiting } = heldRunner();
  const { exec } = withCommandSlots(runner).world.sandbox;
  const [first, second, third] = [exec(SPEC), exec(SPEC), exec(SPEC)];
  await setImmediate();
  expect(waiting).toHaveLength(2);
  waiting[0]?.fail();
  await expect(first).rejects.toThrow('damaged');
  await setImmediate();
  expect(waiting).toHaveLength(3);
  for (const one of waiting) one.end();
  expect(await Promise.all([second, third])).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
});
