import { isSurvivor, LONG_SUITE_MS } from '../../core/evidence/index.ts';
import type { Alias } from '../../core/model/index.ts';
import { throwIfCancelled } from '../stage.ts';
import type { ExaminationTools, ExaminedCandidate } from './candidate.ts';
import { runPeerTests } from './peer-tests.ts';
import type { ExaminationTime } from './time.ts';

/**
 * Share of the time left to the examination that all tests of candidates on each other may be expected to take, one
 * after the other. Our default: where time may become short, it is needed for the work that comes first.
 */
const MAX_SHARE = 1 / 4;

/**
 * Milliseconds beyond the expected duration of the tests before they are stopped. Our default: for their areas, and for
 * a machine that is slower than it was.
 */
const EXTRA_MS = 5_000;

/**
 * Does the work, which runs probes, and meanwhile runs tests of candidates on each other while no command of the work
 * waits: they need no probes, except where these tell candidates apart or eliminate one. All that is left of them are
 * executions, which `runPeerTests` finds by `remember` when it is their turn, and which alone decides. What fails here
 * or is stopped is not kept, so it is executed again and fails then, if it still does and is still needed. Ends with
 * the work, except that commands that have begun are waited for, which counts as time of the examination. They are
 * stopped if the work rejects, or after the time that all of them should take: by so much a test that hangs can delay
 * the work.
 */
export async function besidePeerTests<T>(
  tools: ExaminationTools,
  examined: readonly ExaminedCandidate[],
  alike: (alias: Alias) => readonly Alias[],
  work: () => Promise<T>,
): Promise<T> {
  const limitMs = limitOf(tools, examined);
  if (limitMs === null) return work();
  const stop = new AbortController();
  const over = new AbortController();
  const done = new AbortController();
  const working = work();
  const early = runPeerTests(earlyTools(tools, stop.signal, over.signal), examined, alike);
  // What it returns or met is found again.
  const ended = early.then(
    () => done.abort(),
    () => done.abort(),
  );
  // Otherwise a test that hangs would keep its slot until its own limit, and the probes' time would be over by then.
  void tools.runner.world.clock.sleep(limitMs, done.signal).then(() => stop.abort());
  try {
    const result = await working;
    over.abort();
    await tools.time.measured('tests of others that had begun', () => ended);
    return result;
  } catch (thrown) {
    stop.abort();
    throw thrown;
  } finally {
    // Its areas lie over trees that are removed afterwards.
    await ended;
  }
}

/**
 * Milliseconds after which all tests have ended, also one after the other, unless one of them hangs. Null if that is
 * too long, or if there is nobody on whose code they could be run.
 */
function limitOf({ onBase, time }: ExaminationTools, examined: readonly ExaminedCandidate[]): number | null {
  const survivors = examined.filter(({ gates }) => isSurvivor(gates)).length;
  const limitMs = survivors ** 2 * (onBase.ms + (onBase.buildMs ?? 0)) + EXTRA_MS;
  const isCheap = onBase.ms < LONG_SUITE_MS && limitMs <= MAX_SHARE * time.left();
  return isCheap && survivors > 1 ? limitMs : null;
}

/** Nothing begins once `over`, and commands end at `stop`. Nothing asks for time or reports what it does. */
function earlyTools(tools: ExaminationTools, stop: AbortSignal, over: AbortSignal): ExaminationTools {
  const { runner } = tools;
  const ending = AbortSignal.any([over, stop]);
  const time: ExaminationTime = {
    left: () => tools.time.left(),
    measured: (_, work) => work(),
    hung: () => undefined,
    // What failed runs once more when it is their turn, which needs time that probes need first.
    allows: async (what) => what !== 'repeats',
    step: () => () => undefined,
    cut: () => undefined,
  };
  return {
    ...tools,
    time,
    runner: {
      ...runner,
      world: { ...runner.world, sandbox: runner.spare?.(ending) ?? runner.world.sandbox },
      signal: AbortSignal.any([runner.signal, stop]),
      async remember(...asked) {
        throwIfCancelled(ending);
        return runner.remember(...asked);
      },
    },
  };
}
