import { type Client, clientFor, type Place } from './client.ts';
import { commitTo } from './commits.ts';
import { APP, FIRST_INSTALLATION } from './emulator.ts';
import { fork } from './forks.ts';
import { type Inside, ownerToken, type Repository } from './inside.ts';
import { setInstalled, suspend, uninstall, unsuspend } from './installations.ts';
import { rename } from './names.ts';
import { protect } from './protect.ts';
import type { LocalGitHub } from './types.ts';

interface Face {
  readonly inside: Inside;
  readonly secrets: { readonly webhook: string; readonly userTokens: ReadonlyMap<string, string> };
  readonly close: () => Promise<void>;
  readonly fetch: typeof fetch | undefined;
}

/** What tests and the demo see of the local GitHub. */
export function publicFace({ inside, secrets, close, fetch }: Face): LocalGitHub {
  const apiUrl = `${inside.front}/api/v3`;
  const token = (login: string): string => {
    const own = secrets.userTokens.get(login);
    if (own === undefined) throw new Error(`The local GitHub has no user ${login}.`);
    return own;
  };
  const repositoryAt = ({ owner, name }: Place): Repository => {
    const repository = inside.repositories.get(`${owner}/${name}`);
    if (!repository) throw new Error(`The local GitHub has no repository ${owner}/${name}.`);
    return repository;
  };
  return {
    ...whatIsThere(inside, secrets.webhook),
    ...whatOwnersDo(inside, repositoryAt),
    apiUrl,
    as: (login): Client => {
      const by = { login, token: token(login) };
      return {
        ...clientFor(apiUrl, by.token, fetch),
        push: (at, commit) => commitTo(inside, repositoryAt(at), by, commit),
        fork: async (at) => {
          const { owner, name } = await fork(inside, repositoryAt(at), by);
          return { owner, name };
        },
      };
    },
    token,
    handle: (owner, name) => {
      const { id, installationId } = repositoryAt({ owner, name });
      return { installationId, repositoryId: id, owner, name };
    },
    setRole: async ({ owner, name }, login, role) => {
      const path = `/repos/${owner}/${name}/collaborators/${login}`;
      const client = clientFor(apiUrl, token(owner));
      if (role === null) await client.request('DELETE', path);
      else await client.request('PUT', path, { permission: role });
    },
    directory: (owner, name) => repositoryAt({ owner, name }).directory,
    redeliver: (guid) => inside.hooks.redeliver(guid),
    settled: () => inside.hooks.settled(),
    close,
  };
}

const whatIsThere = (inside: Inside, webhookSecret: string) => ({
  url: inside.front,
  appId: APP.id,
  botLogin: APP.botLogin,
  privateKey: inside.emulator.privateKey,
  webhookSecret,
  installationId: FIRST_INSTALLATION,
  deliveries: inside.hooks.deliveries,
  reactions: inside.reactions,
  minimised: inside.minimised,
  faults: inside.faults,
});

const whatOwnersDo = (inside: Inside, repositoryAt: (at: Place) => Repository) => ({
  rename: (at: Place, name: string) => rename(inside, repositoryAt(at), name),
  setArchived: async (at: Place, archived: boolean): Promise<void> => {
    const repository = repositoryAt(at);
    const path = `/repos/${repository.fullName}`;
    await inside.emulator.call('PATCH', path, ownerToken(inside, repository), { archived });
    repository.archived = archived;
  },
  protect: (pattern: string, message: string) => protect(inside, pattern, message),
  suspend: (id = FIRST_INSTALLATION) => suspend(inside, id),
  unsuspend: (id = FIRST_INSTALLATION) => unsuspend(inside, id),
  uninstall: (id = FIRST_INSTALLATION) => uninstall(inside, id),
  setInstalled: (at: Place, installed: boolean) => setInstalled(inside, repositoryAt(at), installed),
});
