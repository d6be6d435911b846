import { storePatch } from '../store-patch.ts';
import { applyPatch, areaId, type Bench, inArea } from './execute.ts';
import type { Entry } from './one.ts';

/**
 * A patch that was given as text, as if a coder had left it in a clone of its own: applied inside the sandbox, and collected
 * from there like any other.
 */
export async function collectText(
  bench: Bench,
  alias: string,
  text: string,
): Promise<Pick<Entry, 'patch' | 'note'>> {
  const { world, base, task, signal } = bench;
  return inArea(bench, areaId(task.runId, alias, 'given'), async (area) => {
    const refused = await applyPatch(bench, area, text);
    if (refused) return { note: `does not apply to the base: ${refused}` };
    const collected = await world.workspaces.collect(base, area, signal);
    switch (collected.kind) {
      case 'empty':
        return { note: 'changes nothing' };
      case 'refused':
        return { note: `was refused: ${collected.why}` };
      case 'patch':
        return { note: 'given', patch: await storePatch(world.artifacts, collected.patch) };
    }
  });
}
