import { expect, test } from 'vitest';
import type { TestRun } from '../../src/core/evidence/index.ts';
import { reportPlan } from '../../src/core/settings/index.ts';
import type { CheckRunner } from '../../src/runs/examine/areas.ts';
import { firstBaseRun } from '../../src/runs/examine/base-plan.ts';

test('tests that exceed a limit are tried once without our options, and not again unsplit', async () => {
  const plan = reportPlan('eslint . && jest && mocha');
  expect(plan.otherwise).not.toBeNull();
  const ran: string[][] = [];
  const stopped = { exitCode: null, stopped: 'wall' } as const;
  const runner = { plan, notes: [] } as unknown as CheckRunner;
  const { run } = await firstBaseRun(runner, async ({ plan: { commands } }) => {
    const tests = commands.filter(({ check }) => check === undefined);
    ran.push(tests.map(({ form = 'planned' }) => form));
    const unread = tests.map(({ command }) => ({ command, ...stopped, hasReport: false }));
    return { ...stopped, source: 'exit-code', ms: 1, tests: {}, tail: '', unread } satisfies TestRun;
  });
  expect(ran).toEqual([
    ['planned', 'planned'],
    ['plain', 'plain'],
  ]);
  expect(run).toMatchObject({ stopped: 'wall' });
  expect(run).not.toHaveProperty('forms');
  expect(run).not.toHaveProperty('unsplit');
});
