import { type Assertion, type Reading, type TestView, testAround } from './assertions.ts';
import type { TamperingKind } from './finding.ts';
import type { Form } from './forms.ts';
import { hasAll, isLiteral, literalsOf, STRENGTH } from './matchers.ts';
import { changeIn } from './view.ts';

/** What became of a view's assertions. */
export interface Matched {
  readonly view: TestView;
  /** In the base, and nowhere in the patched tests. */
  readonly lost: readonly Assertion[];
  /** In the patched tests, and nowhere in the base. */
  readonly fresh: readonly Assertion[];
  /** The same before and after. */
  readonly kept: readonly (readonly [before: Assertion, after: Assertion])[];
}

const isFresh = ({ side }: Reading, { at, end }: Assertion): boolean => changeIn(side, at, end) !== null;

/** Those that the patch leaves alone first, each in order. */
const steadyFirst = (reading: Reading, found: readonly Assertion[]): readonly Assertion[] => [
  ...found.filter((one) => !isFresh(reading, one)),
  ...found.filter((one) => isFresh(reading, one)),
];

function grouped(assertions: readonly Assertion[]): ReadonlyMap<string, Assertion[]> {
  const groups = new Map<string, Assertion[]>();
  for (const one of assertions) {
    const group = groups.get(one.text);
    if (group) group.push(one);
    else groups.set(one.text, [one]);
  }
  return groups;
}

/** Finds the same assertions again within one view. */
function matchView(view: TestView): Matched {
  const before = grouped(view.before.assertions);
  const after = grouped(view.after.assertions);
  const lost: Assertion[] = [];
  const fresh: Assertion[] = [];
  const kept: [Assertion, Assertion][] = [];
  for (const text of new Set([...before.keys(), ...after.keys()])) {
    const old = steadyFirst(view.before, before.get(text) ?? []);
    const now = steadyFirst(view.after, after.get(text) ?? []);
    const same = Math.min(old.length, now.length);
    for (let i = 0; i < same; i++) kept.push([old[i] as Assertion, now[i] as Assertion]);
    lost.push(...old.slice(same));
    fresh.push(...now.slice(same));
  }
  const inOrder = (a: Assertion, b: Assertion) => a.at - b.at;
  return { view, lost: lost.sort(inOrder), fresh: fresh.sort(inOrder), kept };
}

/** The same over all views of a patch: what is gone here and new there has moved. `counts` says where tests are run. */
export function matchAll(
  views: readonly TestView[],
  counts: (view: TestView) => boolean,
): readonly Matched[] {
  const all = views.map(matchView);
  const spare = new Map<string, number>();
  for (const { view, fresh } of all)
    if (counts(view)) for (const { text } of fresh) spare.set(text, (spare.get(text) ?? 0) + 1);
  const moved = new Map<string, number>();
  const lost = all.map((one) =>
    one.lost.filter(({ text }) => {
      const left = (spare.get(text) ?? 0) - (moved.get(text) ?? 0);
      if (left > 0) moved.set(text, (moved.get(text) ?? 0) + 1);
      return left <= 0;
    }),
  );
  return all.map((one, i) => ({
    ...one,
    lost: lost[i] ?? [],
    fresh: one.fresh.filter(({ text }) => {
      const left = counts(one.view) ? (moved.get(text) ?? 0) : 0;
      if (left > 0) moved.set(text, left - 1);
      return left <= 0;
    }),
  }));
}

/** Each lost assertion with the new one that most likely took its place. */
export function pairs({ view, lost, fresh }: Matched): ReadonlyMap<Assertion, Assertion> {
  const places = placesOf(view);
  const free = new Set(fresh.map((one) => seatOf(view.after, one, places)));
  const left = new Set(lost.map((one) => seatOf(view.before, one, places)));
  const found = new Map<Assertion, Assertion>();
  for (const keyOf of FITS) {
    const queues = new Map<string, Seat[]>();
    for (const seat of free) {
      const key = keyOf(seat);
      if (key !== null)
        queues
          .set(key, queues.get(key) ?? [])
          .get(key)
          ?.push(seat);
    }
    for (const seat of left) {
      const other = queues.get(keyOf(seat) ?? '')?.shift();
      if (!other) continue;
      found.set(seat.assertion, other.assertion);
      left.delete(seat);
      free.delete(other);
    }
  }
  return found;
}

/** Where an assertion stands. */
interface Seat {
  readonly assertion: Assertion;
  readonly place: number | undefined;
  readonly test: string | undefined;
}

function seatOf(reading: Reading, assertion: Assertion, places: ReadonlyMap<object, number>): Seat {
  const change = changeIn(reading.side, assertion.at, assertion.end);
  return {
    assertion,
    place: change ? places.get(change.line) : undefined,
    test: testAround(reading, assertion.at)?.name,
  };
}

/** What two assertions must share to be taken for each other; null where there is no such thing. */
type KeyOf = (seat: Seat) => string | null;
const near: KeyOf = ({ place }) => (place === undefined ? null : `${place}`);
const inTest: KeyOf = ({ test }) => (test === undefined ? null : test);
const subject: KeyOf = ({ assertion: { form } }) => (form.subject === '' ? null : form.subject);
const expected: KeyOf = ({ assertion: { form } }) => form.expected;
const all =
  (...keys: readonly KeyOf[]): KeyOf =>
  (seat) => {
    const found = keys.map((keyOf) => keyOf(seat));
    return found.includes(null) ? null : found.join('\0');
  };

/** The best reasons to take two for each other come first. */
const FITS: readonly KeyOf[] = [
  all(subject, near),
  all(subject, inTest),
  all(near, expected),
  near,
  subject,
  inTest,
];

/** Numbers for the runs of changed lines: lines of one run stand in each other's place. */
function placesOf({ look }: TestView): ReadonlyMap<object, number> {
  const places = new Map<object, number>();
  let run = 0;
  for (const { line } of look.changes) {
    if (line.kind === 'context') run++;
    else places.set(line, run);
  }
  return places;
}

interface Weakening {
  readonly kind: TamperingKind;
  readonly what: string;
}

const weaker = (what: string): Weakening => ({ kind: 'assertion-weakened', what });
const neutral = (what: string): Weakening => ({ kind: 'assertion-neutralised', what });
const other = (what: string): Weakening => ({ kind: 'expectation-changed', what });

/** What an assertion lost when another one took its place; null where it says at least as much. */
export function weakening(old: Assertion, now: Assertion): Weakening | null {
  const [a, b] = [old.form, now.form];
  if (b.vacuous && !a.vacuous) return neutral('an assertion was replaced by one that cannot fail');
  if (old.awaited && !now.awaited && /\b(?:resolves|rejects|toPass)\b/.test(now.text))
    return neutral('the result of an assertion is not waited for any more');
  if (/^(?:plan|assertions|expect)$/.test(a.matcher) && Number(b.expected) >= Number(a.expected)) return null;
  if (wider(a.slack, b.slack) && (a.slack !== null || a.subject === b.subject))
    return weaker('the tolerance of an assertion was widened');
  if (a.negative !== b.negative && a.subject === b.subject && (b.negative || a.expected === b.expected))
    return other('an assertion was turned into its opposite');
  if (b.strength < a.strength)
    return weaker(`an assertion was weakened (${named(a.matcher)} became ${named(b.matcher)})`);
  if (b.loose > a.loose && b.strength <= a.strength)
    return weaker('an assertion accepts any value where it named one');
  return replaced(old, now);
}

/** Where nothing may be off before, anything is wider. */
const wider = (before: number | null, after: number | null): boolean =>
  after !== null && (before === null ? after > 0 : after > before + Math.abs(before) * 1e-6);

/** Names come from the patch: only words are repeated. */
const named = (matcher: string): string => {
  const word = matcher.replace(/[^\w=<>!~ ]/g, '').slice(0, 30);
  return `\`${word === '' ? 'a check' : word}\``;
};

/** Both say equally much, of the same kind: is it still the same? */
function replaced({ form: a }: Assertion, { form: b }: Assertion): Weakening | null {
  const stronger = b.strength > a.strength;
  if (a.expected === b.expected) {
    if (a.subject === b.subject || hasAll(b.subject, literalsOf(a.subject))) return null;
    return stronger ? null : other('what an assertion looks at was changed');
  }
  if (a.subject === b.subject) {
    if (stronger && a.strength <= STRENGTH.yesNo && agrees(a.expected, b.expected)) return null;
    if (renamed(a.expected, b.expected) || grown(a, b) || closer(a, b)) return null;
    return /snapshot/i.test(b.matcher)
      ? { kind: 'snapshot-changed', what: 'a recorded snapshot in a test was changed' }
      : other('an expected value was changed');
  }
  if (hasAll(b.subject + b.expected, literalsOf(a.subject + a.expected))) return null;
  return other('an assertion was replaced by another one');
}

/** A truth that is now spelt out: what was true is not expected to be false now. */
const agrees = (before: string, after: string): boolean => {
  const no = /^(?:false|null|none|nil|undefined|0|""|)$/i;
  return before === '' || (before === 'false') === no.test(after) || !/^(?:true|false)$/i.test(before);
};

/** One more condition beside the old one, or more of a text than the part that was asked for. */
const grown = (a: Form, b: Form): boolean =>
  (b.expected.startsWith(a.expected) && /^\s*(?:&&|and\b)/.test(b.expected.slice(a.expected.length))) ||
  (a.strength === STRENGTH.part && b.matcher === a.matcher && hasAll(b.expected, literalsOf(a.expected)));

/** The same number, and less may be off. */
const closer = (a: Form, b: Form): boolean =>
  a.slack !== null &&
  b.slack !== null &&
  b.slack <= a.slack &&
  (a.expected.split(',')[0] === b.expected.split(',')[0] || /^[<>]/.test(b.matcher));

/** Only names differ, and no literal is in play. */
const renamed = (before: string, after: string): boolean =>
  !isLiteral(before) && !isLiteral(after) && literalsOf(before).join() === literalsOf(after).join();
