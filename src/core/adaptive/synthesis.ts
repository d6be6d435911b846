import type { Evidence } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { byText } from './failing.ts';

/**
 * Two candidates of which each passes an executed test that the other fails: the pair where the lesser gain is largest,
 * the one with more to give first. Null where there is no such pair, and where a third one fails nothing that was executed.
 */
export function complements(clean: readonly Evidence[]): readonly [Alias, Alias] | null {
  if (clean.some(failsNothing)) return null;
  const pairs = clean.flatMap((a) =>
    clean.filter((b) => precedes(a, b)).map((b) => ({ a, b, gains: [gain(a, b), gain(b, a)] as const })),
  );
  const [best] = pairs
    .filter(({ gains }) => Math.min(...gains) > 0)
    .toSorted(
      (x, y) =>
        Math.min(...y.gains) - Math.min(...x.gains) ||
        y.gains[0] + y.gains[1] - x.gains[0] - x.gains[1] ||
        byContent(x.a, y.a) ||
        byContent(x.b, y.b),
    );
  if (!best) return null;
  const { a, b, gains } = best;
  return gains[0] >= gains[1] ? [a.alias, b.alias] : [b.alias, a.alias];
}

const byContent = (a: Evidence, b: Evidence): number =>
  byText(a.patchSha256, b.patchSha256) || byText(a.alias, b.alias);

const precedes = (a: Evidence, b: Evidence): boolean => byContent(a, b) < 0;

/** Passes all that others wrote for it, and there was something. */
function failsNothing({ peerTests, neutralTests }: Evidence): boolean {
  const guards = peerTests.flatMap((one) => (one.guards ? [one.guards] : []));
  const all = [...peerTests, ...guards, ...(neutralTests ? [neutralTests] : [])];
  return all.some(({ total }) => total > 0) && all.every(({ passed, total }) => passed === total);
}

/** Executed tests that `a` passes and `b` fails: neutral ones, those that `a` added itself, and those of others. */
const gain = (a: Evidence, b: Evidence): number => neutral(a, b) + ownTests(a, b) + thirdParty(a, b);

/** Nobody knows what `a` passes where not all of its failures are named, or not the same tests were run on both. */
function neutral({ neutralTests: own }: Evidence, { neutralTests: other }: Evidence): number {
  if (!own || own.total !== other?.total || own.failing.length !== own.total - own.passed) return 0;
  const failing = new Set(own.failing.map(({ id }) => id));
  return other.failing.filter(({ id }) => !failing.has(id)).length;
}

/** They count only where they pass on their author's code. */
function ownTests({ alias }: Evidence, b: Evidence): number {
  const run = b.peerTests.find(({ author }) => author === alias);
  return run ? run.total - run.passed : 0;
}

/** One place of the marks is one test of its author's, on every candidate. */
function thirdParty(a: Evidence, b: Evidence): number {
  const here = a.peerTests.map(({ author, marks = '' }) => {
    const there = b.peerTests.find((one) => one.author === author)?.marks ?? '';
    return [...marks].filter((mark, at) => mark === 'p' && there[at] === 'f').length;
  });
  return here.reduce((sum, count) => sum + count, 0);
}
