import {
  type Alias,
  Fault,
  isCrash,
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

const APPLY = '`git apply`';
const APPLY_ARGV = ['git', 'apply', '--whitespace=nowarn', '-'] as const;

/**
 * Gives the files of a patch the content that it was made from, where set-up may have changed them: a patch is relative
 * to the base commit. A killed program ends the script in the same way.
 */
const RESTORE_AND_APPLY = String.raw`
set -e
run() { "$@" || { code=$?; [ $code -le 129 ] || kill -KILL $$; exit $code; }; }
w=$(mktemp -d)
run cat > $w/patch
run git apply --numstat -z $w/patch > $w/changed
run sed -z 's/^[^\t]*\t[^\t]*\t//' $w/changed > $w/paths
run git ls-tree -r -z --name-only --full-tree "$1" > $w/base
export LC_ALL=C
run sort -z -o $w/paths $w/paths
run sort -z -o $w/base $w/base
run comm -z -12 $w/paths $w/base > $w/outdated
if [ -s $w/outdated ]; then
  export GIT_LITERAL_PATHSPECS=1
  run git restore --source="$1" --worktree --pathspec-from-file=$w/outdated --pathspec-file-nul
fi
exec git apply --whitespace=nowarn $w/patch`;

interface PatchedArea {
  readonly base: BaseCheckout;
  readonly area: WorkArea;
  /**
   * Code of a candidate may have run in the area: its `.git` is not trusted then, nor what git says about the machine,
   * because a link to /proc/self/mem or a full quota leads to the same words.
   */
  readonly codeRan?: boolean;
}

/**
 * Applies a patch against the base commit to an area on top of `base`, inside the sandbox. Returns null on success, else
 * the reason. Rejects with an outage or STORED_DATA_DAMAGED if the machine or a damaged base is the reason.
 */
export async function applyPatchIn(
  world: Pick<World, 'sandbox' | 'workspaces'>,
  { base, area, codeRan = false }: PatchedArea,
  patch: string,
  signal: AbortSignal,
): Promise<string | null> {
  if (patch === '') return null;
  const restores = base.home !== undefined && !codeRan;
  const result = await world.sandbox.exec({
    area,
    argv: restores ? ['sh', '-c', RESTORE_AND_APPLY, 'apply', base.sha] : APPLY_ARGV,
    stdin: patch,
    limits: { ...DEFAULT_LIMITS, wallMs: APPLY_MS },
    signal,
  });
  const { exitCode, stopped, stderr } = result;
  if (stopped === 'cancelled') throw cancelledError();
  if (exitCode === 0) return null;
  // Each command has a sandbox of its own, so no process of a candidate can have sent the signal.
  if (exitCode === null && stopped === null && !isCrash(result.signal))
    throw programKilled(APPLY, { kind: 'lost', how: 'was killed' });
  const machine = codeRan || exitCode === null ? null : machineFaultOn(stderr, patch);
  if (machine !== null) throw new Fault(machine, `${APPLY} failed: ${tailOf(stderr, 3)}`);
  if (!(await world.workspaces.isWhole(base))) throw baseDamaged();
  return tailOf(stderr, 5) || `${APPLY} ended with exit code ${exitCode ?? 'none'}`;
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
