import {
  asFault,
  type Brief,
  type Candidate,
  type Fault,
  type RunId,
  type Task,
} from '../../core/model/index.ts';
import { ENDED_UNCHANGED, PARTIAL_WORK_JUDGED, tailOf, visibleLine } from '../../core/reports/index.ts';
import { moreSilence, moreTime, type Times } from '../../core/settings/index.ts';
import type { BaseCheckout, Clock, ExecResult, Lease, Store, WorkArea } from '../../ports/index.ts';
import type { RestorePorts } from '../base/index.ts';
import { storePatch, type World } from '../context.ts';
import { retryOutages } from '../stage.ts';
import { noteOf } from './queue.ts';
import type { StartingPoint } from './task-text.ts';

/** Dependencies of one running coder. */
export type CoderPorts = RestorePorts &
  Pick<World, 'ceilings' | 'clock' | 'coders' | 'gateway' | 'prompts' | 'random' | 'store'>;

export interface WritingOptions {
  readonly leftMs: number;
  readonly signal: AbortSignal;
  /**
   * Decides whether a coder that was ended by a signal from outside Runoff may restart. It ran for `ms` milliseconds of
   * at most `mostMs`.
   */
  readonly mayRestart: (ms: number, mostMs: number) => boolean;
}

/** One running coder, from opening its area to closing its lease. */
export interface CoderSession {
  readonly world: CoderPorts;
  readonly task: Task;
  readonly brief: Brief;
  readonly candidate: Candidate;
  readonly base: BaseCheckout;
  readonly area: WorkArea;
  readonly given: StartingPoint | null;
  readonly progress: Progress;
  /** Milliseconds of work time left to its run. */
  readonly leftMs: number;
  readonly signal: AbortSignal;
  readonly mayRestart: WritingOptions['mayRestart'];
}

/** Exit code of a coder that noticed its own time limit, as with `timeout` of GNU coreutils. */
const OUT_OF_TIME = 124;

/** A candidate's note between the end of its coder and the finished patch. */
export const COLLECTING = 'its patch is being collected';

/** A candidate's note while it waits for an external resource. */
export const waitNote = ({ message }: Fault, wait: number): string =>
  `retries in ${Math.round(wait / 1000)} s: ${message}`;

/** How a coder's process ended, without secrets. */
interface Ending {
  /** In Runoff's words; null if it ended normally. */
  readonly how: string | null;
  /** What its agent said last; empty for nothing. */
  readonly lastWords: string;
}

/** Maximum code points of an agent's last words. */
const MAX_LAST_WORDS = 200;

/** Nothing stopped the coder, so only its own words tell why it changed nothing. */
function unchangedText(lastWords: string): string {
  const said = visibleLine(lastWords, MAX_LAST_WORDS);
  return said === '' ? ENDED_UNCHANGED : `${ENDED_UNCHANGED}; its last words: “${said}”`;
}

type CandidateEnd = Pick<Candidate, 'state' | 'note'> & { patch?: Candidate['patch'] & object };

/**
 * Stores the patch of a coder that may have filled the disk. A lack of space is then the coder's own failure, so
 * waiting would not help.
 */
export async function storeIfItFits(work: CoderSession, ending: Ending): Promise<CandidateEnd> {
  try {
    return await storeCandidatePatch(work, ending, (_world, _signal, keep) => keep());
  } catch (thrown) {
    if (asFault(thrown).code !== 'DISK_FULL') throw thrown;
    return { state: 'failed', note: ending.how ?? 'it filled the disk' };
  }
}

export async function storeCandidatePatch(
  { world, base, area, given, progress, signal }: CoderSession,
  { how: ending, lastWords }: Ending,
  waiting: typeof retryOutages = retryOutages,
): Promise<CandidateEnd> {
  const say = async (fault: Fault, wait: number) => progress.set({ note: waitNote(fault, wait) });
  const collect = () => world.workspaces.collect(base, area, signal);
  const collected = await waiting(world, signal, collect, say);
  if (given?.kind === 'repair' && collected.kind === 'patch' && collected.patch.tree === given.tree) {
    return { state: 'failed', note: ending ?? 'did not change its patch' };
  }
  switch (collected.kind) {
    case 'empty':
      return { state: 'failed', note: ending ?? unchangedText(lastWords) };
    case 'refused':
      return { state: 'failed', note: `its patch was refused: ${collected.why}` };
    case 'patch':
      return {
        state: 'coded',
        note: ending ? `${ending.replace(/\.$/, '')}; ${PARTIAL_WORK_JUDGED}` : 'done',
        patch: await waiting(world, signal, () => storePatch(world.artifacts, collected.patch), say),
      };
  }
}

/** Explains in one clause how the coder ended; null if it ended normally. */
export function endingOf(result: ExecResult, lease: Lease): string | null {
  const refusal = lease.refusal();
  if (refusal) return `stopped after its last model call was refused: ${refusal}`;
  switch (result.stopped) {
    case 'wall':
      return `stopped at its time limit of ${Math.round(result.ms / 1000)} s`;
    case 'silence':
      return 'stopped: it exceeded the output-silence limit';
    case 'memory':
    case 'disk':
      return `stopped: it exceeded its ${result.stopped} limit`;
    case 'cancelled':
    case null:
      if (result.exitCode === OUT_OF_TIME) return 'stopped on its own shortly before its time limit';
      return result.exitCode === 0
        ? null
        : `ended with exit code ${result.exitCode ?? 'none'}${lastOutput(result)}`;
  }
}

/** Maximum length of an agent's last output, in characters. */
const MAX_LAST_OUTPUT_CHARS = 200;

/** The last line that an agent wrote, preferably to stderr; empty if it wrote nothing. */
function lastOutput({ stdout, stderr }: ExecResult): string {
  const last = tailOf(stderr, 1) || tailOf(stdout, 1);
  return last === '' ? '' : `: ${last.slice(0, MAX_LAST_OUTPUT_CHARS)}`;
}

interface Progress {
  /**
   * Records the change; a candidate's note is prefixed with how the candidate came about. A change of state is written
   * to the database at once, anything else with the next write.
   */
  set(change: Partial<Omit<Candidate, 'runId' | 'alias'>>): void;
  /** Writes pending changes. Rejects if that fails; may be called again. */
  flush(): Promise<void>;
}

/**
 * Serialises the writes of one candidate's row, so that frequent progress updates cause at most one write at a time.
 */
export function progressOf(
  store: Pick<Store, 'putCandidate'>,
  start: Candidate,
  onState: () => void,
): Progress {
  let current = start;
  let dirty = false;
  let writing: Promise<void> = Promise.resolve();
  let busy = false;

  const pump = async (): Promise<void> => {
    busy = true;
    try {
      while (dirty) {
        dirty = false;
        await store.putCandidate(current);
      }
    } catch (thrown) {
      // The change stays pending for the next write or flush.
      dirty = true;
      throw thrown;
    } finally {
      busy = false;
    }
  };
  const write = (): void => {
    if (busy) return;
    writing = pump();
    // `flush` reports the rejection; without this handler it would be unhandled until then.
    writing.catch(() => {});
  };

  return {
    set(change) {
      const stateChanged = change.state !== undefined && change.state !== current.state;
      const note = change.note === undefined ? {} : { note: noteOf(start.contestant, change.note) };
      current = { ...current, ...change, ...note };
      dirty = true;
      write();
      if (stateChanged) onState();
    },
    async flush() {
      await writing.catch(() => {});
      if (dirty) await pump();
    },
  };
}

/** Key of the intent that stores why a run's coders may stop early: written once, read again after a crash. */
const STOP_EARLY_KEY = 'enough';
/** Milliseconds between checks for an early stop. Our default: short compared with a coder's minutes. */
const STOP_CHECK_MS = 1_000;

/** Requests that the coders of a run, on any machine, stop early because enough candidates are finished. */
export async function requestStop(store: Store, runId: RunId, because: string): Promise<void> {
  await store.intend(runId, STOP_EARLY_KEY);
  await store.fulfil(runId, STOP_EARLY_KEY, because);
}

/** Why the coders of a run may stop early; null if no stop was requested. */
export async function stopReason(store: Store, runId: RunId): Promise<string | null> {
  const intent = await store.intent(runId, STOP_EARLY_KEY);
  return intent?.state === 'done' ? String(intent.result) : null;
}

/** A coder's subscription to the stop request. */
interface StopListener {
  /** Aborts with the coder's own signal, and when an early stop is requested. */
  readonly signal: AbortSignal;
  /** The reason, once an early stop is requested. */
  because(): string | null;
  /** Stops listening. */
  close(): void;
}

/** Polls for a stop request while a coder works. If the store is unreachable, it tries again later. */
export function listenForStop(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  runId: RunId,
  signal: AbortSignal,
): StopListener {
  const stopped = new AbortController();
  const closed = new AbortController();
  let because: string | null = null;
  const listen = async (): Promise<void> => {
    while (!closed.signal.aborted && !signal.aborted) {
      because = await stopReason(store, runId).catch(() => null);
      if (because !== null) return stopped.abort();
      await clock.sleep(STOP_CHECK_MS, closed.signal);
    }
  };
  void listen();
  return {
    signal: AbortSignal.any([signal, stopped.signal]),
    because: () => because,
    close: () => closed.abort(),
  };
}

/** Number of recent steps kept to detect repetition. Our default, tune on dev data. */
const REPEATED_STEPS = 20;

interface ProgressLimit {
  /** Reports a step of the coder. */
  step(text: string): void;
  /** Called by the sandbox when a time limit is reached. */
  readonly onLimit: (limit: 'wall' | 'silence') => number;
}

/** Tracks one coder's progress from its start: whether it advances, and whether it is responsive. */
export function progressLimitFor(
  clock: Pick<Clock, 'elapsed'>,
  lease: Pick<Lease, 'lastActivity'>,
  times: Times,
): ProgressLimit {
  const startedAt = clock.elapsed();
  const recentSteps: string[] = [];
  // Starting is not progress, however short the wall time.
  let progressAt = Number.NEGATIVE_INFINITY;
  return {
    step(text) {
      if (recentSteps.includes(text)) return;
      recentSteps.push(text);
      if (recentSteps.length > REPEATED_STEPS) recentSteps.shift();
      progressAt = clock.elapsed();
    },
    onLimit(limit) {
      const now = clock.elapsed();
      if (limit === 'wall') {
        return moreTime(times, { elapsedMs: now - startedAt, sinceProgressMs: now - progressAt });
      }
      return moreSilence(times, now - (lease.lastActivity() ?? startedAt));
    },
  };
}
