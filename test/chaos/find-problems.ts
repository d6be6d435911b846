import { isDeepStrictEqual } from 'node:util';
import type { ChaosEnvironment } from './chaos-environment.ts';
import { paidAgain } from './double-payments.ts';
import { findLeftovers, findLeftoversExceptDatabase } from './leftovers.ts';
import { CALM, readOutcome } from './outcome.ts';

/**
 * Every run ended as without a kill, everything was made once, no answer was paid twice, and nothing lies about: neither
 * processes, nor files in the App's data folder or in these. One sentence for each thing that is otherwise.
 */
export async function findProblems(
  environment: ChaosEnvironment,
  issues: readonly number[],
  folders: readonly string[] = [],
): Promise<readonly string[]> {
  await environment.github.settled();
  const all = ['data', ...folders];
  const early = await findLeftoversExceptDatabase(environment, all);
  const { stands, paid } = await environment.afterwards(async () => ({
    stands: await Promise.all(issues.map((issue) => readOutcome(environment, issue))),
    paid: await paidAgain(environment),
  }));
  const late = await findLeftovers(environment, all);
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
