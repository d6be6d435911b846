import { expect } from 'vitest';
import type { Stage } from './stage.ts';
import { whatIsWrong } from './what-is-wrong.ts';

/** As `whatIsWrong` finds nothing. */
export async function allHolds(
  stage: Stage,
  issues: readonly number[],
  folders: readonly string[] = [],
): Promise<void> {
  expect(await whatIsWrong(stage, issues, folders)).toEqual([]);
}
