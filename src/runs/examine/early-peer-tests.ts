import { isSurvivor, LONG_SUITE_MS } from '../../core/evidence/index.ts';
import type { Alias } from '../../core/model/index.ts';
import { cancelledError } from '../stage.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { runPeerTests } from './peer-tests.ts';
import type { ExaminationTime } from './time.ts';

/**
 * Share of the time left to the examination that all tests of candidates on each other may be expected to take, one
 * after the other. Our default: where time may become short, it is needed for the work that comes first.
 */
const MAX_SHARE = 1 / 4;

/**
 * Does the work, which runs probes, and meanwhile runs tests of candidates on each other while no command of the work
 * waits: they need no probes, except where these tell candidates apart or eliminate one. All that is left of them are
 * executions, which `runPeerTests` finds by `remember` when it is their turn, and which alone decides. What fails here
 * is not kept, so it is executed again and fails then, if it still does and is still needed. Ends with the work, except
 * that commands that have begun are waited for; if the work rejects, these are stopped.
 */
export async function besidePeerTests<T>(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
  alike: (alias: Alias) => readonly Alias[],
  work: () => Promise<T>,
): Promise<T> {
  if (!isCheap(tools, examined)) return work();
  const stop = new AbortController();
  const over = new AbortController();
  const working = work();
  const early = runPeerTests(earlyTools(tools, stop.signal, over.signal), examined, alike);
  // What it returns or met is found again.
  const ended = early.then(
    () => undefined,
    () => undefined,
  );
  try {
    return await working;
  } catch (thrown) {
    stop.abort();
    throw thrown;
  } finally {
    over.abort();
    // Its areas lie over trees that are removed afterwards.
    await ended;
  }
}

function isCheap({ onBase, time }: ExaminationTools, examined: readonly ExaminedCandidate[]): boolean {
  const survivors = examined.filter(({ gates }) => isSurvivor(gates)).length;
  return onBase.ms < LONG_SUITE_MS && survivors ** 2 * onBase.ms <= MAX_SHARE * time.left();
}

/** Nothing begins once `over`, and commands end at `stop`. Nothing asks for time or reports what it does. */
function earlyTools(tools: ExaminationTools, stop: AbortSignal, over: AbortSignal): ExaminationTools {
  const { runner } = tools;
  const time: ExaminationTime = {
    left: () => tools.time.left(),
    measured: (_, work) => work(),
    allows: async () => true,
    step: () => () => undefined,
    cut: () => undefined,
  };
  return {
    ...tools,
    time,
    runner: {
      ...runner,
      world: { ...runner.world, sandbox: runner.spare ?? runner.world.sandbox },
      signal: AbortSignal.any([runner.signal, stop]),
      async remember(...asked) {
        if (over.aborted) throw cancelledError();
        return runner.remember(...asked);
      },
    },
  };
}
