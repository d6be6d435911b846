import { type Assertion, type ParsedTests, type TestView, testAround } from './assertions.ts';
import type { TamperingKind } from './finding.ts';
import type { Form } from './forms.ts';
import { hasAll, isLiteral, literalsOf, STRENGTH } from './matchers.ts';
import { changeIn } from './view.ts';

/** The assertions of a view before and after the patch, paired. */
export interface MatchedView {
  readonly view: TestView;
  /** In the base, but not in the patched tests. */
  readonly missing: readonly Assertion[];
  /** In the patched tests, but not in the base. */
  readonly added: readonly Assertion[];
  /** Identical before and after. */
  readonly kept: readonly (readonly [before: Assertion, after: Assertion])[];
}

const isChanged = ({ side }: ParsedTests, { at, end }: Assertion): boolean =>
  changeIn(side, at, end) !== null;

/** Pairs unchanged assertions first, each in order. */
const unchangedFirst = (parsed: ParsedTests, found: readonly Assertion[]): readonly Assertion[] => [
  ...found.filter((one) => !isChanged(parsed, one)),
  ...found.filter((one) => isChanged(parsed, one)),
];

function groupByText(assertions: readonly Assertion[]): ReadonlyMap<string, Assertion[]> {
  const groups = new Map<string, Assertion[]>();
  for (const one of assertions) {
    const group = groups.get(one.text);
    if (group) group.push(one);
    else groups.set(one.text, [one]);
  }
  return groups;
}

/** Pairs identical assertions within one view. */
function matchView(view: TestView): MatchedView {
  const before = groupByText(view.before.assertions);
  const after = groupByText(view.after.assertions);
  const missing: Assertion[] = [];
  const added: Assertion[] = [];
  const kept: [Assertion, Assertion][] = [];
  for (const text of new Set([...before.keys(), ...after.keys()])) {
    const old = unchangedFirst(view.before, before.get(text) ?? []);
    const now = unchangedFirst(view.after, after.get(text) ?? []);
    const same = Math.min(old.length, now.length);
    for (let i = 0; i < same; i++) kept.push([old[i] as Assertion, now[i] as Assertion]);
    missing.push(...old.slice(same));
    added.push(...now.slice(same));
  }
  const inOrder = (a: Assertion, b: Assertion) => a.at - b.at;
  return { view, missing: missing.sort(inOrder), added: added.sort(inOrder), kept };
}

/**
 * Pairs assertions across all views of a patch: one that is missing in one view and new in another has moved.
 * `counts` says whether tests of a file still run.
 */
export function matchAcrossViews(
  views: readonly TestView[],
  counts: (view: TestView) => boolean,
): readonly MatchedView[] {
  const all = views.map(matchView);
  const spare = new Map<string, number>();
  for (const { view, added } of all)
    if (counts(view)) for (const { text } of added) spare.set(text, (spare.get(text) ?? 0) + 1);
  const moved = new Map<string, number>();
  const missing = all.map((one) =>
    one.missing.filter(({ text }) => {
      const left = (spare.get(text) ?? 0) - (moved.get(text) ?? 0);
      if (left > 0) moved.set(text, (moved.get(text) ?? 0) + 1);
      return left <= 0;
    }),
  );
  return all.map((one, i) => ({
    ...one,
    missing: missing[i] ?? [],
    added: one.added.filter(({ text }) => {
      const left = counts(one.view) ? (moved.get(text) ?? 0) : 0;
      if (left > 0) moved.set(text, left - 1);
      return left <= 0;
    }),
  }));
}

/** Pairs each missing assertion with its most likely replacement. */
export function likelyPairs({ view, missing, added }: MatchedView): ReadonlyMap<Assertion, Assertion> {
  const places = changeBlockNumbers(view);
  // In JavaScript a call that always fails, in a branch that must not be reached, replaces nothing.
  const fails = ({ form }: Assertion) =>
    view.inspected.language === 'js' && form.vacuous && form.matcher === 'fail';
  const replacing = added.filter((one) => !fails(one));
  const free = new Set(replacing.map((one) => positionOf(view.after, one, places)));
  const left = new Set(missing.map((one) => positionOf(view.before, one, places)));
  const found = new Map<Assertion, Assertion>();
  for (const keyOf of MATCH_KEYS) {
    const queues = new Map<string, AssertionPosition[]>();
    for (const position of free) {
      const key = keyOf(position);
      if (key !== null)
        queues
          .set(key, queues.get(key) ?? [])
          .get(key)
          ?.push(position);
    }
    for (const position of left) {
      const other = queues.get(keyOf(position) ?? '')?.shift();
      if (!other) continue;
      found.set(position.assertion, other.assertion);
      left.delete(position);
      free.delete(other);
    }
  }
  return found;
}

/** The position of an assertion in its file. */
interface AssertionPosition {
  readonly assertion: Assertion;
  readonly place: number | undefined;
  readonly test: string | undefined;
}

function positionOf(
  parsed: ParsedTests,
  assertion: Assertion,
  places: ReadonlyMap<object, number>,
): AssertionPosition {
  const change = changeIn(parsed.side, assertion.at, assertion.end);
  return {
    assertion,
    place: change ? places.get(change.line) : undefined,
    test: testAround(parsed, assertion.at)?.name,
  };
}

/** A key that two assertions must share to be paired; null if the assertion has none. */
type KeyOf = (position: AssertionPosition) => string | null;
const sameBlock: KeyOf = ({ place }) => (place === undefined ? null : `${place}`);
const sameTest: KeyOf = ({ test }) => (test === undefined ? null : test);
const sameSubject: KeyOf = ({ assertion: { form } }) => (form.subject === '' ? null : form.subject);
const sameExpected: KeyOf = ({ assertion: { form } }) => form.expected;
const combinedKey =
  (...keys: readonly KeyOf[]): KeyOf =>
  (position) => {
    const found = keys.map((keyOf) => keyOf(position));
    return found.includes(null) ? null : found.join('\0');
  };

/** In descending order of confidence. */
const MATCH_KEYS: readonly KeyOf[] = [
  combinedKey(sameSubject, sameBlock),
  combinedKey(sameSubject, sameTest),
  combinedKey(sameBlock, sameExpected),
  sameBlock,
  sameSubject,
  sameTest,
];

/** Numbers the blocks of changed lines: lines of one block replace each other. */
function changeBlockNumbers({ inspected }: TestView): ReadonlyMap<object, number> {
  const places = new Map<object, number>();
  let run = 0;
  for (const { line } of inspected.changes) {
    if (line.kind === 'context') run++;
    else places.set(line, run);
  }
  return places;
}

interface Weakening {
  readonly kind: TamperingKind;
  readonly what: string;
}

const weakened = (what: string): Weakening => ({ kind: 'assertion-weakened', what });
const neutralised = (what: string): Weakening => ({ kind: 'assertion-neutralised', what });
const changedExpectation = (what: string): Weakening => ({ kind: 'expectation-changed', what });

const withoutNegation = (condition: string): string => condition.replace(/[!=]=+|!/g, '');

/** How the replacement of an assertion is weaker; null if it checks at least as much. */
export function weakening(old: Assertion, now: Assertion): Weakening | null {
  const [a, b] = [old.form, now.form];
  // What may be constant in a reported failure is its message; a condition that never holds is a guard.
  const isReport = a.matcher === 'fail' && b.matcher === 'fail';
  if (b.vacuous && !a.vacuous && !isReport)
    return neutralised('an assertion was replaced by one that cannot fail');
  if (isReport && a.subject !== b.subject && withoutNegation(a.subject) === withoutNegation(b.subject))
    return changedExpectation('an assertion was inverted');
  if (old.awaited && !now.awaited && /\b(?:resolves|rejects|toPass)\b/.test(now.text))
    return neutralised('the result of an assertion is no longer awaited');
  if (/^(?:plan|assertions|expect)$/.test(a.matcher) && Number(b.expected) >= Number(a.expected)) return null;
  if (isWider(a.slack, b.slack) && (a.slack !== null || a.subject === b.subject))
    return weakened('the tolerance of an assertion was widened');
  if (a.negative !== b.negative && a.subject === b.subject && (b.negative || a.expected === b.expected))
    return changedExpectation('an assertion was inverted');
  if (b.strength < a.strength) return weakened(`an assertion was weakened (${weakerForm(a, b)})`);
  if (b.loose > a.loose && b.strength <= a.strength)
    return weakened('an assertion now accepts any value instead of a specific one');
  return compareReplacement(old, now);
}

/** Any tolerance is wider than none. */
const isWider = (before: number | null, after: number | null): boolean =>
  after !== null && (before === null ? after > 0 : after > before + Math.abs(before) * 1e-6);

/** The same matcher checks less if it expects less of a value: `None` instead of a text, for example. */
const weakerForm = (a: Assertion['form'], b: Assertion['form']): string =>
  a.matcher === b.matcher
    ? `the value that ${quotedMatcher(b.matcher)} expects says less`
    : `${quotedMatcher(a.matcher)} became ${quotedMatcher(b.matcher)}`;

/** Names come from the patch, so only plain words are quoted. */
const quotedMatcher = (matcher: string): string => {
  const word = matcher.replace(/[^\w=<>!~ ]/g, '').slice(0, 30);
  return `\`${word === '' ? 'a check' : word}\``;
};

/** For two assertions of equal strictness and kind: whether they check the same. */
function compareReplacement({ form: a }: Assertion, { form: b }: Assertion): Weakening | null {
  const stronger = b.strength > a.strength;
  if (a.expected === b.expected) {
    if (a.subject === b.subject || hasAll(b.subject, literalsOf(a.subject))) return null;
    return stronger ? null : changedExpectation('the subject of an assertion was changed');
  }
  if (a.subject === b.subject) {
    if (stronger && a.strength <= STRENGTH.yesNo && isSpelledOut(a.expected, b.expected)) return null;
    if (onlyNamesDiffer(a.expected, b.expected) || isExtended(a, b) || isTighter(a, b)) return null;
    return /snapshot/i.test(b.matcher)
      ? { kind: 'snapshot-changed', what: 'a recorded snapshot in a test was changed' }
      : changedExpectation('an expected value was changed');
  }
  if (hasAll(b.subject + b.expected, literalsOf(a.subject + a.expected))) return null;
  return changedExpectation('an assertion was replaced by another one');
}

/** A truthiness check that is now explicit: a value that was expected to be true is not now expected to be false. */
const isSpelledOut = (before: string, after: string): boolean => {
  const no = /^(?:false|null|none|nil|undefined|0|""|)$/i;
  return before === '' || (before === 'false') === no.test(after) || !/^(?:true|false)$/i.test(before);
};

/** An additional condition, or a longer part of the expected text. */
const isExtended = (a: Form, b: Form): boolean =>
  (b.expected.startsWith(a.expected) && /^\s*(?:&&|and\b)/.test(b.expected.slice(a.expected.length))) ||
  (a.strength === STRENGTH.part && b.matcher === a.matcher && hasAll(b.expected, literalsOf(a.expected)));

/** The same number with a smaller tolerance. */
const isTighter = (a: Form, b: Form): boolean =>
  a.slack !== null &&
  b.slack !== null &&
  b.slack <= a.slack &&
  (a.expected.split(',')[0] === b.expected.split(',')[0] || /^[<>]/.test(b.matcher));

/** Only names differ, no literal. */
const onlyNamesDiffer = (before: string, after: string): boolean =>
  !isLiteral(before) && !isLiteral(after) && literalsOf(before).join() === literalsOf(after).join();
