import { z } from 'zod';
import type { Alias, Fault, RunId } from '../../core/model/index.ts';
import { assignAliases } from '../../core/settings/index.ts';
import type { ChildInput, FlowContext } from '../../ports/index.ts';
import { prepareBase, type RestorePorts } from '../base/index.ts';
import { contestantsOf } from '../contestants.ts';
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
import { closeCoding, queueCandidates, queueRetry, type RoundPorts, withTimeLeft } from './queue.ts';
import { writeCandidate } from './supervise.ts';

export { COLLECTING, requestStop } from './ending.ts';
export { codeFurther } from './queue.ts';

type CodePorts = RoundPorts & RestorePorts & Pick<World, 'ceilings' | 'github'>;

export const CandidateInput = z.strictObject({
  runId: z.string(),
  alias: z.string(),
  /** Milliseconds that its run may work from here on. */
  leftMs: z.number(),
});
export type CandidateInput = z.infer<typeof CandidateInput>;

/** Whose coders work, in what time; `carry`: one contestant of an earlier run once more, beside what the others of it wrote. */
interface CodingOptions {
  readonly runId: RunId;
  readonly time: WorkTime;
  readonly carry?: { readonly run: RunId; readonly again: Alias } | undefined;
}

/** Looks on while coders work, until `over` says that they have all ended. */
type CodingWatcher = (context: RunContext, over: () => boolean) => Promise<null>;

/**
 * Lets every contestant write its candidate, side by side, and waits for all of them. `watch` goes on meanwhile where the
 * settings let coders be stopped early.
 */
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
  let over = false;
  // Begun before the coders, so that a replay counts the steps in the same order. What it meets stops nobody.
  // Its time is not the run's: it lasts while coders wait for their slots.
  const watching = watched
    ? stagesOf(world, flow, runId, UNLIMITED)('watch', (context) => watch(context, () => over))
    : null;
  const took = time.begin();
  const coding = flow.fanOut<null>(withTimeLeft(time.left(), inputs)).finally(() => {
    over = true;
  });
  const [results] = await Promise.all([coding, watching]);
  const closed = await stage('code', () => closeCoding(world, runId, inputs, results));
  if (closed.kind === 'fault') return closed;
  took(closed.value.codersMs);
  return { kind: 'ok', value: 'coded' };
}

/** One candidate's own flow: a single step, so that a finished candidate is never coded twice. */
export async function codeOne(
  world: CoderPorts & Pick<World, 'announcer' | 'github'>,
  flow: FlowContext,
  input: CandidateInput,
): Promise<null> {
  const { runId, alias, leftMs } = input;
  return flow.step('write', async (signal) => {
    // A coder can kill itself as often as it wants to; the machine does not come back for the same one.
    let restarts = 0;
    let workedMs = 0;
    const mayRestart = (ms: number, mostMs: number): boolean => {
      if (restarts === MAX_RESTARTS || workedMs + ms >= Math.min(mostMs, leftMs)) return false;
      restarts += 1;
      workedMs += ms;
      return true;
    };
    // Whoever starts over finds what its models said already.
    const write = () =>
      writeCandidate(world, runId, alias, { leftMs: leftMs - workedMs, signal, mayRestart });
    await retryOutages(world, signal, write, (fault, wait) => noteWait(world, { runId, alias }, fault, wait));
    return null;
  });
}

/** Shows on the status why a candidate stands still. What waits for the database cannot be shown there. */
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
 * How often a coder starts over that was ended by a signal from nobody knows where; our default. It costs time only, since
 * the answers that it had are given to it again: less than one more time limit, and none beyond what its run has left.
 */
const MAX_RESTARTS = 4;

/** Two who agree can only spare a third one its work. */
const MIN_WATCHED = 3;

/** Gives each contestant an alias that says nothing about it, and prepares the checkout they all start from. */
async function queueContestants(
  world: CodePorts,
  { carry }: Pick<CodingOptions, 'carry'>,
  { run, signal }: RunContext,
): Promise<{ readonly inputs: readonly ChildInput[]; readonly watched: boolean }> {
  await world.store.markStage(run.id, 'code', 'start', world.clock.now());
  const task = taskOf(run);
  const base = await prepareBase(world, task, { signal });
  if (carry) return { inputs: await queueRetry(world, run, base, { ...carry, signal }), watched: false };
  const field = contestantsOf(world, task.settings);
  const aliases = assignAliases(run.id, field.length);
  const places = field.map((contestant, ordinal) => ({
    alias: aliases[ordinal] as Alias,
    ordinal,
    contestant,
  }));
  const watched = task.settings.adaptive.stopEarly && field.length >= MIN_WATCHED;
  return { inputs: await queueCandidates(world, run, places), watched };
}
