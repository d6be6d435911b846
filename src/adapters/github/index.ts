import { setTimeout as wait } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';
import { type HostFolder, withoutHostPaths } from '../../core/reports/index.ts';
import { isLoopback } from '../../core/settings/index.ts';
import type { Fence, GitHub, Log, Publisher, RepositoryHandle } from '../../ports/index.ts';
import { MintedToken, OwnApp } from './answers.ts';
import {
  listRepositories,
  mint,
  openTokenCache,
  PUBLISHER_RIGHTS,
  READER_RIGHTS,
  type Rights,
  signingKey,
  type Token,
  type TokenCache,
} from './app.ts';
import { openRepositoryLocation, openUnchanged, type RepositoryLocation, withToken } from './calls.ts';
import { type Api, type ClientOptions, openClient, openClockEpochs } from './client.ts';
import { openPace, type Pace, type PaceParts } from './faults.ts';
import { openPeople } from './people.ts';
import { openPublisher } from './publisher.ts';
import { openReader } from './reader.ts';

export interface GitHubOptions {
  /** The numeric id of the GitHub App. */
  readonly appId: number;
  /** The App's key, PEM. Used to sign only. */
  readonly privateKey: string;
  /** `https://api.github.com`, or `https://HOST/api/v3` for GitHub Enterprise Server. */
  readonly apiUrl: string;
  /** `https://github.com`, or `https://HOST`. */
  readonly gitUrl: string;
  /** Default: Node's own. */
  readonly fetch?: typeof fetch;
  /** Respects GitHub's limits: at most a write a second, 60 a minute and 400 an hour. Default true. */
  readonly throttle?: boolean;
  /** Milliseconds before the first retry of a failed read. Default 1000. */
  readonly backOffMs?: number;
  /** Checked before each write and push; absent: no other process can take over. */
  readonly fence?: Fence | undefined;
  /** Folders of this host, whose paths are removed from published texts. Default: none. */
  readonly hostFolders?: readonly HostFolder[];
  readonly log: Log;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
  /** Monotonic milliseconds. Default: `now` if given, else the system's. */
  readonly elapsed?: () => number;
  /** Waits for the given milliseconds. Default: the system's timer. */
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** GitHub through an App's installation tokens. Nothing is sent before the first use. Faults: ENVIRONMENT_INVALID. */
export function openGitHub(options: GitHubOptions): GitHub {
  const now = options.now ?? (() => Date.now());
  const elapsed = options.elapsed ?? options.now ?? (() => performance.now());
  const client: ClientOptions = {
    apiUrl: serverUrl(options.apiUrl, 'The address of the GitHub API'),
    fetch: options.fetch ?? fetch,
    throttle: options.throttle ?? true,
    backOffMs: options.backOffMs ?? 1000,
    clockEpoch: openClockEpochs(now, elapsed),
    log: options.log,
  };
  const gitUrl = serverUrl(options.gitUrl, 'The address of GitHub');
  const shared = openShared(options, client, { now, elapsed });
  const clientFor =
    (repository: RepositoryHandle, repeat: boolean) =>
    (token: string): Api =>
      openClient(client, { kind: 'token', token }, { repeat, queue: queueOf(repository) });

  const asPublished = withoutHostPaths(options.hostFolders ?? []);

  function minter(repository: RepositoryHandle, rights: Rights): () => Promise<Token> {
    const pace = shared.pace(repository.installationId);
    const { asApp, lacksChecks } = shared;
    const parts = { asApp, pace, repository, rights, now, lacksChecks };
    return () => mint({ app: shared.app(queueOf(repository)), ...parts });
  }

  const readerTokens = (repository: RepositoryHandle): TokenCache =>
    shared.readerTokens(repository, () => openTokenCache(minter(repository, READER_RIGHTS), now));

  return {
    appId: options.appId,
    asPublished,
    people: openPeople({
      app: () => shared.app('app'),
      asPerson: (token) => openClient(client, { kind: 'token', token }, { repeat: false, queue: 'people' }),
      asReader: (repository, call) =>
        withToken(readerTokens(repository), ({ secret }) => call(clientFor(repository, true)(secret))),
      pace: shared.pace(0),
    }),

    repositories: () =>
      listRepositories({
        app: shared.app('app'),
        client: (token) => openClient(client, { kind: 'token', token }, { repeat: true, queue: 'app' }),
        pace: shared.pace(0),
        log: options.log,
      }),

    reader: async (repository) =>
      openReader({
        appId: options.appId,
        repository,
        tokens: readerTokens(repository),
        location: shared.location(repository),
        pace: shared.pace(repository.installationId),
        gitUrl,
        unchanged: shared.unchanged,
        client: clientFor(repository, true),
      }),

    publisher: async (repository, onWrite = async () => undefined) => {
      const publisher = await openPublisher({
        onWrite,
        appId: options.appId,
        repository,
        mint: minter(repository, PUBLISHER_RIGHTS),
        now,
        botLogin: shared.botLogin,
        location: shared.location(repository),
        pace: shared.pace(repository.installationId),
        log: options.log,
        fence: options.fence,
        reads: clientFor(repository, true),
        writes: clientFor(repository, false),
      });
      return withPublicText(publisher, asPublished);
    },
  };
}

const queueOf = ({ installationId }: RepositoryHandle): string => `installation ${installationId}`;

/** Clocks shared by the readers and publishers of one process. */
type Clocks = Pick<PaceParts, 'now' | 'elapsed'>;

function openShared(options: GitHubOptions, client: ClientOptions, { now, elapsed }: Clocks) {
  const paces = new Map<number, Pace>();
  const places = new Map<string, RepositoryLocation>();
  const tokens = new Map<string, TokenCache>();
  let login: Promise<string> | undefined;
  let toldOfChecks = false;
  const privateKey = signingKey(options.privateKey);
  const unchanged = openUnchanged();

  const keyOf = ({ installationId, repositoryId }: RepositoryHandle) => `${installationId} ${repositoryId}`;
  const app = (queue: string): Api => {
    const { appId } = options;
    return openClient(client, { kind: 'app', appId, privateKey }, { repeat: true, queue });
  };
  /** The library signs in as the App only at the addresses on its list. */
  const asApp = async (): Promise<Api> => {
    const { token } = MintedToken.parse(await app('app').auth({ type: 'app' }));
    return openClient(client, { kind: 'token', token }, { repeat: true, queue: 'app' });
  };
  const pace = (installationId: number): Pace =>
    kept(paces, installationId, () =>
      openPace({
        now,
        elapsed,
        sleep: options.sleep ?? wait,
        spaced: client.throttle,
        fence: options.fence,
      }),
    );
  const readLogin = (): Promise<string> =>
    pace(0).run('read what this App is called', async () => {
      const { data } = await app('app').rest.apps.getAuthenticated();
      return `${OwnApp.parse(data).slug}[bot]`;
    });
  return {
    app,
    asApp,
    pace,
    unchanged,
    location: (repository: RepositoryHandle) =>
      kept(places, keyOf(repository), () => openRepositoryLocation(repository, { now, unchanged })),
    readerTokens: (repository: RepositoryHandle, open: () => TokenCache) =>
      kept(tokens, keyOf(repository), open),
    botLogin: () => {
      const asked = login ?? readLogin();
      login = asked;
      asked.catch(() => {
        if (login === asked) login = undefined;
      });
      return asked;
    },
    lacksChecks: () => {
      if (toldOfChecks) return;
      toldOfChecks = true;
      options.log.warn(
        {},
        "An installation has not granted the App's rights to checks, so checks are neither read nor shown there. Its owner can accept them in the installation's settings on GitHub.",
      );
    },
  };
}

function kept<K, V>(all: Map<K, V>, key: K, open: () => V): V {
  const found = all.get(key) ?? open();
  all.set(key, found);
  return found;
}

/** The URL without a trailing slash. It receives tokens, so it must be encrypted unless it is local. */
function serverUrl(text: string, name: string): string {
  const url = URL.parse(text);
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (!url || !safe || url.username || url.password || url.search || url.hash) {
    throw new Fault('ENVIRONMENT_INVALID', `${name} must be an https address without a password or query.`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** A publisher that applies `clean` to every text before it is sent. */
export function withPublicText(publisher: Publisher, clean: (text: string) => string): Publisher {
  return {
    ...publisher,
    comment: (issue, body) => publisher.comment(issue, clean(body)),
    editComment: (id, body) => publisher.editComment(id, clean(body)),
    openDraftPull: (pull) =>
      publisher.openDraftPull({ ...pull, title: clean(pull.title), body: clean(pull.body) }),
    editPull: (number, { title, body }) =>
      publisher.editPull(number, { title: clean(title), body: clean(body) }),
    showCheck: (check) =>
      publisher.showCheck({ ...check, title: clean(check.title), summary: clean(check.summary) }),
  };
}
