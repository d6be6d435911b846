import type { Evidence, TestRun } from '../../core/evidence/index.ts';
import { crossExecute } from './cross.ts';
import type { Bench } from './execute.ts';
import { type Entry, type Examined, examineOne } from './one.ts';
import { inParallel } from './parallel.ts';

/** All that is executed to tell candidates apart, one step after the other. `begins` is told of each candidate. */
export async function gatherEvidence(
  bench: Bench,
  entries: readonly Entry[],
  onBase: TestRun,
  begins: (entry: Entry) => Promise<void> = async () => undefined,
): Promise<readonly Evidence[]> {
  const examined: Examined[] = [];
  try {
    await inParallel(bench.world.parallelChecks, entries, async (entry) => {
      await begins(entry);
      examined.push(await examineOne(bench, entry, onBase));
    });
    examined.sort((a, b) => a.candidate.ordinal - b.candidate.ordinal);
    return await crossExecute(bench, examined);
  } finally {
    for (const one of examined) if (one.built) await bench.world.workspaces.remove(one.built);
  }
}
