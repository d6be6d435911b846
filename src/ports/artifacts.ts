import type { ArtifactRef } from '../core/model/index.ts';

/** What a sweep took away. */
export interface Swept {
  readonly files: number;
  readonly bytes: number;
}

export interface SweepWish {
  /** By SHA-256 in hexadecimal: true for what somebody still refers to. Asked once for each old artifact. */
  readonly keep: (sha256: string) => boolean;
  /** Milliseconds since 1970 by the store's clock: what was put at this time or later stays, whoever refers to it. */
  readonly before: number;
}

/** Content-addressed texts. Written whole or not at all; `get` checks the hash. */
export interface Artifacts {
  /** Kept for good when it resolves. What is there already counts as put now. Faults: DISK_FULL, ARTIFACTS_UNAVAILABLE. */
  put(content: string): Promise<ArtifactRef>;
  /** Rejects with STORED_DATA_DAMAGED when the artifact is gone or is not what was put, with ARTIFACTS_UNAVAILABLE in an outage. */
  get(ref: ArtifactRef): Promise<string>;
  /**
   * Removes what is old and wanted by nobody, also drafts that a crash left. An artifact that is put again meanwhile
   * is there afterwards. May be repeated after a failure. Faults as for `put`.
   */
  sweep(wish: SweepWish): Promise<Swept>;
}
