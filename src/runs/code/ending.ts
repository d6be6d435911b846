import { asFault, type Candidate, type Fault } from '../../core/model/index.ts';
import { JUDGED_ALL_THE_SAME, tailOf } from '../../core/reports/index.ts';
import type { ExecResult, Lease } from '../../ports/index.ts';
import { patiently } from '../guard.ts';
import { storePatch } from '../store-patch.ts';
import type { Work } from './supervise.ts';

/** Exit code of a coder that saw its time limit come, as `timeout` of the coreutils has it. */
const OUT_OF_TIME = 124;

/** What a candidate's note says between its coder's end and the finished patch. */
export const COLLECTING = 'its patch is being collected';

/** What a candidate's note says while it waits for something outside of it. */
export const waitNote = ({ message }: Fault, wait: number): string =>
  `waits ${Math.round(wait / 1000)} s to be tried again: ${message}`;

type Kept = Pick<Candidate, 'state' | 'note'> & { patch?: Candidate['patch'] & object };

/** Of a coder that may have filled the disk: whatever is in the way of its patch then is its own, and waiting is no use. */
export async function keepIfRoom(work: Work, ending: string | null): Promise<Kept> {
  try {
    return await keepPatch(work, ending, (_world, _signal, keep) => keep());
  } catch (thrown) {
    if (asFault(thrown).code !== 'DISK_FULL') throw thrown;
    return { state: 'failed', note: ending ?? 'it filled the disk' };
  }
}

export async function keepPatch(
  { world, base, area, given, progress, signal }: Work,
  ending: string | null,
  waiting: typeof patiently = patiently,
): Promise<Kept> {
  const say = async (fault: Fault, wait: number) => progress.set({ note: waitNote(fault, wait) });
  const collect = () => world.workspaces.collect(base, area, signal);
  const collected = await waiting(world, signal, collect, say);
  if (given?.kind === 'repair' && collected.kind === 'patch' && collected.patch.tree === given.tree) {
    return { state: 'failed', note: ending ?? 'left its patch as it was' };
  }
  switch (collected.kind) {
    case 'empty':
      return { state: 'failed', note: ending ?? 'ended without changing a file' };
    case 'refused':
      return { state: 'failed', note: `its patch was refused: ${collected.why}` };
    case 'patch':
      return {
        state: 'coded',
        note: ending ? `${ending.replace(/\.$/, '')}; ${JUDGED_ALL_THE_SAME}` : 'done',
        patch: await waiting(world, signal, () => storePatch(world.artifacts, collected.patch), say),
      };
  }
}

/** One clause for people when the coder did not end well; null when it did. */
export function endingOf(result: ExecResult, lease: Lease): string | null {
  const refusal = lease.refusal();
  if (refusal) return `ended after its last call was refused: ${refusal}`;
  switch (result.stopped) {
    case 'wall':
      return `stopped after ${Math.round(result.ms / 1000)} s, its time limit`;
    case 'silence':
      return 'stopped: no output for too long';
    case 'memory':
    case 'disk':
      return `stopped: it used more ${result.stopped} than it may`;
    case 'cancelled':
    case null:
      if (result.exitCode === OUT_OF_TIME) return 'stopped by itself, shortly before its time limit';
      return result.exitCode === 0
        ? null
        : `ended with exit code ${result.exitCode ?? 'none'}${lastWords(result)}`;
  }
}

/** Characters of what an agent said last. */
const MOST_LAST_WORDS = 200;

/** The last line that an agent wrote, best where errors go; nothing where it said nothing. */
function lastWords({ stdout, stderr }: ExecResult): string {
  const last = tailOf(stderr, 1) || tailOf(stdout, 1);
  return last === '' ? '' : `: ${last.slice(0, MOST_LAST_WORDS)}`;
}
