import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { TestRun } from '../../src/core/evidence/index.ts';
import { inParallel } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import { type CheckRunner, rememberInMemory } from '../../src/runs/examine/areas.ts';
import type { CandidateEntry } from '../../src/runs/examine/candidate.ts';
import { openExaminationTime } from '../../src/runs/examine/time.ts';
import { partial } from '../world/partial.ts';

test('the time of an examination counts the builds of candidates', async () => {
  const budgetWith = async (builds: Pick<TestRun, 'buildMs'>) => {
    const runner = partial<CheckRunner>({
      remember: rememberInMemory(),
      task: { settings: Settings.parse({}) },
      world: { parallelChecks: 1, clock: { elapsed: () => 0 } },
    });
    const entries = ['A', 'B'].map((alias) =>
      partial<CandidateEntry>({ alias, patch: partial({ sha256: alias }) }),
    );
    const time = await openExaminationTime(runner, entries, { ...RUN, ...builds });
    return time.left() / 60_000;
  };
  expect(await budgetWith({})).toBe(5);
  expect(await budgetWith({ buildMs: 60_000 })).toBe(10);
});

const RUN: TestRun = { source: 'report', exitCode: 0, stopped: null, ms: 60_000, tests: {}, tail: '' };

test('parts that wait for each other count as often after a restart as before', async () => {
  let now = 0;
  const runner = partial<CheckRunner>({
    remember: rememberInMemory(),
    task: { settings: Settings.parse({ timeout: { examine: '10m' } }) },
    world: { parallelChecks: 1, clock: { elapsed: () => now } },
  });
  const onBase = partial<TestRun>({ ms: 1_000 }, ['types', 'buildMs']);
  const parts = ['A', 'B', 'C', 'D'];

  // Two parts at a time, but one command: whoever waits for the other takes twice as long.
  const first = await openExaminationTime(runner, [], onBase);
  let command = Promise.resolve();
  const commandOfAMinute = () => {
    command = command.then(async () => {
      await setImmediate();
      now += 60_000;
    });
    return command;
  };
  await inParallel(2, parts, (part) => first.measured(part, commandOfAMinute));
  expect(first.left()).toBe(6 * 60_000);

  const again = await openExaminationTime(runner, [], onBase);
  for (const part of parts) await again.measured(part, async () => undefined);
  expect(again.left()).toBe(6 * 60_000);

  // Whoever waits for the only command while tests hang does not pay for it either.
  const hangs = async () => {
    now += 5 * 60_000;
    again.hung(4 * 60_000);
  };
  await inParallel(2, ['E', 'F'], (part) =>
    again.measured(part, part === 'E' ? hangs : () => setImmediate()),
  );
  expect(again.left()).toBe(5 * 60_000);
});
