import { mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildLost, Fault, restarting, type Sha } from '../../core/model/index.ts';
import type { Workspaces } from '../../ports/index.ts';
import type { CandidateStore } from './candidate-store.ts';
import { gitFault, remoteFault } from './faults.ts';
import type { Git, GitCall, GitDone } from './git.ts';
import { checkedSha, isSha, temporaryPath } from './layout.ts';
import { inUserRepository, NO_PARENT_REPOSITORY, REMOTE_SILENCE_MS } from './sources.ts';
import { removeTree, userOf } from './trees.ts';

interface HandedOver {
  readonly pack: Buffer;
  /** The other repository has neither base nor parent, as one that was cloned anew without its history. */
  readonly isWholeHistory: boolean;
}

/**
 * The objects that a commit adds to what another repository has. That repository may lack the base by now, and always
 * lacks one of uncommitted changes, whose parent is the checked-out commit.
 */
async function packFor(
  git: Git,
  { objects, base, sha }: { readonly objects: string; readonly base: Sha; readonly sha: Sha },
  has: (commit: Sha) => Promise<boolean>,
): Promise<HandedOver> {
  const parent = await git({ cwd: objects, args: ['rev-parse', '--verify', '--quiet', `${base}^`] });
  let known = '';
  for (const commit of [base, parent.stdout.trim()]) {
    if (known === '' && isSha(commit) && (await has(commit))) known = `^${commit}\n`;
  }
  const scratch = temporaryPath(objects);
  await mkdir(scratch, { mode: 0o700 });
  try {
    const done = await git({
      cwd: objects,
      args: ['pack-objects', '--revs', '-q', join(scratch, 'pack')],
      input: `${sha}\n${known}`,
    });
    if (done.exitCode !== 0) throw gitFault('Handing a commit over', done);
    const pack = await readFile(join(scratch, `pack-${done.stdout.trim()}.pack`));
    return { pack, isWholeHistory: known === '' };
  } finally {
    await removeTree(scratch);
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

/** What git says of a branch that a working tree of its repository has checked out, rebases or bisects. */
const IN_USE = /^fatal: cannot force update the branch /m;

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
      const as = await userOf(cwd);
      const inTheirs = (args: readonly string[], more: Partial<GitCall> = {}) =>
        inUserRepository(git)({ cwd, args, env: NO_PARENT_REPOSITORY, as, ...more });
      const has = async (commit: Sha) =>
        (await inTheirs(['cat-file', '-e', `${commit}^{commit}`])).exitCode === 0;
      const { pack, isWholeHistory } = await packFor(
        git,
        { objects, base: base.sha, sha: checkedSha(sha) },
        has,
      );
      // No fetch: it reads addresses in their settings, and starts programs that their settings name.
      // A history is kept as a pack: it would be a file for each of its objects.
      const taking = isWholeHistory ? ['index-pack', '--stdin'] : ['unpack-objects', '-q'];
      const unpacked = await inTheirs(taking, { input: pack });
      if (unpacked.exitCode !== 0) throw gitFault(`Making branch ${name}`, unpacked);
      const unlock = async () => {
        const asked = await inTheirs(['rev-parse', '--path-format=absolute', '--git-path', ref]);
        if (asked.exitCode === 0) await rm(`${asked.stdout.replace(/\n$/, '')}.lock`, { force: true });
      };
      // The branch belongs to this run alone: a lock is what a power failure left of an earlier try.
      await unlock();
      // Unlike `update-ref`, it leaves a branch alone that a working tree has checked out, rebases or bisects.
      const done = await inTheirs(['branch', '-q', '-f', '--no-track', name, sha], {
        onKilled: unlock,
        config: { 'core.logAllRefUpdates': 'true' },
      });
      if (IN_USE.test(done.stderr)) {
        throw new Fault('INTERNAL', `Branch ${name} is in use in ${path}, so it was left as it is.`);
      }
      if (done.exitCode !== 0) throw gitFault(`Making branch ${name}`, done);
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
    .filter((line) => /^remote: (error|fatal|warning|GH\d|\s*- )/i.test(line));
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
