import { mainLanguageOf, outcomesOf, workKindOf } from '../core/learning/index.ts';
import type { Alias, Candidate, RunId } from '../core/model/index.ts';
import { fullNameOf, isOver } from '../core/model/index.ts';
import { decide, type Ranked } from '../core/ranking/index.ts';
import type { RunRecord } from '../ports/index.ts';
import { RunRequest } from './admit/index.ts';
import { loadRun, readPatch, repositoryKeyOf, type World } from './context.ts';
import { standingPicks } from './picks.ts';
import { areNamesHidden } from './shown.ts';
import { unlessDamaged } from './stage.ts';
import { isTakenOver } from './taken-over.ts';

type OutcomePorts = Pick<World, 'artifacts' | 'clock' | 'store'>;

/**
 * The same for callers whose own work is done: a failure is logged and does not fail that work, because the run is due
 * and upkeep keeps its outcomes.
 */
export async function tryKeepOutcomes(world: OutcomePorts & Pick<World, 'log'>, runId: RunId): Promise<void> {
  try {
    await keepOutcomes(world, runId);
  } catch (thrown) {
    world.log.warn({ run: runId, err: thrown }, 'what became of its candidates is kept later');
  }
}

/**
 * Keeps what became of a run's candidates, as its record and people's picks tell now. Called wherever one of them
 * changes after the decision; may be repeated. Runs without a decision have no outcomes, and blind ones only after the
 * pick.
 */
export async function keepOutcomes(world: OutcomePorts, runId: RunId): Promise<void> {
  const { store } = world;
  // Before the run is read: a change after this makes it due again.
  const at = world.clock.now();
  const run = await loadRun(world, runId);
  const { decision, evidence = [], ranking = [] } = run;
  if (!decision || !isOver(run.state)) return;
  // The leaderboard would tell who wrote what. A pick, or the end of the wait, makes the run due again.
  if (await areNamesHidden(store, run)) return store.keepOutcomes(runId, [], at);
  const candidates = await store.candidates(runId);
  const languages: Record<Alias, ReturnType<typeof mainLanguageOf>> = {};
  for (const { alias, patch } of candidates) {
    const parsed = patch && (await unlessDamaged(readPatch(world.artifacts, patch)));
    languages[alias] = parsed?.kind === 'patch' ? mainLanguageOf(parsed.patch.files) : null;
  }
  const outcomes = outcomesOf({
    id: runId,
    createdAt: run.createdAt,
    state: run.state,
    repository: repositoryKeyOf(run.origin),
    repositoryName: repositoryNameOf(run),
    kind: workKindOf([run.title, run.brief?.goal ?? ''], examinedKind(run)),
    candidates,
    evidence,
    decision,
    shipped: shippedDecision(run, ranking),
    picks: await standingPicks(store, runId),
    hasPull: run.outcome?.kind === 'pull',
    languages,
    takenOver: takenOverIn(run, candidates),
  });
  await store.keepOutcomes(runId, outcomes, at);
}

const examinedKind = ({ evidence = [] }: RunRecord) =>
  evidence.find(({ task }) => task !== undefined)?.task ?? 'code';

const repositoryNameOf = ({ origin }: Pick<RunRecord, 'origin'>): string =>
  origin.kind === 'github' ? fullNameOf(origin) : origin.path;

/** The decision by the shipped curve, whatever the repository's own outcomes had changed. */
const shippedDecision = ({ evidence = [], judgement }: RunRecord, ranking: readonly Ranked[]) =>
  decide(ranking, evidence, { judgement });

/** A retry reuses the patches of an earlier run; that run counts them. */
function takenOverIn({ request }: RunRecord, candidates: readonly Candidate[]): ReadonlySet<Alias> {
  const parsed = RunRequest.safeParse(request);
  if (!parsed.success || !parsed.data.carry) return new Set();
  return new Set(candidates.filter(isTakenOver).map(({ alias }) => alias));
}
