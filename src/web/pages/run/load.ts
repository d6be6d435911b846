import type { TestOutputs } from '../../../core/evidence/index.ts';
import { filesBetween, type PatchFile, readDiff } from '../../../core/patches/index.ts';
import type { RunView } from '../../../core/reports/index.ts';
import type { RunRecord } from '../../../ports/index.ts';
import { readPatch, unlessDamaged, type World } from '../../../runs/index.ts';
import { filesOfComparison, filesOfPatch, filesOfText, type ShownFile } from './diff-files.ts';

type Stored = Pick<World, 'artifacts'>;

/** Null: not kept, or cannot be read. Its form is ours: artifacts are named by the hash of their content. */
export async function loadTestOutputs({ artifacts }: Stored, run: RunRecord): Promise<TestOutputs | null> {
  const ref = run.testResults?.outputs;
  const text = ref ? await unlessDamaged(artifacts.get(ref)) : null;
  return text === null ? null : (JSON.parse(text) as TestOutputs);
}

export interface LoadedDiff {
  readonly files: readonly ShownFile[];
  /** Sentences: why something is not shown as it should be. */
  readonly notes: readonly string[];
}

/** The change of a candidate; null if there is no such candidate or it has no patch. */
export async function loadDiff(
  world: Stored,
  view: Pick<RunView, 'candidates'>,
  alias: string,
): Promise<LoadedDiff | null> {
  const patch = view.candidates.find((one) => one.alias === alias)?.patch;
  if (!patch) return null;
  const parsed = await unlessDamaged(readPatch(world.artifacts, patch));
  if (parsed === null)
    return { files: [], notes: [`The stored patch of ${alias} is missing or damaged and cannot be shown.`] };
  if (parsed.kind === 'patch') return { files: filesOfPatch(parsed.patch.files), notes: [] };
  return {
    files: filesOfText(readDiff(parsed.text)),
    notes: ['Runoff rejected this patch. It is shown as far as it can be read.', ...parsed.reasons],
  };
}

/** From the result of one candidate to that of another; null if one of them has no patch. */
export async function loadComparison(
  world: Stored,
  view: Pick<RunView, 'candidates'>,
  [one, other]: readonly [string, string],
): Promise<LoadedDiff | null> {
  const [before, after] = [await comparable(world, view, one), await comparable(world, view, other)];
  if (before === null || after === null) return null;
  const unreadable = [before, after].flatMap((each) => ('why' in each ? each.why : []));
  if ('why' in before || 'why' in after) return { files: [], notes: unreadable };
  return { files: filesOfComparison(filesBetween(before.files, after.files)), notes: [] };
}

async function comparable(
  world: Stored,
  { candidates }: Pick<RunView, 'candidates'>,
  alias: string,
): Promise<{ readonly files: readonly PatchFile[] } | { readonly why: string } | null> {
  const patch = candidates.find((one) => one.alias === alias)?.patch;
  if (!patch) return null;
  const parsed = await unlessDamaged(readPatch(world.artifacts, patch));
  if (parsed === null) return { why: `The stored patch of ${alias} is missing or damaged.` };
  return parsed.kind === 'patch'
    ? { files: parsed.patch.files }
    : { why: `Runoff rejected the patch of ${alias}, so it cannot be compared.` };
}
