import type { Severity } from '../model/index.ts';
import { oneLine } from '../prompts/index.ts';
import type { Critique, Issue, LedgerEntry, Synthesis } from './types.ts';

/** Where critics may look in a round: everywhere, or only where something changed. */
export interface Scope {
  readonly spec: string;
  /** Null: the whole spec. */
  readonly sections: readonly string[] | null;
}

export interface Raised {
  readonly ledger: readonly LedgerEntry[];
  /** Ids of issues that are new. */
  readonly raised: readonly string[];
  /** Ids of rejected issues that were brought again. */
  readonly insists: readonly string[];
}

/**
 * Writes a critique into the ledger. An issue without a scenario is minor, and so is one whose quote is not in the spec:
 * nobody could tell what it is about. One that was rejected before is not a new one, whoever brings it. A rejected issue
 * on which its critic does not insist is settled.
 */
export function raise(
  ledger: readonly LedgerEntry[],
  from: { readonly critic: string; readonly round: number; readonly critique: Critique },
  scope: Scope,
): Raised {
  const { critic, round, critique } = from;
  const next = [...ledger];
  const raised: string[] = [];
  const insists = new Set<string>();
  const reopen = (at: number, entry: LedgerEntry): void => {
    if (insists.has(entry.id)) return;
    next[at] = { ...entry, fate: { kind: 'open' }, upheld: entry.upheld + 1, yielded: false };
    insists.add(entry.id);
  };
  for (const { issue, stands } of critique.rechecked) {
    const at = next.findIndex(({ id }) => id === issue);
    const entry = next[at];
    if (stands && entry?.critic === critic && entry.fate.kind === 'rejected') reopen(at, entry);
  }
  for (const issue of critique.issues) {
    const at = next.findIndex((known) => isSame(known, issue));
    const known = next[at];
    if (known?.fate.kind === 'rejected') reopen(at, known);
    if (known) continue;
    const id = `I${next.length + 1}`;
    const { severity, lowered } = weighed(issue, scope);
    next.push({
      ...issue,
      id,
      round,
      critic,
      severity,
      fate: { kind: 'open' },
      upheld: 0,
      ...(lowered ? { lowered } : {}),
    });
    raised.push(id);
  }
  const settled = next.map((entry) =>
    entry.critic === critic && entry.fate.kind === 'rejected' ? { ...entry, yielded: true } : entry,
  );
  return { ledger: settled, raised, insists: [...insists] };
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const isSame = (a: Issue, b: Issue): boolean =>
  plain(a.quote) === plain(b.quote) && (plain(a.edit) === plain(b.edit) || plain(a.title) === plain(b.title));

function weighed(
  { severity, scenario, quote }: Issue,
  { spec, sections }: Scope,
): { readonly severity: Severity; readonly lowered?: string } {
  const lower = (lowered: string) => ({ severity: 'minor' as const, lowered });
  const within = (texts: readonly string[]) => texts.some((text) => oneLine(text).includes(oneLine(quote)));
  // Also of a minor one: others are shown its quote as words of the spec.
  if (!within([spec])) return lower('Its quote is not in the spec.');
  if (severity === 'minor') return { severity };
  if (plain(scenario) === '') return lower('It names no case that would fail.');
  if (sections && !within(sections))
    return lower('It is about a part that did not change since it was approved.');
  return { severity };
}

/** Open issues get their verdicts; one that got none stays open. */
export function answer(ledger: readonly LedgerEntry[], { verdicts }: Synthesis): readonly LedgerEntry[] {
  return ledger.map((entry) => {
    const found = verdicts.find(({ issue }) => issue === entry.id);
    if (entry.fate.kind !== 'open' || !found) return entry;
    const { verdict, because, question } = found;
    if (verdict === 'accept') return { ...entry, fate: { kind: 'accepted', because } };
    if (verdict === 'reject') return { ...entry, fate: { kind: 'rejected', because } };
    return { ...entry, fate: { kind: 'asked', because, question: question ?? questionOf(entry) } };
  });
}

/** What was accepted without an edit that could be made is not settled: it stays open. */
export function unsettled(
  before: readonly LedgerEntry[],
  after: readonly LedgerEntry[],
  edited: readonly string[],
): readonly LedgerEntry[] {
  return after.map((entry, at) =>
    entry.fate.kind === 'accepted' && before[at]?.fate.kind === 'open' && !edited.includes(entry.id)
      ? { ...entry, fate: { kind: 'open' } }
      : entry,
  );
}

/** What a maintainer is asked where critics and synthesiser do not agree. */
export const questionOf = ({ title, edit, severity }: LedgerEntry) => ({
  text: `${title.replace(/[.?!\s]+$/, '')}: how shall it be?`.slice(0, 400),
  options: edit.trim() === '' ? [] : [edit.slice(0, 200), 'As the brief says.'],
  severity,
  assume: 'As the brief says.',
});

/** Nobody has answered it, only a maintainer can, or its critic was not heard since it was rejected. */
export const isUnsettled = ({ fate, yielded }: LedgerEntry): boolean =>
  fate.kind === 'open' || fate.kind === 'asked' || (fate.kind === 'rejected' && yielded !== true);

export const isOpen = ({ fate }: LedgerEntry): boolean => fate.kind === 'open';
