import { isTestNamed } from '../../patches/index.ts';
import { type Assertion, assertionsIn, type ParsedTests, type TestView, testAround } from './assertions.ts';
import type { TestCase } from './cases.ts';
import type { Suspicion, TamperingKind } from './finding.ts';
import { literalsOf, squeeze } from './matchers.ts';
import type { MatchedView } from './matching.ts';
import { firstChange, type InspectedFile, lineIndexAt, lineText } from './view.ts';

/** A base test that the patched files no longer contain. */
interface RemovedTest {
  readonly view: TestView;
  readonly test: TestCase;
}

interface TestWithBody extends RemovedTest {
  /** The lines of its body, without white space. */
  readonly lines: ReadonlySet<string>;
}

/** The paired assertions of a view, for finding out what happened to its tests. */
export interface ViewComparison {
  readonly matched: MatchedView;
  readonly paired: ReadonlyMap<Assertion, Assertion>;
  readonly covers: IsCovered;
}

/** Minimum share of a test's lines found in another test for it to be a rename. Default. */
const SAME_BODY_SHARE = 0.5;
/** A line that occurs in more new tests does not identify a test. */
const MAX_SIMILAR_TESTS = 30;

type ViewFilter = (view: TestView) => boolean;
type ViewSide = 'before' | 'after';

/** Tests that were removed, not moved, renamed or merged into another one. */
export function removedTests(
  comparisons: readonly ViewComparison[],
  counts: ViewFilter,
): readonly RemovedTest[] {
  const all = comparisons.map(({ matched }) => matched.view);
  const gone = unmatched(all, 'before', 'after', () => true, counts);
  const successorsOf = likelySuccessors(
    unmatched(all, 'after', 'before', counts, () => true),
    comparisons,
  );
  const taken = new Set<TestWithBody>();
  const still = new Map(
    comparisons.map((comparison) => [comparison.matched.view, stillAsserted(comparison)] as const),
  );
  return gone.filter((one) => {
    const successor = successorsOf(one).find((other) => !taken.has(other));
    if (successor) taken.add(successor);
    return !successor && !still.get(one.view)?.(one.test);
  });
}

/** Tests whose names occur less often on the other side, over all files of the patch. */
function unmatched(
  all: readonly TestView[],
  side: ViewSide,
  other: ViewSide,
  here: ViewFilter,
  there: ViewFilter,
): readonly TestWithBody[] {
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

/** Maximum lines of a test that are compared. */
const MAX_BODY_LINES = 200;

/** The lines of each test's body. */
function bodyLines({ side }: ParsedTests): (test: TestCase) => ReadonlySet<string> {
  const squeezed = side.starts.slice(0, -1).map((_, index) => squeeze(lineText(side, index)));
  return ({ body, end }) => {
    const [from, to] = [lineIndexAt(side, body), lineIndexAt(side, end - 1)];
    const first = squeeze(side.code.slice(body, Math.min(end, side.starts[from + 1] ?? end)));
    const lines = [first, ...squeezed.slice(from + 1, Math.min(to + 1, from + MAX_BODY_LINES))];
    return new Set(lines.filter((line) => /\w/.test(line)));
  };
}

/** New tests that resemble a removed one, most similar first. */
function likelySuccessors(
  came: readonly TestWithBody[],
  comparisons: readonly ViewComparison[],
): (removed: TestWithBody) => readonly TestWithBody[] {
  const byLine = new Map<string, TestWithBody[]>();
  const byAssertion = new Map<Assertion, TestWithBody>();
  for (const one of came) {
    for (const line of one.lines)
      byLine
        .set(line, byLine.get(line) ?? [])
        .get(line)
        ?.push(one);
    for (const assertion of assertionsIn(one.view.after, one.test)) byAssertion.set(assertion, one);
  }
  const paired = new Map(comparisons.map(({ matched, paired: own }) => [matched.view, own] as const));
  const similarlyNamed = namesAmong(came);
  return (removed) => {
    const shared = new Map<TestWithBody, number>();
    for (const line of removed.lines) {
      const alike = byLine.get(line) ?? [];
      if (alike.length <= MAX_SIMILAR_TESTS)
        for (const one of alike) shared.set(one, (shared.get(one) ?? 0) + 1);
    }
    const same = [...shared].filter(([, lines]) => lines / removed.lines.size >= SAME_BODY_SHARE);
    const asked = assertionsIn(removed.view.before, removed.test).flatMap((one) => {
      const now = paired.get(removed.view)?.get(one);
      const successor = now && now.form.subject === one.form.subject ? byAssertion.get(now) : undefined;
      return successor ? [successor] : [];
    });
    return [...same.sort(([, a], [, b]) => b - a).map(([one]) => one), ...asked, ...similarlyNamed(removed)];
  };
}

/** Minimum share of a name's words found in another name for it to be a rewording. Default. */
const SAME_NAME_SHARE = 0.6;
/** Maximum names that one is compared with: those that share its rarest words. Default. */
const MAX_NAMES_COMPARED = 100;

const nameWords = (name: string): ReadonlySet<string> => new Set(name.toLowerCase().match(/[a-z0-9]+/g));

function hasSimilarWords(old: ReadonlySet<string>, now: ReadonlySet<string>): boolean {
  const shared = [...old].filter((word) => now.has(word)).length;
  return shared >= 3 && shared / Math.max(old.size, now.size) >= SAME_NAME_SHARE;
}

/** New tests of the same file whose names say almost the same. */
function namesAmong(came: readonly TestWithBody[]): (removed: TestWithBody) => readonly TestWithBody[] {
  const all = came.map((one, index) => ({ one, index, words: nameWords(one.test.name) }));
  const byView = new Map<TestView, Map<string, (typeof all)[number][]>>();
  for (const each of all) {
    const byWord = byView.get(each.one.view) ?? new Map<string, (typeof all)[number][]>();
    byView.set(each.one.view, byWord);
    for (const word of each.words) {
      const same = byWord.get(word);
      if (same) same.push(each);
      else byWord.set(word, [each]);
    }
  }
  return ({ view, test }) => {
    const byWord = byView.get(view);
    const words = nameWords(test.name);
    const groups = [...words].map((word) => byWord?.get(word) ?? []).sort((a, b) => a.length - b.length);
    const compared = new Set<(typeof all)[number]>();
    for (const group of groups)
      for (const each of group) {
        if (compared.size === MAX_NAMES_COMPARED) break;
        compared.add(each);
      }
    return [...compared]
      .filter((each) => hasSimilarWords(words, each.words))
      .sort((a, b) => a.index - b.index)
      .map(({ one }) => one);
  };
}

/** Whether all assertions of a test are still made, unchanged or in a test table. */
function stillAsserted({
  matched: { view, kept, missing },
  covers,
}: ViewComparison): (test: TestCase) => boolean {
  const still = new Map(kept);
  const gone = new Set(missing);
  return (test) => {
    const own = assertionsIn(view.before, test);
    const stands = (one: Assertion) => {
      const now = still.get(one);
      return now ? testAround(view.after, now.at) !== null : !gone.has(one);
    };
    return own.length > 0 && (own.every(stands) || own.every(covers));
  };
}

/** Whether a broader assertion covers a missing one. */
type IsCovered = (removed: Assertion) => boolean;

/**
 * Whether added assertions cover missing ones: a whole object replaces its fields, or a test table replaces single
 * tests. The check must be as strict, and the literals of the missing assertion must be among those added.
 */
export function coverageOf({ view: { after }, added }: MatchedView): IsCovered {
  const addedLiterals = new Set(
    after.side.changes.flatMap((change, index) => (change ? literalsOf(lineText(after.side, index)) : [])),
  );
  const closest = new Map<string, number>();
  for (const { form } of added) {
    if (form.vacuous) continue;
    for (const root of rootsOf(form.subject, form.negative))
      closest.set(root, Math.max(form.strength, closest.get(root) ?? 0));
  }
  return ({ form }) => {
    const literals = literalsOf(form.subject + form.expected);
    return (
      literals.length > 0 &&
      literals.every((one) => addedLiterals.has(one)) &&
      rootsOf(form.subject, form.negative).some((root) => (closest.get(root) ?? -1) >= form.strength)
    );
  };
}

/** Names of the values and functions under test, and whether they are negated. */
const rootsOf = (subject: string, negative: boolean): readonly string[] =>
  (subject.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/\b[A-Za-z_$][\w$]*/g) ?? [])
    .filter((name) => !KEYWORDS.has(name))
    .map((name) => `${negative} ${name}`);

const KEYWORDS: ReadonlySet<string> = new Set(
  'await async new return function typeof self this null true false None True False nil'.split(' '),
);

/**
 * Test files that are removed or replaced as a whole. Their tests have already been compared one by one;
 * `found` says how. `added`: trimmed lines that some file of the patch adds.
 */
export function wholeFileChanges(
  inspected: InspectedFile,
  found: readonly Suspicion[],
  added: ReadonlySet<string>,
): readonly Suspicion[] {
  const { file } = inspected;
  const { change, path } = file;
  if (file.role !== 'test') return [];
  const whole = (kind: TamperingKind, what: string): readonly Suspicion[] => [
    { kind, what, at: firstChange(inspected), whole: true },
  ];
  const kind = isTestNamed(path) ? 'test-deleted' : 'fixture-changed';
  const thing = isTestNamed(path) ? 'a test file' : 'a file that tests use';
  if (change === 'type-changed')
    return [
      {
        kind: 'test-deleted',
        what: `${thing} changed its type`,
        at: firstChange(inspected),
        whole: true,
        severity: 'gate',
      },
    ];
  if (change === 'modified' && file.binary) return whole('fixture-changed', 'a binary test file was changed');
  if (change === 'modified' && isExecutable(file.oldMode) && !isExecutable(file.newMode))
    return whole('fixture-changed', `${thing} is no longer executable`);
  if (change !== 'deleted' || found.length > 0) return [];
  const lines = inspected.changes.filter(({ line }) => /\w/.test(line.text));
  const gone = lines.filter(({ line }) => !added.has(line.text.trim())).length;
  // A renamed file keeps most of its lines.
  return lines.length > 0 && gone <= lines.length / 2 ? [] : whole(kind, `${thing} was removed`);
}

const isExecutable = (mode: string): boolean => mode === '100755';
