/** What a line is about. */
export interface LogContext {
  readonly run?: string;
  readonly candidate?: string;
  readonly stage?: string;
  readonly command?: string;
  readonly delivery?: string;
}

/** Structured log. Never pass issue text, patches, prompts or keys; ids, counts and reasons only. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** Does work, all of whose lines carry these fields too, however deep they are written: run, candidate, stage, command. */
  within<T>(fields: LogContext, work: () => T): T;
}
