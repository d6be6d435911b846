import type { Context, Hono } from 'hono';
import type { PageCommands } from '../commands/index.ts';
import type { RunId } from '../core/model/index.ts';
import type { RepositoryHandle, RunRecord } from '../ports/index.ts';
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

/** What a viewer may do with the runs of a repository: `read` shows them, `write` acts on them. */
export type Right = 'none' | 'read' | 'write';

export interface VisibleRun {
  readonly run: RunRecord;
  readonly right: Exclude<Right, 'none'>;
}

/** The one way to what a viewer may see. Viewer null: nobody is signed in. Faults: GITHUB_UNAVAILABLE. */
export interface Access {
  /** Read from GitHub, at most a minute ago. */
  right(viewer: Viewer | null, repository: RepositoryHandle): Promise<Right>;
  /** Null for a run that does not exist and for one that the viewer may not see, after the same work. */
  visibleRun(viewer: Viewer | null, id: RunId): Promise<VisibleRun | null>;
}

/** The person behind a request. */
export interface SignedIn {
  readonly viewer: Viewer;
  /** Goes into every form; a POST without it is refused. */
  readonly csrf: string;
}

export interface WebAppOptions {
  readonly world: World;
  /** Applies what viewers press. */
  readonly commands: PageCommands;
  /** Who sends the request; null if nobody is signed in. */
  readonly identify: (c: Context<WebEnv>) => Promise<SignedIn | null>;
}

/** What the parts of the web app share. Each part is a function from this to a Hono app, mounted in index.ts. */
export interface WebParts extends WebAppOptions {
  readonly access: Access;
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
export type WebPart = (parts: WebParts) => Hono<WebEnv>;
