import { z } from 'zod';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { BranchDeletion, RepositoryHandle } from '../../ports/index.ts';
import { Pull, Ref } from './answers.ts';
import type { Calls } from './calls.ts';
import { PAGE } from './client.ts';
import { unless } from './faults.ts';

/** Pattern of candidates' branches: no other branch may ever be deleted. */
const CANDIDATES = /^auto-dev\/\d+\/r[0-9a-z]{10}\/[A-Z]+$/;

interface BranchCalls {
  readonly read: Calls;
  readonly write: Calls;
}

/**
 * Deletes the branch of a candidate if it is unchanged since Runoff pushed it. GitHub's REST API cannot compare and
 * delete in one step: a commit pushed in between, at most a second, still exists in its author's clone.
 */
export async function deleteBranch(
  { repositoryId }: RepositoryHandle,
  name: string,
  at: Sha,
  { read, write }: BranchCalls,
): Promise<BranchDeletion> {
  if (!CANDIDATES.test(name)) {
    throw new Fault('INTERNAL', `The branch ${JSON.stringify(name)} is not that of a candidate.`);
  }
  const shown = await read(async ({ rest }, where) => {
    const head = `${where.owner}:${name}`;
    const { data } = await rest.pulls.list({ ...where, state: 'open', head, per_page: PAGE });
    // GitHub ignores unknown filters, so the result is checked.
    const mine = z.array(Pull).parse(data);
    return mine.some((pull) => pull.head.ref === name && pull.head.repo?.id === repositoryId);
  });
  if (shown) return 'shown';
  const standing = await branchHead(read, name);
  if (standing !== at) return standing === null ? 'gone' : 'moved';
  // 422: it was deleted meanwhile, or a rule protects it; reading it again shows which.
  const deleted = await write(({ rest }, where) =>
    unless(422, async () => (await rest.git.deleteRef({ ...where, ref: `heads/${name}` })).status),
  );
  if (deleted !== null) return 'deleted';
  return (await branchHead(read, name)) === null ? 'gone' : 'ruled';
}

const branchHead = (read: Calls, name: string): Promise<Sha | null> =>
  read(async ({ rest }, where) => {
    const found = await unless([404, 409], () => rest.git.getRef({ ...where, ref: `heads/${name}` }));
    return found && Ref.parse(found.data).object.sha;
  });
