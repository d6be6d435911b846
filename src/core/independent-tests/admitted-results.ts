import type { IndependentTests } from '../evidence/index.ts';
import { type Alias, uniqueSorted } from '../model/index.ts';
import {
  type IndependentTest,
  type IndependentTestVote,
  type TaskKind,
  type TestAdmission,
  voteTitle,
} from './independent-test.ts';

/** The results of the admitted votes on each survivor. */
export function testsByAlias(
  { tests, votes }: Pick<TestAdmission, 'tests' | 'votes'>,
  taskKind: TaskKind,
  messageOf: (test: string, alias: Alias) => string | undefined,
): Readonly<Record<Alias, IndependentTests>> {
  const admitted = votes.filter((one) => one.status === 'admitted');
  const aliases = uniqueSorted(admitted.flatMap((one) => [...one.passedBy, ...one.failedBy]));
  // If behaviour must not change, tests that pass on the base show what the task asks for.
  const isGuard = (vote: IndependentTestVote) =>
    taskKind === 'change' && tests.some(({ id, onBase }) => id === vote.test && onBase === 'passes');
  const passedTest = (vote: IndependentTestVote) =>
    isGuard(vote)
      ? ({ id: vote.id, origin: vote.origin, guard: true } as const)
      : { id: vote.id, origin: vote.origin };
  return Object.fromEntries(
    aliases.map((alias) => {
      const passes = admitted.filter((one) => one.passedBy.includes(alias));
      const passed = passes.length;
      const guards = passes.filter(isGuard).length;
      const families = uniqueSorted(
        passes.flatMap((vote) => (isGuard(vote) ? [] : (writerOf(tests, vote) ?? []))),
      );
      const failing = admitted
        .filter((one) => one.failedBy.includes(alias))
        .map((vote) => {
          const { id, test, origin } = vote;
          const [title, words] = [voteTitle(tests, vote), messageOf(test, alias)];
          const family = writerOf(tests, vote);
          return {
            id,
            origin,
            ...(family === undefined ? {} : { family }),
            ...(title === id ? {} : { title }),
            ...(words === undefined ? {} : { message: words }),
          };
        });
      const total = passed + failing.length;
      const passing = passes.map(passedTest);
      const written = { passed, total, guards, ...(families.length > 0 ? { families } : {}) };
      const all = { passed, total, failing, passing, written };
      return [alias, guards > 0 ? { ...all, guards } : all];
    }),
  );
}

const writerOf = (tests: readonly IndependentTest[], { test }: IndependentTestVote): string | undefined =>
  tests.find(({ id }) => id === test)?.family;
