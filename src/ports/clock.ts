export interface Clock {
  /** Milliseconds since 1970 UTC. */
  now(): number;
}

export interface Random {
  /** A fresh run id. */
  runId(): string;
}
