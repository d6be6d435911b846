import type { PatchSummary } from '../core/model/index.ts';
import { summarise } from '../core/patches/index.ts';
import type { Artifacts, CollectedPatch } from '../ports/index.ts';

/** Stores what was collected; what is told of it fits into a row. */
export async function storePatch(artifacts: Artifacts, patch: CollectedPatch): Promise<PatchSummary> {
  const text = await artifacts.put(patch.text);
  const raw = await artifacts.put(patch.raw);
  return { ...summarise(patch), sha256: text.sha256, tree: patch.tree, text, raw };
}
