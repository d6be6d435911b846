import type { ContestRecords } from '../../core/arena/index.ts';
import { Fault, type RunId, type Usd } from '../../core/model/index.ts';
import type { ContestFolder } from '../../ports/index.ts';
import type { World } from '../context.ts';

/** Names a contest in the ledger, wherever its folder lies. */
const ID_FILE = 'contest.id';

/** The budget of a contest. */
export interface ContestPayer {
  /** The contest's name in the ledger, also of its kept answers. */
  readonly runId: RunId;
  /** US dollars that this machine's ledger may contain for the contest. */
  readonly capUsd: Usd;
  /** US dollars that its samples cost, and this machine's ledger does not contain. */
  readonly elsewhereUsd: Usd;
}

/**
 * Who pays for a contest. Its id is a file in its folder, written once, so that a folder that was moved has the same
 * budget and kept answers; what its samples cost counts even if the ledger is another one. `folder` is open to be
 * written. Fault: CONTEST_INVALID.
 */
export async function payerOf(
  { store, random }: Pick<World, 'random' | 'store'>,
  folder: Pick<ContestFolder, 'create' | 'sha256' | 'text'>,
  { contest, samples }: Pick<ContestRecords, 'contest' | 'samples'>,
): Promise<ContestPayer> {
  if ((await folder.text(ID_FILE)) === null) await folder.create(ID_FILE, `${random.nonce()}\n`);
  const id = (await folder.text(ID_FILE))?.trim() ?? '';
  if (!/^[0-9a-f]{32}$/.test(id))
    throw new Fault(
      'CONTEST_INVALID',
      `${ID_FILE}: The id of the contest must be 32 hex digits. Restore the file, or delete it: then the contest gets a new id, and what its samples cost still counts.`,
    );
  const runId = `a${folder.sha256(id).slice(0, 10)}`;
  const here = new Map<string, Usd>();
  for (const { spender, usd } of await store.spendingOf(runId))
    here.set(spender, (here.get(spender) ?? 0) + usd);
  // One by one: what this machine spent on anything else says nothing about these samples.
  const elsewhereUsd = samples
    .filter(({ reusedFrom }) => reusedFrom === null)
    .reduce((sum, { id, usage }) => sum + Math.max(0, usage.usd - (here.get(id) ?? 0)), 0);
  return { runId, capUsd: Math.max(0, contest.budget - elsewhereUsd), elsewhereUsd };
}
