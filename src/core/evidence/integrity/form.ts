import { isLiteral } from './literals.ts';
import { isNegative, looseParts, STRENGTH, strengthOf } from './matchers.ts';
import { slackOf } from './slack.ts';

/** What an assertion says, apart from how it is spelt. */
export interface Form {
  /** Name of the matcher, for sentences. */
  readonly matcher: string;
  /** A step of STRENGTH. */
  readonly strength: number;
  readonly negative: boolean;
  /** What is looked at, squeezed. */
  readonly subject: string;
  /** What it is compared with, squeezed; empty for a matcher without an argument. */
  readonly expected: string;
  /** How far it may be off: the larger, the more passes. Null where there is no such thing. */
  readonly slack: number | null;
  /** Parts of what is expected that any value fills. */
  readonly loose: number;
  /** Cannot fail. */
  readonly vacuous: boolean;
}

export interface Wording {
  readonly name: string;
  readonly negative: boolean;
  readonly subject: string;
  readonly expected: string;
  readonly args: readonly string[];
  /** A failure is caught by the assertion itself. */
  readonly swallowed?: boolean;
}

export function formOf({ name, negative, subject, expected, args, swallowed = false }: Wording): Form {
  const strength = strengthIn(name, expected);
  const same = expected !== '' && (subject === expected || (isLiteral(subject) && isLiteral(expected)));
  return {
    matcher: name,
    strength: negative ? Math.min(STRENGTH.other, strength) : strength,
    negative,
    subject,
    expected,
    slack: slackOf(name, expected, args),
    loose: looseParts(expected),
    vacuous: swallowed || strength === STRENGTH.none || same,
  };
}

/** A matcher may say less than its name promises, by what it is given. */
function strengthIn(name: string, expected: string): number {
  const plain = strengthOf(name);
  if (/throw|raise|reject/i.test(name) && !isNegative(name) && isBroad(expected)) return STRENGTH.yesNo;
  if (/\bapprox\s*\(|\bclose_?to\s*\(/i.test(expected)) return STRENGTH.near;
  if (plain !== STRENGTH.exact) return plain;
  if (/^(?:true|false|null|none|nil|undefined)$/i.test(expected)) return STRENGTH.yesNo;
  // A matcher that nobody knows and that is given nothing asks for a property.
  return expected === '' && !/snapshot|fail|panic|unreachable/i.test(name) ? STRENGTH.yesNo : plain;
}

const isBroad = (expected: string): boolean =>
  /^(?:|Error|Exception|BaseException|Throwable|StandardError)(?:\.class)?(?:,|$)/.test(expected);
