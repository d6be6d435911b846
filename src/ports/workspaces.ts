import type { CommitMessage } from '../core/learning/index.ts';
import type { HistoryChange } from '../core/mining/index.ts';
import type { Sha } from '../core/model/index.ts';
import type { StopReason, SubmoduleAccess } from '../core/settings/index.ts';
import type { LocalBranches, LocalChanges } from './local-branches.ts';
import type { FailedHost, Limits, RegistryAccess, Tools, WorkArea } from './sandbox.ts';

/** Basic credentials for one remote, passed to git by environment only: never in argv, a URL or a config file (I3). */
export interface GitCredential {
  readonly username: string;
  readonly password: string;
}

export type RepositorySource =
  | { readonly kind: 'local'; readonly path: string }
  | {
      readonly kind: 'remote';
      readonly url: string;
      /** The repository's stable key on this machine, independent of renames; default: its URL. */
      readonly knownAs?: string;
      /** Called only when the remote is accessed; cached data needs no token. */
      readonly credential: () => Promise<GitCredential>;
    };

/** A submodule whose folder is empty. */
export interface AbsentSubmodule {
  readonly path: string;
  /** As a clause. */
  readonly why: string;
}

/** A prepared, immutable checkout of one commit; candidates are overlays over it. */
export interface BaseCheckout {
  readonly sha: Sha;
  /** Key of the repository's mirror. */
  readonly repositoryKey: string;
  /** The checkout, with a small `.git` of its own, so that coders can use git. */
  readonly lower: string;
  /** The files of its submodules, as a layer between `lower` and `layers`. Absent: it has none. */
  readonly submodules?: {
    /** The id of the layer, under which `fetchSubmodules` finds it again. */
    readonly id: string;
    readonly files: string;
    readonly absent: readonly AbsentSubmodule[];
  };
  /** Layers over `lower` with the files that `setup` installed, topmost first. */
  readonly layers: readonly string[];
  /**
   * Layer with the files that `setup` wrote to its HOME, mounted below /home/agent in every area over this base;
   * absent: none.
   */
  readonly home?: string;
  /**
   * Programs available in every area over this base, including during `setup`; set by the caller of `prepare`.
   * Absent: none.
   */
  readonly tools?: Tools;
  /** Versions of these programs and those of every sandbox: `Node 22.1.0`. Absent if not determined. */
  readonly toolVersions?: readonly string[];
}

/** A coder's changes as data. `raw` is authoritative; `text` is a full binary patch in the same file order. */
export interface CollectedPatch {
  readonly tree: Sha;
  /** `git diff-tree -r --raw -z --no-renames --no-abbrev base tree`, NULs kept. */
  readonly raw: string;
  /** `git diff-tree -r -p --binary --full-index --no-renames base tree`. */
  readonly text: string;
}

export type Collected =
  | { readonly kind: 'patch'; readonly patch: CollectedPatch }
  | { readonly kind: 'empty' }
  | { readonly kind: 'refused'; readonly why: string };

export interface CommitSpec {
  readonly base: Sha;
  readonly tree: Sha;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** Author and committer time, seconds since 1970 UTC. */
  readonly at: number;
}

export interface Workspaces extends LocalBranches, LocalChanges {
  /** Describes a local path. Fault NOT_A_REPOSITORY if it is not inside a git working tree. */
  describe(path: string): Promise<{
    /** Absolute top folder of the working tree. */
    readonly top: string;
    /** Tracked files differ from the last commit, or there are untracked files that are not ignored. */
    readonly dirty: boolean;
    /** Name of the branch that is checked out; null when detached. */
    readonly branch: string | null;
    /** No commit yet. */
    readonly empty: boolean;
    /** A folder of the repository that `branch` must write to but may not; null if all are writable. */
    readonly unwritable: string | null;
  }>;
  /** Resolves a branch, tag or commit of a source; null if it does not exist. Fetches a remote first. */
  resolve(source: RepositorySource, ref: string): Promise<Sha | null>;
  /** Text of a file at a commit that `resolve` returned; null if there is none. Files over 1 MiB cause a fault. */
  readFile(source: RepositorySource, sha: Sha, path: string): Promise<string | null>;
  /** Paths of all files at a commit, in git's order. */
  listFiles(source: RepositorySource, sha: Sha): Promise<readonly string[]>;
  /** SHA-256 in hexadecimal of the paths and contents of these files at a commit; missing files are skipped. */
  fingerprint(source: RepositorySource, sha: Sha, paths: readonly string[]): Promise<string>;
  /**
   * Messages of the newest 5,000 commits that a commit contains, oldest first: those committed since a time
   * (milliseconds since 1970 UTC). Each is cut after 4,000 characters.
   */
  messages(source: RepositorySource, sha: Sha, since: number): Promise<readonly CommitMessage[]>;
  /**
   * Where the work of `head` began: its merge base with the first parent of `merge`, the commit that brought it in;
   * null if there is none. Fault BASE_MISSING if the source has one of them no longer.
   */
  forkPoint(source: RepositorySource, merge: Sha, head: Sha): Promise<Sha | null>;
  /**
   * The commits on the first-parent line of a commit, committed since a time (milliseconds since 1970 UTC), newest first,
   * at most 20,000. Nothing that the repository's settings or hooks name is executed. `shallow`: the repository lacks
   * older commits.
   */
  mainline(
    source: Extract<RepositorySource, { readonly kind: 'local' }>,
    head: Sha,
    options: { readonly since: number },
  ): Promise<{
    readonly changes: readonly HistoryChange[];
    readonly shallow: boolean;
  }>;
  /**
   * The address of the remote `origin` of a local repository, as somebody wrote it; null without one, and if there is no
   * repository at the path.
   */
  origin(path: string): Promise<string | null>;
  /**
   * The difference of these files between two commits, in the form of a collected patch; null if it cannot be written as
   * text. Fault BASE_MISSING if the source lacks one of the commits.
   */
  diff(
    source: RepositorySource,
    from: Sha,
    to: Sha,
    paths: readonly string[],
  ): Promise<Omit<CollectedPatch, 'tree'> | null>;
  /** Creates the mirror and the prepared checkout, or returns existing ones. */
  prepare(source: RepositorySource, sha: Sha): Promise<BaseCheckout>;
  /** What `note` last stored with a prepared checkout under this key; null: nothing. Removed with the checkout. */
  noteOf(base: BaseCheckout, key: string): Promise<string | null>;
  note(base: BaseCheckout, key: string, text: string): Promise<void>;
  /**
   * The submodules of a commit, without those inside of others. `why`: what prevents one from being fetched, as a
   * clause; null: nothing that is known before. Nothing is fetched.
   */
  listSubmodules(
    source: RepositorySource,
    sha: Sha,
    access: SubmoduleAccess,
  ): Promise<readonly { readonly path: string; readonly why: string | null }[]>;
  /**
   * Fetches the files of the commit's submodules, and of those inside of them, at the commits that it records: without
   * a login and by https only (by http from the source's own server), or from the git folders of the same local
   * repository. What cannot be fetched is in `submodules.absent`. No program of a repository is started, and the files
   * never become part of a collected patch. `known`: the id of an earlier result, used as long as it exists.
   */
  fetchSubmodules(
    base: BaseCheckout,
    from: {
      readonly source: RepositorySource;
      readonly access: SubmoduleAccess;
      readonly known?: string;
    },
    signal?: AbortSignal,
  ): Promise<BaseCheckout>;
  /** Whether the files of a prepared checkout, and those installed by `setup`, are unchanged. */
  isWhole(base: BaseCheckout): Promise<boolean>;
  /**
   * Runs the repository's setup command on the base checkout in a sandbox, once for each (commit, command), and keeps
   * the files that it wrote, including those in its HOME, as layers for all candidates. No candidate's code and no
   * issue text is involved. `failed` says why. Commits of one repository share a layer if the command is an install
   * from a lock file, all of its inputs are equal, and it wrote only ignored files (docs/decisions/0018). Concurrent
   * calls for the same layer share one execution. An aborted call rejects with AbortError; another call that shared
   * its execution starts it again. `output`: the end of what it printed; absent if it had run before.
   */
  install(
    base: BaseCheckout,
    setup: {
      readonly command: string;
      /** `host:port` names that the repository requests. */
      readonly egress: readonly string[];
      /** The operator's package registries; absent: none. */
      readonly registries?: RegistryAccess;
      readonly limits: Limits;
    },
    signal?: AbortSignal,
  ): Promise<
    | { readonly kind: 'ready'; readonly base: BaseCheckout; readonly output?: string }
    | {
        readonly kind: 'failed';
        readonly why: string;
        /** The limit that the command exceeded; null: none. */
        readonly stopped: StopReason | null;
        readonly tail: string;
        /** `host:port` names that were requested but not allowed. */
        readonly refusedHosts: readonly string[];
        /** Allowed hosts that failed. */
        readonly failedHosts: readonly FailedHost[];
      }
  >;
  /**
   * Copies packages that are installed in the working tree of a local repository without being part of the commit
   * (`node_modules`, `.venv`, …) to a read-only layer in place of one by `install`. Nothing of the repository is
   * executed, and nothing can write to the original. `why`: what prevents it, as a clause; null: nothing is installed.
   */
  lend(
    base: BaseCheckout,
    from: {
      /** Top folder of the working tree. */
      readonly top: string;
      /**
       * The id of an earlier copy, which is used even if the working tree has changed since. If it no longer exists, it
       * is made again from the same packages or not at all.
       */
      readonly known?: string;
      /** Whether to lend packages that may be of other versions than those of the commit's lock files. */
      readonly anyVersion?: boolean;
    },
    signal?: AbortSignal,
  ): Promise<
    | {
        readonly kind: 'lent';
        readonly base: BaseCheckout;
        readonly id: string;
        /** Paths in the working tree; empty for an earlier copy. */
        readonly folders: readonly string[];
      }
    | { readonly kind: 'none'; readonly why: string | null }
  >;
  /** Creates an empty area over the checkout; first removes leftovers of a crash with the same id. */
  open(base: BaseCheckout, id: string): Promise<WorkArea>;
  /**
   * Collects the changes in an area. Git runs in a sandbox without network on the area mounted read-only, and the
   * result leaves as a pack that is checked with fsck before it enters the run's object store. Host git never reads the
   * area's `.git`, attributes, filters or hooks. No process may run in the area. AbortError before the files are read.
   */
  collect(base: BaseCheckout, area: WorkArea, signal?: AbortSignal): Promise<Collected>;
  /** Whether a collected tree still exists; `prune` may have removed it. */
  holds(base: BaseCheckout, tree: Sha): Promise<boolean>;
  /** Keeps a collected tree for another area as well, so that `prune` keeps it as long as that area's id. */
  keep(base: BaseCheckout, areaId: string, tree: Sha): Promise<void>;
  /** Writes one commit on the base with the collected tree. Deterministic: the same spec gives the same commit. */
  commit(base: BaseCheckout, spec: CommitSpec): Promise<Sha>;
  /** Creates or moves a branch of a local repository to a commit. Fault if the branch is checked out. */
  branch(base: BaseCheckout, path: string, name: string, sha: Sha): Promise<void>;
  /**
   * Pushes a commit to a new branch, never by force; `exists` if the remote has the branch at another commit. With
   * `onto`, pushes to a branch that points to that commit, whose child `sha` is; `exists` if it points elsewhere or is gone.
   */
  push(
    base: BaseCheckout,
    remote: { readonly url: string; readonly credential: GitCredential },
    name: string,
    sha: Sha,
    onto?: Sha,
  ): Promise<
    | { readonly kind: 'pushed' }
    /** `at` null: the branch no longer exists. */
    | { readonly kind: 'exists'; readonly at: Sha | null }
    | { readonly kind: 'refused'; readonly why: string }
  >;
  /** Removes an area, if it exists. Slow parts of the removal continue in the background. */
  remove(area: WorkArea): Promise<void>;
  /**
   * Removes leftovers of crashes: every area whose id `keep` does not accept, and areas of setups and unfinished
   * files whose process is gone. `usedAt`: opened or collected last, ms since 1970. Returns the ids removed.
   */
  sweep(keep: (id: string, usedAt: number) => boolean): Promise<readonly string[]>;
  /**
   * Removes data last used before a time (milliseconds since 1970 UTC): checkouts and setup layers without areas,
   * collected trees of areas whose id `keep` does not accept, and repositories with nothing else left, unless they are
   * local with a path in `mirrorsKept`. Skips what another process is using. All of it is recreated on demand, except
   * for trees and commits of uncommitted changes.
   */
  prune(options: {
    readonly before: number;
    readonly keep: (areaId: string) => boolean;
    readonly mirrorsKept?: readonly string[];
  }): Promise<Pruned>;
}

/** What was removed; `bytes` on disk. */
export interface Pruned {
  readonly checkouts: number;
  readonly layers: number;
  readonly patches: number;
  /** Mirrors, each with its store of candidates' objects. */
  readonly repositories: number;
  readonly bytes: number;
  /** Repositories that were skipped because they were in use. */
  readonly busy: number;
}
