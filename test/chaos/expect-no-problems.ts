import { expect } from 'vitest';
import type { ChaosEnvironment } from './chaos-environment.ts';
import { findProblems } from './find-problems.ts';

/** As `findProblems` finds nothing. */
export async function expectNoProblems(
  environment: ChaosEnvironment,
  issues: readonly number[],
  folders: readonly string[] = [],
): Promise<void> {
  expect(await findProblems(environment, issues, { folders })).toEqual([]);
}
