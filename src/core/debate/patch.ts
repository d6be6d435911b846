import type { LedgerEntry, Synthesis } from './types.ts';

/** Growth of a spec that is accepted: 40 %, and for short ones this many characters, since one case more would be 40 %. */
export const MOST_GROWTH = 0.4;
export const GROWTH_FLOOR = 1_000;

/** Characters of a spec that are read. Our default: some ten pages. */
export const MOST_SPEC = 40_000;

export const longest = (original: string): number =>
  Math.min(MOST_SPEC, Math.max(original.length * (1 + MOST_GROWTH), original.length + GROWTH_FLOOR));

export interface Patched {
  readonly spec: string;
  /** A sentence for each edit that was not made. */
  readonly refused: readonly string[];
  /** Issues of which an edit was made. */
  readonly edited: readonly string[];
  /** An edit was refused because the spec would have grown too much. */
  readonly overgrown: boolean;
}

export interface PatchRules {
  readonly original: string;
  /** Says whether a text may stand as spec; of a brief, that it still has its sections. */
  readonly fits: (spec: string) => boolean;
}

/**
 * Makes the synthesiser's edits, one after the other. An edit belongs to an issue that was accepted, and quotes what it
 * replaces word for word, so that nothing can be dropped unseen.
 */
export function applyEdits(
  spec: string,
  { edits }: Pick<Synthesis, 'edits'>,
  ledger: readonly LedgerEntry[],
  { original, fits }: PatchRules,
): Patched {
  const refused: string[] = [];
  const edited: string[] = [];
  let overgrown = false;
  let current = spec;
  for (const { issue, find, replace } of edits) {
    const fate = ledger.find(({ id }) => id === issue)?.fate.kind;
    const no = (why: string) => refused.push(`${issue}: ${why}`);
    const next = replacedOnce(current, find, replace);
    if (fate !== 'accepted') no('an edit for an issue that was not accepted.');
    else if (next === null) no('an edit whose quote does not stand in the spec exactly once.');
    else if (next.length > longest(original)) {
      overgrown = true;
      no('an edit that would make the spec grow by more than it may.');
    } else if (!fits(next)) no('an edit that would break the form of the spec.');
    else {
      current = next;
      edited.push(issue);
    }
  }
  return { spec: current, refused, edited, overgrown };
}

function replacedOnce(text: string, find: string, replace: string): string | null {
  const at = text.indexOf(find);
  if (at < 0 || text.indexOf(find, at + 1) >= 0) return null;
  return `${text.slice(0, at)}${replace}${text.slice(at + find.length)}`;
}
