import { Fault } from '../../core/model/index.ts';
import type { GitHub, Log, RepositoryHandle } from '../../ports/index.ts';
import { type Api, type ClientOptions, type Limit, openClient, openLimit } from './client.ts';
import { openPublisher } from './publisher.ts';
import { openReader } from './reader.ts';
import {
  mint,
  openTokenCache,
  PUBLISHER_RIGHTS,
  READER_RIGHTS,
  type Rights,
  type Token,
  type TokenCache,
} from './tokens.ts';

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
  /** Keeps to GitHub's pace: a write a second, a comment or pull request every three. Default true. */
  readonly throttle?: boolean;
  /** Milliseconds before a failed read is repeated first. Default 1000. */
  readonly backOffMs?: number;
  readonly log: Log;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

/** GitHub through an App's installation tokens. Nothing is sent before the first use. Faults: ENVIRONMENT_INVALID. */
export function openGitHub(options: GitHubOptions): GitHub {
  const now = options.now ?? Date.now;
  const client: ClientOptions = {
    apiUrl: serverUrl(options.apiUrl, 'The address of the GitHub API'),
    fetch: options.fetch ?? fetch,
    throttle: options.throttle ?? true,
    backOffMs: options.backOffMs ?? 1000,
    log: options.log,
  };
  const gitUrl = serverUrl(options.gitUrl, 'The address of GitHub');
  const limits = new Map<number, Limit>();
  const readers = new Map<string, TokenCache>();

  function limitOf({ installationId }: RepositoryHandle): Limit {
    const limit = limits.get(installationId) ?? openLimit(now);
    limits.set(installationId, limit);
    return limit;
  }
  const queueOf = ({ installationId }: RepositoryHandle): string => `installation ${installationId}`;
  const withToken =
    (repository: RepositoryHandle, repeat: boolean) =>
    (token: string): Api =>
      openClient(client, { kind: 'token', token }, { repeat, queue: queueOf(repository) });

  function minter(repository: RepositoryHandle, rights: Rights): () => Promise<Token> {
    const { appId, privateKey } = options;
    const signIn = { kind: 'app', appId, privateKey } as const;
    const app = openClient(client, signIn, { repeat: true, queue: queueOf(repository) });
    return () => mint(app, limitOf(repository), repository, rights, now);
  }

  return {
    appId: options.appId,

    reader: async (repository) => {
      const key = `${repository.installationId} ${repository.repositoryId}`;
      const tokens = readers.get(key) ?? openTokenCache(minter(repository, READER_RIGHTS), now);
      readers.set(key, tokens);
      const limit = limitOf(repository);
      return openReader({ repository, tokens, limit, gitUrl, client: withToken(repository, true) });
    },

    publisher: (repository) =>
      openPublisher({
        appId: options.appId,
        repository,
        mint: minter(repository, PUBLISHER_RIGHTS),
        now,
        limit: limitOf(repository),
        log: options.log,
        reads: withToken(repository, true),
        writes: withToken(repository, false),
      }),
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The address without a slash at its end. Tokens go there, so it must be encrypted unless it is this machine. */
function serverUrl(text: string, name: string): string {
  const url = URL.parse(text);
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!url || !safe || url.username || url.password || url.search || url.hash) {
    throw new Fault('ENVIRONMENT_INVALID', `${name} must be an https address without a password or query.`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
