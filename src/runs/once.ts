import type { RunId } from '../core/model/index.ts';
import type { Store } from '../ports/index.ts';

/**
 * One external write, exactly once for a run and a key (I8). The intent is stored before the write. If a crash came
 * between the write and its record, `look` finds what was written, and it is adopted instead of written again.
 */
export async function once<T>(
  store: Pick<Store, 'intend' | 'fulfil'>,
  runId: RunId,
  key: string,
  effect: { look(): Promise<T | null>; write(): Promise<T> },
): Promise<T> {
  const { fresh, intent } = await store.intend(runId, key);
  if (intent.state === 'done') return intent.result as T;
  const result = (fresh ? null : await effect.look()) ?? (await effect.write());
  await store.fulfil(runId, key, result);
  return result;
}
