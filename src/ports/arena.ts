import type { Sha } from '../core/model/index.ts';

/**
 * The folder of one contest, whose files people may edit, review and merge. It may come from anybody: paths lead, through
 * all links, to somewhere in the folder or in the working tree around it, never to a `.git` or into the data folder; each
 * other one is the fault CONTEST_INVALID.
 */
export interface ContestFolder {
  /** Absolute. */
  readonly path: string;
  /** The absolute form of a path that is relative to the folder. */
  absolute(path: string): string;
  /**
   * The absolute form of a path to a repository. Fault: CONTEST_INVALID unless it is the one around the folder, or the
   * one that was named when it was opened.
   */
  repository(path: string): Promise<string>;
  /** The path of `inner` relative to `outer`, through all links; null if it is outside of it. */
  within(outer: string, inner: string): Promise<string | null>;
  /**
   * Text of a file, by its path relative to the folder (or absolute); null if there is none. Faults: CONTEST_INVALID if
   * it is no UTF-8 text, no file, or larger than 256 MiB.
   */
  text(path: string): Promise<string | null>;
  /**
   * Text of a file that is appended to, such as `text`; the bytes of a character at its end that a killed writer left
   * incomplete are not part of it.
   */
  records(file: string): Promise<string | null>;
  /**
   * Files below a folder, in order of code units of their paths, which are relative to it; null if there is none. Faults:
   * CONTEST_INVALID for links, files that are no UTF-8 text, or more than 32 MiB.
   */
  files(path: string): Promise<readonly { readonly path: string; readonly text: string }[] | null>;
  /**
   * SHA-256 in hexadecimal of paths, contents and executable bits of the files below a folder, except any `.git`; null if
   * there is none. A link counts by its target, and is not followed. Faults: CONTEST_INVALID for anything but files,
   * folders and links, or more than 256 MiB.
   */
  fingerprint(path: string): Promise<string | null>;
  /**
   * Copies what `fingerprint` counts into an existing empty folder, by its absolute path. Faults: CONTEST_INVALID, also
   * if there is no such folder.
   */
  copy(path: string, into: string): Promise<void>;
  /**
   * Appends one line with its line end, and returns when it is on the disk. The rest of a line whose writer was killed is
   * removed first. If it cannot be written, the file stays as it was. Faults: DISK_FULL; INTERNAL without the lock.
   */
  append(file: string, line: string): Promise<void>;
  /** Creates a file and its parent folders; `exists` if there is one, which is left as it is. */
  create(path: string, text: string): Promise<'created' | 'exists'>;
  /** Writes a whole file, which is complete or as it was whatever happens; creates parent folders. Fault: DISK_FULL. */
  write(path: string, text: string): Promise<void>;
  /** Of UTF-8, in hexadecimal. */
  sha256(text: string): string;
  /** Releases the lock. */
  close(): Promise<void>;
}

export interface Contests {
  /** The folder of a contest of this name in the data folder. */
  folderOf(name: string): string;
  /** Names of the contests in the data folder, in order of code units. Links are left out. */
  list(): Promise<readonly string[]>;
  /**
   * Opens a contest's folder. `write` takes its lock, so that one process at a time appends to its files; the folder is
   * created if it does not exist. Faults: ALREADY_RUNNING if another process holds the lock; CONTEST_UNKNOWN if it is to
   * be read and does not exist. `repository`: a path in the repository that the user named, which tasks may start from.
   */
  open(
    path: string,
    how: 'read' | 'write',
    options?: { readonly repository?: string },
  ): Promise<ContestFolder>;
}

/** Makes repositories of folders without history. */
export interface Templates {
  /**
   * Commits the files that `fill` puts into an empty folder to a repository of its own below the data folder. The commit
   * depends on their paths, content and modes alone. `name` is what errors call the template. Faults: CONTEST_INVALID if
   * there are no files; those of `fill`.
   */
  commit(
    name: string,
    fill: (into: string) => Promise<void>,
  ): Promise<{ readonly repository: string; readonly sha: Sha }>;
}
