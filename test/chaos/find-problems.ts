import { isDeepStrictEqual } from 'node:util';
import type { ChaosEnvironment } from './chaos-environment.ts';
import { paidAgain } from './double-payments.ts';
import { findLeftovers, findLeftoversExceptDatabase } from './leftovers.ts';
import { CALM, type Outcome, readOutcome } from './outcome.ts';

interface What {
  /** Data folders of workers. */
  readonly folders?: readonly string[];
  /** An artifact was damaged, which may be a patch, the text of an issue, or an answer that is paid once more. */
  readonly gone?: boolean;
}

/**
 * Every run ended as without a kill, or at least with a reason where an artifact is gone; everything was made once, no
 * answer was paid twice, and nothing lies about: neither processes, nor files in the App's data folder or in these. One
 * sentence for each thing that is otherwise.
 */
export async function findProblems(
  environment: ChaosEnvironment,
  issues: readonly number[],
  { folders = [], gone = false }: What = {},
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
      gone && isExplained(found)
        ? []
        : Object.entries(CALM).flatMap(([name, calm]) => {
            const is: unknown = found[name as keyof typeof found];
            if (isDeepStrictEqual(is, calm)) return [];
            return [
              `Issue ${issues[at]}: ${name} is ${JSON.stringify(is)} instead of ${JSON.stringify(calm)}.`,
            ];
          }),
    ),
    ...(gone ? [] : paid).map((what) => `Paid again: ${what}.`),
    ...early.map((what) => `Left while the database was up: ${what}.`),
    ...late.map((what) => `Left: ${what}.`),
  ];
}

const isOnce = (all: readonly string[]): boolean => new Set(all).size === all.length;

/** One run, ended with what it could do or with the fault that says what is damaged, and nothing of it made twice. */
function isExplained({ runs, branches, ...on }: Outcome): boolean {
  const [run, ...more] = runs as readonly { readonly state: string; readonly trouble: string | null }[];
  const isEnded =
    run?.state === 'published' || (run?.state === 'failed' && run.trouble === 'STORED_DATA_DAMAGED');
  const { comments, reactions, checks, made } = on;
  return (
    isEnded &&
    more.length === 0 &&
    on.pulls.length <= 1 &&
    branches.every((branch) => branch === 'branch pushed 1 time') &&
    [comments, reactions, checks, made].every(isOnce)
  );
}
