import { replaceFolded } from './fold.ts';

/** Stands in for words that sign. */
export const SIGNED = '[signature]';
/** Stands in for words that speak to whoever reads the patch. */
export const WITHHELD = '[withheld]';

const ROLE = '(?:judge|reviewer|grader|evaluator|assessor)s?';
const WORK = '(?:candidate|patch|diff|answer|one|\\w{1,12}(?:si|ti)on)';
/** The words that follow, to the end of the string or line. */
const ON = '[^"\'`\\n]{0,160}';
const WHICH = String.raw`(?:this|my|our|the\s+(?:first|second|1st|2nd|above|former|latter)|first|second)`;

/** Who made it: trailers, tags, and what assistants say of themselves. Each goes on to the end of the words. */
const SIGNATURES: readonly RegExp[] = [
  /(?:co-?authored|signed-?off|reviewed|acked|tested)-by\s*:[^"'`\n]*/giu,
  /\b(?:generated|created|written|authored|made|produced|implemented)\s+(?:with|by|using)\s[^"'`\n;]{0,80}/giu,
  /@(?:author|copyright)\b[^"'`\n]*/giu,
  /\b(?:as|i\s+am|i['’]m)\s+an?\s+(?:ai|a\.i\.|llm|large\s+language\s+model|language\s+model|coding\s+agent)\b[^"'`\n]{0,80}/giu,
];

/** Words to a judge. In strings and texts only: an identifier may well be called `winner`. */
const ADDRESSES: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,60}?\b(?:instructions?|prompts?|rules?|rubrics?|criteria|guidelines)\b[^"'`\n]{0,160}/giu,
  new RegExp(
    String.raw`\b(?:choose|pick|prefer|select|vote\s+for|favou?r|rank|rate|approve|accept)\s+(?:${WHICH}|${WORK})\s+(?:${WORK}|as|[a-z]\b)${ON}`,
    'giu',
  ),
  new RegExp(String.raw`\b${WHICH}\s+${WORK}\s+(?:is|was|wins?|should|must|passes|deserves)\b${ON}`, 'giu'),
  new RegExp(
    String.raw`\b(?:dear|attention|note\s+(?:to|for)|hey|hello|hi|to(?=\s+(?:the|any|all|every)\b))\s+(?:the\s+|any\s+|all\s+|every\s+)*(?:ai\s+|llm\s+|code\s+)?${ROLE}\b${ON}`,
    'giu',
  ),
  new RegExp(String.raw`\b${ROLE}\s*[:,]\s${ON}`, 'giu'),
  /\b(?:best|superior|winning|correct|stronger|preferred)\s+(?:candidate|patch|diff|\w{1,12}(?:si|ti)on)\b[^"'`\n]{0,160}/giu,
  /\bcandidate\s+(?:[a-z]|\d{1,2}|one|two|first|second)\b[^"'`\n]{0,160}/giu,
  /\b(?:winner|verdict|better)\s*(?:with|:|=|is|["'])+\s*["'{\\]*\s*(?:first|second|tie|a|b)\b[^"'`\n]{0,160}/giu,
  /\b(?:output|answer|respond|reply)\s*(?:with|only|:|=|is|["'])+\s*["'{\\]*\s*(?:the\s+)?(?:first|second|tie)\b[^"'`\n]{0,160}/giu,
  /\bscore\s*(?:is|of|:|=)?\s*(?:10\s*\/\s*10|100\s*\/\s*100|100\s*%)[^"'`\n]{0,160}/giu,
  /\b(?:system|developer|assistant)\s*(?:prompt|message|instruction)s?\s*:[^"'`\n]{0,160}/giu,
  /<\/?(?:system|instructions?|verdict|judge|candidate|first|second)>[^"'`\n]{0,160}/giu,
  /[<>]{3}\s*(?:task|first|second|facts|tests)\b[^"'`\n]{0,160}/giu,
  /\b(?:first|second|tests?|task|facts)\s+[0-9a-f]{8,}\s*[<>]{2,}/giu,
];

/** An answer in a judge's own form; it may be spread over several strings of a line. */
const FORGED = /["'`]?\bbetter\b["'`]?\s*[:=]\s*["'`]?(?:first|second|tie)\b["'`]?/giu;

export interface Withheld {
  readonly text: string;
  /** What spoke to a reader, bounded. */
  readonly addressed: readonly string[];
}

/** A line of code without an answer in a judge's own form. */
export const withoutForgery = (line: string): Withheld => removed(line, [FORGED]);

/** Free text without what signs and what speaks to a reader. Look-alike letters and unseen characters do not help. */
export function withhold(text: string): Withheld {
  const { text: rest, addressed } = removed(text, ADDRESSES);
  return {
    text: SIGNATURES.reduce((kept, pattern) => replaceFolded(kept, pattern, () => SIGNED), rest),
    addressed,
  };
}

function removed(text: string, patterns: readonly RegExp[]): Withheld {
  const addressed: string[] = [];
  let rest = text;
  for (const pattern of patterns) {
    rest = replaceFolded(rest, pattern, ([found]) => {
      addressed.push(found.trim().slice(0, 120));
      return WITHHELD;
    });
  }
  return { text: rest, addressed };
}
