import { type Actor, fullNameOf } from '../core/model/index.ts';
import {
  type ApiToken,
  MAX_TOKEN_NAME,
  MAX_TOKEN_REPOSITORIES,
  TOKEN_DAYS,
  type TokenVerb,
  tokenText,
} from '../core/tokens/index.ts';
import type { RepositoryHandle } from '../ports/index.ts';
import { mayWrite, requireGitHub, type World } from '../runs/index.ts';

/** What a new token may be used for. */
interface TokenUse {
  readonly verbs: readonly TokenVerb[];
  readonly days: number;
  readonly name: string;
}

/** What a new token is for. */
interface TokenRequest extends TokenUse {
  /** Login of the person that it acts for. */
  readonly login: string;
  /** As `owner/name`. */
  readonly repositories: readonly string[];
}

export type MadeToken =
  /** `text` is shown once: it cannot be read again. */
  | { readonly kind: 'made'; readonly token: ApiToken; readonly text: string }
  /** `why`: sentences for whoever asked for it. */
  | { readonly kind: 'refused'; readonly why: string };

type TokenPorts = Pick<World, 'clock' | 'github' | 'random' | 'store'>;

const TOKEN_DAY_MS = 86_400_000;

/**
 * Makes a token for a person who has write access now to each of the repositories; at each use, GitHub is asked again.
 * Faults: GITHUB_UNAVAILABLE, DATABASE_UNAVAILABLE.
 */
export async function makeToken(world: TokenPorts, request: TokenRequest): Promise<MadeToken> {
  const wrong = whyImpossible(request);
  if (wrong !== null) return { kind: 'refused', why: wrong };
  const found = await repositoriesNamed(world, request.repositories);
  if ('missing' in found)
    return {
      kind: 'refused',
      why: `The App is not installed on ${found.missing}, or there is no such repository.`,
    };
  const [first] = found.repositories;
  if (!first) return { kind: 'refused', why: 'Name at least one repository.' };
  const by = await requireGitHub(world).people.byLogin(request.login, first);
  if (!by) return { kind: 'refused', why: `GitHub knows nobody with the login ${request.login}.` };
  return makeTokenFor(world, by, found.repositories, request);
}

/** The same for a person who is signed in, and repositories that they know of. */
export async function makeTokenFor(
  world: TokenPorts,
  { id: userId, login }: Actor,
  repositories: readonly RepositoryHandle[],
  use: TokenUse,
): Promise<MadeToken> {
  const wrong = whyImpossible({ ...use, repositories });
  if (wrong !== null) return { kind: 'refused', why: wrong };
  if (repositories.length === 0) return { kind: 'refused', why: 'Name at least one repository.' };
  const by = { id: userId, login };
  const github = requireGitHub(world);
  for (const repository of repositories) {
    if (!(await mayWrite(await github.reader(repository), by)))
      return {
        kind: 'refused',
        why: `${by.login} has no write access to ${fullNameOf(repository)}. Tokens are made for people who have.`,
      };
  }
  const { id, text } = tokenText(world.random.nonce() + world.random.nonce());
  const createdAt = world.clock.now();
  const { name, verbs, days } = use;
  const token = { id, name, by, repositories, verbs, createdAt, expiresAt: createdAt + days * TOKEN_DAY_MS };
  await world.store.addToken(token, text);
  await world.store.audit({ kind: 'token', what: 'created', token: id, by }, { at: createdAt });
  return { kind: 'made', token, text };
}

function whyImpossible({
  repositories,
  verbs,
  days,
  name,
}: TokenUse & { readonly repositories: readonly unknown[] }): string | null {
  if (verbs.length === 0) return 'Say what the token may be used for: read, run, act.';
  if (repositories.length > MAX_TOKEN_REPOSITORIES)
    return `A token is for at most ${MAX_TOKEN_REPOSITORIES} repositories.`;
  if (!Number.isInteger(days) || days < 1 || days > TOKEN_DAYS.most)
    return `A token expires after 1 to ${TOKEN_DAYS.most} days.`;
  if (name.trim() === '' || name.length > MAX_TOKEN_NAME)
    return `Name the token, with at most ${MAX_TOKEN_NAME} characters, after what uses it.`;
  return null;
}

async function repositoriesNamed(
  world: TokenPorts,
  names: readonly string[],
): Promise<{ readonly repositories: readonly RepositoryHandle[] } | { readonly missing: string }> {
  const installed = new Map(
    (await requireGitHub(world).repositories()).map((one) => [fullNameOf(one).toLowerCase(), one]),
  );
  const repositories: RepositoryHandle[] = [];
  for (const name of new Set(names.map((one) => one.toLowerCase()))) {
    const one = installed.get(name);
    if (!one) return { missing: name };
    const { installationId, repositoryId, owner, name: current } = one;
    repositories.push({ installationId, repositoryId, owner, name: current });
  }
  return { repositories };
}

/**
 * Revokes a token immediately. False if there is no such token, or if it is already revoked. `by`: who did it on a page;
 * null: somebody at the command line.
 */
export async function revokeToken(
  world: Pick<World, 'clock' | 'store'>,
  id: string,
  by: Actor | null = null,
): Promise<boolean> {
  const at = world.clock.now();
  const revoked = await world.store.revokeToken(id, at);
  if (revoked) await world.store.audit({ kind: 'token', what: 'revoked', token: id, by }, { at });
  return revoked;
}
