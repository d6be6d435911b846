import type { Semaphore } from 'async-mutex';
import { outcomeIn, type TestRun } from '../core/evidence/index.ts';
import { familyOf } from '../core/judging/index.ts';
import { comparePatches } from '../core/likeness/index.ts';
import type { Alias, ArtifactRef, Candidate } from '../core/model/index.ts';
import { type AgreementContext, decideEarlyStop, type FinishedCandidate } from '../core/ranking/index.ts';
import { type CodingWatcher, requestStop } from './code/index.ts';
import { taskOf, type World } from './context.ts';
import {
  type CheckRunner,
  type CheckRunnerPorts,
  gatherEvidence,
  openCheckRunner,
  readBaseRun,
  stuckSeconds,
  tryBaseElsewhere,
} from './examine/index.ts';
import { type RunContext, throwIfCancelled, unlessDamaged } from './stage.ts';

/** Milliseconds between checks for finished coders. Our default: short compared with a coder's minutes. */
const FINISHER_CHECK_MS = 1_000;

/** Milliseconds before a failed examination is tried again. Our default: most outages last longer than a second. */
const RETRY_MS = 60_000;

/** Minimum number of coders for early stopping: agreement between two can only save the work of a third. */
const MIN_STOPPED_EARLY = 3;

type AheadPorts = CheckRunnerPorts & Pick<World, 'log' | 'random'>;

/**
 * Tests the base in other surroundings while coders are at work. Examines each candidate by itself as soon as its coder
 * has ended, then the finished ones together, while others are still at work; stops these where the settings allow it
 * and the finishers pass and agree. Results on which the coders' load can have no influence, and tests that hang, are
 * kept for the run, so the next stage, which examines all together, finds them (docs/decisions/0190). Ends soon after
 * coding: a command that has run for less than half of a test suite is stopped, another one is waited for, half of a
 * suite at most. What fails here is left to that stage. Returns the milliseconds that it took after coding was over.
 * `concurrency`: how many candidates, or groups of them, this process examines ahead at a time, of all runs together.
 */
export const examineAhead =
  (world: AheadPorts, concurrency: Semaphore, baseRun: ArtifactRef): CodingWatcher =>
  async (context, over) => {
    const watch = openWatch(world, concurrency, context, over, baseRun);
    const ended = AbortSignal.any([context.signal, over]);
    let overSince: number | null = null;
    try {
      while (!over.aborted) {
        throwIfCancelled(context.signal);
        await watch.look();
        await world.clock.sleep(FINISHER_CHECK_MS, ended);
      }
      overSince = world.clock.elapsed();
    } finally {
      await watch.end();
    }
    return Math.round(world.clock.elapsed() - overSince);
  };

interface FinisherWatch {
  /** Begins with new finishers, as far as the limit allows, and decides whether the other coders can be stopped. */
  look(): Promise<void>;
  /** Stops what can be begun again at little cost, waits for the rest, and stops what takes longer. */
  end(): Promise<void>;
}

/** The work on one candidate, on several together, or on the base alone. */
interface AheadExamination {
  readonly abort: AbortController;
  /** When the work that is to be kept began, by the clock's elapsed milliseconds. */
  readonly running: Set<{ readonly since: number }>;
  readonly isTogether: boolean;
  isOver: boolean;
  /** After a failure: when it may be tried again, by the clock's elapsed milliseconds. */
  retryAt: number | null;
  done: Promise<void>;
}

interface FinisherChecks {
  readonly runner: CheckRunner;
  readonly onBase: TestRun;
}

function openWatch(
  world: AheadPorts,
  concurrency: Semaphore,
  context: RunContext,
  over: AbortSignal,
  baseRun: ArtifactRef,
): FinisherWatch {
  const { run, signal } = context;
  const stop = new AbortController();
  const within = { run, signal: AbortSignal.any([signal, stop.signal]) };
  /** By the aliases of what is examined together. */
  const begun = new Map<string, AheadExamination>();
  const examined = new Map<Alias, FinishedCandidate>();
  /** Results that are not kept for the run, by their keys. */
  const notKept = new Map<string, unknown>();
  let checks: Promise<FinisherChecks> | null = null;
  let suiteMs = 0;
  let mayStop = taskOf(run).settings.adaptive.stopEarly;

  function openChecks(): Promise<FinisherChecks> {
    const opening = checks ?? openFinisherChecks(world, within, baseRun);
    checks = opening;
    opening.catch(() => {
      checks = null;
    });
    return opening;
  }

  /** `isNeeded`: early stopping decides by it, so it is examined with probes, and by packages, too. */
  async function examineThem(
    one: AheadExamination,
    candidates: readonly Candidate[],
    isNeeded: boolean,
  ): Promise<void> {
    try {
      const { runner, onBase } = await openChecks();
      suiteMs = onBase.ms;
      if (candidates.length === 0) return await tryBaseElsewhere(watched(runner, one), onBase);
      // Which packages are tested depends on all candidates.
      if (onBase.packages && !isNeeded) return;
      const { evidence } = await gatherEvidence(watched(runner, one), candidates, onBase, {
        ahead: { probes: isNeeded },
      });
      const [candidate] = candidates;
      const [own] = evidence;
      if (candidate && own && !one.isTogether)
        examined.set(own.alias, { evidence: own, family: familyOf(candidate.contestant.model) });
    } catch (thrown) {
      if (over.aborted || signal.aborted) return;
      one.retryAt = world.clock.elapsed() + RETRY_MS;
      const which = { candidates: aliasesOf(candidates), err: thrown };
      const what = candidates.length === 0 ? 'the base was not tested' : 'candidates were not examined';
      world.log.warn(which, `${what} ahead`);
    } finally {
      one.isOver = true;
    }
  }

  function begin(candidates: readonly Candidate[], isNeeded = false): void {
    const key = aliasesOf(candidates);
    const { retryAt = 0 } = begun.get(key) ?? {};
    if (over.aborted || retryAt === null || retryAt > world.clock.elapsed()) return;
    const isCounted = !concurrency.isLocked();
    if (!isCounted && !isNeeded) return;
    // Takes effect at once, because it is not locked.
    if (isCounted) void concurrency.acquire();
    const one: AheadExamination = {
      abort: new AbortController(),
      running: new Set(),
      isTogether: candidates.length > 1,
      isOver: false,
      retryAt: null,
      done: Promise.resolve(),
    };
    begun.set(key, one);
    one.done = examineThem(one, candidates, isNeeded).finally(() => {
      if (isCounted) concurrency.release();
    });
  }

  /** Together only after each of them by itself, and one group at a time, because the next one contains it. */
  function beginWith(candidates: readonly Candidate[]): void {
    // The start of the coders does not wait for it: before that, they need the processors.
    if (candidates.some(({ state }) => state === 'coding')) begin(NOBODY);
    const finished = candidates.filter(({ state }) => state === 'coded');
    const isNeeded = mayStop && candidates.length >= MIN_STOPPED_EARLY;
    for (const candidate of finished) begin([candidate], isNeeded);
    const alone = finished.filter(({ alias }) => examined.has(alias));
    const isBusy = [...begun.values()].some(({ isTogether, isOver }) => isTogether && !isOver);
    if (alone.length > 1 && !isBusy && candidates.some(isCoding)) begin(alone);
  }

  const watched = (runner: CheckRunner, one: AheadExamination): CheckRunner => ({
    ...withOwnAreas(runner, world.random.nonce()),
    signal: AbortSignal.any([runner.signal, one.abort.signal]),
    async remember<T>(key: string, compute: () => Promise<T>, keeps?: (result: T) => boolean): Promise<T> {
      throwIfCancelled(over);
      // The caller that chose the key determines the type.
      if (notKept.has(key)) return notKept.get(key) as T;
      const running = { since: world.clock.elapsed() };
      one.running.add(running);
      try {
        const result = await runner.remember(key, compute, keeps);
        if (keeps?.(result) === false) notKept.set(key, result);
        return result;
      } finally {
        one.running.delete(running);
      }
    },
  });

  return {
    async look() {
      const candidates = await world.store.candidates(run.id);
      beginWith(candidates);
      if (!mayStop || candidates.length < MIN_STOPPED_EARLY || !candidates.some(isCoding)) return;
      const agreed = decideEarlyStop([...examined.values()], await earlyFieldOf(world, candidates));
      if (agreed.kind !== 'stop') return;
      mayStop = false;
      await requestStop(world.store, run.id, agreed.because);
    },
    async end() {
      const waitMs = over.aborted ? suiteMs / 2 : 0;
      const lately = world.clock.elapsed() - suiteMs / 2;
      for (const { running, abort } of begun.values())
        if (!over.aborted || [...running].every(({ since }) => since > lately)) abort.abort();
      const ended = new AbortController();
      const waited = world.clock.sleep(waitMs, AbortSignal.any([signal, ended.signal]));
      const stopped = waited.then(() => {
        if (!ended.signal.aborted) stop.abort();
      });
      await Promise.all([...begun.values()].map(({ done }) => done));
      ended.abort();
      await stopped;
    },
  };
}

/** With no candidate, the base itself is tested. */
const NOBODY: readonly Candidate[] = [];

const aliasesOf = (candidates: readonly Candidate[]): string =>
  candidates
    .map(({ alias }) => alias)
    .toSorted()
    .join();

const isCoding = ({ state }: Candidate): boolean => state === 'queued' || state === 'coding';

/** The same runner with areas that no other examination opens: two may do the same work at the same time. */
function withOwnAreas(runner: CheckRunner, nonce: string): CheckRunner {
  const { workspaces } = runner.world;
  const open: typeof workspaces.open = (base, id) =>
    workspaces.open(base, `${id}-ahead-${nonce.slice(0, 8)}`);
  return { ...runner, world: { ...runner.world, workspaces: { ...workspaces, open } } };
}

async function openFinisherChecks(
  world: CheckRunnerPorts,
  context: RunContext,
  baseRun: ArtifactRef,
): Promise<FinisherChecks> {
  // One command at a time for each candidate: coders are at work on the same processors.
  const runner = await openCheckRunner({ ...world, parallelChecks: 1 }, context);
  const onBase = await readBaseRun(runner, baseRun);
  const stuckMs = stuckSeconds(onBase) * 1000;
  // So much slower is no busy machine.
  const isStuck = (run: TestRun) =>
    run.stopped === 'silence' || (run.stopped === 'wall' && run.ms >= stuckMs);
  const keeps = (run: TestRun | null) => run !== null && (isStuck(run) || failsNoMore(run, onBase));
  return { runner: { ...runner, keeps }, onBase };
}

/** Whether every failure is one of the base. Another one may come from coders' load on the machine. */
function failsNoMore(run: TestRun, onBase: TestRun): boolean {
  const failed = Object.keys(run.tests).filter((id) => outcomeIn(run, id) === 'failed');
  const isExplained = run.exitCode === 0 || (failed.length > 0 && onBase.exitCode !== 0);
  return run.stopped === null && isExplained && failed.every((id) => outcomeIn(onBase, id) === 'failed');
}

async function earlyFieldOf(
  world: Pick<World, 'artifacts'>,
  candidates: readonly Candidate[],
): Promise<AgreementContext> {
  const texts = new Map<Alias, string>();
  for (const { alias, patch } of candidates) {
    const text = patch ? await unlessDamaged(world.artifacts.get(patch.text)) : null;
    if (text !== null) texts.set(alias, text);
  }
  return {
    families: new Set(candidates.map(({ contestant }) => familyOf(contestant.model))).size,
    similarity(a, b) {
      const pair = [a, b].map((id) => ({ id, text: texts.get(id) ?? '' }));
      const [own, other] = comparePatches(pair);
      if (!own || !other) return 0;
      return own.classIndex === other.classIndex ? 1 : own.share;
    },
  };
}
