import { expect } from 'vitest';
import { leftOver, leftOverButDatabase } from './left-over.ts';
import { paidAgain } from './paid.ts';
import type { Stage } from './stage.ts';
import { CALM, whatStands } from './what-stands.ts';

/**
 * Every run ended as without a kill, everything was made once, no answer was paid twice, and nothing lies about: neither
 * processes, nor files in the App's data folder or in these.
 */
export async function allHolds(
  stage: Stage,
  issues: readonly number[],
  folders: readonly string[] = [],
): Promise<void> {
  await stage.github.settled();
  const all = ['data', ...folders];
  expect(await leftOverButDatabase(stage, all)).toEqual([]);
  const { stands, paid } = await stage.afterwards(async () => ({
    stands: await Promise.all(issues.map((issue) => whatStands(stage, issue))),
    paid: await paidAgain(stage),
  }));
  expect(stands).toEqual(issues.map(() => CALM));
  expect(paid).toEqual([]);
  expect(await leftOver(stage, all)).toEqual([]);
}
