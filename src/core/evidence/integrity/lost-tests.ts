import { type Assertion, assertionsIn, type Reading, type TestView, testAround } from './assertions.ts';
import type { Case } from './cases.ts';
import { literalsOf, squeeze } from './matchers.ts';
import type { Matched } from './matching.ts';
import { lineAt, lineOf } from './view.ts';

/** A test of the base that the patched files do not have any more. */
interface LostTest {
  readonly view: TestView;
  readonly test: Case;
}

interface Placed extends LostTest {
  /** Squeezed lines of what it does. */
  readonly lines: ReadonlySet<string>;
}

/** What happened to assertions, as far as it tells what happened to tests. */
export interface Fate {
  readonly matched: Matched;
  readonly paired: ReadonlyMap<Assertion, Assertion>;
  readonly covers: Covers;
}

/** How much of a test's lines must be there again for another name to be only a new name. Our default. */
const SAME_BODY = 0.5;
/** A line that more new tests have says nothing about which one a test became. */
const MOST_ALIKE = 30;

type Where = (view: TestView) => boolean;
type Which = 'before' | 'after';

/** Tests that are gone, not only moved, renamed or merged into another one. */
export function lostTests(fates: readonly Fate[], counts: Where): readonly LostTest[] {
  const all = fates.map(({ matched }) => matched.view);
  const gone = unmatched(all, 'before', 'after', () => true, counts);
  const heirOf = heirs(
    unmatched(all, 'after', 'before', counts, () => true),
    fates,
  );
  const taken = new Set<Placed>();
  const still = new Map(fates.map((fate) => [fate.matched.view, survivors(fate)] as const));
  return gone.filter((one) => {
    const heir = heirOf(one).find((other) => !taken.has(other));
    if (heir) taken.add(heir);
    return !heir && !still.get(one.view)?.(one.test);
  });
}

/** Tests of one side whose names the other side does not have as often, over all files of the patch. */
function unmatched(
  all: readonly TestView[],
  side: Which,
  other: Which,
  here: Where,
  there: Where,
): readonly Placed[] {
  const names = new Map<string, number>();
  for (const view of all.filter(there))
    for (const { name } of view[other].tests) names.set(name, (names.get(name) ?? 0) + 1);
  return all.filter(here).flatMap((view) => {
    const linesOf = bodyLines(view[side]);
    return view[side].tests
      .filter(({ name }) => {
        const left = names.get(name) ?? 0;
        names.set(name, left - 1);
        return left <= 0;
      })
      .map((test) => ({ view, test, lines: linesOf(test) }));
  });
}

/** More lines of one test say no more about which it is. */
const MOST_LINES = 200;

/** What each test of a text does, line by line. */
function bodyLines({ side }: Reading): (test: Case) => ReadonlySet<string> {
  const squeezed = side.starts.slice(0, -1).map((_, index) => squeeze(lineOf(side, index)));
  return ({ body, end }) => {
    const [from, to] = [lineAt(side, body), lineAt(side, end - 1)];
    const first = squeeze(side.code.slice(body, Math.min(end, side.starts[from + 1] ?? end)));
    const lines = [first, ...squeezed.slice(from + 1, Math.min(to + 1, from + MOST_LINES))];
    return new Set(lines.filter((line) => /\w/.test(line)));
  };
}

/** New tests that do what a lost one did, the likeliest first. */
function heirs(came: readonly Placed[], fates: readonly Fate[]): (lost: Placed) => readonly Placed[] {
  const byLine = new Map<string, Placed[]>();
  const byAssertion = new Map<Assertion, Placed>();
  for (const one of came) {
    for (const line of one.lines)
      byLine
        .set(line, byLine.get(line) ?? [])
        .get(line)
        ?.push(one);
    for (const assertion of assertionsIn(one.view.after, one.test)) byAssertion.set(assertion, one);
  }
  const paired = new Map(fates.map(({ matched, paired: own }) => [matched.view, own] as const));
  return (lost) => {
    const shared = new Map<Placed, number>();
    for (const line of lost.lines) {
      const alike = byLine.get(line) ?? [];
      if (alike.length <= MOST_ALIKE) for (const one of alike) shared.set(one, (shared.get(one) ?? 0) + 1);
    }
    const same = [...shared].filter(([, lines]) => lines / lost.lines.size >= SAME_BODY);
    const asked = assertionsIn(lost.view.before, lost.test).flatMap((one) => {
      const now = paired.get(lost.view)?.get(one);
      const heir = now && now.form.subject === one.form.subject ? byAssertion.get(now) : undefined;
      return heir ? [heir] : [];
    });
    const named = came.filter((one) => one.view === lost.view && soundsAlike(lost.test.name, one.test.name));
    return [...same.sort(([, a], [, b]) => b - a).map(([one]) => one), ...asked, ...named];
  };
}

/** How many of a name's words must be there again for a test to be the same one, told anew. Our default. */
const SAME_NAME = 0.6;

function soundsAlike(before: string, after: string): boolean {
  const words = (name: string) => new Set(name.toLowerCase().match(/[a-z0-9]+/g));
  const [old, now] = [words(before), words(after)];
  const shared = [...old].filter((word) => now.has(word)).length;
  return shared >= 3 && shared / Math.max(old.size, now.size) >= SAME_NAME;
}

/** Does everything that a test asserts still stand in some test, as it was or in a table of cases? */
function survivors({ matched: { view, kept, lost }, covers }: Fate): (test: Case) => boolean {
  const still = new Map(kept);
  const gone = new Set(lost);
  return (test) => {
    const own = assertionsIn(view.before, test);
    const stands = (one: Assertion) => {
      const now = still.get(one);
      return now ? testAround(view.after, now.at) !== null : !gone.has(one);
    };
    return own.length > 0 && (own.every(stands) || own.every(covers));
  };
}

/** Was a lost assertion taken up by a wider one? */
type Covers = (lost: Assertion) => boolean;

/**
 * A whole object in place of its fields, a table of cases in place of single ones: what a lost assertion looked at is
 * still looked at as closely, and its literals stand among what was added.
 */
export function coverageOf({ view: { after }, fresh }: Matched): Covers {
  const added = new Set(
    after.side.changes.flatMap((change, index) => (change ? literalsOf(lineOf(after.side, index)) : [])),
  );
  const closest = new Map<string, number>();
  for (const { form } of fresh) {
    if (form.vacuous) continue;
    for (const root of rootsOf(form.subject, form.negative))
      closest.set(root, Math.max(form.strength, closest.get(root) ?? 0));
  }
  return ({ form }) => {
    const literals = literalsOf(form.subject + form.expected);
    return (
      literals.length > 0 &&
      literals.every((one) => added.has(one)) &&
      rootsOf(form.subject, form.negative).some((root) => (closest.get(root) ?? -1) >= form.strength)
    );
  };
}

/** Names of what is called or looked at, and whether it must not be so. */
const rootsOf = (subject: string, negative: boolean): readonly string[] =>
  (subject.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/\b[A-Za-z_$][\w$]*/g) ?? [])
    .filter((name) => !WORDS.has(name))
    .map((name) => `${negative} ${name}`);

const WORDS: ReadonlySet<string> = new Set(
  'await async new return function typeof self this null true false None True False nil'.split(' '),
);
