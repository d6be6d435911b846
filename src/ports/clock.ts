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
