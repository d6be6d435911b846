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
    const unread = tests.map(({ command }) => ({ command, ...stopped, hasReport: false, passes: false }));
    return {
      ...stopped,
      source: 'exit-code',
      ms: 1,
      tests: {},
      tail: '',
      commands: unread,
    } satisfies TestRun;
  });
  expect(ran).toEqual([
    ['planned', 'planned'],
    ['plain', 'plain'],
  ]);
  expect(run).toMatchObject({ stopped: 'wall' });
  expect(run).not.toHaveProperty('forms');
  expect(run).not.toHaveProperty('unsplit');
});

type Outcome = 'passes' | 'fails' | 'none' | 'hangs' | 'passes and hangs';

/** Runs the base by what each command gives, in the form in which it runs. */
async function baseOf(test: string, outcomeOf: (command: string, form: string) => Outcome, files = {}) {
  const plan = reportPlan(test, files);
  const ran: string[] = [];
  const runner = { plan, notes: [] } as unknown as CheckRunner;
  const { run, on } = await firstBaseRun(runner, async ({ plan: { commands } }) => {
    const done = commands.flatMap(({ command, check, form }) => {
      if (check !== undefined) return [];
      const name = /jest|mocha|karma|node --test/.exec(command)?.[0] ?? command;
      const how = form ?? 'planned';
      ran.push(`${/^.*&& (?=jest|mocha)/.test(command) ? 'build, ' : ''}${name} ${how}`);
      return [{ command, name, outcome: outcomeOf(name, how) }];
    });
    const stuck = done.some(({ outcome }) => outcome.endsWith('hangs'));
    const passing = done.filter(({ outcome }) => outcome.startsWith('passes'));
    return {
      ...(stuck ? { exitCode: null, stopped: 'silence' } : { exitCode: 0, stopped: null }),
      ...{ source: 'report', ms: 1, tail: '' },
      tests: Object.fromEntries(passing.map(({ name }) => [`${name} > adds`, 'passed'] as const)),
      commands: done.map(({ command, outcome }) => ({
        command,
        ...(outcome.endsWith('hangs') ? { exitCode: null, stopped: 'silence' as const } : ENDED),
        ...(outcome === 'fails' ? { exitCode: 1 } : {}),
        hasReport: outcome !== 'hangs',
        passes: outcome.startsWith('passes'),
      })),
    } satisfies TestRun;
  });
  const names = on.plan.commands.map(({ command }) => /jest|mocha|karma/.exec(command)?.[0]);
  return { ran, run, on, names, again: planUsedOnBase({ ...runner, plan }, run) };
}
const ENDED = { exitCode: 0, stopped: null } as const;

test('a step of tests that hangs is left out beside one whose tests pass, and that is said', async () => {
  const { ran, run, on, names, again } = await baseOf('jest && mocha', (name) =>
    name === 'mocha' ? 'hangs' : 'passes',
  );
  expect(ran).toEqual(['jest planned', 'mocha planned', 'jest planned']);
  expect(run).toMatchObject({ stopped: null, tests: { 'jest > adds': 'passed' } });
  expect(run.notes).toEqual([
    '`mocha` is stopped after too long without output on the base commit, so its tests were left out.',
  ]);
  expect(Object.values(run.forms ?? {})).toEqual(['left-out']);
  expect(names).toEqual(['jest']);
  expect(again.commands).toEqual(on.plan.commands);
});

test('what another step needs is run for it where the step before it is left out', async () => {
  const files = { 'package.json': '{"scripts": {"test": "make dist && mocha && eslint . && jest"}}' };
  const { ran, run, names } = await baseOf(
    'npm test',
    (name) => (name === 'mocha' ? 'hangs' : 'passes'),
    files,
  );
  expect(run.notes).toEqual([
    '`mocha` is stopped after too long without output on the base commit, so its tests were left out.',
  ]);
  expect(ran).toEqual(['build, mocha planned', 'jest planned', 'build, jest planned']);
  expect(names).toContain('jest');
});

test('a runner of Node that hangs has no report, and runs again with its idle files ended', async () => {
  const { ran, run } = await baseOf('node --test', (_, form) => (form === 'exit' ? 'passes' : 'hangs'));
  expect(ran).toEqual(['node --test planned', 'node --test exit']);
  expect(run).toMatchObject({ stopped: null, forms: { 'node --test': 'exit' } });
  expect(run.notes).toEqual([expect.stringMatching(/^`node --test` does not end.* they count as failed\.$/)]);
});

test('a step is left out also if the tests of another one pass only once its runner exits', async () => {
  const { ran, run } = await baseOf('jest && mocha', (name, form) => {
    if (name === 'mocha') return 'hangs';
    return form === 'exit' ? 'passes' : 'passes and hangs';
  });
  expect(ran).toEqual(['jest planned', 'mocha planned', 'jest exit', 'jest exit']);
  expect(run).toMatchObject({ stopped: null, tests: { 'jest > adds': 'passed' } });
  expect(Object.values(run.forms ?? {}).sort()).toEqual(['exit', 'left-out']);
});

test('but not beside a step without any test, or whose tests fail: then nothing would be left', async () => {
  for (const other of ['none', 'fails'] as const) {
    const { run, names } = await baseOf('jest && mocha', (name) => (name === 'mocha' ? 'hangs' : other));
    expect(run.stopped).toBe('silence');
    expect(names).toContain('mocha');
  }
});

test('files are run with the option to exit only if their own runner needs it', async () => {
  const exits = async (stuck: string) => {
    const { on } = await baseOf('mocha && jest', (name, form) =>
      name === stuck && form !== 'exit' ? 'passes and hangs' : 'passes',
    );
    return on.plan.focus(['test/a.js'])?.map(({ command }) => / --forceExit$/.test(command));
  };
  expect(await exits('mocha')).toEqual([false]);
  expect(await exits('jest')).toEqual([true]);
});

test('a command that passes without the report of its runner says that only its exit code counts', async () => {
  const notesOf = async (command: string, exitCode: number) => {
    const runner = { plan: reportPlan(command), notes: [] } as unknown as CheckRunner;
    const silent = { exitCode, stopped: null, source: 'exit-code', ms: 1, tests: {}, tail: '' } as const;
    const { run } = await firstBaseRun(runner, async () => silent);
    return run.notes;
  };
  expect(await notesOf('node index.test.js', 0)).toEqual([
    expect.stringMatching(/only its exit code counts/),
  ]);
  expect(await notesOf('node index.test.js', 1)).toBeUndefined();
});
