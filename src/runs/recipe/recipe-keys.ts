import { type DetectedRecipe, recipeFiles } from '../../core/settings/index.ts';
import type { BareBase, BaseTask } from '../base/index.ts';
import type { World } from '../context.ts';

/** Incremented when the same files would lead to other commands than before. */
const FORM = 3;

/**
 * Hashes of everything that a recipe depends on: manifests and lock files, tools, detection results and settings; and of
 * these with the base commit.
 */
export async function recipeKeys(
  { workspaces, artifacts }: Pick<World, 'artifacts' | 'workspaces'>,
  search: { readonly task: BaseTask; readonly detected: DetectedRecipe; readonly bare: BareBase },
): Promise<{ readonly ofFiles: string; readonly ofCommit: string }> {
  const { task, bare } = search;
  const { recipe, named } = search.detected;
  const paths = await workspaces.listFiles(bare.source, task.base.sha);
  const files = await workspaces.fingerprint(bare.source, task.base.sha, recipeFiles(paths));
  const tools = { found: bare.tools?.found ?? [], missing: bare.tools?.missing ?? [] };
  const parts = [FORM, files, tools, recipe, named, task.settings.network, bare.base.submodules?.id ?? null];
  const hashOf = async (all: readonly unknown[]) => (await artifacts.put(JSON.stringify(all))).sha256;
  return { ofFiles: await hashOf(parts), ofCommit: await hashOf([...parts, task.base.sha]) };
}
