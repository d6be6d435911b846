import type { Sha } from '../core/model/index.ts';
import type { FailedHost, Limits, RegistryAccess, Tools, WorkArea } from './sandbox.ts';

/** Basic credentials for one remote, handed to git by environment only: never in argv, a URL or a config file (I3). */
export interface GitCredential {
  readonly username: string;
  readonly password: string;
}

export type RepositorySource =
  | { readonly kind: 'local'; readonly path: string }
  | {
      readonly kind: 'remote';
      readonly url: string;
      /** What the repository is kept under here, however it is called by now; absent: its URL. */
      readonly knownAs?: string;
      /** Asked only when the remote is: what is here already costs no token. */
      readonly credential: () => Promise<GitCredential>;
    };

/** A prepared, immutable checkout of one commit; candidates are overlays over it. */
export interface BaseCheckout {
  readonly sha: Sha;
  /** Key of the repository's mirror. */
  readonly repositoryKey: string;
  /** The checkout: has its own small `.git`, so that coders can use git. */
  readonly lower: string;
  /** Layers over `lower` that hold what `setup` installed, topmost first. */
  readonly layers: readonly string[];
  /** Layer with what `setup` installed into its HOME, below /home/agent of every area over this base; absent: none. */
  readonly home?: string;
  /** Programs that every area over this base sees, its `setup` included; set by who prepares it. Absent: none. */
  readonly tools?: Tools;
  /** What these programs, and those that every sandbox has, are: `Node 22.1.0`. Absent where nobody looked. */
  readonly toolVersions?: readonly string[];
}

/** What a coder left behind, as data. `raw` is authoritative; `text` is a full binary patch in the same file order. */
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

export interface Workspaces {
  /** What stands at a local path. Fault NOT_A_REPOSITORY when it is not inside a git work tree. */
  describe(path: string): Promise<{
    /** Absolute top folder of the work tree. */
    readonly top: string;
    /** Tracked files differ from the last commit, or untracked files are there that are not ignored. */
    readonly dirty: boolean;
    /** Name of the branch that is checked out; null when detached. */
    readonly branch: string | null;
    /** No commit yet. */
    readonly empty: boolean;
    /** A folder of the repository that `branch` would have to write to and may not; null when it may write to all. */
    readonly unwritable: string | null;
  }>;
  /** Resolves a branch, tag or commit of a source; null when it has none such. Fetches a remote first. */
  resolve(source: RepositorySource, ref: string): Promise<Sha | null>;
  /** Text of a file at a commit that `resolve` returned; null when there is none. Files over 1 MiB are refused with a fault. */
  readFile(source: RepositorySource, sha: Sha, path: string): Promise<string | null>;
  /** Paths of all files at a commit, in git's order. */
  listFiles(source: RepositorySource, sha: Sha): Promise<readonly string[]>;
  /** SHA-256 in hexadecimal of the paths and contents of these files at a commit; files that are not there count for nothing. */
  fingerprint(source: RepositorySource, sha: Sha, paths: readonly string[]): Promise<string>;
  /** Makes the mirror and the prepared checkout, or finds the one made before. */
  prepare(source: RepositorySource, sha: Sha): Promise<BaseCheckout>;
  /** Whether the files of a prepared checkout, and of what `setup` installed over it, are still as they were left. */
  isWhole(base: BaseCheckout): Promise<boolean>;
  /**
   * Runs the repository's own setup command on the base checkout, in a sandbox, once for each (commit, command), and
   * keeps what it wrote, to its HOME too, as layers for all candidates. No candidate and no issue text is near it. `failed` says why.
   * Commits of one repository share a layer, so that the command is not run again, where the command is an install that
   * follows a lock file, all that it reads is the same, and it wrote nothing but ignored files (docs/decisions/0018).
   * Callers that ask for the same layer at once share one run of it. A call whose signal is aborted before it is done
   * rejects with AbortError; another that shared its run starts it again.
   */
  install(
    base: BaseCheckout,
    setup: {
      readonly command: string;
      /** `host:port` names that the repository asks for. */
      readonly egress: readonly string[];
      /** The operator's package registries; absent: none. */
      readonly registries?: RegistryAccess;
      readonly limits: Limits;
    },
    signal?: AbortSignal,
  ): Promise<
    | { readonly kind: 'ready'; readonly base: BaseCheckout }
    | {
        readonly kind: 'failed';
        readonly why: string;
        readonly tail: string;
        /** `host:port` names that it asked for and may not reach. */
        readonly refusedHosts: readonly string[];
        /** Hosts that it may reach and that failed. */
        readonly failedHosts: readonly FailedHost[];
      }
  >;
  /** A fresh area over the checkout; what an earlier crash left under the same id is removed first. */
  open(base: BaseCheckout, id: string): Promise<WorkArea>;
  /**
   * Reads what changed in an area: git runs in a sandbox without network over the area mounted read-only, and the
   * result leaves as a pack that is checked with fsck on its way into the run's object store. Host git never reads
   * the area's `.git`, attributes, filters or hooks. No process may be running in the area. Rejects with AbortError when
   * the signal is aborted before the files are read.
   */
  collect(base: BaseCheckout, area: WorkArea, signal?: AbortSignal): Promise<Collected>;
  /** Whether a collected tree is still there; `prune` may have removed it. */
  holds(base: BaseCheckout, tree: Sha): Promise<boolean>;
  /** Keeps a collected tree for another area as well, so that `prune` leaves it while that one is kept. */
  keep(base: BaseCheckout, areaId: string, tree: Sha): Promise<void>;
  /** Writes one commit on the base with the collected tree; same spec, same commit. */
  commit(base: BaseCheckout, spec: CommitSpec): Promise<Sha>;
  /** Creates or moves a branch of a local repository to a commit. Refuses (fault) a branch that is checked out. */
  branch(base: BaseCheckout, path: string, name: string, sha: Sha): Promise<void>;
  /**
   * Pushes a commit to a new branch; `exists` when the remote has the branch at another commit. With `onto`, to a branch
   * that points to that commit, whose child `sha` is; `exists` when it points elsewhere or is gone. Never forces.
   */
  push(
    base: BaseCheckout,
    remote: { readonly url: string; readonly credential: GitCredential },
    name: string,
    sha: Sha,
    onto?: Sha,
  ): Promise<
    | { readonly kind: 'pushed' }
    /** `at` null: it is gone. */
    | { readonly kind: 'exists'; readonly at: Sha | null }
    | { readonly kind: 'refused'; readonly why: string }
  >;
  /** Removes an area; no error if it is gone already. What takes long to remove goes on in the background. */
  remove(area: WorkArea): Promise<void>;
  /**
   * Removes every area whose id `keep` does not accept, and areas of setups and half-made files whose process is gone:
   * what a crash left behind. Returns the ids removed.
   */
  sweep(keep: (id: string) => boolean): Promise<readonly string[]>;
  /**
   * Removes what was used last before a moment: checkouts and setup layers on which no area stands, collected trees
   * of areas whose id `keep` does not accept, and repositories of which nothing else is left. What another process uses
   * right now is left alone. All of it is made again when it is asked for, but for trees.
   */
  prune(options: {
    /** Milliseconds since 1970 UTC. */
    readonly before: number;
    readonly keep: (areaId: string) => boolean;
  }): Promise<Pruned>;
}

/** What was removed. */
export interface Pruned {
  readonly checkouts: number;
  readonly layers: number;
  readonly patches: number;
  /** Mirrors, each with its store of candidates' objects. */
  readonly repositories: number;
  /** On disk. */
  readonly bytes: number;
  /** Repositories that were in use and therefore left alone. */
  readonly busy: number;
}
