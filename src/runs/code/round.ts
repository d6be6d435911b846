import { whatFailed } from '../../core/adaptive/index.ts';
import { type Candidate, Fault, type Sha } from '../../core/model/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { applyTo } from '../rebuild.ts';
import { loadRun } from '../task.ts';
import type { World } from '../world.ts';

/** What a candidate of a further round goes on from. */
export type Given =
  | {
      readonly kind: 'repair';
      /** Its own patch of before, as text and as the tree it leads to. */
      readonly patch: string;
      readonly tree: Sha;
      /** What was found when that was examined. */
      readonly failed: readonly string[];
    }
  | { readonly kind: 'synthesis'; readonly patches: readonly string[] };

/** Null for a candidate that begins with the task alone. */
export async function givenTo(
  world: World,
  { runId, contestant: { round } }: Candidate,
): Promise<Given | null> {
  if (!round || round.kind === 'one-more') return null;
  const candidates = await world.store.candidates(runId);
  const patches = round.of.map((alias) => {
    const patch = candidates.find((candidate) => candidate.alias === alias)?.patch;
    if (!patch) throw new Fault('INTERNAL', `Candidate ${alias} of run ${runId} has no patch to go on from.`);
    return patch;
  });
  const texts = await Promise.all(patches.map(({ text }) => world.artifacts.get(text)));
  if (round.kind === 'synthesis') return { kind: 'synthesis', patches: texts };
  const { evidence = [] } = await loadRun(world, runId);
  const own = evidence.find(({ alias }) => alias === round.of[0]);
  const [patch = ''] = texts;
  return { kind: 'repair', patch, tree: patches[0]?.tree ?? '', failed: own ? whatFailed(own) : [] };
}

/**
 * Puts a candidate's own patch onto the base in its area, inside the sandbox, so that what is collected later is against
 * the base again. Null when it is there, else why not.
 */
export async function applyOwn(
  world: World,
  area: WorkArea,
  patch: string,
  signal: AbortSignal,
): Promise<string | null> {
  const refused = await applyTo(world, area, patch, signal);
  return refused === null ? null : `its own patch could not be applied again: ${refused}`;
}
