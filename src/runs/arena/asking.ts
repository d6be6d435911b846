import type { PlannedSample, ResolvedContest, Sample } from '../../core/arena/index.ts';
import type { Usage } from '../../core/model/index.ts';
import type { CapName, Lease, TextModel } from '../../ports/index.ts';
import type { World } from '../context.ts';
import type { ContestPayer } from './payer.ts';
import type { VerifyPorts } from './verify.ts';

/** Dependencies of asking contestants. */
export type AskingPorts = VerifyPorts &
  Pick<World, 'coders' | 'gateway' | 'random'> & { readonly texts: TextModel };

/** What a contestant answered, or why there is nothing to record yet. */
export type Answered = ContestantAnswer | Unasked;

export interface ContestantAnswer extends Pick<Sample, 'outcome' | 'answer' | 'why'> {
  readonly kind: 'answered';
  readonly usage: Usage;
  /** Null: the gateway gave an answer again that was paid for before, in an unknown time. */
  readonly seconds: number | null;
  readonly repaired: boolean;
  readonly temperature: number | null;
  readonly agentVersion: string | null;
}

/** The provider or a budget prevented it: the sample is made when the contest is continued. */
export interface Unasked {
  readonly kind: 'unasked';
  readonly why: string;
  /** The cap that was reached; null for none. */
  readonly cap: CapName | null;
}

/** Who pays, and for how long. */
export interface Asking {
  readonly contest: ResolvedContest;
  readonly payer: ContestPayer;
  /** With which the names of areas begin. */
  readonly areas: string;
  readonly signal: AbortSignal;
}

/**
 * Measures the seconds of an answer, from before its first question: if the spender has an answer from an
 * earlier process, that one is given again at once, and the time is not known.
 */
export function beginSeconds({ clock }: Pick<World, 'clock'>, lease: Lease): () => number | null {
  const isGivenAgain = lease.usage().tokensOut > 0;
  const began = clock.elapsed();
  return () => (isGivenAgain ? null : (clock.elapsed() - began) / 1000);
}

/** The name under which contests count against daily caps. */
const LEDGER_NAME = 'arena';

/**
 * Opens the lease of one sample. Its name in the ledger is the sample's id: whoever asks the same again after a crash
 * gets the answer that was paid for. `ttlMs`: lifetime in milliseconds.
 */
export const openSampleLease = (
  { gateway }: Pick<World, 'gateway'>,
  { contest, payer }: Asking,
  { id, contestant }: PlannedSample,
  ttlMs: number,
): Promise<Lease> =>
  gateway.open({
    runId: payer.runId,
    spender: id,
    repository: LEDGER_NAME,
    models: [contestant.model],
    capUsd: contest.limits.dollars ?? contest.budget,
    runCapUsd: payer.capUsd,
    ttlMs,
  });
