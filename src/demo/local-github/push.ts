import { branches, git, type Refs, readBlobs } from './git.ts';
import { type Inside, ownerToken, type Repository } from './inside.ts';
import { isObject, listAt, numberAt, objectAt, textAt } from './json.ts';
import { repaired } from './repairs.ts';

/**
 * Takes over into the emulator what a push brought: objects first, each checked to have the same name there, then
 * branches with the pusher's token. Open pull requests from a moved branch get their `synchronize` webhook.
 */
export async function takeOver(
  inside: Inside,
  repository: Repository,
  before: Refs,
  token: string,
): Promise<void> {
  const after = await branches(repository.directory);
  const changed = Object.entries(after).filter(([ref, sha]) => before[ref] !== sha);
  if (changed.length > 0) await importCommits(inside, repository, changed, before);
  const refs = `/repos/${repository.fullName}/git/refs`;
  const path = (ref: string): string => `${refs}/${ref.slice('refs/'.length)}`;
  for (const [ref, sha] of changed) {
    if (before[ref]) await inside.emulator.call('PATCH', path(ref), token, { sha, force: true });
    else await inside.emulator.call('POST', refs, token, { ref, sha });
  }
  for (const ref of Object.keys(before)) {
    if (!after[ref]) await inside.emulator.call('DELETE', path(ref), token);
  }
  for (const [ref, sha] of changed) {
    const old = before[ref];
    if (old) await announce(inside, repository, { ref, before: old, after: sha, token });
  }
}

async function importCommits(
  inside: Inside,
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
    if (sha !== '' && !repository.imported.has(sha)) await importCommit(inside, repository, sha);
  }
}

async function importCommit(inside: Inside, repository: Repository, sha: string): Promise<void> {
  const text = await git(repository.directory, 'cat-file', 'commit', sha);
  const end = text.indexOf('\n\n');
  const header = text.slice(0, end).split('\n');
  const fields = (key: string): string[] =>
    header.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  if (fields('gpgsig').length > 0) {
    throw new Error(`The local GitHub cannot hold signed commits, and ${sha} is signed.`);
  }
  const tree = fields('tree')[0] ?? '';
  await importTree(inside, repository, tree);
  await create(inside, repository, 'commits', sha, {
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

async function importTree(inside: Inside, repository: Repository, sha: string): Promise<void> {
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
    await create(inside, repository, 'blobs', name, { content, encoding: 'base64' });
  }
  for (const row of rows) if (row.type === 'tree') await importTree(inside, repository, row.sha);
  await create(inside, repository, 'trees', sha, { tree: rows });
}

async function create(
  inside: Inside,
  repository: Repository,
  kind: 'blobs' | 'trees' | 'commits',
  sha: string,
  body: object,
): Promise<void> {
  const path = `/repos/${repository.fullName}/git/${kind}`;
  const made = await inside.emulator.call('POST', path, ownerToken(inside, repository), body);
  if (textAt(made, 'sha') !== sha) {
    throw new Error(`The emulator named an object of ${kind} ${textAt(made, 'sha')}; git names it ${sha}.`);
  }
  repository.imported.add(sha);
}

async function announce(
  inside: Inside,
  repository: Repository,
  move: { ref: string; before: string; after: string; token: string },
): Promise<void> {
  const { emulator } = inside;
  const own = ownerToken(inside, repository);
  const at = `/repos/${repository.fullName}`;
  const branch = encodeURIComponent(`${repository.owner}:${move.ref.slice('refs/heads/'.length)}`);
  const pulls = await emulator.call('GET', `${at}/pulls?state=open&head=${branch}`, own);
  const login = inside.tokens.get(move.token)?.login ?? repository.owner;
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
    const fixed = await repaired(inside, payload);
    if (isObject(fixed)) inside.hooks.deliver('pull_request', fixed);
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
