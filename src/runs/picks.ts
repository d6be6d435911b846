import type { RunId } from '../core/model/index.ts';
import type { Pick, Store } from '../ports/index.ts';

const droppedKey = (key: string): string => `dropped:${key}`;

/** GitHub would not have what was picked: the pick stays on record, and counts no more. `why`: a sentence. */
export async function dropPick(store: Store, runId: RunId, key: string, why: string): Promise<void> {
  await store.intend(runId, droppedKey(key));
  await store.fulfil(runId, droppedKey(key), why);
}

/** Why a pick counts no more; null where it counts. */
export async function whyDropped(store: Part<'intent'>, runId: RunId, { key }: Pick): Promise<string | null> {
  const intent = await store.intent(runId, droppedKey(key));
  return intent?.state === 'done' ? String(intent.result) : null;
}

/** The picks that count, in order: the last one stands. */
export async function standingPicks(store: Part<'intent' | 'picks'>, runId: RunId): Promise<readonly Pick[]> {
  const standing: Pick[] = [];
  for (const pick of await store.picks(runId)) {
    if ((await whyDropped(store, runId, pick)) === null) standing.push(pick);
  }
  return standing;
}

type Part<K extends keyof Store> = { readonly [M in K]: Store[M] };
