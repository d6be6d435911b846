import { z } from 'zod';
import { type Alias, Fault, type PatchSummary, programKilled, type RunId } from '../core/model/index.ts';
import { tailOf } from '../core/reports/index.ts';
import { type BaseCheckout, DEFAULT_LIMITS, type WorkArea } from '../ports/index.ts';
import type { World } from './context.ts';
import { cancelledError, unlessDamaged } from './stage.ts';

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
 * must be the same to the bit. Fault INTERNAL where it is not, or where the patch is gone.
 */
export async function restoreTree(
  world: RestorePorts,
  base: BaseCheckout,
  { runId, alias, patch }: { readonly runId: RunId; readonly alias: Alias; readonly patch: PatchSummary },
  signal: AbortSignal,
): Promise<void> {
  if (await world.workspaces.holds(base, patch.tree)) return;
  const text = await world.artifacts.get(patch.text);
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
}

const patchMismatch = (alias: Alias, why: string): Fault =>
  new Fault(
    'INTERNAL',
    `What candidate ${alias} left on another machine could not be made again here: ${why}.`,
  );

/** Characters of a key that stand in the database; of a longer one it is the hash, by which its text can be found. */
const MAX_ANSWER_CHARS = 200;
const StoredAnswer = z.object({ sha256: z.string(), bytes: z.number() });

/**
 * Does work once for each key of a run, also across a crash: an answer that was paid for is given back, not paid again.
 * Answers are plain JSON. Work that fails is not kept.
 */
export function rememberAnswers(
  { store, artifacts }: Pick<World, 'store' | 'artifacts'>,
  runId: RunId,
): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const name = `answer:${key.length > MAX_ANSWER_CHARS ? (await artifacts.put(key)).sha256 : key}`;
    const { intent } = await store.intend(runId, name);
    const kept = intent.state === 'done' ? StoredAnswer.safeParse(intent.result) : null;
    // One that is damaged is worked out again: the gateway has what models answered.
    const text = kept?.success ? await unlessDamaged(artifacts.get(kept.data)) : null;
    // Whoever chose the key chose the type with it.
    if (text !== null) return JSON.parse(text) as T;
    const answer = await work();
    await store.fulfil(runId, name, await artifacts.put(JSON.stringify(answer)));
    return answer;
  };
}
