import { type PatchFile, readDiff } from '../patches/index.ts';
import { changeKeyOf } from './change-key.ts';
import { classifyFiles, comparableFiles } from './file-kinds.ts';
import { type Bag, type LineRange, type PatchProfile, profileOf } from './profile.ts';

/** A candidate of a pool: the text of its patch, and optionally who stands behind it. */
export interface PoolPatch {
  /** An alias, or the id of a request; names the candidate in the result and has no other effect. */
  readonly id: string;
  /** Unified diff, git's or plain; whatever it holds, reading it does not fail. */
  readonly text: string;
  /** Of a patch that is parsed already: its files, which are then not read from the text. */
  readonly files?: readonly PatchFile[] | undefined;
  /** Model family of its author: candidates of one family have one vote together. Absent: nothing is known. */
  readonly family?: string | undefined;
  /** Whether it applies to the base. Absent: nobody tried. */
  readonly applies?: boolean | undefined;
}

/** What makes a patch unlikely to be right, whatever the others do. */
const FLAWS = [
  /** It was tried, and the patch does not apply to the base. */
  'does-not-apply',
  /** It changes tests, docs, configuration or scratch files only. */
  'no-source-change',
  /** Nothing that it changes is more than comments and formatting; also an empty patch. */
  'no-effective-change',
  /** A hunk closes more brackets than it opens, or fewer. */
  'unbalanced-brackets',
  /** It takes many lines out of tests that were there. */
  'removes-tests',
  /** Reproductions, debug scripts or backups are left in it. */
  'scratch-files',
] as const;
export type Flaw = (typeof FLAWS)[number];

/** How far one candidate agrees with the others of its pool. */
export interface PatchLikeness {
  readonly id: string;
  /** What ranks candidates: grows with `share` and is lowered by every flaw; 0 to 1. */
  readonly score: number;
  /** Agreement of its source changes with the others', the mean over votes, 0 to 1; 0 where there is no other. */
  readonly share: number;
  /** The part of `share` that says: its changes read like the others'. */
  readonly text: number;
  /** The part of `share` that says: it changes something wherever the others do. */
  readonly cover: number;
  /** 0-based number of its class, in order of the classes' `changeKey`. */
  readonly classIndex: number;
  /** Ids of the candidates in its class, its own included, sorted. */
  readonly alike: readonly string[];
  /** Files that it changes, of those that are compared, sorted, and how many of the other candidates change each. */
  readonly files: readonly SharedName[];
  /** Functions that it changes, as `path: first line`, as far as the diff names them. */
  readonly functions: readonly SharedName[];
  readonly flaws: readonly Flaw[];
}

interface SharedName {
  readonly name: string;
  /** How many of the other candidates change it too. */
  readonly others: number;
}

/** What text and cover weigh in `share`. Our default, tuned on patches whose outcome is known. */
const WEIGHTS = { text: 0.6, cover: 0.4 } as const;

/** The score of a patch that agrees with nobody, so that among such patches flaws still count. Our default. */
const SCORE_ALONE = 0.1;

/**
 * What is left of a score with each flaw. Patches with a serious one are right a fraction as often as the others of
 * their pools, one without effect never; scratch files say little. Our default, tuned on patches whose outcome is known.
 */
const FLAW_FACTORS: Readonly<Record<Flaw, number>> = {
  'does-not-apply': 0,
  'no-source-change': 0.5,
  'no-effective-change': 0,
  'unbalanced-brackets': 0.5,
  'removes-tests': 0.5,
  'scratch-files': 0.8,
};

/** Reads a patch once, for its profile and its class. */
function readMember({ text, files: parsed }: PoolPatch): Omit<PoolMember, 'patch'> {
  const files = classifyFiles(parsed ? comparableFiles(parsed) : readDiff(text));
  return { profile: profileOf(files), key: changeKeyOf(text, files) };
}

interface PoolMember {
  readonly patch: PoolPatch;
  readonly profile: PatchProfile;
  readonly key: string;
}

/** The number of a candidate's class. */
type ClassOf = (member: PoolMember) => number;

/**
 * Compares every candidate with every other one. The same pool in any order gives the same figures; the answer is in
 * the order of the pool.
 *
 * Every voter has one vote, however many candidates it sent: a family is one voter, and where families are not known,
 * a class is. A family's other candidates have no vote on each other while there is anybody else, for a model that
 * repeats itself confirms nothing. With `classesAsOne` this holds for candidates of one class as well, unless they are known to
 * be of different families: where a class is ranked as one candidate, its copies do not vote for it.
 */
export function comparePatches(
  pool: readonly PoolPatch[],
  { classesAsOne = false }: { readonly classesAsOne?: boolean } = {},
): readonly PatchLikeness[] {
  const read = new Map<string, Omit<PoolMember, 'patch'>>();
  const members = pool.map((patch) => {
    const known = read.get(patch.text) ?? readMember(patch);
    read.set(patch.text, known);
    return { patch, ...known };
  });
  const keys = [...new Set(members.map(({ key }) => key))].sort();
  const numbers = new Map(keys.map((key, number) => [key, number]));
  const classOf: ClassOf = ({ key }) => numbers.get(key) as number;
  return members.map((own) => {
    const others = members.filter((other) => other !== own);
    const { text, cover } = votes(own, others, classOf, classesAsOne);
    const share = roundedShare(WEIGHTS.text * text + WEIGHTS.cover * cover);
    const flaws = flawsOf(own.patch, own.profile, own.key);
    const alike = members.filter(({ key }) => key === own.key).map(({ patch }) => patch.id);
    return {
      id: own.patch.id,
      score: roundedShare(
        flaws.reduce((score, flaw) => score * FLAW_FACTORS[flaw], SCORE_ALONE + (1 - SCORE_ALONE) * share),
      ),
      share,
      text: roundedShare(text),
      cover: roundedShare(cover),
      classIndex: classOf(own),
      alike: alike.sort(),
      files: sharedNames(own, others, ({ ranges }) => [...ranges.keys()]),
      functions: sharedNames(own, others, ({ functions }) => [...functions]),
      flaws,
    };
  });
}

function votes(
  own: PoolMember,
  others: readonly PoolMember[],
  classOf: ClassOf,
  classesAsOne: boolean,
): Similarity {
  const strangers = others.filter((other) => {
    const { family } = other.patch;
    if (family !== undefined && own.patch.family !== undefined) return family !== own.patch.family;
    return !classesAsOne || classOf(other) !== classOf(own);
  });
  const voters = Map.groupBy(strangers.length > 0 ? strangers : others, (other) =>
    other.patch.family === undefined ? `class ${classOf(other)}` : `family ${other.patch.family}`,
  );
  const cast = [...voters.values()].map((same) =>
    same.map((other) => similarity(own.profile, other.profile)),
  );
  const mean = (part: keyof Similarity) =>
    average(cast.map((ballots) => average(ballots.map((one) => one[part]))));
  return { text: mean('text'), cover: mean('cover') };
}

/** In order of size, so that the sum does not depend on the order of arrival. */
const average = (numbers: readonly number[]): number =>
  numbers.length === 0
    ? 0
    : numbers.toSorted((a, b) => a - b).reduce((total, n) => total + n, 0) / numbers.length;

/** Sums of different fractions that mean the same must compare as equal. */
const roundedShare = (n: number): number => Math.round(n * 1e9) / 1e9;

function sharedNames(
  own: PoolMember,
  others: readonly PoolMember[],
  namesOf: (of: PatchProfile) => readonly string[],
): readonly SharedName[] {
  const theirs = others.map(({ profile }) => new Set(namesOf(profile)));
  return namesOf(own.profile)
    .toSorted()
    .map((name) => ({ name, others: theirs.filter((names) => names.has(name)).length }));
}

/** How far `mine` agrees with `theirs`, each part in [0, 1]. Not symmetric: to leave out weighs more than to add. */
interface Similarity {
  /** What the changes say: lines added, tokens that are more or fewer than before, runs of tokens. */
  readonly text: number;
  /** How much of where they change something `mine` changes something as well: files and ranges. */
  readonly cover: number;
}

/**
 * What only `mine` has counts half of what only `theirs` has (Tversky, Features of Similarity, 1977): a patch more often
 * fails for what it lacks. Our default, tuned on patches whose outcome is known.
 */
const OWN_EXTRA = 0.5;
/** Lines between two ranges that still count as one. Our default, tuned likewise. */
const NEARBY_LINES = 5;

function similarity(mine: PatchProfile, theirs: PatchProfile): Similarity {
  return {
    text: meanOfKnown([
      bagLikeness(mine.added, theirs.added),
      bagLikeness(mine.delta, theirs.delta),
      bagLikeness(mine.trigrams, theirs.trigrams),
    ]),
    cover: meanOfKnown([coverOfFiles(mine, theirs), coverOfRanges(mine, theirs)]),
  };
}

/** Null where neither has anything to compare. */
function bagLikeness(mine: Bag, theirs: Bag): number | null {
  const shared = sharedOf(mine, theirs);
  const whole = shared + OWN_EXTRA * (mine.whole - shared) + (theirs.whole - shared);
  return whole === 0 ? null : shared / whole;
}

function sharedOf(one: Bag, other: Bag): number {
  const [few, many] = one.counts.size <= other.counts.size ? [one, other] : [other, one];
  let shared = 0;
  for (const [thing, n] of few.counts) shared += Math.min(n, many.counts.get(thing) ?? 0);
  return shared;
}

function coverOfFiles(mine: PatchProfile, theirs: PatchProfile): number | null {
  const paths = [...theirs.ranges.keys()];
  return paths.length === 0 ? null : paths.filter((path) => mine.ranges.has(path)).length / paths.length;
}

function coverOfRanges(mine: PatchProfile, theirs: PatchProfile): number | null {
  let all = 0;
  let met = 0;
  for (const [path, ranges] of theirs.ranges) {
    all += ranges.length;
    met += countNear(ranges, mine.ranges.get(path) ?? []);
  }
  return all === 0 ? null : met / all;
}

/** How many of the ranges have one of the others near. Both are in order of lines and do not overlap. */
function countNear(ranges: readonly LineRange[], others: readonly LineRange[]): number {
  let at = 0;
  return ranges.filter(([from, to]) => {
    while (at < others.length && (others[at] as LineRange)[1] < from - NEARBY_LINES) at++;
    return at < others.length && (others[at] as LineRange)[0] <= to + NEARBY_LINES;
  }).length;
}

const meanOfKnown = (parts: readonly (number | null)[]): number => {
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? 0 : known.reduce((total, part) => total + part, 0) / known.length;
};

/** Lines that go out of tests when behaviour changes on purpose are few. Our default, tuned on known outcomes. */
const MAX_REMOVED_TEST_LINES = 10;

/** `key` is the patch's `changeKey`. In the order of `FLAWS`. */
function flawsOf(patch: PoolPatch, profile: PatchProfile, key: string): readonly Flaw[] {
  const checks: readonly (readonly [Flaw, boolean])[] = [
    ['does-not-apply', patch.applies === false],
    ['no-source-change', !profile.hasSource],
    ['no-effective-change', profile.changedLines === 0 && key === ''],
    ['unbalanced-brackets', profile.unbalanced > 0],
    ['removes-tests', removedTestLines(profile) > MAX_REMOVED_TEST_LINES],
    ['scratch-files', profile.files.some(({ fileKind }) => fileKind === 'scratch')],
  ];
  return checks.flatMap(([flaw, holds]) => (holds ? [flaw] : []));
}

const removedTestLines = ({ files }: PatchProfile): number =>
  files
    .filter(({ fileKind, created }) => fileKind === 'test' && !created)
    .flatMap(({ hunks }) => hunks)
    .reduce((total, { lines }) => total + lines.filter(({ kind }) => kind === 'removed').length, 0);
