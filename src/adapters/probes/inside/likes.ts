import { createRequire } from 'node:module';

/** A value to try instead of another: see mutate.cjs, which runs in the tests' own process as well. */
interface Like {
  readonly value: unknown;
  readonly how: string;
  readonly light: boolean;
}

export const { hashOf, valuesLike } = createRequire(import.meta.url)('./mutate.cjs') as {
  hashOf(text: string): number;
  valuesLike(value: unknown, pool: readonly unknown[], seed: string): readonly Like[];
};
