import type { TestRun } from './evidence.ts';

/**
 * Why the tests of the base tell nothing about candidates:
 *
 * - `no-command`: nobody knows how to test this repository
 * - `not-started`: the shell cannot start the command (exit code 126 or 127)
 * - `stopped`: the command exceeds a limit
 * - `exit-code`: it fails and leaves no report, so nobody knows which tests fail
 * - `none-passes`, `none-reported`: it leaves a report, but no test in it passes
 */
export type Silence =
  | 'no-command'
  | 'not-started'
  | 'stopped'
  | 'exit-code'
  | 'none-passes'
  | 'none-reported';

/** Null where the tests tell something: they pass, or a report says which of them do. */
export function silenceOf(base: TestRun): Silence | null {
  if (base.source === 'none') return 'no-command';
  if (base.stopped) return 'stopped';
  if (base.source === 'exit-code') {
    if (base.exitCode === 0) return null;
    return base.exitCode === 126 || base.exitCode === 127 ? 'not-started' : 'exit-code';
  }
  // What a linter says is nothing that tests say.
  const beside = new Set(base.steps ?? []);
  const outcomes = Object.entries(base.tests).flatMap(([id, outcome]) => (beside.has(id) ? [] : [outcome]));
  if (outcomes.length === 0) return 'none-reported';
  return outcomes.includes('passed') ? null : 'none-passes';
}

/** Whether the test command is worth running on candidates: one that cannot run on the base cannot run on them. */
export function canRun(base: TestRun): boolean {
  const silence = silenceOf(base);
  return silence !== 'no-command' && silence !== 'not-started' && silence !== 'stopped';
}
