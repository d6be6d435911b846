import { systemClock } from '../../src/adapters/system/index.ts';
import type { PageCommands } from '../../src/commands/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import type {
  GitHub,
  GitHubReader,
  InstalledRepository,
  Permission,
  RepositoryFacts,
  Store,
} from '../../src/ports/index.ts';
import type { World } from '../../src/runs/index.ts';
import { openWeb, type Viewer, type WebAppOptions } from '../../src/web/index.ts';
import { memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

export const mona: Viewer = { kind: 'github', id: 5, login: 'mona', operator: false };
export const CSRF = 'the-token-of-this-test';

/** Pages over a store in memory and a pretended GitHub, whose rights and outages a story sets. */
export interface WebWorld {
  readonly store: Store;
  /** By repository and user, e.g. `42 5`; nobody else has any. */
  readonly rights: Map<string, Permission>;
  /** What GitHub calls repositories, by id; default: as their runs do. */
  readonly names: Map<number, string>;
  /** Repositories on which the App is installed, where a page asks for that list. */
  readonly installed: InstalledRepository[];
  /** Ids of repositories that are public on GitHub. */
  readonly open: Set<number>;
  /** Each question to GitHub: about a right, as `42 5`; about a repository, as `42`; where the App is. */
  readonly asked: string[];
  isDown: boolean;
  /** GitHub refuses to say where the App is installed. */
  isRefused: boolean;
  /** While it is there, GitHub answers only when it resolves. */
  answers: Promise<void> | null;
  /** Milliseconds that have gone by. */
  now: number;
  run(id: string, repositoryId?: number): Promise<void>;
  /** What a viewer gets at a path. */
  get(path: string, viewer: Viewer | null, init?: RequestInit): Promise<Response>;
  /** As when the server stops. */
  close(): void;
}

export function webWorld(
  extra: Omit<Partial<WebAppOptions>, 'world'> & { readonly world?: Partial<World> } = {},
): WebWorld {
  const store = memoryStore();
  const rights = new Map<string, Permission>();
  const names = new Map<number, string>();
  const installed: InstalledRepository[] = [];
  const open = new Set<number>();
  const asked: string[] = [];
  const state = { isDown: false, isRefused: false, answers: null as Promise<void> | null, now: 0 };
  const ask = async (question: string) => {
    asked.push(question);
    await state.answers;
    if (state.isDown) throw new Fault('GITHUB_UNAVAILABLE', 'GitHub answered 502.');
  };
  const github = partial<GitHub>({
    async repositories() {
      await ask('installed');
      if (state.isRefused) throw new Fault('GITHUB_REFUSED', 'GitHub refused: acme is suspended.');
      return installed;
    },
    reader: async ({ repositoryId, owner, name }) =>
      partial<GitHubReader>({
        async permission({ id }) {
          await ask(`${repositoryId} ${id}`);
          return rights.get(`${repositoryId} ${id}`) ?? 'none';
        },
        async repository() {
          await ask(String(repositoryId));
          const fullName = names.get(repositoryId) ?? `${owner}/${name}`;
          return partial<RepositoryFacts>({ fullName, private: !open.has(repositoryId) });
        },
      }),
  });
  const clock = { now: () => state.now, elapsed: () => state.now, sleep: systemClock.sleep };
  const random = { nonce: () => '0'.repeat(32) };
  const world = partial<World>({ store, github, clock, log: silent, random, ...extra.world }, ['diskSpace']);
  let viewer: Viewer | null = null;
  const commands = partial<PageCommands>({});
  const web = openWeb({ commands, identify: async () => viewer && { viewer, csrf: CSRF }, ...extra, world });
  return Object.assign(state, {
    store,
    rights,
    names,
    installed,
    open,
    asked,
    run: async (id: string, repositoryId = 42) => {
      await store.createRun({
        id,
        origin: githubOrigin({ repositoryId }),
        title: `Fix ${id}`,
        request: {},
        at: state.now,
      });
    },
    close: () => web.close(),
    get(path: string, by: Viewer | null, init?: RequestInit) {
      viewer = by;
      return web.fetch(new Request(`http://runoff.test${path}`, init));
    },
  });
}
