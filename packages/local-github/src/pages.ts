import { type Client, clientFor, type RepositoryName } from './client.ts';
import { APP, FIRST_INSTALLATION, okOrThrow } from './emulator.ts';
import { type Json, listAt, numberAt, textAt } from './json.ts';
import { commitTo, fork, protect } from './push.ts';
import { rename } from './rest.ts';
import { setInstalled, suspend, uninstall, unsuspend } from './routes-app.ts';
import { type GitHubState, ownerToken, type Repository } from './state.ts';
import type { LocalGitHub } from './types.ts';

export interface Page {
  readonly status: number;
  readonly html: string;
}

/** Nothing but the page itself and its style is loaded or run. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.8rem;border-radius:6px}
.label{background:#8883;border-radius:9px;padding:0 .5rem;margin-right:.3rem}
small{opacity:.7}`;

/** Pages to look at in a browser: repositories, and the issues and pull requests of public ones, as plain text. */
export async function pageFor(state: GitHubState, path: string): Promise<Page | undefined> {
  if (path === '/') return page('Local GitHub', repositoryList(state));
  const match = /^\/([\w.-]+\/[\w.-]+?)(?:\/(issues|pull)\/(\d+))?\/?$/.exec(path);
  const [, fullName = '', kind, number] = match ?? [];
  const repository = state.repositories.get(fullName);
  if (!repository || repository.private) return undefined;
  if (number === undefined) return overview(state, repository);
  const issue = kind === 'issues' ? await conversation(state, repository, 'issues', number) : undefined;
  // As on GitHub, a pull request's number is good for the issues' address too.
  return issue ?? conversation(state, repository, 'pulls', number);
}

function repositoryList(state: GitHubState): string {
  const open = [...state.repositories.values()].filter((repository) => !repository.private);
  return `<ul>${open.map(({ fullName }) => `<li>${link(`/${fullName}`, fullName)}</li>`).join('')}</ul>`;
}

async function overview(state: GitHubState, repository: Repository): Promise<Page> {
  const read = async (kind: 'issues' | 'pulls'): Promise<readonly Json[]> => {
    const path = `/repos/${repository.fullName}/${kind}?state=all&per_page=100`;
    const items = await state.emulator.call('GET', path, ownerToken(state, repository));
    return listAt({ items }, 'items');
  };
  const list = (items: readonly Json[], kind: 'issues' | 'pull'): string =>
    items
      .map((item) => {
        const number = numberAt(item, 'number');
        const to = `/${repository.fullName}/${kind}/${number}`;
        return `<li>${link(to, `#${number} ${textAt(item, 'title')}`)} <small>${pullOrIssueState(item)}</small></li>`;
      })
      .join('');
  const pulls = list(await read('pulls'), 'pull');
  const issues = list(await read('issues'), 'issues');
  return page(
    repository.fullName,
    `<h2>Pull requests</h2><ul>${pulls}</ul><h2>Issues</h2><ul>${issues}</ul>`,
  );
}

async function conversation(
  state: GitHubState,
  repository: Repository,
  kind: 'issues' | 'pulls',
  number: string,
): Promise<Page | undefined> {
  const at = `/repos/${repository.fullName}`;
  const token = ownerToken(state, repository);
  const item = await okOrThrow(state.emulator.call('GET', `${at}/${kind}/${number}`, token));
  if (item === null) return undefined;
  const comments = await state.emulator.call('GET', `${at}/issues/${number}/comments?per_page=100`, token);
  const labels = listAt(item, 'labels').map(
    (label) => `<span class="label">${escapedHtml(textAt(label, 'name'))}</span>`,
  );
  const branch = kind === 'pulls' ? `${textAt(item, 'head', 'ref')} → ${textAt(item, 'base', 'ref')}` : '';
  return page(
    `${textAt(item, 'title')} #${number}`,
    [
      `<p>${link(`/${repository.fullName}`, repository.fullName)} <small>${pullOrIssueState(item)} ${escapedHtml(branch)}</small></p>`,
      `<p>${labels.join('')}</p>`,
      said(item),
      ...listAt({ comments }, 'comments').map(said),
    ].join('\n'),
  );
}

function pullOrIssueState(item: Json): string {
  const draft = (item as { draft?: Json }).draft === true ? 'draft ' : '';
  const merged = textAt(item, 'merged_at') ? 'merged' : textAt(item, 'state');
  return escapedHtml(`${draft}${merged}`);
}

const said = (item: Json): string =>
  `<p><small>${escapedHtml(`${textAt(item, 'user', 'login')}, ${textAt(item, 'created_at')}`)}</small></p>
<pre>${escapedHtml(textAt(item, 'body'))}</pre>`;

const page = (title: string, body: string): Page => ({
  status: 200,
  html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapedHtml(title)}</title>
<style>${STYLE}</style><h1>${escapedHtml(title)}</h1>${body}</html>`,
});

/** The path is ours; the text is anybody's. */
const link = (path: string, text: string): string =>
  `<a href="${escapedHtml(path)}">${escapedHtml(text)}</a>`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Text for an element or a quoted attribute of HTML. */
export const escapedHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

interface PublicApiParts {
  readonly state: GitHubState;
  readonly secrets: { readonly webhook: string; readonly userTokens: ReadonlyMap<string, string> };
  readonly close: () => Promise<void>;
  readonly fetch: typeof fetch | undefined;
}

/** What tests and the demo see of the local GitHub. */
export function publicApi({ state, secrets, close, fetch }: PublicApiParts): LocalGitHub {
  const apiUrl = `${state.baseUrl}/api/v3`;
  const token = (login: string): string => {
    const own = secrets.userTokens.get(login);
    if (own === undefined) throw new Error(`The local GitHub has no user ${login}.`);
    return own;
  };
  const repositoryAt = ({ owner, name }: RepositoryName): Repository => {
    const repository = state.repositories.get(`${owner}/${name}`);
    if (!repository) throw new Error(`The local GitHub has no repository ${owner}/${name}.`);
    return repository;
  };
  return {
    ...whatIsThere(state, secrets.webhook),
    ...whatOwnersDo(state, repositoryAt),
    apiUrl,
    as: (login): Client => {
      const by = { login, token: token(login) };
      return {
        ...clientFor(apiUrl, by.token, fetch),
        push: (at, commit) => commitTo(state, repositoryAt(at), by, commit),
        fork: async (at) => {
          const { owner, name } = await fork(state, repositoryAt(at), by);
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
    redeliver: (guid) => state.hooks.redeliver(guid),
    settled: () => state.hooks.settled(),
    close,
  };
}

const whatIsThere = (state: GitHubState, webhookSecret: string) => ({
  url: state.baseUrl,
  appId: APP.id,
  botLogin: APP.botLogin,
  privateKey: state.emulator.privateKey,
  webhookSecret,
  userFlow: state.userFlow,
  installationId: FIRST_INSTALLATION,
  deliveries: state.hooks.deliveries,
  reactions: state.reactions,
  minimised: state.minimised,
  faults: state.faults,
});

const whatOwnersDo = (state: GitHubState, repositoryAt: (at: RepositoryName) => Repository) => ({
  rename: (at: RepositoryName, name: string) => rename(state, repositoryAt(at), name),
  setArchived: async (at: RepositoryName, archived: boolean): Promise<void> => {
    const repository = repositoryAt(at);
    const path = `/repos/${repository.fullName}`;
    await state.emulator.call('PATCH', path, ownerToken(state, repository), { archived });
    repository.archived = archived;
  },
  protect: (pattern: string, message: string) => protect(state, pattern, message),
  suspend: (id = FIRST_INSTALLATION) => suspend(state, id),
  unsuspend: (id = FIRST_INSTALLATION) => unsuspend(state, id),
  uninstall: (id = FIRST_INSTALLATION) => uninstall(state, id),
  setInstalled: (at: RepositoryName, installed: boolean) => setInstalled(state, repositoryAt(at), installed),
});
