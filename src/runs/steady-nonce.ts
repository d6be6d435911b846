import type { Random } from '../ports/index.ts';

/**
 * The delimiter of one question: drawn when the question is first put, and the same whenever it is put again, also by
 * another process. Only a question that is the same to the letter is answered by the gateway from what was paid before a
 * crash. `key` says all that the question depends on, so that whoever wrote what stands in it wrote before the draw.
 */
export const steadyNonce = (
  parts: {
    readonly random: Pick<Random, 'nonce'>;
    remember<T>(key: string, work: () => Promise<T>): Promise<T>;
  },
  key: string,
): Promise<string> => parts.remember(`nonce:${key}`, async () => parts.random.nonce());
