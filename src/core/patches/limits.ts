/** What a patch may be at most before it is refused unread. Our defaults, tune on dev data. */
export interface PatchLimits {
  readonly files: number;
  /** Characters of the patch text. */
  readonly textLength: number;
  /** UTF-8 bytes of one path component; ext4 and most file systems end here. */
  readonly componentBytes: number;
  /** UTF-8 bytes of a whole path. */
  readonly pathBytes: number;
  /** Reasons that a refusal lists; the rest is counted. */
  readonly reasons: number;
}

export const PATCH_LIMITS: PatchLimits = {
  files: 5_000,
  textLength: 32 * 2 ** 20,
  componentBytes: 255,
  pathBytes: 1_024,
  reasons: 20,
};
