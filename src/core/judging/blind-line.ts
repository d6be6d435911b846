import type { DiffLine } from '../patches/index.ts';
import { SIGNED, WITHHELD, withhold, withoutForgery } from './address.ts';
import { type Identities, leaksIn, scrub } from './identity.ts';
import { legible, shortened } from './legible.ts';
import { type Part, partsOf } from './parts.ts';
import { isProse, syntaxOf } from './syntax.ts';

/** One line of a diff as judges see it. */
export interface BlindLine {
  readonly kind: DiffLine['kind'];
  /** As in `DiffLine`. */
  readonly line: number;
  readonly text: string;
  /** Nothing but a comment stood here. */
  readonly comment: boolean;
  /** What spoke to a reader in it. */
  readonly addressed: readonly string[];
}

/** UTF-16 units of a line that are read, and that are shown. Our defaults. */
const READ = 2_000;
const SHOWN = 300;

/** Comments that tell a tool what to do, so that they are part of what a patch does; only what names them is kept. */
const DIRECTIVE =
  /@ts-(?:ignore|expect-error|nocheck|check)\b|(?:eslint|stylelint|tslint|oxlint)-(?:disable|enable)(?:-next)?(?:-line)?\b|biome-ignore\b|prettier-ignore\b|(?:istanbul|c8|v8|node:coverage) (?:ignore|disable)\b|\bnoqa\b(?::? ?[A-Z]{1,4}\d{1,4})?|type: ?ignore\b(?:\[[a-z,-]{1,30}\])?|pylint: ?disable\b|pragma: ?no cover\b|\bnolint\b|\bnosec\b|rubocop:disable\b|@?phpstan-ignore\b|\bgo:(?:build|embed|generate|noinline|nosplit|linkname)\b|@(?:vitest|jest)-environment (?:node|jsdom|happy-dom)\b/u;

/**
 * The lines of one hunk as judges see them. Comments in added lines are left out whole: nothing that runs is in them, and
 * they are how a candidate explains, praises and signs itself, or speaks to the judge. Comments of the base stay. Strings
 * are code and stay too. What plainly signs or speaks to a reader is taken out of both: a stored patch may claim anything
 * to be the base's.
 */
export function blindLines(
  path: string,
  lines: readonly DiffLine[],
  identities: Identities,
): readonly BlindLine[] {
  const bounded = lines.map((line) => ({ ...line, text: line.text.slice(0, READ) }));
  const old = partsIn(path, bounded, 'added');
  const fresh = partsIn(path, bounded, 'removed');
  return bounded.map((line) => {
    const side = line.kind === 'removed' ? old : fresh;
    return blindLine(line, side.get(line) ?? [], identities);
  });
}

/** One side of a hunk, without the lines that only the other one has. */
function partsIn(
  path: string,
  lines: readonly DiffLine[],
  without: DiffLine['kind'],
): ReadonlyMap<DiffLine, readonly Part[]> {
  const own = lines.filter(({ kind }) => kind !== without);
  const syntax = isProse(path) ? null : syntaxOf(path);
  const parts = syntax
    ? partsOf(
        own.map(({ text }) => text),
        syntax,
      )
    : // Where nothing tells code from text, all is text.
      own.map(({ text }): readonly Part[] => [{ is: 'text', from: 0, to: text.length }]);
  return new Map(own.map((line, i) => [line, parts[i] ?? []] as const));
}

function blindLine(line: DiffLine, parts: readonly Part[], identities: Identities): BlindLine {
  const addressed: string[] = [];
  let text = '';
  for (const { is, from, to } of parts) {
    const own = line.text.slice(from, to);
    const kept = is === 'code' ? { text: own, addressed: [] } : withhold(own);
    text += is === 'comment' && line.kind === 'added' ? commentMark(own) : kept.text;
    addressed.push(...kept.addressed);
  }
  const kept = withoutForgery(text);
  const shown = shownText(kept.text, identities, SHOWN);
  return {
    kind: line.kind,
    line: line.line,
    text: shown,
    comment:
      line.kind === 'added' && /^\s*\[comment\]\s*$/.test(shown) && parts.some(({ is }) => is === 'comment'),
    // What the base says is nobody's try.
    addressed: line.kind === 'added' ? [...addressed, ...kept.addressed] : [],
  };
}

function commentMark(text: string): string {
  const directive = DIRECTIVE.exec(text)?.[0].trim();
  return directive ? `[comment: ${directive}]` : '[comment]';
}

/**
 * Names replaced, unseen characters named, at most `limit` UTF-16 units; what still names somebody is not shown at all.
 * Names are looked for again at the end: what parted or went on with them may be gone by then.
 */
export function shownText(text: string, identities: Identities, limit = Number.POSITIVE_INFINITY): string {
  const shown = scrub(shortened(legible(scrub(text, identities)), limit), identities);
  return leaksIn(shown, identities).length > 0 ? WITHHELD : shown;
}

export const shownLine = (text: string, identities: Identities, limit: number): string =>
  shownText(text.replace(/\s+/g, ' ').trim(), identities, limit);

/** Is there anything of the candidate's own in it that a verdict could rest on? */
export const isCitable = ({ kind, comment, text }: Omit<BlindLine, 'line'>): boolean =>
  kind !== 'context' &&
  !comment &&
  !text.includes(WITHHELD) &&
  !text.includes(SIGNED) &&
  /[\p{L}\p{N}]/u.test(text);
