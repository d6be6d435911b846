import type { Assertion } from './assertions.ts';
import type { TamperingKind } from './finding.ts';
import type { Form } from './form.ts';
import { hasAll, isLiteral, literalsOf } from './literals.ts';
import { STRENGTH } from './matchers.ts';

export interface Weakening {
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
  if (/^(?:plan|assertions)$/.test(a.matcher) && Number(b.expected) >= Number(a.expected)) return null;
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
