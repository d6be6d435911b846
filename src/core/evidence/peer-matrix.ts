import { type Alias, byCodeUnits } from '../model/index.ts';
import type { Behaviour } from './behaviour.ts';
import type { Evidence } from './evidence.ts';
import type { IssueExamples } from './examples.ts';

/**
 * One survivor's results on tests that survivors added, over the same set of tests for all: tests that at least one
 * survivor fails and that can be run on every survivor. An author passes its own tests, because only tests that pass
 * on its code were admitted.
 */
export interface SameSetTests {
  /**
   * For each group of authors: the share of its confirmed tests that pass, in [0, 1]. Same groups, in the same order,
   * for all.
   */
  readonly shares: readonly number[];
  readonly confirmed: TestCount;
  /** Tests confirmed only by their author's own family. */
  readonly unconfirmed: TestCount;
  /** Shares as above, of unconfirmed tests. */
  readonly unconfirmedShares: readonly number[];
  /** At least one of its own tests is confirmed by another candidate. */
  readonly ownConfirmed: boolean;
  /** Tests of others that it fails and their authors pass, confirmed or not; guards only if a third one passes them. */
  readonly disputed: number;
  /** Confirmed tests of others that it passes, also those that nobody fails. */
  readonly passedOfOthers: number;
}

interface TestCount {
  readonly passed: number;
  readonly total: number;
}

/** Survivors with the same production changes; compared as one author and one candidate. */
type ChangeClass = readonly Evidence[];

type Writers = 'all' | 'other-families';

/** One test, and whether each class passes it. */
interface Column {
  readonly author: ChangeClass;
  readonly results: ReadonlyMap<ChangeClass, 'p' | 'f'>;
  readonly confirmed: boolean;
}

/**
 * By alias, for all survivors. A test is confirmed if it passes on a different change by another model family that
 * breaks no base test, or if the same candidates fail an admitted independent test; never where there is no report. An
 * author's unknown family counts as a family of its own. `other-families`: a test by a model of the author's family, which
 * may have misread the task as the author did, confirms nothing, nor does any written one if a family is unknown.
 */
export function sameSetTests(
  evidence: readonly Evidence[],
  writers: Writers = 'all',
): ReadonlyMap<Alias, SameSetTests> {
  const classes = changeClasses(evidence.filter(({ survivor }) => survivor));
  const columns = classes.flatMap((author) => columnsOf(author, classes, writers));
  const distinguishing = columns.filter(({ results }) => [...results.values()].includes('f'));
  return new Map(
    classes.flatMap((own) => {
      const answers = answersOf(own, classes, columns, distinguishing);
      return own.map(({ alias }) => [alias, answers] as const);
    }),
  );
}

interface Probed {
  readonly behaviour: ReadonlyMap<Alias, Pick<Behaviour, 'group'>>;
  readonly examples: Pick<IssueExamples, 'byAlias'>;
}

/**
 * The classes of candidates with equal changes, without those that probes tell apart: then their changes are not the same,
 * whatever their texts look like. One that could not be probed to the end stays if nothing tells the others apart.
 */
export function separatedByProbes<T extends { readonly alike: readonly Alias[] }>(
  likeness: ReadonlyMap<Alias, T>,
  probed: Probed,
): ReadonlyMap<Alias, T> {
  return new Map(
    [...likeness].map(([alias, own]) => {
      const parts = apartByProbes(own.alike, probed);
      const alike = parts.find((part) => part.includes(alias)) ?? [alias];
      return [alias, { ...own, alike }];
    }),
  );
}

/** A class by what its members do. */
function apartByProbes(
  members: readonly Alias[],
  { behaviour, examples: { byAlias } }: Probed,
): readonly (readonly Alias[])[] {
  const triedOn = (alias: Alias) => byAlias.get(alias)?.total ?? 0;
  const all = Math.max(0, ...members.map(triedOn));
  const isKnown = (alias: Alias) => behaviour.has(alias) && triedOn(alias) === all;
  const seen = Map.groupBy(members.filter(isKnown), (alias) => {
    const failing = (byAlias.get(alias)?.failing ?? []).map(({ id }) => id);
    return JSON.stringify([behaviour.get(alias)?.group, failing.toSorted()]);
  });
  if (seen.size < 2) return [members];
  return [...seen.values(), ...members.filter((alias) => !isKnown(alias)).map((alias) => [alias])];
}

/** Classes of equal production changes, in order of their first alias. */
export function changeClasses(survivors: readonly Evidence[]): readonly ChangeClass[] {
  const sorted = survivors.toSorted((a, b) => byCodeUnits(a.alias, b.alias));
  const classes: Evidence[][] = [];
  for (const one of sorted) {
    const own = classes.find((members) => members.some(({ alias }) => (one.alike ?? []).includes(alias)));
    if (own) own.push(one);
    else classes.push([one]);
  }
  return classes;
}

function columnsOf(
  author: ChangeClass,
  classes: readonly ChangeClass[],
  writers: Writers,
): readonly Column[] {
  return author.flatMap(({ alias }) => {
    const marks = new Map(
      classes.filter((one) => one !== author).map((one) => [one, marksOf(one, alias)] as const),
    );
    const count = Math.max(0, ...[...marks.values()].map((own) => own.length));
    return Array.from({ length: count }, (_, at) => at).flatMap((at): readonly Column[] => {
      const answers = [...marks].map(([one, own]) => [one, own[at]] as const);
      // A test that cannot be run on every class is ignored: it needs a name that only its author has.
      if (answers.some(([, mark]) => mark !== 'p' && mark !== 'f')) return [];
      const results = new Map<ChangeClass, 'p' | 'f'>([
        [author, 'p'],
        ...answers.map(([one, mark]) => [one, mark === 'p' ? 'p' : 'f'] as const),
      ]);
      return [{ author, results, confirmed: isConfirmed(author, results, classes, writers) }];
    });
  });
}

/** The results of one author's tests on a class; if its members differ, the worse result counts. */
function marksOf(members: ChangeClass, author: Alias): readonly string[] {
  const all = members.flatMap(
    ({ peerTests }) => peerTests.find((one) => one.author === author)?.results ?? [],
  );
  const length = Math.max(0, ...all.map((own) => own.length));
  return Array.from({ length }, (_, at) => {
    const marks = all.map((own) => own[at]);
    if (marks.some((mark) => mark !== 'p' && mark !== 'f')) return 'n';
    return marks.includes('f') ? 'f' : 'p';
  });
}

function isConfirmed(
  author: ChangeClass,
  results: Column['results'],
  classes: readonly ChangeClass[],
  writers: Writers,
): boolean {
  // One exit code for all tests of an author: what each of them asks is unknown.
  if (author.some(({ baseTests }) => baseTests?.source === 'exit-code')) return false;
  const own = familiesOf(author);
  const failing = classes.filter((one) => results.get(one) === 'f');
  const passing = classes.filter(
    (one) => one !== author && results.get(one) === 'p' && one.some(breaksNothing),
  );
  const isKnown = author.every(({ family }) => family !== undefined);
  const isByOthers = ({ origin, family }: FailedTest): boolean =>
    origin === 'issue' || (isKnown && family !== undefined && !own.has(family));
  return (
    passing.some((one) => [...familiesOf(one)].some((family) => !own.has(family))) ||
    (failing.length > 0 && asksTheSame(failing, classes, writers === 'all' ? () => true : isByOthers))
  );
}

type FailedTest = NonNullable<Evidence['independentTests']>['failing'][number];

/** Whether exactly these classes fail one of the independent tests that count. */
function asksTheSame(
  failing: readonly ChangeClass[],
  classes: readonly ChangeClass[],
  counts: (test: FailedTest) => boolean,
): boolean {
  const failedBy = new Map(classes.map((one) => [one, failedIndependently(one, counts)]));
  const ids = new Set(failing.flatMap((one) => [...(failedBy.get(one) ?? [])]));
  return [...ids].some((id) => classes.every((one) => failedBy.get(one)?.has(id) === failing.includes(one)));
}

const failedIndependently = (
  members: ChangeClass,
  counts: (test: FailedTest) => boolean,
): ReadonlySet<string> =>
  new Set(
    members.flatMap(({ independentTests }) =>
      (independentTests?.failing ?? []).filter(counts).map(({ id }) => id),
    ),
  );

const breaksNothing = ({ baseTests }: Evidence): boolean => (baseTests?.regressions.length ?? 0) === 0;

const familiesOf = (members: ChangeClass): ReadonlySet<string> =>
  new Set(members.map(({ family, alias }) => family ?? `of ${alias}`));

function answersOf(
  own: ChangeClass,
  classes: readonly ChangeClass[],
  columns: readonly Column[],
  distinguishing: readonly Column[],
): SameSetTests {
  const passes = ({ results }: Column) => results.get(own) === 'p';
  const confirmed = distinguishing.filter((one) => one.confirmed);
  const unconfirmed = distinguishing.filter((one) => !one.confirmed);
  const sharesOf = (all: readonly Column[]) =>
    classes.flatMap((author) => {
      const those = all.filter((one) => one.author === author);
      return those.length === 0 ? [] : [those.filter(passes).length / those.length];
    });
  const count = (all: readonly Column[]): TestCount => ({
    passed: all.filter(passes).length,
    total: all.length,
  });
  return {
    shares: sharesOf(confirmed),
    confirmed: count(confirmed),
    unconfirmed: count(unconfirmed),
    unconfirmedShares: sharesOf(unconfirmed),
    ownConfirmed: columns.some((one) => one.author === own && one.confirmed),
    disputed:
      distinguishing.filter((one) => one.author !== own && !passes(one)).length +
      disputedGuards(own, classes),
    passedOfOthers: columns.filter((one) => one.confirmed && one.author !== own && passes(one)).length,
  };
}

/**
 * Guards of others that a class fails, and that another one than their author passes: together with the base, three
 * candidates say that this should stay as it is.
 */
function disputedGuards(own: ChangeClass, classes: readonly ChangeClass[]): number {
  const failed = own.flatMap(({ peerTests }) =>
    peerTests.flatMap(({ author, guards }) => (guards?.failing ?? []).map((test) => ({ author, test }))),
  );
  const passes = (one: Evidence, { author, test }: { readonly author: Alias; readonly test: string }) => {
    const guards = one.peerTests.find((tests) => tests.author === author)?.guards;
    return guards !== undefined && guards.total > 0 && !guards.failing.includes(test) && breaksNothing(one);
  };
  return failed.filter((guard) => {
    const isAuthor = (members: ChangeClass) => members.some(({ alias }) => alias === guard.author);
    return (
      classes.some(isAuthor) &&
      !isAuthor(own) &&
      classes.some((one) => one !== own && !isAuthor(one) && one.some((member) => passes(member, guard)))
    );
  }).length;
}
