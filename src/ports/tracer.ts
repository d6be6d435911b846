import type { RunId } from '../core/model/index.ts';

/** Ids, counts, names and dollars only: never a prompt, an issue's text, a patch or a key. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanAbout {
  /** One of a few words, e.g. `stage`. */
  readonly name: string;
  /** All spans of a run are one trace, whichever process they come from, also after a restart. */
  readonly run: RunId;
  readonly attributes: SpanAttributes;
}

/** Tells a collector what took how long. Never slows or breaks what it tells of: what cannot be sent is dropped. */
export interface Tracer {
  /** Does work as a span below the one it is called in, else below the run's own. One that rejects is marked as failed. */
  within<T>(about: SpanAbout, work: () => Promise<T>): Promise<T>;
  /** A span of work that is over; milliseconds since 1970 UTC. */
  tell(
    about: SpanAbout,
    when: { readonly startedAt: number; readonly endedAt: number; readonly failed: boolean },
  ): void;
  /** The span above all others of a run, once the run is over. */
  tellRun(
    about: SpanAbout,
    when: { readonly startedAt: number; readonly endedAt: number; readonly failed: boolean },
  ): void;
  /** Sends what is left, for some seconds at most. Never rejects. */
  close(): Promise<void>;
}
