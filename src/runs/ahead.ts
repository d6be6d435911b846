import type { TestRun } from '../core/evidence/index.ts';
import { familyOf } from '../core/judging/index.ts';
import { comparePatches } from '../core/likeness/index.ts';
import type { Alias, ArtifactRef, Candidate, RunId } from '../core/model/index.ts';
import { type AgreementContext, decideEarlyStop, type FinishedCandidate } from '../core/ranking/index.ts';
import { type CodingWatcher, requestStop } from './code/index.ts';
import { taskOf, type World } from './context.ts';
import {
  type BuiltTrees,
  type CheckRunner,
  type CheckRunnerPorts,
  gatherEvidence,
  noBuiltTrees,
  openCheckRunner,
  readBaseRun,
} from './examine/index.ts';
import { type RunContext, throwIfCancelled, unlessDamaged } from './stage.ts';

/** Milliseconds between checks for finished coders. Our default: short compared with a coder's minutes. */
const FINISHER_CHECK_MS = 1_000;

/** Minimum number of coders for early stopping: agreement between two can only save the work of a third. */
const MIN_STOPPED_EARLY = 3;

type AheadPorts = CheckRunnerPorts & Pick<World, 'log'>;

/** What this process examines while other candidates of the same run are still coded. */
export interface AheadWork {
  /** Takes a slot; false if none is free. */
  take(): boolean;
  free(): void;
  /** The run's trees that were built here. */
  treesOf(runId: RunId): BuiltTrees;
  /** Forgets the trees of a run that has ended; its areas are removed with it. */
  forget(runId: RunId): void;
}

/** `most`: candidates at a time; with 0, nothing is examined ahead. */
export function openAheadWork(most: number): AheadWork {
  let taken = 0;
  const trees = new Map<RunId, BuiltTrees>();
  return {
    take() {
      if (taken >= most) return false;
      taken += 1;
      return true;
    },
    free() {
      taken -= 1;
    },
    treesOf(runId) {
      const built = trees.get(runId) ?? noBuiltTrees();
      trees.set(runId, built);
      return built;
    },
    forget: (runId) => void trees.delete(runId),
  };
}

/**
 * Examines each candidate by itself as soon as its coder has ended, then the finished ones together, while others are
 * still at work; stops these where the settings allow it and the finishers pass and agree. What was executed is kept for the run, so the following
 * stage, which examines all candidates together, finds it (docs/decisions/0190). Ends soon after coding: a command that
 * has run for less than half of a test suite is stopped, another one is waited for. A candidate whose examination fails
 * here is left to that stage. Returns the milliseconds that it took after coding was over.
 */
export const examineAhead =
  (world: AheadPorts, work: AheadWork, baseRun: ArtifactRef): CodingWatcher =>
  async (context, over) => {
    const watch = openWatch(world, work, context, over, baseRun);
    let overSince: number | null = null;
    try {
      while (!over.aborted) {
        throwIfCancelled(context.signal);
        await watch.look();
        await world.clock.sleep(FINISHER_CHECK_MS, AbortSignal.any([context.signal, over]));
      }
      overSince = world.clock.elapsed();
    } finally {
      await watch.end();
    }
    return Math.round(world.clock.elapsed() - overSince);
  };

interface FinisherWatch {
  /** Begins with new finishers, as far as slots are free, and decides whether the other coders can be stopped. */
  look(): Promise<void>;
  /** Stops what can be begun again at little cost, and waits for the rest. */
  end(): Promise<void>;
}

/** The work on one candidate, or on several together. */
interface AheadExamination {
  readonly abort: AbortController;
  /** When the work that is to be kept began, by the clock's elapsed milliseconds. */
  readonly running: Set<{ readonly since: number }>;
  readonly isTogether: boolean;
  isOver: boolean;
  done: Promise<void>;
}

interface FinisherChecks {
  readonly runner: CheckRunner;
  readonly onBase: TestRun;
}

function openWatch(
  world: AheadPorts,
  work: AheadWork,
  context: RunContext,
  over: AbortSignal,
  baseRun: ArtifactRef,
): FinisherWatch {
  const { run, signal } = context;
  /** By the aliases of what is examined together. */
  const begun = new Map<string, AheadExamination>();
  const examined = new Map<Alias, FinishedCandidate>();
  let checks: Promise<FinisherChecks> | null = null;
  let suiteMs = 0;
  let mayStop = taskOf(run).settings.adaptive.stopEarly;

  function openChecks(): Promise<FinisherChecks> {
    const opening = checks ?? openFinisherChecks(world, context, baseRun);
    checks = opening;
    opening.catch(() => {
      checks = null;
    });
    return opening;
  }

  async function examineThem(one: AheadExamination, candidates: readonly Candidate[]): Promise<void> {
    try {
      const { runner, onBase } = await openChecks();
      suiteMs = onBase.ms;
      const built = work.treesOf(run.id);
      const { evidence } = await gatherEvidence(watched(runner, one, over), candidates, onBase, {
        built,
        ahead: true,
      });
      const families = new Map(
        candidates.map(({ alias, contestant }) => [alias, familyOf(contestant.model)]),
      );
      for (const own of evidence)
        examined.set(own.alias, { evidence: own, family: families.get(own.alias) ?? '' });
    } catch (thrown) {
      if (!over.aborted && !signal.aborted)
        world.log.warn(
          { candidates: aliasesOf(candidates), err: thrown },
          'candidates were not examined ahead',
        );
    } finally {
      one.isOver = true;
      work.free();
    }
  }

  function begin(candidates: readonly Candidate[]): void {
    const key = aliasesOf(candidates);
    if (begun.has(key) || over.aborted || !work.take()) return;
    const one: AheadExamination = {
      abort: new AbortController(),
      running: new Set(),
      isTogether: candidates.length > 1,
      isOver: false,
      done: Promise.resolve(),
    };
    begun.set(key, one);
    one.done = examineThem(one, candidates);
  }

  /** Together only after each of them by itself, and one group at a time: they use the same areas. */
  function beginWith(finished: readonly Candidate[]): void {
    for (const candidate of finished) begin([candidate]);
    const alone = finished.filter(({ alias }) => examined.has(alias));
    const isBusy = [...begun.values()].some(({ isTogether, isOver }) => isTogether && !isOver);
    if (alone.length > 1 && !isBusy) begin(alone);
  }

  const watched = (runner: CheckRunner, one: AheadExamination, ended: AbortSignal): CheckRunner => ({
    ...runner,
    signal: AbortSignal.any([signal, one.abort.signal]),
    async remember(key, compute) {
      throwIfCancelled(ended);
      const running = { since: world.clock.elapsed() };
      one.running.add(running);
      try {
        return await runner.remember(key, compute);
      } finally {
        one.running.delete(running);
      }
    },
  });

  return {
    async look() {
      const candidates = await world.store.candidates(run.id);
      beginWith(candidates.filter(({ state }) => state === 'coded'));
      if (!mayStop || candidates.length < MIN_STOPPED_EARLY || !candidates.some(isCoding)) return;
      const agreed = decideEarlyStop([...examined.values()], await earlyFieldOf(world, candidates));
      if (agreed.kind !== 'stop') return;
      mayStop = false;
      await requestStop(world.store, run.id, agreed.because);
    },
    async end() {
      const lately = world.clock.elapsed() - suiteMs / 2;
      for (const { running, abort } of begun.values())
        if (!over.aborted || [...running].every(({ since }) => since > lately)) abort.abort();
      await Promise.all([...begun.values()].map(({ done }) => done));
    },
  };
}

const aliasesOf = (candidates: readonly Candidate[]): string =>
  candidates
    .map(({ alias }) => alias)
    .toSorted()
    .join();

const isCoding = ({ state }: Candidate): boolean => state === 'queued' || state === 'coding';

async function openFinisherChecks(
  world: CheckRunnerPorts,
  context: RunContext,
  baseRun: ArtifactRef,
): Promise<FinisherChecks> {
  // One command at a time for each candidate: coders are at work on the same processors.
  const runner = await openCheckRunner({ ...world, parallelChecks: 1 }, context);
  return { runner, onBase: await readBaseRun(runner, baseRun) };
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
