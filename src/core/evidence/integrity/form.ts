import { isLiteral } from './literals.ts';
import { isNegative, looseParts, STRENGTH, strengthOf } from './matchers.ts';

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

/** What pytest and numpy allow when nothing is said (1e-6, 1e-7), rounded up. */
const DEFAULT_SLACK = 1e-6;
const KEYED = /\b(?:delta|rel|abs|rtol|atol|rel_tol|abs_tol|accuracy)\s*[=:]\s*([\d.]+(?:e-?\d+)?)/i;

/** How far off a value may be, from the ways in which common libraries say it; null for exact matchers. */
export function slackOf(name: string, expected: string, args: readonly string[]): number | null {
  const plain = name.replaceAll('_', '').toLowerCase();
  const all = `${expected},${args.slice(1).join(',')}`;
  const keyed = KEYED.exec(all)?.[1];
  if (keyed !== undefined) return Number(keyed);
  const places = /\bplaces\s*=\s*(\d+)/.exec(all)?.[1];
  if (places !== undefined) return 10 ** -Number(places);
  if (/closeto$/.test(plain)) return closeness(plain, expected);
  if (/within$/.test(plain)) return numberIn(/[\d.]+/.exec(expected)?.[0]);
  const last =
    args.length > 1
      ? numberIn(
          args
            .at(-1)
            ?.trim()
            .replace(/[fdm]$/i, ''),
        )
      : null;
  const near = strengthOf(name) === STRENGTH.near || /\bapprox\s*\(/.test(expected);
  if (near) return last === null ? DEFAULT_SLACK : /almost/.test(plain) && last >= 1 ? 10 ** -last : last;
  return /equal/.test(plain) ? last : null;
}

/** Jest and vitest count digits (2 where nothing is said), chai and hamcrest give the distance. */
function closeness(plain: string, expected: string): number | null {
  const parts = expected.split(',');
  const given = parts.length > 1 ? numberIn(parts.at(-1)) : null;
  return plain === 'tobecloseto' ? 10 ** -(given ?? 2) : given;
}

const numberIn = (text: string | undefined): number | null =>
  text !== undefined && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : null;
