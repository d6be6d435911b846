import { expect, test } from 'vitest';
import type { TestRun } from '../../src/core/evidence/index.ts';
import { reportPlan } from '../../src/core/settings/index.ts';
import type { CheckRunner } from '../../src/runs/examine/areas.ts';
import { firstBaseRun, planUsedOnBase } from '../../src/runs/examine/base-plan.ts';

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

test('a step of tests that hangs is left out beside one whose tests pass, and that is said', async () => {
  const plan = reportPlan('jest && mocha');
  const ran: string[] = [];
  const runner = { plan, notes: [] } as unknown as CheckRunner;
  const { run, on } = await firstBaseRun(runner, async ({ plan: { commands } }) => {
    ran.push(commands.map(({ command, form = 'planned' }) => `${command.slice(0, 5)} ${form}`).join(', '));
    const mocha = commands.find(({ command }) => command.startsWith('mocha'));
    const hangs = { exitCode: null, stopped: 'silence' } as const;
    const unread = mocha ? [{ command: mocha.command, ...hangs, hasReport: false }] : [];
    const tests = commands.length > unread.length ? ({ 'a.test.js > adds': 'passed' } as const) : {};
    const end = mocha ? hangs : { exitCode: 0, stopped: null };
    return { ...end, source: 'report', ms: 1, tests, tail: '', unread } satisfies TestRun;
  });
  expect(ran).toEqual(['jest  planned, mocha planned', 'jest  planned']);
  expect(run).toMatchObject({
    stopped: null,
    tests: { 'a.test.js > adds': 'passed' },
    notes: [
      expect.stringMatching(/^`mocha .*` exceeds a limit on the base commit, so its tests were left out\.$/),
    ],
  });
  expect(Object.values(run.forms ?? {})).toEqual(['left-out']);
  expect(on.plan.commands.map(({ command }) => command.split(' ', 1)[0])).toEqual(['jest']);
  expect(planUsedOnBase({ ...runner, plan }, run).commands).toEqual(on.plan.commands);
});
