import { type PatchFile, readDiff } from '../patches/index.ts';
import { changeKeyOf } from './change-key.ts';
import { classifyFiles, comparableFiles } from './file-kinds.ts';
import { type Bag, type LineRange, type PatchProfile, profileOf } from './profile.ts';

export { changeKey } from './change-key.ts';
export { fileKindOf } from './file-kinds.ts';
export { staticScore } from './static-score.ts';

/** A candidate of a pool: the text of its patch, and optionally its author. */
export interface PoolPatch {
  /** An alias, or the id of a request; used as a name in the result only. */
  readonly id: string;
  /** Unified diff, git's or plain; parsing never fails, whatever its content. */
  readonly text: string;
  /** Of a patch that is parsed already: its files, which are then not read from the text. */
  readonly files?: readonly PatchFile[] | undefined;
  /** Model family of its author: candidates of one family share one vote. Absent: unknown. */
  readonly family?: string | undefined;
  /** Whether it applies to the base. Absent: not tried. */
  readonly applies?: boolean | undefined;
}

/** Reasons for which a patch is probably wrong, independent of the others. */
const FLAWS = [
  /** The patch does not apply to the base. */
  'does-not-apply',
  /** It changes only tests, docs, configuration or scratch files. */
  'no-source-change',
  /** It changes only comments and formatting, or nothing. */
  'no-effective-change',
  /** A hunk closes more brackets than it opens, or fewer. */
  'unbalanced-brackets',
  /** It removes many lines from existing tests. */
  'removes-tests',
  /** It contains reproductions, debug scripts or backups. */
  'scratch-files',
] as const;
export type Flaw = (typeof FLAWS)[number];

/** How much one candidate agrees with the others of its pool. */
export interface PatchLikeness {
  readonly id: string;
  /** The ranking score: increases with `share`, and is lowered by every flaw; 0 to 1. */
  readonly score: number;
  /** Agreement of its source changes with the others', averaged over votes, 0 to 1; 0 if there are no others. */
  readonly share: number;
  /** The part of `share` for similar changes. */
  readonly text: number;
  /** The part of `share` for changes in the same places. */
  readonly cover: number;
  /** 0-based number of its class, in order of the classes' `changeKey`. */
  readonly classIndex: number;
  /** Ids of the candidates in its class, its own included, sorted. */
  readonly alike: readonly string[];
  /** The compared files that it changes, sorted, with the number of other candidates that change each. */
  readonly files: readonly SharedName[];
  /** Functions that it changes, as `path: first line`, as far as the diff names them. */
  readonly functions: readonly SharedName[];
  readonly flaws: readonly Flaw[];
}

interface SharedName {
  readonly name: string;
  /** Number of other candidates that change it. */
  readonly others: number;
}

/** Weights of text and cover in `share`. Default, tuned on patches with known outcome. */
const WEIGHTS = { text: 0.6, cover: 0.4 } as const;

/** The score of a patch that agrees with no other, so that flaws still differentiate such patches. Default. */
const SCORE_ALONE = 0.1;

/**
 * Factor on the score for each flaw. Patches with a serious flaw are right far less often than the others of their
 * pools, and those without effect never; scratch files matter little. Default, tuned on patches with known outcome.
 */
const FLAW_FACTORS: Readonly<Record<Flaw, number>> = {
  'does-not-apply': 0,
  'no-source-change': 0.5,
  'no-effective-change': 0,
  'unbalanced-brackets': 0.5,
  'removes-tests': 0.5,
  'scratch-files': 0.8,
};

/** Parses a patch once for its profile and its class. */
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
 * Compares every candidate with every other one. The result does not depend on the order of the pool, and is returned
 * in that order.
 * Every voter has one vote, however many candidates it submitted: a family is one voter, and if families are unknown,
 * a class is. Other candidates of the same family vote on each other only if there are no others, because repeated
 * samples of a model confirm nothing. With `classesAsOne` this also holds for candidates of one class, unless they
 * are known to be of different families: if a class is ranked as one candidate, its copies do not vote for it. Then two
 * candidates are as similar to each other as either is to the other: what was executed must not lose to an added file.
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
  // Two patches without production changes need not have anything in common.
  const classKeyOf = ({ key, patch }: PoolMember): string => key || patch.text;
  const keys = [...new Set(members.map(classKeyOf))].sort();
  const numbers = new Map(keys.map((key, number) => [key, number]));
  const classOf: ClassOf = (member) => numbers.get(classKeyOf(member)) as number;
  return members.map((own) => {
    const others = members.filter((other) => other !== own);
    const { text, cover } = votes(own, others, classOf, classesAsOne);
    const share = roundedShare(WEIGHTS.text * text + WEIGHTS.cover * cover);
    const flaws = flawsOf(own.patch, own.profile, own.key);
    const alike = members.filter((other) => classOf(other) === classOf(own)).map(({ patch }) => patch.id);
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
  const of = classesAsOne && others.length === 1 ? mutualSimilarity : similarity;
  const cast = [...voters.values()].map((same) => same.map((other) => of(own.profile, other.profile)));
  const mean = (part: keyof Similarity) =>
    average(cast.map((ballots) => average(ballots.map((one) => one[part]))));
  return { text: mean('text'), cover: mean('cover') };
}

/** Sums in order of size, so that the order of arrival has no effect. */
const average = (numbers: readonly number[]): number =>
  numbers.length === 0
    ? 0
    : numbers.toSorted((a, b) => a - b).reduce((total, n) => total + n, 0) / numbers.length;

/** Rounds so that mathematically equal sums compare as equal. */
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

/** How far `mine` agrees with `theirs`, each part in [0, 1]. Asymmetric: omissions weigh more than additions. */
interface Similarity {
  /** Similarity of the changes: added lines, added and removed tokens, token sequences. */
  readonly text: number;
  /** The share of the places changed by `theirs` that `mine` also changes: files and ranges. */
  readonly cover: number;
}

/**
 * Elements only in `mine` count half as much as elements only in `theirs` (Tversky, Features of Similarity, 1977):
 * patches more often fail because of omissions. Default, tuned on patches with known outcome.
 */
const OWN_EXTRA = 0.5;
/** Maximum distance in lines at which two ranges count as one. Default, tuned likewise. */
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

function mutualSimilarity(one: PatchProfile, other: PatchProfile): Similarity {
  const [there, back] = [similarity(one, other), similarity(other, one)];
  return { text: average([there.text, back.text]), cover: average([there.cover, back.cover]) };
}

/** Null if neither has anything to compare. */
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
  // Binary files have no lines to compare: one that nobody else adds takes nothing from the others.
  const paths = [...theirs.ranges].flatMap(([path, ranges]) => (ranges.length > 0 ? [path] : []));
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

/** Number of ranges with one of the others nearby. Both are sorted by line and do not overlap. */
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

/** An intended change of behaviour removes few lines from tests. Default, tuned on known outcomes. */
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

/** Lines that tests lose. One that another place in the tests gets, as when a file is renamed, is not lost. */
function removedTestLines({ files }: PatchProfile): number {
  const lines = files.filter(({ fileKind }) => fileKind === 'test').flatMap(({ hunks }) => hunks);
  const textsOf = (wanted: 'added' | 'removed') =>
    lines.flatMap((hunk) => hunk.lines.flatMap(({ kind, text }) => (kind === wanted ? [text.trim()] : [])));
  const added = new Map<string, number>();
  for (const text of textsOf('added')) added.set(text, (added.get(text) ?? 0) + 1);
  return textsOf('removed').filter((text) => {
    const left = added.get(text) ?? 0;
    added.set(text, left - 1);
    return left <= 0;
  }).length;
}
