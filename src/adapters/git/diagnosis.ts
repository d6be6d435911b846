import { rename } from 'node:fs/promises';
import { Fault } from '../../core/model/index.ts';
import { localFailure } from './faults.ts';
import { exists, hasCode, type Layout } from './layout.ts';
import type { Soundness } from './soundness.ts';

const KEY = /[0-9a-f]{24}/g;

/**
 * Finds out whether a fault comes of a damaged repository of ours: then it is STORED_DATA_DAMAGED, whose message people may
 * see, and the next call makes the repository again. A mirror is fetched again; the store of candidates' trees is set aside,
 * and trees are made again from their patches.
 */
export function openDiagnosis(parts: {
  readonly layout: Layout;
  readonly soundness: Soundness;
  readonly onDamage: (path: string, why: string) => void;
}): (fault: Fault) => Promise<Fault> {
  const { layout, soundness, onDamage } = parts;

  return async (fault) => {
    const failure = localFailure(fault);
    if (failure === null) return fault;
    for (const key of new Set(`${failure.cwd} ${failure.message}`.match(KEY) ?? [])) {
      const mirror = layout.mirror(key);
      if (!(await exists(mirror))) continue;
      if ((await soundness.damage(mirror)) !== null) {
        await soundness.unmark(mirror);
        return damaged(fault);
      }
      const store = layout.objects(key);
      const why = (await exists(store)) ? await soundness.damage(store) : null;
      if (why === null) continue;
      onDamage(store, why);
      await setAside(store, layout.trash());
      return damaged(fault);
    }
    return fault;
  };
}

/** Without a path: the log has it. */
const damaged = (cause: Fault): Fault =>
  new Fault(
    'STORED_DATA_DAMAGED',
    'A stored copy of the repository is damaged on the machine that runs Runoff.',
    {
      cause,
    },
  );

async function setAside(path: string, name: string): Promise<void> {
  try {
    await rename(path, name);
  } catch (error) {
    // Another call of ours was first.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
