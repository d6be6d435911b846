import { isOpen, isUnsettled } from './ledger.ts';
import type { Debate, DebateRound, Hearing, LedgerEntry, Stop } from './types.ts';

/** A round that changed less than this part of the lines changed next to nothing. */
export const SETTLED = 0.05;
/** An issue that was upheld as often is not argued any more. Our default. */
export const MOST_UPHELD = 2;

export interface ConsensusParts {
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
