import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Sha } from '../../core/model/index.ts';
import { gitFault } from './faults.ts';
import type { Git, Owner } from './git.ts';
import { besides, checkedSha } from './layout.ts';

/** Where a commit can be fetched from, and under which name. */
export interface Handover {
  readonly from: string;
  readonly name: string;
}

/**
 * Lets another user of the host fetch one commit: the folders of objects are closed to them, so they get a bundle that
 * only they can read, for the time of `work`. Our own user fetches from the objects themselves.
 */
export async function handedOver<T>(
  git: Git,
  commit: { readonly objects: string; readonly base: Sha; readonly sha: Sha },
  to: Owner,
  work: (handover: Handover) => Promise<T>,
): Promise<T> {
  const { objects, base, sha } = commit;
  if (to === null) return await work({ from: objects, name: checkedSha(sha) });
  const name = `refs/runoff/handover/${randomBytes(8).toString('hex')}`;
  // Beside the folders, where others may pass; a crash leaves a half-made thing that is swept.
  const bundle = besides(join(dirname(dirname(objects)), 'handover'));
  const ref = join(objects, name);
  const unlock = () => rm(`${bundle}.lock`, { force: true });
  try {
    // Written without git, whose lock files outlive it when it is killed.
    await mkdir(dirname(ref), { recursive: true });
    await writeFile(ref, `${checkedSha(sha)}\n`);
    const args = ['bundle', 'create', '-q', bundle, name, `^${checkedSha(base)}`];
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
