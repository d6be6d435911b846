import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildLost, Fault, restarting, type Sha } from '../../core/model/index.ts';
import type { Workspaces } from '../../ports/index.ts';
import { BUNDLED, type CandidateStore } from './candidate-store.ts';
import { gitFault, remoteFault } from './faults.ts';
import type { Git, GitDone } from './git.ts';
import { checkedSha, isSha, temporaryPath } from './layout.ts';
import { inUserRepository, NO_PARENT_REPOSITORY, REMOTE_SILENCE_MS } from './sources.ts';
import type { FileOwner } from './trees.ts';
import { userOf } from './trees.ts';

/** Where, and under which name, a commit can be fetched. */
interface FetchSource {
  readonly from: string;
  readonly name: string;
}

/**
 * Gives another user of the host access to one commit. That user cannot enter the object folders, so they get a bundle
 * that only they can read, for the duration of `work`. If it is Runoff's own user, it fetches from the objects
 * directly.
 */
async function withFetchSource<T>(
  git: Git,
  commit: { readonly objects: string; readonly base: Sha; readonly sha: Sha },
  { as: to, has }: { readonly as: FileOwner; readonly has: (sha: Sha) => Promise<boolean> },
  work: (source: FetchSource) => Promise<T>,
): Promise<T> {
  const { objects, base, sha } = commit;
  if (to === null) return await work({ from: objects, name: checkedSha(sha) });
  const name = `${BUNDLED}/${randomBytes(8).toString('hex')}`;
  // Beside the folders, where others may pass; after a crash a sweep removes it.
  const bundle = temporaryPath(join(dirname(dirname(objects)), 'bundle'));
  const ref = join(objects, name);
  const unlock = () => rm(`${bundle}.lock`, { force: true });
  try {
    // Written without git, whose lock files remain when it is killed.
    await mkdir(dirname(ref), { recursive: true });
    await writeFile(ref, `${checkedSha(sha)}\n`);
    // A base of uncommitted changes is only in our copy, but its parent is the checked-out commit.
    const known = (await has(checkedSha(base))) ? base : `${base}^`;
    const args = ['bundle', 'create', '-q', bundle, name, `^${known}`];
    const done = await git({ cwd: objects, args, onKilled: unlock });
    if (done.exitCode !== 0) throw gitFault('Handing a commit over', done);
    await chmod(bundle, 0o400);
    await chown(bundle, to.uid, to.gid);
    return await work({ from: bundle, name });
  } finally {
    await rm(ref, { force: true });
    await rm(bundle, { force: true });
  }
}

/** The only branches that are ever pushed (I3). */
const PUSHED = 'auto-dev/';

/** Author and committer of a commit. `at`: seconds since 1970 UTC. */
export function identityEnv(
  { name, email }: { readonly name: string; readonly email: string },
  at: number,
): Readonly<Record<string, string>> {
  // With the @, git also accepts small numbers as seconds.
  const date = `@${Math.trunc(at)} +0000`;
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  };
}

type Publishing = Pick<Workspaces, 'commit' | 'branch' | 'push'>;

/** For repositories of which nothing is pruned meanwhile. */
export function openPublishing(git: Git, store: CandidateStore): Publishing {
  return {
    async commit(base, spec) {
      const cwd = await store.at(base.repositoryKey);
      const done = await git({
        cwd,
        args: ['commit-tree', checkedSha(spec.tree), '-p', checkedSha(spec.base), '-F', '-'],
        input: spec.message,
        env: identityEnv(spec.author, spec.at),
      });
      const sha = done.stdout.trim();
      if (done.exitCode !== 0 || !isSha(sha)) throw gitFault('Writing a commit', done);
      return sha;
    },

    async branch(base, path, name, sha) {
      const [ref, objects] = [await branchRef(git, name, path), await store.at(base.repositoryKey)];
      const cwd = await realpath(path);
      const flags = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-prune'];
      // Named explicitly, because the repository's settings could name another program for our source address.
      flags.push('--upload-pack=git-upload-pack');
      const as = await userOf(cwd);
      const has = async (commit: Sha) =>
        (await inUserRepository(git)({ cwd, args: ['cat-file', '-e', `${commit}^{commit}`] })).exitCode === 0;
      const done = await withFetchSource(git, { objects, base: base.sha, sha }, { as, has }, (source) =>
        inUserRepository(git)({
          cwd,
          args: ['fetch', '-q', ...flags, source.from, `+${source.name}:${ref}`],
          onKilled: () => unlock(inUserRepository(git), cwd, ref),
          env: NO_PARENT_REPOSITORY,
          config: { 'core.logAllRefUpdates': 'true' },
          as,
        }),
      );
      if (done.exitCode === 0) return;
      if (/checked out/.test(done.stderr)) {
        throw new Fault('INTERNAL', `Branch ${name} is checked out in ${path}, so it was left as it is.`);
      }
      throw gitFault(`Making branch ${name}`, done);
    },

    async push(base, remote, name, sha, onto) {
      if (!name.startsWith(PUSHED)) {
        throw new Fault('INTERNAL', `Only branches under ${PUSHED} are pushed, and "${name}" is not.`);
      }
      const cwd = await store.at(base.repositoryKey);
      const ref = await branchRef(git, name, cwd);
      if (onto !== undefined) await requireChild(git, cwd, sha, onto);
      const wanted = { ref, sha: checkedSha(sha), onto: onto ? checkedSha(onto) : null };
      const { kind: _, ...end } = await restarting<PushEnd | ChildLost>('git push', sleep, () =>
        pushOnce(git, cwd, remote, wanted),
      );
      return end.value;
    },
  };
}

type Pushed = Awaited<ReturnType<Workspaces['push']>>;

interface PushEnd {
  readonly kind: 'ended';
  readonly value: Pushed;
}

/**
 * Does not read the remote first: to git, a branch that is already at the commit, as after a push that was killed, is up
 * to date whatever the lease says, and the lease refuses any other.
 */
async function pushOnce(
  git: Git,
  cwd: string,
  remote: Parameters<Workspaces['push']>[1],
  wanted: { readonly ref: string; readonly sha: Sha; readonly onto: Sha | null },
): Promise<PushEnd | ChildLost> {
  const { ref, sha, onto } = wanted;
  const ended = (value: Pushed): PushEnd => ({ kind: 'ended', value });
  // The lease allows the push only if the branch is where we know it, or does not exist. The pushed commit is a child
  // of that commit, so a push can create or extend the branch, never overwrite it.
  const lease = `--force-with-lease=${ref}:${onto ?? ''}`;
  const done = await git({
    cwd,
    args: ['push', '--porcelain', '--progress', '--no-verify', lease, remote.url, `${sha}:${ref}`],
    login: remote,
    silenceMs: REMOTE_SILENCE_MS,
    starts: 'once',
  }).catch(asKilled);
  if ('kind' in done) return done;
  if (done.exitCode === 0) return ended({ kind: 'pushed' });
  return ended(await afterRefusal(done, () => shaAt(git, cwd, remote, ref), { sha, onto }));
}

function asKilled(thrown: unknown): ChildLost {
  if (thrown instanceof Fault && thrown.code === 'PROGRAM_KILLED') return { kind: 'lost', how: 'was killed' };
  throw thrown;
}

/** Somebody may have created the branch between our check and our push; any other message is the remote's reason. */
async function afterRefusal(
  done: GitDone,
  look: () => Promise<Sha | null>,
  { sha, onto }: { readonly sha: Sha; readonly onto: Sha | null },
): Promise<Awaited<ReturnType<Workspaces['push']>>> {
  const status = done.stdout.split('\n').find((line) => line.startsWith('!\t'));
  if (status === undefined) {
    // The message is not about the branch: the login was rejected, as when reading the remote.
    throw remoteFault('Pushing', done);
  }
  const at = await look();
  if (at === sha) return { kind: 'pushed' };
  if (at !== onto) return { kind: 'exists', at };
  const reason = status.split('\t')[2] ?? status;
  const remoteMessages = done.stderr
    .split('\n')
    .filter((line) => /^remote: (error|fatal|warning|GH\d|- )/i.test(line));
  return {
    kind: 'refused',
    why: [reason, ...remoteMessages].join(' ').replace(/\s+/g, ' ').trim().slice(0, 600),
  };
}

async function shaAt(
  git: Git,
  cwd: string,
  remote: Parameters<Workspaces['push']>[1],
  ref: string,
): Promise<Sha | null> {
  const done = await git({
    cwd,
    args: ['ls-remote', '-q', remote.url, ref],
    login: remote,
    silenceMs: REMOTE_SILENCE_MS,
  });
  if (done.exitCode !== 0) throw remoteFault(`Reading ${remote.url}`, done);
  const line = done.stdout.split('\n').find((each) => each.slice(41) === ref);
  return line ? line.slice(0, 40) : null;
}

/** Removes the lock that our fetch left on our branch in a user's repository. */
async function unlock(git: Git, cwd: string, ref: string): Promise<void> {
  const env = NO_PARENT_REPOSITORY;
  const asked = await git({ cwd, args: ['rev-parse', '--path-format=absolute', '--git-path', ref], env });
  if (asked.exitCode === 0) await rm(`${asked.stdout.replace(/\n$/, '')}.lock`, { force: true });
}

/** A lease would also allow a commit that is not based on the existing one. */
async function requireChild(git: Git, cwd: string, sha: Sha, onto: Sha): Promise<void> {
  const done = await git({ cwd, args: ['rev-parse', '--verify', '--quiet', `${checkedSha(sha)}^`] });
  if (done.exitCode !== 0 || done.stdout.trim() !== onto) {
    throw new Fault('INTERNAL', `Commit ${sha} is not built on ${onto}, so it was not pushed.`);
  }
}

async function branchRef(git: Git, name: string, cwd: string): Promise<string> {
  const ref = `refs/heads/${name}`;
  const done = await git({ cwd, args: ['check-ref-format', ref] });
  if (done.exitCode !== 0 || name.startsWith('-')) {
    throw new Fault('INTERNAL', `"${name.slice(0, 100)}" cannot be the name of a branch.`);
  }
  return ref;
}
