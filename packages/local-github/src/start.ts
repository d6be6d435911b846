import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Mutex } from 'async-mutex';
import { APP, appJwt, type Emulator, FIRST_INSTALLATION, startEmulator } from './emulator.ts';
import { createFaults } from './faults.ts';
import { bareDirectory, copyBare, currentBranch } from './git.ts';
import { type JsonObject, numberAt, objectAt, textAt } from './json.ts';
import { publicApi } from './pages.ts';
import { importPush, simpleUser } from './push.ts';
import { type LocalServer, type ServedState, startServer } from './server.ts';
import { newUserFlow } from './sign-in.ts';
import { type GitHubState, ownerToken, type Repository, type TokenHolder } from './state.ts';
import type { LocalGitHub, LocalGitHubOptions, LocalRepository } from './types.ts';
import { openWebhookRelay, type WebhookRelay } from './webhooks.ts';

/**
 * A GitHub on 127.0.0.1: REST, App authentication, webhooks and git over HTTP, with a few pages to look at.
 * Needs no network and no account. Rejects when a repository cannot be copied.
 */
export async function startLocalGitHub(options: LocalGitHubOptions): Promise<LocalGitHub> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await start(options, undo, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  options: LocalGitHubOptions,
  undo: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<LocalGitHub> {
  const root = await mkdtemp(join(tmpdir(), 'local-github-'));
  undo.push(() => rm(root, { recursive: true, force: true }));
  const branchOf = new Map<LocalRepository, string>();
  for (const repository of options.repositories) {
    const directory = bareDirectory(root, `${repository.owner}/${repository.name}`);
    await copyBare(repository.from, directory);
    branchOf.set(repository, await currentBranch(directory));
  }

  let served: ServedState | undefined;
  const front = await startServer(options.port ?? 0, () => served);
  undo.push(() => front.close());
  const hookPath = `/_hooks/${randomUUID()}`;
  const secrets = {
    webhook: randomBytes(32).toString('hex'),
    userTokens: new Map(options.users.map((login) => [login, `ghp_${randomBytes(18).toString('hex')}`])),
  };
  const relay = openWebhookRelay({
    secret: secrets.webhook,
    appId: APP.id,
    url: options.webhookUrl,
    onDelivery: options.onDelivery,
    inbox: new URL(hookPath, front.url),
  });
  undo.push(() => relay.close());

  const owners = [...new Set(options.repositories.map(({ owner }) => owner))];
  const emulator = await startEmulator({
    front: front.url,
    hookUrl: new URL(hookPath, front.url).href,
    users: options.users,
    tokens: Object.fromEntries([...secrets.userTokens].map(([login, token]) => [token, login])),
    repositories: options.repositories.map((repository) => ({
      owner: repository.owner,
      name: repository.name,
      private: repository.private ?? false,
      defaultBranch: branchOf.get(repository) ?? 'main',
    })),
    owners,
    rights: options.rights,
    nonce: randomUUID(),
  });
  undo.push(() => emulator.close());

  const state = await furnish({ options, front, emulator, relay, owners, root, secrets });
  served = { state, relay, hookPath };
  return publicApi({ state, secrets, close, fetch: options.fetch });
}

interface Furnishing {
  readonly options: LocalGitHubOptions;
  readonly front: LocalServer;
  readonly emulator: Emulator;
  readonly relay: WebhookRelay;
  readonly owners: readonly string[];
  readonly root: string;
  readonly secrets: { readonly userTokens: ReadonlyMap<string, string> };
}

const nothingYet = () => ({
  formerNames: new Map(),
  reactions: [],
  minimised: [],
  statuses: [],
  pullEvents: [],
  ownChecks: new Set<number>(),
  suspended: new Map(),
  uninstalled: new Set<number>(),
  withdrawn: new Set<number>(),
  rules: [],
  faults: createFaults(),
  edited: new Map(),
});

/** Brings the repositories, roles and the App's account into the emulator. */
async function furnish(f: Furnishing): Promise<GitHubState> {
  const repositories = new Map<string, Repository>();
  const tokens = new Map<string, TokenHolder>();
  for (const [login, token] of f.secrets.userTokens) tokens.set(token, { login });
  const app: JsonObject = {};
  const state: GitHubState = {
    baseUrl: f.front.url,
    emulator: f.emulator,
    root: f.root,
    repositories,
    ...nothingYet(),
    tokens,
    userFlow: newUserFlow(f.options.users),
    app,
    hooks: f.relay,
  };
  for (const { owner, name, private: hidden = false } of f.options.repositories) {
    const fullName = `${owner}/${name}`;
    const facts = await f.emulator.call('GET', `/repos/${fullName}`, f.emulator.ownToken(owner));
    const repository: Repository = {
      id: numberAt(facts, 'id') ?? 0,
      owner,
      name,
      fullName,
      private: hidden,
      archived: false,
      directory: bareDirectory(f.root, fullName),
      installationId: FIRST_INSTALLATION + f.owners.indexOf(owner),
      collaborators: new Map(Object.entries(f.options.collaborators ?? {})),
      imported: new Set(),
      movedMerges: new Map(),
      mutex: new Mutex(),
    };
    repositories.set(fullName, repository);
    await importPush(state, repository, {}, ownerToken(state, repository));
    for (const [login, permission] of repository.collaborators) {
      const path = `/repos/${fullName}/collaborators/${login}`;
      await f.emulator.call('PUT', path, ownerToken(state, repository), { permission });
    }
  }
  await createBot(state);
  Object.assign(app, await describeApp(state));
  return state;
}

/** The emulator makes the App's own account at its first write; so let it write the empty blob. */
async function createBot(state: GitHubState): Promise<void> {
  const jwt = appJwt(state.emulator.privateKey);
  for (const repository of state.repositories.values()) {
    const path = `/app/installations/${repository.installationId}/access_tokens`;
    const minted = await state.emulator.call('POST', path, jwt, {});
    const blob = { content: '', encoding: 'utf-8' };
    const blobs = `/repos/${repository.fullName}/git/blobs`;
    await state.emulator.call('POST', blobs, textAt(minted, 'token'), blob);
  }
}

/** The App as comments of its own name it. */
async function describeApp(state: GitHubState): Promise<JsonObject> {
  const [first] = state.repositories.values();
  const owner = first?.owner ?? '';
  const app = await state.emulator.call('GET', '/app', appJwt(state.emulator.privateKey));
  const account = await state.emulator.call('GET', `/users/${owner}`, state.emulator.ownToken(owner));
  const { installations_count, ...rest } = objectAt({ app }, 'app');
  return { ...rest, owner: simpleUser(account) };
}

/** The environment variables that make Runoff the App of this GitHub. */
export const appEnvironment = ({ appId, privateKey, webhookSecret, apiUrl, userFlow }: LocalGitHub) => ({
  APP_ID: String(appId),
  GITHUB_CLIENT_ID: userFlow.clientId,
  GITHUB_CLIENT_SECRET: userFlow.clientSecret,
  PRIVATE_KEY: privateKey,
  WEBHOOK_SECRET: webhookSecret,
  GITHUB_API_URL: apiUrl,
});
