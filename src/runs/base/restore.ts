import {
  type Alias,
  Fault,
  machineFaultOn,
  type PatchSummary,
  programKilled,
  type RunId,
} from '../../core/model/index.ts';
import { tailOf } from '../../core/reports/index.ts';
import { type BaseCheckout, DEFAULT_LIMITS, type WorkArea } from '../../ports/index.ts';
import type { World } from '../context.ts';
import { cancelledError, unlessDamaged } from '../stage.ts';

/** Dependencies of restoring a collected tree. */
export type RestorePorts = Pick<World, 'artifacts' | 'log' | 'sandbox' | 'workspaces'>;

/** Applying a patch takes milliseconds. */
const APPLY_MS = 60_000;

/** If the base's files are damaged, no result on them counts, for any candidate. */
export const baseDamaged = (): Fault =>
  new Fault(
    'STORED_DATA_DAMAGED',
    'The checkout that the checks stand on does not match its recorded state; it is rebuilt.',
  );

const APPLY = '`git apply` in a sandbox';

/**
 * Applies a patch to an area on top of `base`, inside the sandbox. Returns null on success, else the reason. Rejects with
 * an outage or STORED_DATA_DAMAGED if the machine or a damaged base is the reason.
 */
export async function applyPatchIn(
  world: Pick<World, 'sandbox' | 'workspaces'>,
  { base, area }: { readonly base: BaseCheckout; readonly area: WorkArea },
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
    throw programKilled(APPLY, { kind: 'lost', how: 'was killed' });
  const machine = machineFaultOn(result.stderr, patch);
  if (machine !== null) throw new Fault(machine, `${APPLY} failed: ${tailOf(result.stderr, 1)}`);
  if (!(await world.workspaces.isWhole(base))) throw baseDamaged();
  return tailOf(result.stderr, 3) || `exit code ${result.exitCode ?? 'none'}`;
}

/**
 * Ensures that a collected tree exists on this machine. If it was collected elsewhere, it is rebuilt from the patch and
 * must be bit-identical. Fault INTERNAL if it is not. `unreadable`: the patch is damaged or deleted as well.
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
  // Not an area of the run, whose areas are deleted once it is over: a person may pick then.
  const area = await world.workspaces.open(base, `call-${runId}-${alias}`);
  try {
    const refused = await applyPatchIn(world, { base, area }, text, signal);
    if (refused) throw patchMismatch(alias, `the patch does not apply: ${refused}`);
    const collected = await world.workspaces.collect(base, area, signal);
    const tree = collected.kind === 'patch' ? collected.patch.tree : collected.kind;
    if (tree !== patch.tree) throw patchMismatch(alias, `it leads to ${tree} instead of ${patch.tree}`);
    // As long as what the coder's own area left.
    await world.workspaces.keep(base, `${runId}-${alias}`, patch.tree);
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
