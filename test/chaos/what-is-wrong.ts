import { isDeepStrictEqual } from 'node:util';
import { leftOver, leftOverButDatabase } from './left-over.ts';
import { paidAgain } from './paid.ts';
import type { Stage } from './stage.ts';
import { CALM, whatStands } from './what-stands.ts';

/**
 * Every run ended as without a kill, everything was made once, no answer was paid twice, and nothing lies about: neither
 * processes, nor files in the App's data folder or in these. One sentence for each thing that is otherwise.
 */
export async function whatIsWrong(
  stage: Stage,
  issues: readonly number[],
  folders: readonly string[] = [],
): Promise<readonly string[]> {
  await stage.github.settled();
  const all = ['data', ...folders];
  const early = await leftOverButDatabase(stage, all);
  const { stands, paid } = await stage.afterwards(async () => ({
    stands: await Promise.all(issues.map((issue) => whatStands(stage, issue))),
    paid: await paidAgain(stage),
  }));
  const late = await leftOver(stage, all);
  return [
    ...stands.flatMap((found, at) =>
      Object.entries(CALM).flatMap(([name, calm]) => {
        const is: unknown = found[name as keyof typeof found];
        if (isDeepStrictEqual(is, calm)) return [];
        return [`Issue ${issues[at]}: ${name} is ${JSON.stringify(is)} instead of ${JSON.stringify(calm)}.`];
      }),
    ),
    ...paid.map((what) => `Paid again: ${what}.`),
    ...early.map((what) => `Left while the database was up: ${what}.`),
    ...late.map((what) => `Left: ${what}.`),
  ];
}
