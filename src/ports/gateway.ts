import type { z } from 'zod';
import type { RunId, Usage, Usd } from '../core/model/index.ts';
import type { ModelProtocol } from '../core/settings/index.ts';

/** Whose budget a cap is: of the spender, the run, the repository's day, the whole day; or of tokens without a price. */
export type CapName = 'spender' | 'run' | 'repository-day' | 'day' | 'tokens';

export interface Grant {
  readonly runId: RunId;
  /** Whose calls these are in the ledger: a candidate's alias, or a stage such as `brief`. */
  readonly spender: string;
  /** Which repository pays, for the cap of its day: `github-<id>` or `local-<path>`. */
  readonly repository: string;
  /** `provider/model` names that may be called. */
  readonly models: readonly string[];
  readonly capUsd: Usd;
  /** Cap of the whole run; what the ledger already holds for it counts. */
  readonly runCapUsd: Usd;
  /** Tokens, in and out, that may go to models without a known price; absent: such a model gets no lease. */
  readonly capTokens?: number;
  /** Milliseconds from now after which the key is refused. */
  readonly ttlMs: number;
}

/** One candidate's way to its models: a socket and a key that work for this grant only. */
export interface Lease {
  /** Path of a unix socket on the host. */
  readonly socket: string;
  /** Random; stored only as a hash. */
  readonly key: string;
  /** From the ledger, of this spender in this run, earlier leases included. */
  usage(): Usage;
  /** Why the gateway refused the last call, if it did: cap reached, price unknown, provider down. */
  refusal(): string | null;
  /** Whose cap stood in the way of the last call; null where none did. */
  capReached(): CapName | null;
  /** When a model last answered with anything, by `Clock.elapsed`; null when none has yet. */
  lastActivity(): number | null;
  close(): Promise<void>;
}

export interface ModelRoute {
  readonly protocol: ModelProtocol;
  /** Model name as the provider knows it. */
  readonly model: string;
}

/** What one provider offers, as its own `GET /v1/models` says. */
export type Offer =
  | {
      readonly kind: 'models';
      readonly provider: string;
      /** `priced`: dollars per million tokens, null where no price is known. */
      readonly models: readonly {
        readonly id: string;
        readonly price: { readonly input: Usd; readonly output: Usd } | null;
      }[];
    }
  | { readonly kind: 'failed'; readonly provider: string; readonly why: string };

/** The one way from a sandbox, and from the planner, to a model: injects the key, meters, caps (I1, I9). */
export interface Gateway {
  /**
   * How to call `provider/model` with one of these protocols (default: any), the first that its provider speaks. Faults
   * MODEL_UNKNOWN, MODEL_KEY_MISSING, MODEL_PRICE_UNKNOWN (unless a cap of tokens is given) and MODEL_MISMATCH are thrown here, before
   * anything is spent.
   */
  route(
    model: string,
    how?: { readonly protocols?: readonly ModelProtocol[]; readonly capTokens?: number },
  ): ModelRoute;
  open(grant: Grant, onUsage?: (usage: Usage) => void): Promise<Lease>;
  /** Sets the cap of a run for every lease in this process, open or opened later, whatever its grant says. */
  capRun(runId: RunId, usd: Usd): void;
  /** What tokens would cost now, US dollars; null where the price is not known. */
  estimate(
    model: string,
    tokens: { readonly tokensIn: number; readonly tokensCached: number; readonly tokensOut: number },
  ): Usd | null;
  /** Models used when the settings name none, from the keys that are set; empty when there is no key. */
  defaultModels(): readonly string[];
  /** Asks every provider that has a key. Never rejects. */
  offers(signal?: AbortSignal): Promise<readonly Offer[]>;
  close(): Promise<void>;
}

export interface ModelQuestion<T> {
  readonly route: ModelRoute;
  readonly lease: Lease;
  readonly instructions: string;
  readonly prompt: string;
  readonly schema: z.ZodType<T>;
  readonly signal?: AbortSignal;
  /** How often the model is shown what was wrong with its answer and asked again; absent: twice. */
  readonly repairs?: number;
}

export type Answer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'failed'; readonly why: string };

/** Asks a model for one schema-checked value. Never rejects for what the model or provider did. */
export interface Model {
  ask<T>(question: ModelQuestion<T>): Promise<Answer<T>>;
}
