const ASSERTION_TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\s+|\w+|[\s\S]/g;
/** Maximum characters of a text that is tokenized. */
const MAX_ASSERTION_CHARS = 20_000;

/** Normalizes a text: white space, quote style and trailing commas are irrelevant. */
export function squeeze(text: string): string {
  let out = '';
  let gap = false;
  for (const token of text.slice(0, MAX_ASSERTION_CHARS).match(ASSERTION_TOKEN) ?? []) {
    if (/^\s/.test(token)) {
      gap = true;
      continue;
    }
    if (/^[)\]}]/.test(token) && out.endsWith(',')) out = out.slice(0, -1);
    if (gap && /^\w/.test(token) && /\w/.test(out.at(-1) ?? '')) out += ' ';
    out += /^'[^'"\\]*'$|^`[^`"\\$\n]*`$/.test(token) ? `"${token.slice(1, -1)}"` : token;
    gap = false;
  }
  let end = out.length;
  while (/[,;]/.test(out[end - 1] ?? '')) end--;
  return out.slice(0, end);
}

const LITERAL =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\b(?:true|false|null|none|nil|undefined|NaN|Infinity)\b|(?<![\w.])-?\d[\w.]*/gi;

/** String, number and other literals, in order. */
export const literalsOf = (text: string): readonly string[] =>
  (text.slice(0, MAX_ASSERTION_CHARS).match(LITERAL) ?? []).map((one) => one.replace(/^['`]|['`]$/g, '"'));

/** Whether a text consists of literals, brackets and keys only. */
export const isLiteral = (text: string): boolean =>
  text.trim() !== '' &&
  /^[\s[\]{}(),:;.+&*!|$-]*$/.test(
    text
      .slice(0, MAX_ASSERTION_CHARS)
      .replace(/\b[bruf]{1,2}(?=["'])/g, '')
      .replace(/(?:"[^"\n]*"|'[^'\n]*'|(?<![\w$])[\w$]{1,100})\s*:(?!:)/g, ' ')
      .replace(LITERAL, ' ')
      .replace(
        /\bnew\s+[\w.]+(?:<[\w\s.,<>|[\]]*>(?=\())?|\b(?:Some|Ok|Err|vec|set|tuple|list|dict|String|from)(?=\s*[!(:.[{])/g,
        ' ',
      ),
  );

/** Whether the text contains all of the literals, each as often as given. */
export function hasAll(text: string, literals: readonly string[]): boolean {
  const there = new Map<string, number>();
  for (const one of literalsOf(text)) there.set(one, (there.get(one) ?? 0) + 1);
  return literals.every((one) => {
    const left = there.get(one) ?? 0;
    there.set(one, left - 1);
    return left > 0;
  });
}

/** The same text with the content of its quotes blanked out. */
export const maskQuotes = (text: string): string =>
  text.replace(
    /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g,
    (one) => `${one[0]}${'_'.repeat(one.length - 2)}${one[0]}`,
  );

/**
 * Strictness of an assertion, by the name of its matcher. The levels are Runoff's own, derived from what the matchers
 * of common libraries accept: a lower level lets more values pass.
 */
export const STRENGTH = {
  /** Cannot fail. */
  none: 0,
  /** Anything but one value. */
  other: 1,
  /** Any existing value. */
  some: 2,
  /** One of two values. */
  yesNo: 3,
  /** A part, a bound or a type. */
  part: 4,
  /** An approximate number. */
  near: 5,
  /** An exact value. */
  exact: 6,
} as const;

interface StrengthRule {
  readonly strength: number;
  readonly names: RegExp;
}

/** Tried in order on the lowercase name without underscores. */
const STRENGTH_RULES: readonly StrengthRule[] = [
  { strength: STRENGTH.none, names: /^(?:t?pass|succeed|tap|doesnotperformassertions|addtoassertioncount)$/ },
  {
    strength: STRENGTH.near,
    names:
      /closeto|almost|approx|near|indelta|inepsilon|allclose|bewithin|within$|tolerance|floateq|doubleeq/,
  },
  {
    strength: STRENGTH.some,
    names:
      /^(?:is|to|be|should|assert|has|have|expect|must)*(?:truthy|falsy|falsey|ok|defined|exists?|present|notnull|notnil|notempty|notundefined|beanything|somevalue|anything|called|havebeencalled|calledonce|noerror|nothrow|success|itself)$/,
  },
  {
    strength: STRENGTH.part,
    names:
      /contain|include|matchobject|matchregex|match(?:es)?$|regex|like$|property|length|size$|count$|instance(?!as)|typeof|isa$|beam?a$|greater|less|above|below|atleast|atmost|between|(?:start|end)s?with|substring|subset|superset|^(?:assert|not)?in$|calledwith|hassuffix|hasprefix|partial|key$|keys$|(?:throw|raise|reject|panic)/,
  },
  {
    strength: STRENGTH.yesNo,
    names:
      /^(?:is|to|be|should|assert|has|have|expect|must|xctassert)*(?:true|false|null|nil|none|undefined|empty|nan|resolved|rejected|fulfilled)$/,
  },
];

/** Words between subject and matcher that are not matchers themselves. */
export const CHAIN_WORDS: ReadonlySet<string> = new Set(
  'to be been is that which and has have with at of same but does still also deep own nested ordered any all not resolves rejects eventually should it soft poll only'.split(
    ' ',
  ),
);

/** The strictness of a matcher of this name; unknown matchers count as exact. */
export function strengthOf(name: string): number {
  const plain = name.replaceAll('_', '').replace(/!$/, '').toLowerCase();
  const found = STRENGTH_RULES.find(({ names }) => names.test(plain));
  return found?.strength ?? STRENGTH.exact;
}

/** Whether a matcher of this name is negated. */
export const isNegative = (name: string): boolean =>
  /^(?:not(?=_|[A-Z]|$|equal|deep|strict|have|be|same|to)|refute|does_?not|deny|is_?not|assert_?(?:is_?)?not|assert_?does_?not|arenot|wont_)|_ne!?$|^ne!?$|_not_/i.test(
    name,
  );

/** Placeholders for any value inside an expected value. */
const ANY_VALUE =
  /\bexpect\s*\.\s*(?:not\s*\.\s*)?(?:any|anything|objectContaining|arrayContaining|stringContaining|stringMatching)\b|\b(?:mock|sinon\.match)\.(?:ANY|any|anyArgs)\b|\bANY\b|\bany(?:Int|String|Long|Object|Boolean|List|Map|Double|Collection)?\s*\(|\bArg(?:ument)?\.(?:Any|IsAny)\b|\bIt\.IsAny\b|\b(?:anything|an_instance_of|kind_of|hash_including|array_including)\b|\bis(?:A|NotNull)\s*\(|\bmatch\.any\b/g;

export const looseParts = (text: string): number => text.match(ANY_VALUE)?.length ?? 0;
