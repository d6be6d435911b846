import { type Alias, Fault, type PatchSummary, programKilled, type RunId } from '../../core/model/index.ts';
import { tailOf } from '../../core/reports/index.ts';
import { type BaseCheckout, DEFAULT_LIMITS, type WorkArea } from '../../ports/index.ts';
import type { World } from '../context.ts';
import { cancelledError, unlessDamaged } from '../stage.ts';

/** What making a collected tree again takes. */
export type RestorePorts = Pick<World, 'artifacts' | 'log' | 'sandbox' | 'workspaces'>;

/** Applying a patch is a matter of milliseconds. */
const APPLY_MS = 60_000;

/** Applies a patch to an area, inside the sandbox: null when it is there, else why not. */
export async function applyPatchIn(
  world: Pick<World, 'sandbox'>,
  area: WorkArea,
  patch: string,
  signal: AbortSignal,
): Promise<string | null> {
  const result = await world.sandbox.exec({
    area,
    argv: ['git', 'apply', '--whitespace=nowarn', '-'],
    stdin: patch,
    limits: { ...DEFAULT_LIMITS, wallMs: APPLY_MS },
    signal,
  });
  if (result.stopped === 'cancelled') throw cancelledError();
  if (result.exitCode === 0) return null;
  if (result.exitCode === null && result.stopped === null)
    throw programKilled('`git apply` in a sandbox', { kind: 'lost', how: 'was killed' });
  return tailOf(result.stderr, 3) || `exit code ${result.exitCode ?? 'none'}`;
}

/**
 * Sees to it that a collected tree is on this machine: where another one collected it, it is made again from the patch, and
 * must be the same to the bit. Fault INTERNAL where it is not. `unreadable`: the patch is damaged or gone as well.
 */
export async function restoreTree(
  world: RestorePorts,
  base: BaseCheckout,
  { runId, alias, patch }: { readonly runId: RunId; readonly alias: Alias; readonly patch: PatchSummary },
  signal: AbortSignal,
): Promise<'there' | 'unreadable'> {
  if (await world.workspaces.holds(base, patch.tree)) return 'there';
  const text = await unlessDamaged(world.artifacts.get(patch.text));
  if (text === null) return 'unreadable';
  // The id of the coder's own area: what is kept for one is kept for the other.
  const area = await world.workspaces.open(base, `${runId}-${alias}`);
  try {
    const refused = await applyPatchIn(world, area, text, signal);
    if (refused) throw patchMismatch(alias, `the patch does not apply: ${refused}`);
    const collected = await world.workspaces.collect(base, area, signal);
    const tree = collected.kind === 'patch' ? collected.patch.tree : collected.kind;
    if (tree !== patch.tree) throw patchMismatch(alias, `it leads to ${tree} instead of ${patch.tree}`);
  } finally {
    await world.workspaces.remove(area);
  }
  world.log.info(
    { run: runId, candidate: alias },
    'A candidate of another machine was made again from its patch.',
  );
  return 'there';
}

const patchMismatch = (alias: Alias, why: string): Fault =>
  new Fault(
    'INTERNAL',
    `What candidate ${alias} left on another machine could not be made again here: ${why}.`,
  );
