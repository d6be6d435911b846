import {
  type ContestRecords,
  DECISIONS_FILE,
  decisionId,
  PoolDecision,
  poolsOf,
  type ResolvedRepoTask,
  readRecords,
  recordLine,
  type SamplePool,
  standingOf,
} from '../../core/arena/index.ts';
import { familyOf } from '../../core/judging/index.ts';
import { type Alias, counted, Fault } from '../../core/model/index.ts';
import type { Decision } from '../../core/ranking/index.ts';
import type { ContestFolder } from '../../ports/index.ts';
import { decidePatches } from '../local/index.ts';
import type { MinePorts } from './prove.ts';
import { openTaskBase } from './verify.ts';

interface DecideOptions {
  /** Consent to run the commands of tasks in a sandbox that is weaker than the default. */
  readonly trust: boolean;
  /** A sentence about what happens. */
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Decisions of earlier calls. Fault: CONTEST_INVALID. */
export async function readDecisions(
  folder: Pick<ContestFolder, 'records'>,
): Promise<readonly PoolDecision[]> {
  const read = readRecords((await folder.records(DECISIONS_FILE)) ?? '', DECISIONS_FILE, PoolDecision);
  if (read.problems.length > 0) throw new Fault('CONTEST_INVALID', read.problems.join('\n'));
  return read.records;
}

/**
 * Has Runoff choose among the answers to each repository task, as `runoff select` does: with the verify commands of the
 * task and everything else that it executes, and never with the hidden tests. What is decided is not decided again.
 * Returns all decisions.
 */
export async function decideContest(
  ports: MinePorts,
  folder: ContestFolder,
  loaded: ContestRecords,
  options: DecideOptions,
): Promise<readonly PoolDecision[]> {
  const decisions = [...(await readDecisions(folder))];
  const known = new Set(decisions.map(({ id }) => id));
  const pools = poolsOf(loaded.contest, standingOf(loaded).samples);
  const idOf = (pool: SamplePool) => decisionId(loaded.digest, pool, folder.sha256);
  const open = pools.filter((pool) => !known.has(idOf(pool)));
  options.onProgress(
    `${counted(pools.length, 'set')} of answers, ${pools.length - open.length} decided before.`,
  );
  const began = ports.clock.elapsed();
  for (const [done, pool] of open.entries()) {
    if (options.signal.aborted) break;
    const task = loaded.contest.tasks.find(({ id }) => id === pool.task);
    if (task?.kind !== 'repo') continue;
    const about = { version: 1, id: idOf(pool), contest: loaded.digest } as const;
    const decision = { ...about, ...(await decidePool(ports, folder, { pool, task }, options)) };
    await folder.append(DECISIONS_FILE, recordLine(decision));
    decisions.push(decision);
    const left = ((ports.clock.elapsed() - began) / (done + 1)) * (open.length - done - 1);
    options.onProgress(
      `${pool.task}: ${decision.class} (${done + 1} of ${open.length}${left > 0 ? `, about ${Math.ceil(left / 60_000)} min left` : ''})`,
    );
  }
  return decisions;
}

interface OpenPool {
  readonly pool: SamplePool;
  readonly task: ResolvedRepoTask;
}

async function decidePool(
  ports: MinePorts,
  folder: ContestFolder,
  { pool, task }: OpenPool,
  { trust, signal }: DecideOptions,
): Promise<Omit<PoolDecision, 'contest' | 'id' | 'version'>> {
  const began = ports.clock.elapsed();
  const { hiddenTests: _, hiddenVerify: __, ...shown } = task;
  const base = await openTaskBase(
    ports,
    folder,
    { ...shown, hidden: null },
    { runId: ports.newRunId(), trust, signal },
  );
  const given = pool.samples.flatMap(({ id, answer, outcome, model }) =>
    outcome === 'answered' && answer !== null ? [{ id, patch: answer, family: familyOf(model) }] : [],
  );
  const { decision, ids } =
    given.length > 0 ? await decidePatches(base.runner, given) : { decision: NO_PATCH, ids: new Map() };
  return {
    task: pool.task,
    round: pool.round,
    samples: pool.samples.map(({ id }) => id),
    ...decisionFields(decision, ids),
    seconds: Math.round((ports.clock.elapsed() - began) / 100) / 10,
    at: new Date(ports.clock.now()).toISOString(),
  };
}

/** What is decided if no answer has a patch. */
const NO_PATCH: Decision = { kind: 'none', decidedBy: 'gates', because: 'No answer has a patch.' };

function decisionFields(
  decision: Decision,
  ids: ReadonlyMap<Alias, string>,
): Pick<PoolDecision, 'among' | 'because' | 'chance' | 'class' | 'pick'> {
  const because = decision.because.slice(0, 4_000);
  if (decision.kind === 'none') return { class: 'none', pick: null, among: [], chance: null, because };
  const isTossUp = decision.kind === 'toss-up';
  return {
    class: isTossUp ? 'toss-up' : decision.confidence,
    pick: ids.get(decision.alias) ?? null,
    among: isTossUp ? decision.among.flatMap((alias) => ids.get(alias) ?? []) : [],
    chance: decision.chance,
    because,
  };
}
