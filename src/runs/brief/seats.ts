import type { Cost } from '../../core/debate/index.ts';
import type { Usd } from '../../core/model/index.ts';
import type { Random } from '../../ports/index.ts';
import { type AskingParts, askModel, type Call, type Payer } from '../ask-model.ts';
import { steadyNonce } from '../steady-nonce.ts';

/** What a debate takes of the world. */
export interface Table extends AskingParts {
  readonly random: Pick<Random, 'nonce'>;
  readonly payer: Payer;
  /** Keeps paid answers: asked for again after a crash, they are given back, not paid again. A rejection is not kept. */
  remember<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** What one call may use: dollars, and tokens of models without a price. */
export interface Slice {
  readonly usd: Usd;
  readonly tokens?: number;
}

export const sumOf = (a: Cost, b: Cost): Cost => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  usd: a.usd + b.usd,
});

/** What is left of a slice. */
export const rest = ({ usd, tokens }: Slice, spent: Cost): Slice => ({
  usd: Math.max(0, usd - spent.usd),
  ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - spent.inputTokens - spent.outputTokens) }),
});

/** One of equal parts. */
export const part = ({ usd, tokens }: Slice, parts: number): Slice => ({
  usd: usd / parts,
  ...(tokens === undefined ? {} : { tokens: Math.floor(tokens / parts) }),
});

export type Spoken<T> = { readonly cost: Cost } & (
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'nothing'; readonly why: string /** For want of money. */; readonly broke: boolean }
);

class Silence extends Error {
  readonly spoken: Spoken<never>;

  constructor(spoken: Spoken<never>) {
    super('nothing was said');
    this.spoken = spoken;
  }
}

/**
 * Puts one question to one seat. `ask` gives its text for a nonce; question and answer are kept by that text without one,
 * so that a restart finds them.
 */
export async function put<T>(
  table: Table,
  { slice, ...call }: Omit<Call<T>, 'prompt' | 'capUsd'> & { readonly slice: Slice },
  ask: (nonce: string) => string,
): Promise<Spoken<T>> {
  const { spender, model, instructions } = call;
  const key = JSON.stringify(['debate', spender, model, instructions, ask('')]);
  try {
    return await table.remember(key, async (): Promise<Spoken<T>> => {
      const tokens = slice.tokens === undefined ? {} : { capTokens: slice.tokens };
      const said = await askModel(
        table,
        { ...table.payer, ...tokens },
        { ...call, capUsd: slice.usd, prompt: ask(await steadyNonce(table, key)) },
      );
      const { usd, tokensIn, tokensOut } = said.usage;
      const cost: Cost = { inputTokens: tokensIn, outputTokens: tokensOut, usd };
      if (said.kind === 'answer') return { kind: 'answer', value: said.value, cost };
      throw new Silence({ kind: 'nothing', why: said.why, broke: said.cap !== null, cost });
    });
  } catch (thrown) {
    if (thrown instanceof Silence) return thrown.spoken;
    throw thrown;
  }
}
