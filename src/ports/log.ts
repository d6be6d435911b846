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
