import { lexicalSyntaxOf } from '../lexing/index.ts';
import type { DiffLine } from '../patches/index.ts';
import { type Identities, leaksIn, replaceFolded, scrub } from './identity.ts';
import { type SyntaxSpan, spansOf } from './parts.ts';
import { isProse } from './shown-files.ts';

/**
 * Characters that a reader cannot see, mistakes for others, or reads as a signature or an award: controls, format and
 * bidirectional characters, unusual spaces, lone surrogates, emoji.
 */
const INVISIBLE_CHARACTERS =
  /(?![ \t\n\u3000])[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2028\u2029\u2800\u{1f000}-\u{1faff}\u2600-\u27bf\u2b50\u2b55]/gu;

/** Spells out unusual characters, such as `<U+200B>`, so that no information is lost. Drops the CR of CR LF. */
export const showInvisible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(
      INVISIBLE_CHARACTERS,
      (odd) => `<U+${(odd.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}>`,
    );

/** Cuts a text to `limit` UTF-16 units and appends a mark. Never splits a code point. */
export function truncated(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}

/** Replaces text that names the author. */
const SIGNATURE_PLACEHOLDER = '[signature]';
/** Replaces text that addresses the reader of a patch. */
export const INJECTION_PLACEHOLDER = '[withheld]';

const READER_ROLE = '(?:judge|reviewer|grader|evaluator|assessor)s?';
const CANDIDATE_WORD = '(?:candidate|patch|diff|answer|one|\\w{1,12}(?:si|ti)on)';
/** The rest of the text, up to the end of the string or line. */
const REST_OF_TEXT = '[^"\'`\\n]{0,160}';
const DETERMINER = String.raw`(?:this|my|our|the\s+(?:first|second|1st|2nd|above|former|latter)|first|second)`;

/** Author signatures: trailers, tags, and how assistants describe themselves. Each matches to the end of its text. */
const SIGNATURES: readonly RegExp[] = [
  /(?:co-?authored|signed-?off|reviewed|acked|tested)-by\s*:[^"'`\n]*/giu,
  /\b(?:generated|created|written|authored|made|produced|implemented)\s+(?:with|by|using)\s[^"'`\n;]{0,80}/giu,
  /@(?:author|copyright)\b[^"'`\n]*/giu,
  /\b(?:as|i\s+am|i['’]m)\s+an?\s+(?:ai|a\.i\.|llm|large\s+language\s+model|language\s+model|coding\s+agent)\b[^"'`\n]{0,80}/giu,
];

/** Prompt injections aimed at a judge. Only matched in strings and prose: an identifier may well be called `winner`. */
const INJECTION_PATTERNS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,60}?\b(?:instructions?|prompts?|rules?|rubrics?|criteria|guidelines)\b[^"'`\n]{0,160}/giu,
  new RegExp(
    String.raw`\b(?:choose|pick|prefer|select|vote\s+for|favou?r|rank|rate|approve|accept)\s+(?:${DETERMINER}|${CANDIDATE_WORD})\s+(?:${CANDIDATE_WORD}|as|[a-z]\b)${REST_OF_TEXT}`,
    'giu',
  ),
  new RegExp(
    String.raw`\b${DETERMINER}\s+${CANDIDATE_WORD}\s+(?:is|was|wins?|should|must|passes|deserves)\b${REST_OF_TEXT}`,
    'giu',
  ),
  new RegExp(
    String.raw`\b(?:dear|attention|note\s+(?:to|for)|hey|hello|hi|to(?=\s+(?:the|any|all|every)\b))\s+(?:the\s+|any\s+|all\s+|every\s+)*(?:ai\s+|llm\s+|code\s+)?${READER_ROLE}\b${REST_OF_TEXT}`,
    'giu',
  ),
  new RegExp(String.raw`\b${READER_ROLE}\s*[:,]\s${REST_OF_TEXT}`, 'giu'),
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

/** A verdict in a judge's own format, possibly split over several string literals of a line. */
const FORGED_VERDICT = /["'`]?\bbetter\b["'`]?\s*[:=]\s*["'`]?(?:first|second|tie)\b["'`]?/giu;

interface RedactedText {
  readonly text: string;
  /** Injections that were found, truncated. */
  readonly injections: readonly string[];
}

/** Removes a forged verdict from a line of code. */
const redactForgedVerdict = (line: string): RedactedText => redactMatches(line, [FORGED_VERDICT]);

/** Removes signatures and injections from free text. Look-alike letters and invisible characters are folded first. */
export function redactInjections(text: string): RedactedText {
  const { text: rest, injections } = redactMatches(text, INJECTION_PATTERNS);
  return {
    text: SIGNATURES.reduce(
      (kept, pattern) => replaceFolded(kept, pattern, () => SIGNATURE_PLACEHOLDER),
      rest,
    ),
    injections,
  };
}

function redactMatches(text: string, patterns: readonly RegExp[]): RedactedText {
  const injections: string[] = [];
  let rest = text;
  for (const pattern of patterns) {
    rest = replaceFolded(rest, pattern, ([found]) => {
      injections.push(found.trim().slice(0, 120));
      return INJECTION_PLACEHOLDER;
    });
  }
  return { text: rest, injections };
}

/** One line of a diff as judges see it. */
export interface BlindLine {
  readonly kind: DiffLine['kind'];
  /** As in `DiffLine`. */
  readonly line: number;
  readonly text: string;
  /** The line contained only a comment. */
  readonly comment: boolean;
  /** Injections that were found in the line. */
  readonly injections: readonly string[];
}

/** UTF-16 units of a line that are read, and that are shown. Defaults. */
const MAX_LINE_READ = 2_000;
const MAX_LINE_SHOWN = 300;

/** Comments that are directives to tools and therefore affect what a patch does. Only the directive itself is kept. */
const DIRECTIVE =
  /@ts-(?:ignore|expect-error|nocheck|check)\b|(?:eslint|stylelint|tslint|oxlint)-(?:disable|enable)(?:-next)?(?:-line)?\b|biome-ignore\b|prettier-ignore\b|(?:istanbul|c8|v8|node:coverage) (?:ignore|disable)\b|\bnoqa\b(?::? ?[A-Z]{1,4}\d{1,4})?|type: ?ignore\b(?:\[[a-z,-]{1,30}\])?|pylint: ?disable\b|pragma: ?no cover\b|\bnolint\b|\bnosec\b|rubocop:disable\b|@?phpstan-ignore\b|\bgo:(?:build|embed|generate|noinline|nosplit|linkname)\b|@(?:vitest|jest)-environment (?:node|jsdom|happy-dom)\b/u;

/**
 * The lines of one hunk as judges see them. Comments in added lines are dropped: they do not run, and candidates use
 * them to explain, praise and sign their work, or to address the judge. Comments of the base and all string literals
 * are kept. Signatures and injections are removed from added and base lines alike, because a stored patch may claim
 * that any line belongs to the base.
 */
export function blindLines(
  path: string,
  lines: readonly DiffLine[],
  identities: Identities,
): readonly BlindLine[] {
  const bounded = lines.map((line) => ({ ...line, text: line.text.slice(0, MAX_LINE_READ) }));
  const old = spansOnSide(path, bounded, 'added');
  const fresh = spansOnSide(path, bounded, 'removed');
  return bounded.map((line) => {
    const side = line.kind === 'removed' ? old : fresh;
    return blindLine(line, side.get(line) ?? [], identities);
  });
}

/** One side of a hunk, without the lines that only the other one has. */
function spansOnSide(
  path: string,
  lines: readonly DiffLine[],
  without: DiffLine['kind'],
): ReadonlyMap<DiffLine, readonly SyntaxSpan[]> {
  const own = lines.filter(({ kind }) => kind !== without);
  const syntax = isProse(path) ? null : lexicalSyntaxOf(path);
  const parts = syntax
    ? spansOf(
        own.map(({ text }) => text),
        syntax,
      )
    : // Where nothing tells code from text, all is text.
      own.map(({ text }): readonly SyntaxSpan[] => [{ is: 'text', from: 0, to: text.length }]);
  return new Map(own.map((line, i) => [line, parts[i] ?? []] as const));
}

function blindLine(line: DiffLine, parts: readonly SyntaxSpan[], identities: Identities): BlindLine {
  const injections: string[] = [];
  let text = '';
  for (const { is, from, to } of parts) {
    const own = line.text.slice(from, to);
    const kept = is === 'code' ? { text: own, injections: [] } : redactInjections(own);
    text += is === 'comment' && line.kind === 'added' ? commentPlaceholder(own) : kept.text;
    injections.push(...kept.injections);
  }
  const kept = redactForgedVerdict(text);
  const shown = shownText(kept.text, identities, MAX_LINE_SHOWN);
  return {
    kind: line.kind,
    line: line.line,
    text: shown,
    comment:
      line.kind === 'added' && /^\s*\[comment\]\s*$/.test(shown) && parts.some(({ is }) => is === 'comment'),
    // An injection in the base is not the candidate's attempt.
    injections: line.kind === 'added' ? [...injections, ...kept.injections] : [],
  };
}

function commentPlaceholder(text: string): string {
  const directive = DIRECTIVE.exec(text)?.[0].trim();
  return directive ? `[comment: ${directive}]` : '[comment]';
}

/**
 * Replaces names, spells out invisible characters, and truncates to `limit` UTF-16 units. Text that still contains a
 * name is withheld. Names are checked again at the end, because the other replacements may have joined the parts of
 * one.
 */
export function shownText(text: string, identities: Identities, limit = Number.POSITIVE_INFINITY): string {
  const shown = scrub(truncated(showInvisible(scrub(text, identities)), limit), identities);
  return leaksIn(shown, identities).length > 0 ? INJECTION_PLACEHOLDER : shown;
}

export const shownLine = (text: string, identities: Identities, limit: number): string =>
  shownText(text.replace(/\s+/g, ' ').trim(), identities, limit);

/** Whether a verdict may cite the line: it must contain something that the candidate wrote. */
export const isCitable = ({ kind, comment, text }: Omit<BlindLine, 'line'>): boolean =>
  kind !== 'context' &&
  !comment &&
  !text.includes(INJECTION_PLACEHOLDER) &&
  !text.includes(SIGNATURE_PLACEHOLDER) &&
  /[\p{L}\p{N}]/u.test(text);
