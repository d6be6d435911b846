import type { Assertion } from './assertions.ts';
import { literalsOf } from './literals.ts';
import type { Matched } from './matching.ts';
import { lineOf } from './view.ts';

/** Was a lost assertion taken up by a wider one? */
export type Covers = (lost: Assertion) => boolean;

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
