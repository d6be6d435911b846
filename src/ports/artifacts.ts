import type { ArtifactRef } from '../core/model/index.ts';

/** What a sweep deleted. */
export interface Swept {
  readonly files: number;
  readonly bytes: number;
}

export interface SweepOptions {
  /** Whether an artifact (by SHA-256 in hexadecimal) is still referenced. Called once for each old artifact. */
  readonly keep: (sha256: string) => boolean;
  /** Milliseconds since 1970 by the store's clock: artifacts put at or after this time are kept in any case. */
  readonly before: number;
}

/** Content-addressed texts of one database. Writes are atomic; `get` verifies the hash. */
export interface Artifacts {
  /**
   * Stores a text; durable when it resolves. Renews the time of an existing artifact. Faults: DISK_FULL,
   * ARTIFACTS_UNAVAILABLE.
   */
  put(content: string): Promise<ArtifactRef>;
  /**
   * Rejects with STORED_DATA_DAMAGED if the artifact is missing or its content differs, with ARTIFACTS_UNAVAILABLE in
   * an outage.
   */
  get(ref: ArtifactRef): Promise<string>;
  /**
   * Marks the artifacts as those of a database. `nameOf` is asked for its name once it is known which one owns them; null:
   * none yet. Rejects with ENVIRONMENT_INVALID if another one does: each would delete what only the other refers to. Other
   * faults as for `put`, and those of `nameOf`.
   */
  claim(nameOf: (owner: string | null) => Promise<string>): Promise<void>;
  /**
   * Deletes old unreferenced artifacts, and temporary files left by a crash. An artifact that is put again at the
   * same time is kept. May be repeated after a failure. Faults as for `put`.
   */
  sweep(options: SweepOptions): Promise<Swept>;
}
