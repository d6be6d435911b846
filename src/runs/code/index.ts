import { z } from 'zod';
import type { Alias, Fault, RunId } from '../../core/model/index.ts';
import { assignAliases } from '../../core/settings/index.ts';
import type { ChildInput, FlowContext } from '../../ports/index.ts';
import { prepareBase, type RestorePorts } from '../base/index.ts';
import { taskOf, type World } from '../context.ts';
import {
  type RunContext,
  retryOutages,
  type StageResult,
  type StageRunner,
  stagesOf,
  UNLIMITED,
  type WorkTime,
} from '../stage.ts';
import { type CoderPorts, waitNote } from './ending.ts';
import { firstContestants } from './field.ts';
import { closeCoding, queueCandidates, queueRetry, type RoundPorts, withTimeLeft } from './queue.ts';
import { writeCandidate } from './supervise.ts';

export { leaseMs, runAgent } from './agent.ts';
export { COLLECTING, endingOf, requestStop } from './ending.ts';
export { codeFurther } from './queue.ts';
export { coderPrompt } from './task-text.ts';

type CodePorts = RoundPorts & RestorePorts & Pick<World, 'ceilings' | 'github'>;

export const CandidateInput = z.strictObject({
  runId: z.string(),
  alias: z.string(),
  /** Milliseconds of work time left to the run. */
  leftMs: z.number(),
});
export type CandidateInput = z.infer<typeof CandidateInput>;

/**
 * Contestants and time for coding. `carry`: reruns one contestant of an earlier run and takes over that run's other
 * patches.
 */
interface CodingOptions {
  readonly runId: RunId;
  readonly time: WorkTime;
  readonly carry?: { readonly run: RunId; readonly again: Alias } | undefined;
}

/**
 * Runs alongside the coders until `over` aborts, which means that all have ended. Returns the milliseconds that it worked
 * after that.
 */
export type CodingWatcher = (context: RunContext, over: AbortSignal) => Promise<number>;

/** Runs all contestants concurrently and waits for them. `watch` runs alongside if there are several. */
export async function code(
  world: CodePorts,
  flow: FlowContext,
  work: CodingOptions,
  stage: StageRunner,
  watch: CodingWatcher,
): Promise<StageResult<'coded'>> {
  const { runId, time } = work;
  const queued = await stage('contestants', (context) => queueContestants(world, work, context));
  if (queued.kind === 'fault') return queued;
  const { inputs, watched } = queued.value;
  const over = new AbortController();
  // Started before the coders, so that a replay numbers the steps in the same order. Its failures stop no coder. Its
  // time while coders work does not count towards the run: it includes waiting for slots. A shutdown does not wait for
  // it: it may last as long as coders in other processes.
  const beside = stagesOf(world, flow, runId, UNLIMITED, { abortOnShutdown: true });
  const watching = watched ? beside('watch', (context) => watch(context, over.signal)) : null;
  const took = time.begin();
  const coding = flow.fanOut<null>(withTimeLeft(time.left(), inputs)).finally(() => {
    over.abort();
  });
  const [results, watchedFor] = await Promise.all([coding, watching]);
  const closed = await stage('code', () => closeCoding(world, runId, inputs, results));
  if (closed.kind === 'fault') return closed;
  const after = watchedFor?.kind === 'ok' ? watchedFor.value : 0;
  took(closed.value.codersMs + after);
  return { kind: 'ok', value: 'coded' };
}

/** The flow of one candidate: a single step, so that a finished candidate is never coded twice. */
export async function codeOne(
  world: CoderPorts & Pick<World, 'announcer' | 'github'>,
  flow: FlowContext,
  input: CandidateInput,
): Promise<null> {
  const { runId, alias, leftMs } = input;
  return flow.step('write', async (signal) => {
    // Limits restarts, because a coder could kill itself any number of times.
    let restarts = 0;
    let workedMs = 0;
    const mayRestart = (ms: number, mostMs: number): boolean => {
      if (restarts === MAX_RESTARTS || workedMs + ms >= Math.min(mostMs, leftMs)) return false;
      restarts += 1;
      workedMs += ms;
      return true;
    };
    // After a restart, cached model answers are reused.
    const write = () =>
      writeCandidate(world, runId, alias, { leftMs: leftMs - workedMs, signal, mayRestart });
    await retryOutages(world, signal, write, (fault, wait) => noteWait(world, { runId, alias }, fault, wait));
    return null;
  });
}

/** Shows in the status comment why a candidate is waiting. Waits for the database cannot be shown there. */
async function noteWait(
  world: Pick<World, 'announcer' | 'log' | 'store'>,
  { runId, alias }: Pick<CandidateInput, 'runId' | 'alias'>,
  fault: Fault,
  wait: number,
): Promise<void> {
  try {
    const candidate = (await world.store.candidates(runId)).find((one) => one.alias === alias);
    if (candidate) await world.store.putCandidate({ ...candidate, note: waitNote(fault, wait) });
    world.announcer.soon(runId);
  } catch (thrown) {
    world.log.warn(
      { run: runId, candidate: alias, err: thrown },
      'why a candidate waits could not be stored',
    );
  }
}

/**
 * Maximum number of restarts of a coder that was ended by an unknown signal; our default. Restarts cost only time,
 * since model answers are cached: less than one more time limit, and never beyond the run's remaining time.
 */
const MAX_RESTARTS = 4;

/**
 * Gives each contestant that starts an alias that does not identify it, and prepares the common base checkout. Those of
 * a sequential field that start later get the next letters in the order of their start, which in blind mode does
 * not follow the settings.
 */
async function queueContestants(
  world: CodePorts,
  { carry }: Pick<CodingOptions, 'carry'>,
  { run, signal }: RunContext,
): Promise<{ readonly inputs: readonly ChildInput[]; readonly watched: boolean }> {
  await world.store.markStage(run.id, 'code', 'start', world.clock.now());
  const task = taskOf(run);
  const base = await prepareBase(world, task, { signal });
  if (carry) return { inputs: await queueRetry(world, run, base, { ...carry, signal }), watched: false };
  const field = firstContestants(world, run, task);
  const aliases = assignAliases(run.id, field.length);
  const places = field.map((contestant, ordinal) => ({
    alias: aliases[ordinal] as Alias,
    ordinal,
    contestant,
  }));
  return { inputs: await queueCandidates(world, run, places), watched: field.length > 1 };
}
