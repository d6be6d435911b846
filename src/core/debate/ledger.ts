import type { Question, Severity } from '../model/index.ts';
import { oneLine } from '../prompts/index.ts';
import type {
  AcceptanceTest,
  Critique,
  Debate,
  DebateRound,
  Hearing,
  Issue,
  LedgerEntry,
  Stop,
  Synthesis,
} from './types.ts';

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
const questionOf = ({ title, edit, severity }: LedgerEntry) => ({
  text: `${title.replace(/[.?!\s]+$/, '')}: how shall it be?`.slice(0, 400),
  options: edit.trim() === '' ? [] : [edit.slice(0, 200), 'As the brief says.'],
  severity,
  assume: 'As the brief says.',
});

/** Nobody has answered it, only a maintainer can, or its critic was not heard since it was rejected. */
const isUnsettled = ({ fate, yielded }: LedgerEntry): boolean =>
  fate.kind === 'open' || fate.kind === 'asked' || (fate.kind === 'rejected' && yielded !== true);

export const isOpen = ({ fate }: LedgerEntry): boolean => fate.kind === 'open';

/** Questions that a debate leaves to a person: those it asks, and blocking issues on which nobody gave way. */
export function questionsOf({ ledger }: Pick<Debate, 'ledger'>): readonly Question[] {
  return ledger.flatMap((entry): Question[] => {
    const { fate, severity } = entry;
    if (fate.kind === 'asked') return [{ ...fate.question, severity }];
    return severity === 'blocking' && isUnsettled(entry) ? [questionOf(entry)] : [];
  });
}

/** One line, as coders and writers of tests read it. */
export const acceptanceLine = ({ given, expect }: AcceptanceTest): string =>
  `Given ${oneLine(given)}: ${oneLine(expect)}`.slice(0, 800);

/** A round that changed less than this part of the lines changed next to nothing. */
export const SETTLED = 0.05;
/** An issue that was upheld as often is not argued any more. Our default. */
export const MOST_UPHELD = 2;

interface ConsensusParts {
  readonly hearings: readonly Hearing[];
  readonly ledger: readonly LedgerEntry[];
  readonly changed: number;
  /** Approvals that are needed: by default as many as critics were configured, failed ones included. */
  readonly required: number;
}

/** Agreement by structured verdicts only: enough approvals, nothing blocking, and a spec that has come to rest. */
export function hasConsensus({ hearings, ledger, changed, required }: ConsensusParts): boolean {
  const approvals = hearings.filter(
    (hearing) => hearing.kind === 'stands' || (hearing.kind === 'heard' && hearing.approved),
  ).length;
  return hearings.length > 0 && approvals >= required && !ledger.some(blocks) && changed < SETTLED;
}

const blocks = (entry: LedgerEntry): boolean => entry.severity === 'blocking' && isUnsettled(entry);

export interface StopParts {
  readonly round: DebateRound;
  readonly ledger: readonly LedgerEntry[];
  readonly maxRounds: number;
  readonly before: DebateRound | undefined;
  readonly overgrown: boolean;
  /** Nothing is left of the debate's share of dollars, or of tokens for models without a price. */
  readonly spent: boolean;
  /** Why what was left did not suffice for anybody, if it did not. */
  readonly broke: string | null;
}

/** Whether the debate ends with this round, and why: one sentence. */
export function stopOf(parts: StopParts): NonNullable<Debate['end']> | null {
  const { round, before, ledger, maxRounds, overgrown, spent, broke } = parts;
  const { critiques: hearings, roundNumber, hasConsensus: agreed } = round;
  const ended = (stop: Stop, because: string) => ({ stop, because });
  if (agreed)
    return ended('consensus', 'Enough critics approve, nothing blocks, and the text has come to rest.');
  if (spent) return ended('budget', "The debate's share of the budget is used up.");
  if (broke !== null) return ended('budget', `What is left for the debate does not suffice: ${broke}`);
  const failed = hearings.filter((one) => one.kind === 'failed');
  if (failed.length === hearings.length) {
    return ended('failed', `No critic answered: ${failed[0]?.kind === 'failed' ? failed[0].why : ''}`);
  }
  const silent = round.synthesis?.failed;
  if (silent !== undefined && before?.synthesis?.failed !== undefined) {
    return ended('failed', `The synthesiser gave no answer in two rounds: ${silent}`);
  }
  if (overgrown) return ended('growth', 'The spec would have grown by more than it may.');
  if (isRepeating(round, ledger)) {
    return ended('repeated', 'Nothing new was said: what is left was rejected and upheld before.');
  }
  if (roundNumber + 1 >= maxRounds) return ended('rounds', `All ${maxRounds} rounds are over.`);
  return null;
}

/** A round in which nobody raised anything new and whatever is left was upheld too often, or nothing is left to do. */
function isRepeating(round: DebateRound, ledger: readonly LedgerEntry[]): boolean {
  const heard = round.critiques.filter((one) => one.kind === 'heard');
  if (heard.some(({ raised }) => raised.length > 0) || round.diffFromPrevious !== '') return false;
  if (round.critiques.some((one) => one.kind === 'failed') || toAnswer(ledger).length > 0) return false;
  const contested = ledger.filter((entry) => entry.upheld > 0 && entry.fate.kind !== 'accepted');
  return contested.every(({ upheld }) => upheld >= MOST_UPHELD);
}

/** Issues that the synthesiser is asked about: open ones that were not upheld too often. */
export const toAnswer = (ledger: readonly LedgerEntry[]): readonly LedgerEntry[] =>
  ledger.filter((entry) => isOpen(entry) && entry.upheld < MOST_UPHELD);
