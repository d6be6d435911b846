import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Mutex } from 'async-mutex';
import type { Commit } from './client.ts';
import {
  bareDirectory,
  branches,
  copyBare,
  currentBranch,
  git,
  gitWithInput,
  type Refs,
  readBlobs,
} from './git.ts';
import { isObject, listAt, numberAt, objectAt, textAt } from './json.ts';
import { fixResponse } from './response-fixes.ts';
import { type GitHubState, hasRole, ownerToken, type Repository } from './state.ts';

/**
 * Takes over into the emulator what a push brought: objects first, each checked to have the same name there, then
 * branches with the pusher's token. Open pull requests from a moved branch get their `synchronize` webhook.
 */
export async function importPush(
  state: GitHubState,
  repository: Repository,
  before: Refs,
  token: string,
): Promise<void> {
  const after = await branches(repository.directory);
  const changed = Object.entries(after).filter(([ref, sha]) => before[ref] !== sha);
  if (changed.length > 0) await importCommits(state, repository, changed, before);
  const refs = `/repos/${repository.fullName}/git/refs`;
  const path = (ref: string): string => `${refs}/${ref.slice('refs/'.length)}`;
  for (const [ref, sha] of changed) {
    if (before[ref]) await state.emulator.call('PATCH', path(ref), token, { sha, force: true });
    else await state.emulator.call('POST', refs, token, { ref, sha });
  }
  for (const ref of Object.keys(before)) {
    if (!after[ref]) await state.emulator.call('DELETE', path(ref), token);
  }
  for (const [ref, sha] of changed) {
    const old = before[ref];
    if (old) await announce(state, repository, { ref, before: old, after: sha, token });
  }
}

export async function importCommits(
  state: GitHubState,
  repository: Repository,
  changed: readonly (readonly [string, string])[],
  before: Refs,
): Promise<void> {
  const wanted = changed.map(([, sha]) => sha);
  // What a fork began with in the emulator is not in git.
  const known = Object.values(before)
    .filter((sha) => repository.imported.has(sha))
    .map((sha) => `^${sha}`);
  // Parents come before their children.
  const list = await git(repository.directory, 'rev-list', '--reverse', '--topo-order', ...wanted, ...known);
  for (const sha of list.split('\n')) {
    if (sha !== '' && !repository.imported.has(sha)) await importCommit(state, repository, sha);
  }
}

async function importCommit(state: GitHubState, repository: Repository, sha: string): Promise<void> {
  const text = await git(repository.directory, 'cat-file', 'commit', sha);
  const end = text.indexOf('\n\n');
  const header = text.slice(0, end).split('\n');
  const fields = (key: string): string[] =>
    header.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  if (fields('gpgsig').length > 0) {
    throw new Error(`The local GitHub cannot hold signed commits, and ${sha} is signed.`);
  }
  const tree = fields('tree')[0] ?? '';
  await importTree(state, repository, tree);
  await create(state, repository, 'commits', sha, {
    message: text.slice(end + 2),
    tree,
    parents: fields('parent'),
    author: person(fields('author')[0] ?? ''),
    committer: person(fields('committer')[0] ?? ''),
  });
}

/** `Name <mail> seconds +hhmm` as the API has it. */
function person(line: string) {
  const match = /^(.*) <(.*)> (\d+) ([+-])(\d\d)(\d\d)$/.exec(line);
  if (!match) throw new Error(`Not an author line: ${line}`);
  const [, name = '', email = '', seconds, sign, hours, minutes] = match;
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const local = new Date((Number(seconds) + offset * 60) * 1000).toISOString().slice(0, 19);
  return { name, email, date: `${local}${sign}${hours}:${minutes}` };
}

async function importTree(state: GitHubState, repository: Repository, sha: string): Promise<void> {
  if (repository.imported.has(sha)) return;
  const out = await git(repository.directory, 'ls-tree', '-z', sha);
  const rows = out
    .split('\0')
    .filter((row) => row !== '')
    .map((row) => {
      const tab = row.indexOf('\t');
      const [mode = '', type = '', object = ''] = row.slice(0, tab).split(' ');
      return { mode, type, sha: object, path: row.slice(tab + 1) };
    });
  const blobs = rows.filter((row) => row.type === 'blob' && !repository.imported.has(row.sha));
  const names = [...new Set(blobs.map((row) => row.sha))];
  const contents = await readBlobs(repository.directory, names);
  for (const [i, name] of names.entries()) {
    const content = contents[i]?.toString('base64') ?? '';
    await create(state, repository, 'blobs', name, { content, encoding: 'base64' });
  }
  for (const row of rows) if (row.type === 'tree') await importTree(state, repository, row.sha);
  await create(state, repository, 'trees', sha, { tree: rows });
}

async function create(
  state: GitHubState,
  repository: Repository,
  kind: 'blobs' | 'trees' | 'commits',
  sha: string,
  body: object,
): Promise<void> {
  const path = `/repos/${repository.fullName}/git/${kind}`;
  const made = await state.emulator.call('POST', path, ownerToken(state, repository), body);
  if (textAt(made, 'sha') !== sha) {
    throw new Error(`The emulator named an object of ${kind} ${textAt(made, 'sha')}; git names it ${sha}.`);
  }
  repository.imported.add(sha);
}

async function announce(
  state: GitHubState,
  repository: Repository,
  move: { ref: string; before: string; after: string; token: string },
): Promise<void> {
  const { emulator } = state;
  const own = ownerToken(state, repository);
  const at = `/repos/${repository.fullName}`;
  const branch = encodeURIComponent(`${repository.owner}:${move.ref.slice('refs/heads/'.length)}`);
  const pulls = await emulator.call('GET', `${at}/pulls?state=open&head=${branch}`, own);
  const login = state.tokens.get(move.token)?.login ?? repository.owner;
  for (const pull of listAt({ pulls }, 'pulls')) {
    const number = numberAt(pull, 'number') ?? 0;
    const payload = {
      action: 'synchronize',
      number,
      before: move.before,
      after: move.after,
      pull_request: await emulator.call('GET', `${at}/pulls/${number}`, own),
      repository: await emulator.call('GET', at, own),
      sender: simpleUser(await emulator.call('GET', `/users/${encodeURIComponent(login)}`, own)),
      installation: { id: repository.installationId, node_id: `I_${repository.installationId}` },
    };
    const fixed = await fixResponse(state, payload);
    if (isObject(fixed)) state.hooks.deliver('pull_request', fixed);
  }
}

/** What GitHub shows of an account inside other answers. */
export function simpleUser(account: unknown) {
  const all = objectAt({ account }, 'account');
  const kept = SIMPLE_FIELDS.map((key) => [key, all[key]] as const);
  return Object.fromEntries(kept);
}

const SIMPLE_FIELDS = [
  'login',
  'id',
  'node_id',
  'avatar_url',
  'gravatar_id',
  'url',
  'html_url',
  'followers_url',
  'following_url',
  'gists_url',
  'starred_url',
  'subscriptions_url',
  'organizations_url',
  'repos_url',
  'events_url',
  'received_events_url',
  'type',
  'site_admin',
] as const;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Refuses pushes to branches that match, in all repositories, in GitHub's words for a broken rule. `pattern` is a
 * shell pattern of branch names such as `auto-dev/*`.
 */
export async function protect(state: GitHubState, pattern: string, message: string): Promise<void> {
  if (!/^[\w./*?-]+$/.test(pattern)) throw new Error(`Not a pattern of branch names: ${pattern}`);
  state.rules.push({ pattern, message });
  const cases = state.rules.map(
    (rule) => `refs/heads/${rule.pattern})
  echo "error: GH013: Repository rule violations found for $1." >&2
  echo ${quoted(`- ${rule.message}`)} >&2
  exit 1;;`,
  );
  const script = `#!/bin/sh\ncase "$1" in\n${cases.join('\n')}\nesac\n`;
  for (const { directory } of state.repositories.values()) {
    const hook = join(directory, 'hooks', 'update');
    await mkdir(join(directory, 'hooks'), { recursive: true });
    await writeFile(hook, script);
    await chmod(hook, 0o755);
  }
}

/** Copies a repository to a user's account, where the App is not installed. */
export async function fork(
  state: GitHubState,
  parent: Repository,
  by: { readonly login: string; readonly token: string },
): Promise<Repository> {
  const made = await state.emulator.call('POST', `/repos/${parent.fullName}/forks`, by.token, {});
  const fullName = textAt(made, 'full_name');
  const directory = bareDirectory(state.root, fullName);
  await copyBare(parent.directory, directory);
  const repository: Repository = {
    id: numberAt(made, 'id') ?? 0,
    owner: by.login,
    name: textAt(made, 'name'),
    fullName,
    private: parent.private,
    archived: false,
    directory,
    installationId: 0,
    forkOf: parent.id,
    collaborators: new Map(),
    imported: new Set(),
    movedMerges: new Map(),
    mutex: new Mutex(),
  };
  state.repositories.set(fullName, repository);
  // The emulator fills a fork with a first commit of its own.
  const branch = `heads/${textAt(made, 'default_branch')}`;
  const token = ownerToken(state, repository);
  const seeded = await state.emulator.call('GET', `/repos/${fullName}/git/ref/${branch}`, token);
  await importPush(state, repository, { [`refs/${branch}`]: textAt(seeded, 'object', 'sha') }, token);
  return repository;
}

/** Puts one commit on a branch, as a push of this user would; resolves with its SHA. */
export async function commitTo(
  state: GitHubState,
  repository: Repository,
  by: { readonly login: string; readonly token: string },
  commit: Commit,
): Promise<string> {
  if (!hasRole(repository, by.login, 'push')) {
    throw new Error(`${by.login} may not push to ${repository.fullName}.`);
  }
  return repository.mutex.runExclusive(async () => {
    const { directory } = repository;
    const before = await branches(directory);
    const ref = `refs/heads/${commit.branch}`;
    const start = before[ref] ?? before[`refs/heads/${commit.from ?? (await currentBranch(directory))}`];
    if (start === undefined) throw new Error(`${repository.fullName} has no branch to start from.`);
    await gitWithInput(directory, streamOf(ref, start, by.login, commit), 'fast-import', '--quiet');
    await importPush(state, repository, before, by.token);
    return (await branches(directory))[ref] ?? '';
  });
}

/** The commit as `git fast-import` reads it. */
function streamOf(ref: string, start: string, login: string, { files, message = 'Change' }: Commit): string {
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const changes = Object.entries(files).map(([path, text]) =>
    text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`,
  );
  const who = `committer ${login} <${login}@example.com> ${Math.floor(Date.now() / 1000)} +0000\n`;
  return `commit ${ref}\n${who}${data(`${message}\n`)}from ${start}\n${changes.join('')}\n`;
}
