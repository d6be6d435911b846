import { type Question, SEVERITIES, type Severity } from '../model/index.ts';
import { oneLine } from '../prompts/index.ts';
import type {
  AcceptanceTest,
  CriticTurn,
  Critique,
  Debate,
  DebateRound,
  LedgerEntry,
  SpecIssue,
  Stop,
  Synthesis,
} from './types.ts';

/** What critics review in a round: everything, or only what changed. */
export interface ReviewScope {
  /** Where the words that it quotes must be: the spec, and what was removed from it. */
  readonly spec: string;
  /** Null: the whole spec. */
  readonly sections: readonly string[] | null;
}

interface RecordedCritique {
  readonly ledger: readonly LedgerEntry[];
  /** Ids of issues that are new, and of accepted ones that the edit did not settle. */
  readonly raised: readonly string[];
  /** Ids of rejected issues that were raised again. */
  readonly upheldIssues: readonly string[];
}

/**
 * Whether a critique approves. One that raises or upholds more than minor issues does not, whatever else it says, and
 * whatever becomes of them: an approval counts only after it was challenged, which nobody can avoid by objections that
 * are worth nothing (docs/decisions/0240).
 */
export const isApproval = ({ approved, issues, rechecked }: Critique): boolean =>
  approved && issues.every(({ severity }) => severity === 'minor') && !rechecked.some(({ stands }) => stands);

/**
 * Adds a critique to the ledger. An issue without a scenario, or whose quote is not in the spec, is minor, because it
 * cannot be located. An issue that is in the ledger is not new, regardless of its author: what is graver in it counts,
 * and one that was rejected or accepted is open again. A rejected issue that its critic no longer raises is settled.
 */
export function recordCritique(
  ledger: readonly LedgerEntry[],
  from: { readonly critic: string; readonly round: number; readonly critique: Critique },
  scope: ReviewScope,
): RecordedCritique {
  const { critic, round, critique } = from;
  const next = [...ledger];
  const raised = new Set<string>();
  const upheldIds = new Set<string>();
  const uphold = (at: number, entry: LedgerEntry): void => {
    if (upheldIds.has(entry.id)) return;
    next[at] = { ...entry, status: { kind: 'open' }, upheld: entry.upheld + 1, withdrawn: false };
    upheldIds.add(entry.id);
  };
  for (const { issue, stands } of critique.rechecked) {
    const at = next.findIndex(({ id }) => id === issue);
    const entry = next[at];
    if (stands && entry?.critic === critic && entry.status.kind === 'rejected') uphold(at, entry);
  }
  for (const issue of critique.issues) {
    const found = { ...issue, ...checkedSeverity(issue, scope), critic };
    const at = next.findIndex((known) => isSameIssue(known, issue));
    const known = next[at];
    if (!known) {
      const id = `I${next.length + 1}`;
      next.push({ ...found, id, round, status: { kind: 'open' }, upheld: 0 });
      raised.add(id);
    } else if (known.status.kind === 'rejected') {
      uphold(at, graverOf(known, found));
    } else if (known.status.kind === 'open' || known.status.kind === 'asked') {
      next[at] = graverOf(known, found);
    } else if (known.status.kind === 'accepted' && found.loweredBecause === undefined) {
      next[at] = { ...graverOf(known, found), status: { kind: 'open' } };
      raised.add(known.id);
    }
  }
  const settled = next.map((entry) =>
    entry.critic === critic && entry.status.kind === 'rejected' ? { ...entry, withdrawn: true } : entry,
  );
  return { ledger: settled, raised: [...raised], upheldIssues: [...upheldIds] };
}

/** An issue that is raised again: with the words and the critic of whoever shows that it is graver. */
function graverOf(
  known: LedgerEntry,
  again: SpecIssue & Pick<LedgerEntry, 'critic' | 'loweredBecause'>,
): LedgerEntry {
  if (SEVERITIES.indexOf(again.severity) >= SEVERITIES.indexOf(known.severity)) return known;
  const { loweredBecause: _, ...entry } = known;
  return { ...entry, ...again };
}

const normalizedText = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const isSameIssue = (a: SpecIssue, b: SpecIssue): boolean =>
  normalizedText(a.quote) === normalizedText(b.quote) &&
  (normalizedText(a.edit) === normalizedText(b.edit) || normalizedText(a.title) === normalizedText(b.title));

function checkedSeverity(
  { severity, scenario, quote }: SpecIssue,
  { spec, sections }: ReviewScope,
): { readonly severity: Severity; readonly loweredBecause?: string } {
  const lower = (loweredBecause: string) => ({ severity: 'minor' as const, loweredBecause });
  const within = (texts: readonly string[]) => texts.some((text) => oneLine(text).includes(oneLine(quote)));
  // For minor issues, too: others see its quote as words of the spec.
  if (!within([spec])) return lower('Its quote is not in the spec.');
  if (severity === 'minor') return { severity };
  if (normalizedText(scenario) === '') return lower('It names no case that would fail.');
  if (sections && !within(sections))
    return lower('It is about a part that has not changed since it was approved.');
  return { severity };
}

/** Assigns verdicts to open issues; one without a verdict stays open. */
export function applyVerdicts(
  ledger: readonly LedgerEntry[],
  { verdicts }: Synthesis,
): readonly LedgerEntry[] {
  return ledger.map((entry) => {
    const found = verdicts.find(({ issue }) => issue === entry.id);
    if (entry.status.kind !== 'open' || !found) return entry;
    const { verdict, because, question } = found;
    if (verdict === 'accept') return { ...entry, status: { kind: 'accepted', because } };
    if (verdict === 'reject') return { ...entry, status: { kind: 'rejected', because } };
    return { ...entry, status: { kind: 'asked', because, question: question ?? questionFromIssue(entry) } };
  });
}

/** An issue accepted without an applicable edit is not settled: it stays open. */
export function reopenUnedited(
  before: readonly LedgerEntry[],
  after: readonly LedgerEntry[],
  edited: readonly string[],
): readonly LedgerEntry[] {
  return after.map((entry, at) =>
    entry.status.kind === 'accepted' && before[at]?.status.kind === 'open' && !edited.includes(entry.id)
      ? { ...entry, status: { kind: 'open' } }
      : entry,
  );
}

/** The question to a maintainer when critics and synthesizer disagree. */
const questionFromIssue = ({ title, edit, severity }: LedgerEntry) => ({
  text: `${title.replace(/[.?!\s]+$/, '')}: what should it be?`.slice(0, 400),
  options: edit.trim() === '' ? [] : [edit.slice(0, 200), 'As the brief says.'],
  severity,
  assume: 'As the brief says.',
});

/** Unanswered, only a maintainer can answer it, or its critic has not responded to the rejection. */
const isUnresolved = ({ status, withdrawn }: LedgerEntry): boolean =>
  status.kind === 'open' || status.kind === 'asked' || (status.kind === 'rejected' && withdrawn !== true);

const isOpen = ({ status }: LedgerEntry): boolean => status.kind === 'open';

/** Questions that a debate leaves to a person: those it asks, and unresolved blocking issues. */
export function questionsOf({ ledger }: Pick<Debate, 'ledger'>): readonly Question[] {
  return ledger.flatMap((entry): Question[] => {
    const { status, severity } = entry;
    if (status.kind === 'asked') return [{ ...status.question, severity }];
    return severity === 'blocking' && isUnresolved(entry) ? [questionFromIssue(entry)] : [];
  });
}

/** One line, for coders and test writers. */
export const acceptanceLine = ({ given, expect }: AcceptanceTest): string =>
  `Given ${oneLine(given)}: ${oneLine(expect)}`.slice(0, 800);

/** A round that changed less than this share of the lines made no substantial change. */
const MIN_CHANGE = 0.05;
/** An issue upheld this many times is no longer debated. Default. */
const MAX_UPHELD = 2;

interface ConsensusContext {
  readonly turns: readonly CriticTurn[];
  readonly ledger: readonly LedgerEntry[];
  readonly changed: number;
  /** Number of required approvals. Default: the number of configured critics, including failed ones. */
  readonly required: number;
}

/** Consensus by structured verdicts only: enough approvals, no blocking issue, and a stable spec. */
export function hasConsensus({ turns, ledger, changed, required }: ConsensusContext): boolean {
  const approvals = turns.filter(
    (turn) => turn.kind === 'stands' || (turn.kind === 'answered' && turn.approved),
  ).length;
  return turns.length > 0 && approvals >= required && !ledger.some(isBlocking) && changed < MIN_CHANGE;
}

const isBlocking = (entry: LedgerEntry): boolean => entry.severity === 'blocking' && isUnresolved(entry);

interface StopContext {
  readonly round: DebateRound;
  readonly ledger: readonly LedgerEntry[];
  readonly maxRounds: number;
  readonly before: DebateRound | undefined;
  readonly grewTooMuch: boolean;
  /** The debate's share of dollars, or of tokens for models without a price, is used up. */
  readonly spent: boolean;
  /** Why the remaining budget was not enough for any critic, if so. */
  readonly unaffordable: string | null;
}

/** Whether the debate ends with this round, and why: one sentence. */
export function debateEnd(parts: StopContext): NonNullable<Debate['end']> | null {
  const { round, before, ledger, maxRounds, grewTooMuch, spent, unaffordable } = parts;
  const { critiques: turns, roundNumber, hasConsensus: agreed } = round;
  const ended = (stop: Stop, because: string) => ({ stop, because });
  if (agreed)
    return ended('consensus', 'Enough critics approve, no blocking issue is open, and the text is stable.');
  if (spent) return ended('budget', 'The debate has used its share of the budget.');
  if (unaffordable !== null)
    return ended('budget', `The debate cannot afford another round: ${unaffordable}`);
  const failed = turns.filter((one) => one.kind === 'failed');
  if (failed.length === turns.length) {
    return ended('failed', `No critic answered: ${failed[0]?.kind === 'failed' ? failed[0].why : ''}`);
  }
  const silent = round.synthesis?.failed;
  if (silent !== undefined && before?.synthesis?.failed !== undefined) {
    return ended('failed', `The editor gave no answer in two rounds: ${silent}`);
  }
  if (grewTooMuch) return ended('growth', 'The spec would have exceeded its growth limit.');
  if (isRepeating(round, ledger)) {
    return ended('repeated', 'No new issue was raised: those that are left were rejected and upheld before.');
  }
  if (roundNumber + 1 >= maxRounds) return ended('rounds', `All ${maxRounds} rounds were held.`);
  return null;
}

/** A round without new issues in which all remaining issues were upheld too often, or none remain. */
function isRepeating(round: DebateRound, ledger: readonly LedgerEntry[]): boolean {
  const answered = round.critiques.filter((one) => one.kind === 'answered');
  if (answered.some(({ raised }) => raised.length > 0) || round.diffFromPrevious !== '') return false;
  if (round.critiques.some((one) => one.kind === 'failed') || issuesToAnswer(ledger).length > 0) return false;
  const contested = ledger.filter((entry) => entry.upheld > 0 && entry.status.kind !== 'accepted');
  return contested.every(({ upheld }) => upheld >= MAX_UPHELD);
}

/** Issues for the synthesizer: open ones that were not upheld too often. */
export const issuesToAnswer = (ledger: readonly LedgerEntry[]): readonly LedgerEntry[] =>
  ledger.filter((entry) => isOpen(entry) && entry.upheld < MAX_UPHELD);
