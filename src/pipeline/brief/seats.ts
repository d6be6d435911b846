import type { Cost } from '../../core/debate/index.ts';
import type { Random } from '../../ports/index.ts';
import { type AskingParts, askModel, type Call, type Payer } from '../ask-model.ts';

/** What a debate takes of the world. */
export interface Table extends AskingParts {
  readonly random: Pick<Random, 'nonce'>;
  readonly payer: Payer;
  /** Keeps paid answers: asked for again after a crash, they are given back, not paid again. A rejection is not kept. */
  remember<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export type Spoken<T> = { readonly cost: Cost } & (
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'nothing'; readonly why: string; readonly broke: boolean }
);

class Silence extends Error {
  readonly spoken: Spoken<never>;

  constructor(spoken: Spoken<never>) {
    super('nothing was said');
    this.spoken = spoken;
  }
}

/**
 * Puts one question to one seat. `ask` gives its text for a nonce; the answer is kept by that text without one, so that
 * it is found again whatever nonce is drawn after a restart.
 */
export async function put<T>(
  table: Table,
  call: Omit<Call<T>, 'prompt'>,
  ask: (nonce: string) => string,
): Promise<Spoken<T>> {
  const { spender, model, instructions } = call;
  const key = JSON.stringify(['debate', spender, model, instructions, ask('')]);
  try {
    return await table.remember(key, async (): Promise<Spoken<T>> => {
      const said = await askModel(table, table.payer, { ...call, prompt: ask(table.random.nonce()) });
      const { usd, tokensIn, tokensOut } = said.usage;
      const cost: Cost = { inputTokens: tokensIn, outputTokens: tokensOut, usd };
      if (said.kind === 'answer') return { kind: 'answer', value: said.value, cost };
      throw new Silence({ kind: 'nothing', why: said.why, broke: said.broke, cost });
    });
  } catch (thrown) {
    if (thrown instanceof Silence) return thrown.spoken;
    throw thrown;
  }
}
