import type { z } from 'zod';
import type { RunId, Usage, Usd } from '../core/model/index.ts';
import type { ModelProtocol } from '../core/settings/index.ts';

/** The scope of a cap: the spender, the run, the repository per day, everything per day, or tokens without a price. */
export type CapName = 'spender' | 'run' | 'repository-day' | 'day' | 'tokens';

/**
 * Milliseconds. `mostMs`: for one call from its first byte to its last, however slow it is; the longest answers of models
 * take about ten minutes. `settlingMs`: for settling it after its end, and for the difference between the clocks of two
 * machines. A call that is unsettled later was abandoned by its process. Our defaults.
 */
export const CALL_LIMITS = { mostMs: 20 * 60_000, settlingMs: 2 * 60_000 } as const;

export interface Grant {
  readonly runId: RunId;
  /** Who is charged in the ledger: a candidate's alias, or a stage such as `brief`. */
  readonly spender: string;
  /** The repository whose daily cap applies: `github-<id>` or `local-<path>`. */
  readonly repository: string;
  /** `provider/model` names that may be called. */
  readonly models: readonly string[];
  readonly capUsd: Usd;
  /** Cap of the whole run, including what the ledger already contains for it. */
  readonly runCapUsd: Usd;
  /** Maximum tokens, in and out, for models without a known price; without it such models get no lease. */
  readonly capTokens?: number;
  /** Lifetime of the key in milliseconds from now. */
  readonly ttlMs: number;
}

/** One candidate's access to its models: a socket and a key that are valid for this grant only. */
export interface Lease {
  /** Path of a unix socket on the host. */
  readonly socket: string;
  /** Random; stored only as a hash. */
  readonly key: string;
  /** Usage of this spender in this run according to the ledger, including earlier leases. */
  usage(): Usage;
  /** Why the gateway rejected the last call: cap reached, price unknown, provider down. Null if it did not. */
  refusal(): string | null;
  /** The cap that rejected the last call; null for none. */
  capReached(): CapName | null;
  /** When a model last sent any response, by `Clock.elapsed`; null before the first. */
  lastActivity(): number | null;
  close(): Promise<void>;
}

export interface ModelRoute {
  readonly protocol: ModelProtocol;
  /** Model name as the provider knows it. */
  readonly model: string;
}

/** The models of one provider according to its `GET /v1/models`. */
export type Offer =
  | {
      readonly kind: 'models';
      readonly provider: string;
      /** `priced`: dollars per million tokens; null if no price is known. */
      readonly models: readonly {
        readonly id: string;
        readonly price: { readonly input: Usd; readonly output: Usd } | null;
      }[];
    }
  | { readonly kind: 'failed'; readonly provider: string; readonly why: string };

/**
 * The only access to models, for sandboxes and for the planner: injects the key, meters, and enforces caps (I1, I9).
 */
export interface Gateway {
  /**
   * Determines how to call `provider/model` with one of these protocols (default: any): the first that its provider
   * supports. Throws the faults MODEL_UNKNOWN, MODEL_KEY_MISSING, MODEL_PRICE_UNKNOWN (unless tokens are capped) and
   * MODEL_MISMATCH before anything is spent.
   */
  route(
    model: string,
    how?: { readonly protocols?: readonly ModelProtocol[]; readonly capTokens?: number },
  ): ModelRoute;
  open(grant: Grant, onUsage?: (usage: Usage) => void): Promise<Lease>;
  /** Current cost of tokens in US dollars; null if the price is not known. */
  estimate(
    model: string,
    tokens: { readonly tokensIn: number; readonly tokensCached: number; readonly tokensOut: number },
  ): Usd | null;
  /** Default models when the settings name none, according to the keys that are set; empty without a key. */
  defaultModels(): readonly string[];
  /** Queries every provider that has a key. Never rejects. */
  offers(signal?: AbortSignal): Promise<readonly Offer[]>;
  close(): Promise<void>;
}

export interface ModelQuestion<T> {
  readonly route: ModelRoute;
  readonly lease: Lease;
  readonly instructions: string;
  readonly prompt: string;
  /**
   * UTF-16 units at the beginning of `prompt` that other questions to the model have in common, after the same
   * instructions: providers that cache only what is marked are told. Absent: none.
   */
  readonly sharedChars?: number;
  readonly schema: z.ZodType<T>;
  readonly signal?: AbortSignal;
  /** How often the model is shown the error in its answer and asked again. Default: twice. */
  readonly repairs?: number;
}

export type Answer<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'failed'; readonly why: string };

/** Asks a model for one schema-checked value. Never rejects because of the model or provider. */
export interface Model {
  ask<T>(question: ModelQuestion<T>): Promise<Answer<T>>;
}

/** A question that is answered in words of the model's own. */
export interface TextQuestion {
  readonly route: ModelRoute;
  readonly lease: Lease;
  readonly instructions: string;
  /** Beginning and ending with the user. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** Absent: the provider's default. */
  readonly temperature?: number;
  /** Sent to providers whose protocol has one. */
  readonly seed?: number;
  /** Maximum tokens of the answer, reasoning included. */
  readonly maxTokens: number;
  readonly signal?: AbortSignal;
}

export type TextAnswer =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** `length`: cut at `maxTokens`. `refused`: ended by the provider's filter, or by the model's own refusal. */
      readonly end: 'stop' | 'length' | 'refused';
      /** Whether the temperature applied: some models accept none. */
      readonly temperatureIgnored: boolean;
    }
  | { readonly kind: 'failed'; readonly why: string };

/** Asks a model for a text. Never rejects because of the model or provider. */
export interface TextModel {
  write(question: TextQuestion): Promise<TextAnswer>;
}
