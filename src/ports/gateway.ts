import type { RunId, Usage, Usd } from '../core/model/index.ts';
import type { ModelProtocol } from './coder.ts';

export interface Grant {
  readonly runId: RunId;
  /** Whose calls these are in the ledger: a candidate's alias, or a stage such as `brief`. */
  readonly spender: string;
  /** `provider/model` names that may be called. */
  readonly models: readonly string[];
  readonly capUsd: Usd;
  /** Cap of the whole run; what the ledger already holds for it counts. */
  readonly runCapUsd: Usd;
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
  close(): Promise<void>;
}

export interface ModelRoute {
  readonly protocol: ModelProtocol;
  /** Model name as the provider knows it. */
  readonly model: string;
}

/** The one way from a sandbox, and from the planner, to a model: injects the key, meters, caps (I1, I9). */
export interface Gateway {
  /** How to call `provider/model`; faults MODEL_KEY_MISSING and MODEL_PRICE_UNKNOWN are thrown here, before anything is spent. */
  route(model: string): ModelRoute;
  open(grant: Grant, onUsage?: (usage: Usage) => void): Promise<Lease>;
  /** Models used when the settings name none, from the keys that are set; empty when there is no key. */
  defaultModels(): readonly string[];
  close(): Promise<void>;
}
