import type { Context, Hono } from 'hono';
import type { PageCommands } from '../commands/index.ts';
import type { RunId, Usd } from '../core/model/index.ts';
import type {
  Census,
  Contests,
  ExecutorRecord,
  ListedRun,
  RepositoryHandle,
  RunRecord,
} from '../ports/index.ts';
import type { World } from '../runs/index.ts';
import type { Assets } from './assets.ts';

/** Who looks at a page. A `local` viewer is the person at this machine; only `runoff ui` knows one. */
export type Viewer =
  | {
      readonly kind: 'github';
      /** GitHub's numeric id: the identity. The login is for display and for the address of the permission. */
      readonly id: number;
      readonly login: string;
      readonly operator: boolean;
    }
  | { readonly kind: 'local' };

/** Somebody who has signed in with GitHub. */
export type Person = Extract<Viewer, { readonly kind: 'github' }>;

/** Whether there are contests for them: operators, and the person at this machine. */
export const mayRunContests = (viewer: Viewer): boolean => viewer.kind === 'local' || viewer.operator;

/** What a viewer may do with the runs of a repository: `read` shows them, `write` acts on them. */
export type Right = 'none' | 'read' | 'write';

interface VisibleRun {
  readonly run: RunRecord;
  readonly right: Exclude<Right, 'none'>;
}

export interface VisibleRepositories {
  readonly repositories: readonly RepositoryHandle[];
  /** False if GitHub was not asked about all of them: there are too many, or the viewer used up their questions. */
  readonly complete: boolean;
}

/** How old the name of a repository may be: a minute, for what is shown; read now, for what starts or changes something. */
export type NameAge = 'lately' | 'now';

/** What GitHub calls repositories at present. Faults: GITHUB_UNAVAILABLE. */
export interface Names {
  /** The repository by its present name; null if it is gone, or the App was removed from it. */
  present(repository: RepositoryHandle, age: NameAge): Promise<RepositoryHandle | null>;
  /** The one of these that has this name (`owner/name`, any case) at present; not one that had it. */
  find(name: string, among: readonly RepositoryHandle[], age: NameAge): Promise<RepositoryHandle | null>;
}

/** What there is for a viewer under a name. */
export interface NamedRepository {
  /** By its present name. */
  readonly repository: RepositoryHandle | null;
  /** Of a repository that the viewer may see and that had the name: what it is called now. */
  readonly renamed?: string;
}

/** The one way to what a viewer may see. Viewer null: nobody is signed in. Faults: GITHUB_UNAVAILABLE. */
export interface Access {
  /** Read from GitHub, at most a minute ago. */
  right(viewer: Viewer | null, repository: RepositoryHandle): Promise<Right>;
  /**
   * For lists and streams, which ask without the viewer naming anything: null if it is not known, and GitHub is asked no
   * more for them at the moment. `none` may be ten minutes old.
   */
  listedRight(viewer: Viewer | null, repository: RepositoryHandle): Promise<Right | null>;
  /** Null for a run that does not exist and for one that the viewer may not see, after the same work. */
  visibleRun(viewer: Viewer | null, id: RunId): Promise<VisibleRun | null>;
  /**
   * The repository of a name (`owner/name`, any case) with runs that the viewer may see; null for a name that does not
   * exist and for one that the viewer may not see, after the same work.
   */
  visibleNamed(viewer: Viewer | null, name: string, age: NameAge): Promise<NamedRepository>;
  /**
   * Repositories with runs that the viewer may see, the one with the newest run first. A right that was given in the last
   * ten minutes may be missing.
   */
  visibleRepositories(viewer: Viewer | null): Promise<VisibleRepositories>;
}

/** The person behind a request. */
export interface SignedIn {
  readonly viewer: Viewer;
  /** Goes into every form; a POST without it is refused. */
  readonly csrf: string;
}

export interface WebAppOptions {
  readonly world: World;
  /** Applies the commands of viewers. */
  readonly commands: PageCommands;
  /** Who sends the request; null if nobody is signed in. */
  readonly identify: (c: Context<WebEnv>) => Promise<SignedIn | null>;
  /** Origin of these pages, such as `https://runoff.example.com`: forms must come from it. */
  readonly origin?: string;
  /**
   * The only value of the header Host that is answered, such as `127.0.0.1:4040`. Absent: every Host is answered, as
   * behind a proxy.
   */
  readonly host?: string;
  /** Routes for signing in and out; absent: nobody can. */
  readonly signIn?: Hono<WebEnv>;
  /** Whether runs of public repositories are shown to anybody. Default: false. */
  readonly publicRepositories?: boolean;
  /** Contests, for operators and the person at this machine; absent: there are no such pages. */
  readonly arena?: ArenaOptions;
  /** What the status page shows; absent: there is no such page. */
  readonly installation?: () => Promise<InstallationFacts>;
}

/** What pages of contests need. */
export interface ArenaOptions {
  readonly contests: Contests;
  /** Runoff's own prompt variants, which contests may name. */
  readonly variants: ReadonlyMap<string, string>;
  /** Where the pages of GitHub are: remotes of repositories are compared with it. */
  readonly githubUrl: string;
  /** Name under which votes of the person at this machine are stored. */
  readonly localVoter: () => string;
}

/** The state of the installation, for operators. Money in US dollars. */
export interface InstallationFacts {
  readonly census: Census;
  /** Ids of queued runs, the next one first. */
  readonly queue: readonly RunId[];
  readonly executors: readonly ExecutorRecord[];
  /** Booked today (UTC). */
  readonly spentToday: Usd;
  readonly capDay: Usd;
  readonly capRepositoryDay: Usd;
  /** The last faults, newest first. */
  readonly failed: readonly ListedRun[];
  /** Of the file system of the data folder, bytes; null if it cannot be read. */
  readonly disk: { readonly free: number; readonly size: number } | null;
  /** Why no further run may begin; null if one may. */
  readonly shortage: string | null;
  /** Work that no process takes, one sentence each. */
  readonly unclaimed: readonly string[];
  readonly version: string;
}

/** What the parts of the web app share. Each part is a function from this to a Hono app, mounted in index.ts. */
export interface WebParts extends WebAppOptions {
  readonly access: Access;
  readonly names: Names;
  readonly assets: Assets;
}

/** What earlier handlers leave for later ones. */
export interface WebEnv {
  readonly Variables: {
    readonly parts: WebParts;
    /** Null: nobody is signed in. Always set on pages; `/api` reads its own credentials. */
    readonly viewer: Viewer | null;
    readonly csrf: string | null;
    /** Below `/runs/:id` only. */
    readonly visible: VisibleRun;
  };
}

export type WebContext = Context<WebEnv>;
