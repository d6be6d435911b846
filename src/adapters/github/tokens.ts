import { Fault } from '../../core/model/index.ts';
import type { RepositoryHandle } from '../../ports/index.ts';
import { MintedToken } from './answers.ts';
import type { Api, Limit } from './client.ts';

/** Installation tokens are good for an hour; ten minutes are left for what is begun with one. */
export const TOKEN_LIFE_MS = 50 * 60_000;

/** Rights of a token; GitHub adds nothing to them. */
export type Rights = Readonly<
  Partial<Record<'contents' | 'issues' | 'metadata' | 'pull_requests', 'read' | 'write'>>
>;

export const READER_RIGHTS = {
  contents: 'read',
  issues: 'read',
  metadata: 'read',
  pull_requests: 'read',
} as const satisfies Rights;

export const PUBLISHER_RIGHTS = {
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
} as const satisfies Rights;

/** A token in memory. `mintedAt` is in milliseconds since 1970. */
export interface Token {
  readonly secret: string;
  readonly mintedAt: number;
}

/** Asks GitHub for a token of one repository with these rights. Repeated after server errors: a spare one expires. */
export async function mint(
  app: Api,
  limit: Limit,
  repository: RepositoryHandle,
  rights: Rights,
  now: () => number,
): Promise<Token> {
  const mintedAt = now();
  const doing = `give a token for ${repository.owner}/${repository.name}`;
  return limit.run(doing, async () => {
    const { data } = await app.rest.apps
      .createInstallationAccessToken({
        installation_id: repository.installationId,
        repository_ids: [repository.repositoryId],
        permissions: rights,
      })
      .catch((error: unknown) => {
        throw keyFault(error) ?? error;
      });
    return { secret: MintedToken.parse(data).token, mintedAt };
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
