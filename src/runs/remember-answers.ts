import { z } from 'zod';
import type { RunId } from '../core/model/index.ts';
import { ifSound } from './if-sound.ts';
import type { World } from './world.ts';

/** Characters of a key that stand in the database; of a longer one it is the hash, by which its text can be found. */
const LONGEST = 200;
const Kept = z.object({ sha256: z.string(), bytes: z.number() });

/**
 * Does work once for each key of a run, also across a crash: an answer that was paid for is given back, not paid again.
 * Answers are plain JSON. Work that fails is not kept.
 */
export function rememberAnswers(
  { store, artifacts }: Pick<World, 'store' | 'artifacts'>,
  runId: RunId,
): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const name = `answer:${key.length > LONGEST ? (await artifacts.put(key)).sha256 : key}`;
    const { intent } = await store.intend(runId, name);
    const kept = intent.state === 'done' ? Kept.safeParse(intent.result) : null;
    // One that is damaged is worked out again: the gateway has what models answered.
    const text = kept?.success ? await ifSound(artifacts.get(kept.data)) : null;
    // Whoever chose the key chose the type with it.
    if (text !== null) return JSON.parse(text) as T;
    const answer = await work();
    await store.fulfil(runId, name, await artifacts.put(JSON.stringify(answer)));
    return answer;
  };
}
