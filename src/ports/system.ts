import type { CandidateState, FaultCode, RunId, Usd } from '../core/model/index.ts';

/** What a line is about. */
export interface LogContext {
  readonly run?: string | undefined;
  /** Its alias. */
  readonly candidate?: string | undefined;
  readonly stage?: string | undefined;
  readonly command?: string | undefined;
  readonly delivery?: string | undefined;
}

/** Structured log. Never pass issue text, patches, prompts or keys; ids, counts and reasons only. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  /**
   * Does work, all of whose lines carry these fields too, however deep they are written: run, candidate, stage, command. A
   * field that is undefined here is taken off them: work that goes on in the background is about something else than what
   * set it off.
   */
  within<T>(fields: LogContext, work: () => T): T;
}

/** What came of something that we asked of somebody else. */
type CallResult = 'done' | 'refused' | 'failed';

/** Counts what happens, for whoever runs Runoff. Nothing here rejects or throws. Times are seconds. */
export interface Metrics {
  /** One execution of a durable step; what is replayed after a crash is not executed again. */
  stage(name: string, seconds: number): void;
  /** One delivery, answered. `event`: GitHub's word. */
  webhook(event: string, status: number, seconds: number): void;
  /** One call that was settled in the ledger. */
  modelCall(call: {
    readonly model: string;
    readonly status: number;
    readonly usd: Usd;
    readonly tokensIn: number;
    readonly tokensOut: number;
  }): void;
  /** A model call that the gateway refused. `kind`: what was wrong with it, one of a few words. */
  gatewayRefusal(kind: string): void;
  /** `kind`: a method of the publisher, or `push`. */
  githubWrite(kind: string, outcome: CallResult): void;
  /** What a stage met and could not fix. */
  fault(code: FaultCode): void;
  /** How a coder's work on a candidate ended. */
  candidate(state: CandidateState): void;
  /** All metrics as text for a scrape. Rejects if the store cannot be read: an incomplete answer would look like an idle server. */
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Ids, counts, names and dollars only: never a prompt, an issue's text, a patch or a key. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanAbout {
  /** One of a few words, e.g. `stage`. */
  readonly name: string;
  /** All spans of a run are one trace, whichever process they come from, also after a restart. */
  readonly run: RunId;
  readonly attributes: SpanAttributes;
}

/** Reports to a collector how long work took. Never delays or fails that work: what cannot be sent is dropped. */
export interface Tracer {
  /** Does work as a span below the one it is called in, else below the run's own. One that rejects is marked as failed. */
  within<T>(about: SpanAbout, work: () => Promise<T>): Promise<T>;
  /** A span of work that is over; milliseconds since 1970 UTC. */
  record(
    about: SpanAbout,
    when: { readonly startedAt: number; readonly endedAt: number; readonly failed: boolean },
  ): void;
  /** The span above all others of a run, once the run is over. */
  recordRun(
    about: SpanAbout,
    when: { readonly startedAt: number; readonly endedAt: number; readonly failed: boolean },
  ): void;
  /** Sends what is left, for some seconds at most. Never rejects. */
  close(): Promise<void>;
}

export interface Clock {
  /** Milliseconds since 1970 UTC; people and other machines may set it, so that it jumps. For what is shown or stored. */
  now(): number;
  /** Milliseconds since some moment of this process; never jumps. For everything that lasts. */
  elapsed(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  /** A fresh run id. */
  runId(): string;
  /** 128 random bits, hex: a delimiter that text written before it cannot contain. */
  nonce(): string;
  /**
   * A TCP port below those that systems give out by themselves (Linux: from 32,768). Free in a sandbox with a network of
   * its own; elsewhere very probably.
   */
  port(): number;
}
