import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { Fault, fullNameOf } from '../../core/model/index.ts';
import type { InstalledRepository, Log, RepositoryHandle } from '../../ports/index.ts';
import { Installation, InstalledRepositoryAnswer, MintedToken } from './answers.ts';
import { type Api, PAGE, pagesOf } from './client.ts';
import { type Pace, statusOf, unless } from './faults.ts';

/** Installation tokens are valid for an hour; this leaves ten minutes for work that has begun. */
const TOKEN_LIFE_MS = 50 * 60_000;
/** GitHub's tokens expire after an hour: there is nothing left to give back. */
const TOKEN_VALID_MS = 60 * 60_000;

type Granted = Readonly<
  Partial<
    Record<'checks' | 'contents' | 'issues' | 'metadata' | 'pull_requests' | 'statuses', 'read' | 'write'>
  >
>;

/** Rights of a token; GitHub adds nothing to them. */
export interface Rights {
  readonly needed: Granted;
  /** Requested since a later version: installations whose owner has not accepted it yet work without it. */
  readonly checks: Granted;
}

export const READER_RIGHTS = {
  needed: { contents: 'read', issues: 'read', metadata: 'read', pull_requests: 'read' },
  checks: { checks: 'read', statuses: 'read' },
} as const satisfies Rights;

export const PUBLISHER_RIGHTS = {
  needed: { contents: 'write', issues: 'write', pull_requests: 'write' },
  checks: { checks: 'write' },
} as const satisfies Rights;

/** A token in memory. `mintedAt` is in milliseconds since 1970. */
export interface Token {
  readonly secret: string;
  readonly mintedAt: number;
  /** Whether it may see, or make, checks. */
  readonly checks: boolean;
}

interface MintParts {
  /** Signs in as the App. */
  readonly app: Api;
  /** The same at any address. */
  asApp(): Promise<Api>;
  readonly pace: Pace;
  readonly repository: RepositoryHandle;
  readonly rights: Rights;
  now(): number;
  /** Called if the installation has not granted access to checks. */
  lacksChecks(): void;
}

/** GitHub's statuses for an installation that does not exist, and for one without the repository. */
const NO_ACCESS: ReadonlySet<number | undefined> = new Set([404, 422]);

/**
 * Creates a token for one repository with these rights. Retries after server errors, since an unused token expires. A
 * suspended or deleted installation is refused at once. If the App was installed again, or the repository moved to
 * another account, the token is of its present installation: the handle of an earlier run has the former one.
 */
export async function mint(parts: MintParts): Promise<Token> {
  const { pace, repository, rights, now, lacksChecks } = parts;
  const mintedAt = now();
  const tokenOf = async (installationId: number): Promise<Token> => {
    try {
      const secret = await ask(parts, installationId, { ...rights.needed, ...rights.checks });
      return { secret, mintedAt, checks: true };
    } catch (error) {
      if (statusOf(error) !== 422) throw error;
      const secret = await ask(parts, installationId, rights.needed);
      lacksChecks();
      return { secret, mintedAt, checks: false };
    }
  };
  return pace.run(`give a token for ${fullNameOf(repository)}`, async () => {
    try {
      return await tokenOf(repository.installationId);
    } catch (error) {
      if (!NO_ACCESS.has(statusOf(error))) throw error;
      const present = await presentInstallation(parts);
      if (present === null || present === repository.installationId) throw error;
      return tokenOf(present);
    }
  });
}

async function ask(
  { app, repository }: MintParts,
  installationId: number,
  permissions: Granted,
): Promise<string> {
  const { data } = await app.rest.apps
    .createInstallationAccessToken({
      installation_id: installationId,
      repository_ids: [repository.repositoryId],
      permissions,
    })
    .catch((error: unknown) => {
      throw keyFault(error) ?? error;
    });
  return MintedToken.parse(data).token;
}

/** By the repository's id: its name may be another one's now. Null if the App is not installed there. */
async function presentInstallation({ asApp, repository }: MintParts): Promise<number | null> {
  const api = await asApp();
  const id = repository.repositoryId;
  // The URL to which GitHub redirects old names.
  const found = await unless(404, () => api.request('GET /repositories/{id}/installation', { id }));
  return found && Installation.parse(found.data).id;
}

/** A key that cannot sign fails before anything is sent. */
function keyFault(error: unknown): Fault | null {
  if (!(error instanceof Error) || 'status' in error) return null;
  const message = `The private key of the GitHub App cannot sign: ${error.message}`;
  return new Fault('ENVIRONMENT_INVALID', message);
}

/** A token that is created on first use, and again when it is old or was dropped. */
export interface TokenCache {
  get(): Promise<Token>;
  /** A token that is good for an hour from now. */
  fresh(): Promise<Token>;
  drop(token: Token): void;
}

export function openTokenCache(mintToken: () => Promise<Token>, now: () => number): TokenCache {
  let current: Promise<Token> | undefined;
  let minted: Token | undefined;
  const renew = (): Promise<Token> => {
    const minting = mintToken();
    current = minting;
    minted = undefined;
    minting.then(
      (token) => {
        if (current === minting) minted = token;
      },
      () => {
        if (current === minting) current = undefined;
      },
    );
    return minting;
  };
  return {
    get: async () => {
      const token = await (current ?? renew());
      return now() - token.mintedAt < TOKEN_LIFE_MS ? token : renew();
    },
    fresh: renew,
    drop: (token) => {
      if (minted === token) current = undefined;
    },
  };
}

/**
 * The App's private key in the form used for signing, converted once: GitHub issues keys in an older format, which the
 * library would convert for every token. Invalid text is returned unchanged and causes an error when used.
 */
export function signingKey(pem: string): string {
  const read = (): string =>
    createPrivateKey(pem.replaceAll(String.raw`\n`, '\n'))
      .export({ type: 'pkcs8', format: 'pem' })
      .toString();
  try {
    return read();
  } catch {
    // Node 24 can throw a leftover OpenSSL error of an earlier operation here; a second try succeeds.
    try {
      return read();
    } catch {
      return pem;
    }
  }
}

const MAX_REPOSITORIES = 1_000;
const MAX_INSTALLATION_PAGES = MAX_REPOSITORIES / PAGE;

const InstalledPage = z.object({ repositories: z.array(InstalledRepositoryAnswer) });

interface InstallationsParts {
  /** Signs in as the App. */
  readonly app: Api;
  client(token: string): Api;
  readonly pace: Pace;
  readonly log: Log;
}

/** Every repository that the App is installed on now; suspended installations are left out. */
export async function listRepositories(parts: InstallationsParts): Promise<readonly InstalledRepository[]> {
  const { app, pace } = parts;
  const installations = await pace.run('list the installations of this App', () =>
    pagesOf(async (page) => {
      const { data } = await app.rest.apps.listInstallations({ per_page: PAGE, page });
      return z.array(Installation).parse(data);
    }, MAX_INSTALLATION_PAGES),
  );
  const found: InstalledRepository[] = [];
  for (const { id, created_at: installedAt, suspended_at: suspended } of installations) {
    if (found.length >= MAX_REPOSITORIES) break;
    if (suspended) continue;
    const repositories = await ofInstallation(parts, id);
    found.push(...repositories.map((one) => ({ ...one, installedAt })));
  }
  return found.slice(0, MAX_REPOSITORIES);
}

/** Empty if it was suspended or deleted since it was listed. */
async function ofInstallation(
  parts: InstallationsParts,
  installationId: number,
): Promise<readonly RepositoryHandle[]> {
  const { app, client, pace, log } = parts;
  try {
    return await pace.run(`list the repositories of installation ${installationId}`, async () => {
      // The only token for more than one repository: it can read their names, and is revoked at once.
      const { data } = await app.rest.apps.createInstallationAccessToken({
        installation_id: installationId,
        permissions: { metadata: 'read' },
      });
      const api = client(MintedToken.parse(data).token);
      try {
        return await repositoriesOf(api, installationId);
      } finally {
        await api.rest.apps.revokeInstallationAccessToken().catch((error: unknown) => {
          // It runs out within the hour by itself.
          log.warn({ status: statusOf(error) }, 'A GitHub token could not be given back.');
        });
      }
    });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'GITHUB_REFUSED') throw error;
    log.warn({ installationId, detail: error.message }, 'An installation could not be listed.');
    return [];
  }
}

async function repositoriesOf(api: Api, installationId: number): Promise<readonly RepositoryHandle[]> {
  const found = await pagesOf(async (page) => {
    const { data } = await api.rest.apps.listReposAccessibleToInstallation({ per_page: PAGE, page });
    return InstalledPage.parse(data).repositories;
  }, MAX_INSTALLATION_PAGES);
  return found.map(({ id, name, owner }) => ({ installationId, repositoryId: id, owner: owner.login, name }));
}

interface HeldTokensParts {
  readonly log: Log;
  now(): number;
  /** Creates another token. */
  mint(): Promise<Token>;
  /** Creates the client for a token. */
  writes(token: string): Api;
}

/** The tokens of one publisher, the first created at once; none is issued after they were revoked. */
export async function holdTokens(parts: HeldTokensParts) {
  const held = new Set<Token>();
  let closed = false;
  const tokens = openTokenCache(async () => {
    const minted = await parts.mint();
    held.add(minted);
    return minted;
  }, parts.now);
  await tokens.get();

  const open = async (get: () => Promise<Token>): Promise<Token> => {
    if (closed) throw new Fault('INTERNAL', 'A closed publisher was asked to write to GitHub.');
    return get();
  };
  return {
    get: () => open(tokens.get),
    fresh: () => open(tokens.fresh),
    drop: tokens.drop,
    giveBack: async (): Promise<void> => {
      closed = true;
      const valid = [...held].filter(({ mintedAt }) => parts.now() - mintedAt < TOKEN_VALID_MS);
      for (const { secret } of valid) {
        await parts
          .writes(secret)
          .rest.apps.revokeInstallationAccessToken()
          .catch((error: unknown) => {
            // The token expires within the hour anyway; a run must not fail because of it.
            parts.log.warn({ status: statusOf(error) }, 'A GitHub token could not be given back.');
          });
      }
      held.clear();
    },
  };
}
