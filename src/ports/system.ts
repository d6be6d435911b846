import type { CandidateState, FaultCode, RunId, Usd } from '../core/model/index.ts';

/** The context of a log line. */
export interface LogContext {
  readonly run?: string | undefined;
  /** Its alias. */
  readonly candidate?: string | undefined;
  readonly stage?: string | undefined;
  readonly command?: string | undefined;
  readonly delivery?: string | undefined;
}

/** Structured log. Log only ids, counts and reasons, never issue text, patches, prompts or keys. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  /**
   * Runs `work` with these fields added to all of its log lines, at any depth: run, candidate, stage, command. An
   * undefined field is removed, for background work that is unrelated to its trigger.
   */
  within<T>(fields: LogContext, work: () => T): T;
}

/** The result of a call to another system. */
type CallResult = 'done' | 'refused' | 'failed';

/** Operational metrics. No method rejects or throws. Times are seconds. */
export interface Metrics {
  /** One execution of a durable step; steps replayed after a crash are not counted. */
  stage(name: string, seconds: number): void;
  /** One delivery that was answered. `event`: GitHub's event name. */
  webhook(event: string, status: number, seconds: number): void;
  /** One call that was settled in the ledger. */
  modelCall(call: {
    readonly model: string;
    readonly status: number;
    readonly usd: Usd;
    readonly tokensIn: number;
    readonly tokensOut: number;
  }): void;
  /** A model call that the gateway rejected. `kind`: a short identifier of the reason. */
  gatewayRefusal(kind: string): void;
  /** `kind`: a method of the publisher, or `push`. */
  githubWrite(kind: string, outcome: CallResult): void;
  /** A fault that a stage could not handle. */
  fault(code: FaultCode): void;
  /** A candidate's state after its coder ended. */
  candidate(state: CandidateState): void;
  /**
   * All metrics as text for a scrape, without those that are read from the store while the database does not answer: the
   * others tell of just that outage.
   */
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Only ids, counts, names and dollars: never a prompt, an issue's text, a patch or a key. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanAbout {
  /** A short identifier, e.g. `stage`. */
  readonly name: string;
  /** All spans of a run form one trace, across processes and restarts. */
  readonly run: RunId;
  readonly attributes: SpanAttributes;
}

/** Exports timings to a tracing collector. Never delays or fails the work: spans that cannot be sent are dropped. */
export interface Tracer {
  /**
   * Runs `work` in a span below the current one, or below the run's root span. A rejection marks the span as failed.
   */
  within<T>(about: SpanAbout, work: () => Promise<T>): Promise<T>;
  /** Records a finished span; milliseconds since 1970 UTC. */
  record(
    about: SpanAbout,
    when: { readonly startedAt: number; readonly endedAt: number; readonly failed: boolean },
  ): void;
  /** Records the root span of a run after the run is over. */
  recordRun(
    about: SpanAbout,
    when: { readonly startedAt: number; readonly endedAt: number; readonly failed: boolean },
  ): void;
  /** Sends remaining spans, with a limit of some seconds. Never rejects. */
  close(): Promise<void>;
}

export interface Clock {
  /** Milliseconds since 1970 UTC; can jump when the system clock is set. For times that are shown or stored. */
  now(): number;
  /** Milliseconds since an arbitrary start in this process; monotonic. For durations. */
  elapsed(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  /** A new run id. */
  runId(): string;
  /** 128 random bits, hex: a delimiter that earlier text cannot contain. */
  nonce(): string;
  /**
   * A TCP port below the ephemeral range (Linux: from 32,768). Free in a sandbox with its own network; elsewhere very
   * probably.
   */
  port(): number;
}
