import type { RunId } from '../../core/model/index.ts';
import { moreSilence, moreTime, type Times } from '../../core/settings/index.ts';
import type { Clock, ExecSpec, Lease, Store } from '../../ports/index.ts';

/** Key of the intent that holds why the coders of a run may stop: written once, found again after a crash. */
const STOP_EARLY_KEY = 'enough';
/** Milliseconds between two looks of a coder that may be stopped. Our default: small beside its minutes. */
const STOP_CHECK_MS = 1_000;

/** Tells the coders of a run, on whatever machine, that those who have finished are enough. */
export async function requestStop(store: Store, runId: RunId, because: string): Promise<void> {
  await store.intend(runId, STOP_EARLY_KEY);
  await store.fulfil(runId, STOP_EARLY_KEY, because);
}

/** Why the coders of a run may stop; null while nobody has said so. */
export async function stopReason(store: Store, runId: RunId): Promise<string | null> {
  const intent = await store.intent(runId, STOP_EARLY_KEY);
  return intent?.state === 'done' ? String(intent.result) : null;
}

/** A coder's view of it. */
interface StopListener {
  /** Aborts with the coder's own signal, and when enough was said. */
  readonly signal: AbortSignal;
  /** Why, once enough was said. */
  because(): string | null;
  /** No longer listens. */
  close(): void;
}

/** Hears when enough was said while a coder works. A store that cannot be reached is asked again later. */
export function listenForStop(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  runId: RunId,
  signal: AbortSignal,
): StopListener {
  const said = new AbortController();
  const closed = new AbortController();
  let because: string | null = null;
  const listen = async (): Promise<void> => {
    while (!closed.signal.aborted && !signal.aborted) {
      because = await stopReason(store, runId).catch(() => null);
      if (because !== null) return said.abort();
      await clock.sleep(STOP_CHECK_MS, closed.signal);
    }
  };
  void listen();
  return {
    signal: AbortSignal.any([signal, said.signal]),
    because: () => because,
    close: () => closed.abort(),
  };
}

/** Steps that are remembered to tell something new from a repetition. Our default, tune on dev data. */
const REPEATED_STEPS = 20;

interface ProgressLimit {
  /** The coder did something. */
  step(text: string): void;
  /** What the sandbox asks when a time is over. */
  readonly onLimit: NonNullable<ExecSpec['onLimit']>;
}

/** Watches one coder from its start on: does it get anywhere, and is it alive? */
export function progressLimitFor(
  clock: Pick<Clock, 'elapsed'>,
  lease: Pick<Lease, 'lastActivity'>,
  times: Times,
): ProgressLimit {
  const startedAt = clock.elapsed();
  const seen: string[] = [];
  // To have been started is no progress, however short the wall time is.
  let progressAt = Number.NEGATIVE_INFINITY;
  return {
    step(text) {
      if (seen.includes(text)) return;
      seen.push(text);
      if (seen.length > REPEATED_STEPS) seen.shift();
      progressAt = clock.elapsed();
    },
    onLimit(limit) {
      const now = clock.elapsed();
      if (limit === 'wall') {
        return moreTime(times, { elapsedMs: now - startedAt, sinceProgressMs: now - progressAt });
      }
      return moreSilence(times, now - (lease.lastActivity() ?? startedAt));
    },
  };
}
