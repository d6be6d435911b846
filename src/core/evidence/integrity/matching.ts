import type { Assertion } from './assertions.ts';
import { type Reading, type TestView, testAround } from './reading.ts';
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
