import { guardsOf } from './guards.ts';
import { normalised } from './normalised.ts';
import { type Profile, profileOf } from './profile.ts';
import { type Similarity, similarity } from './similarity.ts';
import type { AgreeingPatch, Agreement, Guard, Shared } from './types.ts';

/** What text and cover weigh in `share`. Our default, tuned on patches whose outcome is known. */
const WEIGHTS = { text: 0.6, cover: 0.4 } as const;

/** The score of a patch that agrees with nobody, so that among such patches guards still count. Our default. */
const ALONE = 0.1;

/**
 * What is left of a score under each guard. Patches with a serious one are right a fraction as often as the others of
 * their pools, one without effect never; scratch files say little. Our default, tuned on patches whose outcome is known.
 */
const LEFT: Readonly<Record<Guard, number>> = {
  'does-not-apply': 0,
  'no-source-change': 0.5,
  'no-effective-change': 0,
  'unbalanced-brackets': 0.5,
  'removes-tests': 0.5,
  'scratch-files': 0.8,
};

interface Member {
  readonly patch: AgreeingPatch;
  readonly profile: Profile;
  readonly key: string;
}

/** The number of a candidate's class. */
type ClassOf = (member: Member) => number;

/**
 * Compares every candidate with every other one. The same pool in any order gives the same figures; the answer is in
 * the order of the pool.
 *
 * Every voter has one vote, however many candidates it sent: a family is one voter, and where families are not known,
 * a class is. A family's other candidates have no vote on each other while there is anybody else, for a model that
 * repeats itself confirms nothing.
 */
export function agreement(pool: readonly AgreeingPatch[]): readonly Agreement[] {
  const read = new Map<string, Omit<Member, 'patch'>>();
  const members = pool.map((patch) => {
    const known = read.get(patch.text) ?? { profile: profileOf(patch.text), key: normalised(patch.text) };
    read.set(patch.text, known);
    return { patch, ...known };
  });
  const keys = [...new Set(members.map(({ key }) => key))].sort();
  const numbers = new Map(keys.map((key, number) => [key, number]));
  const classOf: ClassOf = ({ key }) => numbers.get(key) as number;
  return members.map((own) => {
    const others = members.filter((other) => other !== own);
    const { text, cover } = votes(own, others, classOf);
    const share = rounded(WEIGHTS.text * text + WEIGHTS.cover * cover);
    const guards = guardsOf(own.patch, own.profile, own.key);
    const alike = members.filter(({ key }) => key === own.key).map(({ patch }) => patch.id);
    return {
      id: own.patch.id,
      score: rounded(guards.reduce((score, guard) => score * LEFT[guard], ALONE + (1 - ALONE) * share)),
      share,
      text: rounded(text),
      cover: rounded(cover),
      cls: classOf(own),
      alike: alike.sort(),
      files: shared(own, others, ({ places }) => [...places.keys()]),
      functions: shared(own, others, ({ functions }) => [...functions]),
      guards,
    };
  });
}

function votes(own: Member, others: readonly Member[], classOf: ClassOf): Similarity {
  const strangers = others.filter(
    ({ patch }) => patch.family === undefined || patch.family !== own.patch.family,
  );
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
const rounded = (n: number): number => Math.round(n * 1e9) / 1e9;

function shared(
  own: Member,
  others: readonly Member[],
  namesOf: (of: Profile) => readonly string[],
): readonly Shared[] {
  const theirs = others.map(({ profile }) => new Set(namesOf(profile)));
  return namesOf(own.profile)
    .toSorted()
    .map((name) => ({ name, others: theirs.filter((names) => names.has(name)).length }));
}
