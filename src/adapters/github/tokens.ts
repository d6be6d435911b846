import { Fault } from '../../core/model/index.ts';
import type { RepositoryHandle } from '../../ports/index.ts';
import { MintedToken } from './answers.ts';
import type { Api } from './client.ts';
import { statusOf } from './faults.ts';
import type { Pace } from './pace.ts';

/** Installation tokens are good for an hour; ten minutes are left for what is begun with one. */
export const TOKEN_LIFE_MS = 50 * 60_000;

type Granted = Readonly<
  Partial<
    Record<'checks' | 'contents' | 'issues' | 'metadata' | 'pull_requests' | 'statuses', 'read' | 'write'>
  >
>;

/** Rights of a token; GitHub adds nothing to them. */
export interface Rights {
  readonly needed: Granted;
  /** Asked for since a later version: an installation whose owner has not agreed yet goes on without. */
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

export interface MintParts {
  /** Signs in as the App. */
  readonly app: Api;
  readonly pace: Pace;
  readonly repository: RepositoryHandle;
  readonly rights: Rights;
  now(): number;
  /** Called when the installation has not granted the rights to checks. */
  lacksChecks(): void;
}

/**
 * Asks GitHub for a token of one repository with these rights. Repeated after server errors: a spare one expires. A
 * suspended or deleted installation is refused at once.
 */
export async function mint({ app, pace, repository, rights, now, lacksChecks }: MintParts): Promise<Token> {
  const mintedAt = now();
  const ask = async (permissions: Granted): Promise<string> => {
    const { data } = await app.rest.apps
      .createInstallationAccessToken({
        installation_id: repository.installationId,
        repository_ids: [repository.repositoryId],
        permissions,
      })
      .catch((error: unknown) => {
        throw keyFault(error) ?? error;
      });
    return MintedToken.parse(data).token;
  };
  return pace.run(`give a token for ${repository.owner}/${repository.name}`, async () => {
    try {
      const secret = await ask({ ...rights.needed, ...rights.checks });
      return { secret, mintedAt, checks: true };
    } catch (error) {
      if (statusOf(error) !== 422) throw error;
      const secret = await ask(rights.needed);
      lacksChecks();
      return { secret, mintedAt, checks: false };
    }
  });
}

/** A key that cannot sign fails before anything is sent. */
function keyFault(error: unknown): Fault | null {
  if (!(error instanceof Error) || 'status' in error) return null;
  const message = `The private key of the GitHub App cannot sign: ${error.message}`;
  return new Fault('ENVIRONMENT_INVALID', message);
}

/** A token that is minted when first asked for, and again when it is old or was dropped. */
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
