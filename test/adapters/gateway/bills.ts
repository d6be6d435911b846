import fc from 'fast-check';
import { expect } from 'vitest';

/** A bill of one call, and for whom it was. */
export interface Billed {
  readonly spender: string;
  readonly run: string;
  readonly repository: string;
  readonly day: number;
  readonly usd: number;
  /** The most that was booked for the call. */
  readonly most: number;
}

export interface Caps {
  readonly spender: number;
  readonly run: number;
  readonly repository: number;
  readonly day: number;
}

/** By which of a bill's fields each cap adds up. */
const SHARED: Readonly<Record<keyof Caps, readonly (keyof Billed)[]>> = {
  spender: ['run', 'spender'],
  run: ['run'],
  repository: ['repository', 'day'],
  day: ['day'],
};

/** No cap is passed by more than the dearest of its calls can cost. */
export function expectWithin(caps: Caps, bills: readonly Billed[]): void {
  for (const [cap, fields] of Object.entries(SHARED) as [keyof Caps, readonly (keyof Billed)[]][]) {
    const groups = Map.groupBy(bills, (bill) => JSON.stringify(fields.map((field) => bill[field])));
    for (const group of groups.values()) {
      const usd = group.reduce((sum, bill) => sum + bill.usd, 0);
      expect(usd, cap).toBeLessThanOrEqual(caps[cap] + Math.max(...group.map(({ most }) => most)) + 1e-9);
    }
  }
}

export const share = () => fc.double({ min: 0, max: 1, noNaN: true });
/** Mostly all: a provider that bills little finds no mistake. */
export const mostly = () =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: share() });

/** All newly cached, as it is billed. */
const written = (input: number) => ({ input_tokens: 0, cache_creation_input_tokens: input });

/** What a provider says that it used, of what it did use; it never says less, but may say it so that nobody can read it. */
export const USAGES = {
  right: (input: number, output: number) => ({ ...written(input), output_tokens: output }),
  missing: () => undefined,
  'without input': (_input: number, output: number) => ({ output_tokens: output }),
  'without output': (input: number) => written(input),
  'no input': (_input: number, output: number) => ({ input_tokens: 0, output_tokens: output }),
  'as text': (input: number, output: number) => ({ input_tokens: `${input}`, output_tokens: `${output}` }),
  negative: (_input: number, output: number) => ({ input_tokens: -5, output_tokens: output }),
  'no numbers': () => ({ input_tokens: null, output_tokens: [] }),
  huge: (input: number, output: number) => ({ input_tokens: input * 1e4 + 1e7, output_tokens: output + 1e6 }),
} as const;
type UsageName = keyof typeof USAGES;
export const usageName = fc.constantFrom(...(Object.keys(USAGES) as UsageName[]));
