import type { RunId } from '../../core/model/index.ts';
import type { Clock, Store } from '../../ports/index.ts';

/** Key of the intent that holds why the coders of a run may stop: written once, found again after a crash. */
const ENOUGH = 'enough';
/** Milliseconds between two looks of a coder that may be stopped. Our default: small beside its minutes. */
const LOOK_MS = 1_000;

/** Tells the coders of a run, on whatever machine, that those who have finished are enough. */
export async function sayEnough(store: Store, runId: RunId, because: string): Promise<void> {
  await store.intend(runId, ENOUGH);
  await store.fulfil(runId, ENOUGH, because);
}

/** Why the coders of a run may stop; null while nobody has said so. */
export async function enoughSaid(store: Store, runId: RunId): Promise<string | null> {
  const intent = await store.intent(runId, ENOUGH);
  return intent?.state === 'done' ? String(intent.result) : null;
}

/** A coder's view of it. */
export interface Listener {
  /** Aborts with the coder's own signal, and when enough was said. */
  readonly signal: AbortSignal;
  /** Why, once enough was said. */
  because(): string | null;
  /** No longer listens. */
  close(): void;
}

/** Hears when enough was said while a coder works. A store that cannot be reached is asked again later. */
export function listenForEnough(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  runId: RunId,
  signal: AbortSignal,
): Listener {
  const said = new AbortController();
  const closed = new AbortController();
  let because: string | null = null;
  const listen = async (): Promise<void> => {
    while (!closed.signal.aborted && !signal.aborted) {
      because = await enoughSaid(store, runId).catch(() => null);
      if (because !== null) return said.abort();
      await clock.sleep(LOOK_MS, closed.signal);
    }
  };
  void listen();
  return {
    signal: AbortSignal.any([signal, said.signal]),
    because: () => because,
    close: () => closed.abort(),
  };
}
