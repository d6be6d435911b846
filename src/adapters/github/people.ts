import { z } from 'zod';
import { asFault } from '../../core/model/index.ts';
import type { People, RepositoryHandle } from '../../ports/index.ts';
import { Account, Installation, Repository } from './answers.ts';
import type { Api } from './client.ts';
import { MOVED, type Pace, unless } from './faults.ts';

interface PeopleParts {
  /** Signs in as the App. */
  app(): Api;
  /** Signs in with a user's token; each call is sent once. */
  asPerson(token: string): Api;
  /** Makes a call with a token for this repository. */
  asReader<T>(repository: RepositoryHandle, call: (api: Api) => Promise<T>): Promise<T>;
  readonly pace: Pace;
}

/** Owners and repositories as they appear in URLs; GitHub is not asked about other names. */
const NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,99})$/;
/** What may be sent as a token: a header with other characters would be an error of the HTTP client. */
const TOKEN_CHARACTERS = /^[\x21-\x7e]{1,300}$/;

/** Looks up people on GitHub, and which repositories their own tokens give access to. */
export function openPeople({ app, asPerson, asReader, pace }: PeopleParts): People {
  /** Null if GitHub refuses: what a token cannot see is treated as absent. */
  async function seen<T>(doing: string, call: () => Promise<T | null>): Promise<T | null> {
    try {
      return await pace.run(doing, call);
    } catch (thrown) {
      if (asFault(thrown).code === 'GITHUB_REFUSED') return null;
      throw thrown;
    }
  }
  return {
    ofToken: async (token) => {
      if (!TOKEN_CHARACTERS.test(token)) return null;
      return seen('say whose token it is', async () => {
        const found = await unless(401, () => asPerson(token).rest.users.getAuthenticated());
        if (!found) return null;
        const { id, login, type } = Account.parse(found.data);
        const scopes = z.string().optional().parse(found.headers['x-oauth-scopes']);
        return type === 'User' ? { person: { id, login }, scopes: scopesIn(scopes) } : null;
      });
    },

    repository: async (token, owner, name) => {
      if (!TOKEN_CHARACTERS.test(token) || !NAME.test(owner) || !NAME.test(name)) return null;
      const facts = await seen('find a repository', async () => {
        // A redirect from a former name: another repository may get that name.
        const found = await unless([401, ...MOVED], () =>
          asPerson(token).rest.repos.get({ owner, repo: name }),
        );
        return found && Repository.parse(found.data);
      });
      if (!facts) return null;
      const installation = await seen('find an installation', async () => {
        const found = await unless(404, () => app().rest.apps.getRepoInstallation({ owner, repo: name }));
        return found && Installation.parse(found.data);
      });
      if (!installation || installation.suspended_at) return null;
      const [ownerNow = owner, nameNow = name] = facts.full_name.split('/');
      return { installationId: installation.id, repositoryId: facts.id, owner: ownerNow, name: nameNow };
    },

    byLogin: async (login, through) => {
      if (!NAME.test(login)) return null;
      return seen(`find ${login}`, async () => {
        const found = await unless(404, () =>
          asReader(through, ({ rest }) => rest.users.getByUsername({ username: login })),
        );
        const account = found && Account.parse(found.data);
        return account?.type === 'User' ? { id: account.id, login: account.login } : null;
      });
    },
  };
}

const scopesIn = (header: string | undefined): readonly string[] | null =>
  header === undefined
    ? null
    : header
        .split(',')
        .map((scope) => scope.trim())
        .filter((scope) => scope !== '');
