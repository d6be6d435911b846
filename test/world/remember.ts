import type { Remember } from '../../src/runs/context.ts';

/** Keeps results by key, as JSON, as the engine does. */
export const rememberedIn = (kept: Map<string, unknown>): Remember =>
  async function remember<T>(
    key: string,
    work: () => Promise<T>,
    keeps?: (result: T) => boolean,
  ): Promise<T> {
    if (kept.has(key)) return structuredClone(kept.get(key)) as T;
    const result = JSON.parse(JSON.stringify(await work())) as T;
    if (keeps?.(result) !== false) kept.set(key, structuredClone(result));
    return result;
  };
