/** What a changed file is for; decides whether the base version stands in for it during evaluation. */
export type FileRole = 'production' | 'test' | 'runner';

export interface PatchFile {
  readonly path: string;
  readonly change: 'added' | 'modified' | 'deleted' | 'type-changed';
  readonly oldMode: string;
  readonly newMode: string;
  /** `runner`: snapshots, test-runner and coverage configuration, CI. */
  readonly role: FileRole;
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
  /** This file's part of the patch text, `diff --git` line included: applying it alone is valid. */
  readonly section: string;
}

export interface Patch {
  readonly files: readonly PatchFile[];
}
