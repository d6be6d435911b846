import {
  asFault,
  type Brief,
  type Candidate,
  type Fault,
  type RunId,
  type Task,
} from '../../core/model/index.ts';
import { PARTIAL_WORK_JUDGED, tailOf } from '../../core/reports/index.ts';
import { moreSilence, moreTime, type Times } from '../../core/settings/index.ts';
import type { BaseCheckout, Clock, ExecResult, ExecSpec, Lease, Store, WorkArea } from '../../ports/index.ts';
import type { RestorePorts } from '../base/index.ts';
import { storePatch, type World } from '../context.ts';
import { retryOutages } from '../stage.ts';
import { noteOf } from './queue.ts';
import type { StartingPoint } from './task-text.ts';

/** What one coder at work takes. */
export type CoderPorts = RestorePorts &
  Pick<World, 'ceilings' | 'clock' | 'coders' | 'gateway' | 'prompts' | 'random' | 'store'>;

export interface WritingOptions {
  readonly leftMs: number;
  readonly signal: AbortSignal;
  /**
   * Asked when a signal that Runoff did not send ended the coder, after `ms` milliseconds of at most `mostMs`: whether it
   * may start over.
   */
  readonly mayRestart: (ms: number, mostMs: number) => boolean;
}

/** One coder at work, from its open area to the end of its lease. */
export interface CoderSession {
  readonly world: CoderPorts;
  readonly task: Task;
  readonly brief: Brief;
  readonly candidate: Candidate;
  readonly base: BaseCheckout;
  readonly area: WorkArea;
  readonly given: StartingPoint | null;
  readonly progress: Progress;
  /** Milliseconds that its run may work from here on. */
  readonly leftMs: number;
  readonly signal: AbortSignal;
  readonly mayRestart: WritingOptions['mayRestart'];
}

/** Exit code of a coder that saw its time limit come, as `timeout` of the coreutils has it. */
const OUT_OF_TIME = 124;

/** What a candidate's note says between its coder's end and the finished patch. */
export const COLLECTING = 'its patch is being collected';

/** What a candidate's note says while it waits for something outside of it. */
export const waitNote = ({ message }: Fault, wait: number): string =>
  `retries in ${Math.round(wait / 1000)} s: ${message}`;

type CandidateEnd = Pick<Candidate, 'state' | 'note'> & { patch?: Candidate['patch'] & object };

/** Of a coder that may have filled the disk: whatever is in the way of its patch then is its own, and waiting is no use. */
export async function storeIfItFits(work: CoderSession, ending: string | null): Promise<CandidateEnd> {
  try {
    return await storeCandidatePatch(work, ending, (_world, _signal, keep) => keep());
  } catch (thrown) {
    if (asFault(thrown).code !== 'DISK_FULL') throw thrown;
    return { state: 'failed', note: ending ?? 'it filled the disk' };
  }
}

export async function storeCandidatePatch(
  { world, base, area, given, progress, signal }: CoderSession,
  ending: string | null,
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
      return { state: 'failed', note: ending ?? 'ended without changing a file' };
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

/** One clause for people when the coder did not end well; null when it did. */
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

/** Characters of what an agent said last. */
const MAX_LAST_OUTPUT_CHARS = 200;

/** The last line that an agent wrote, best where errors go; nothing where it said nothing. */
function lastOutput({ stdout, stderr }: ExecResult): string {
  const last = tailOf(stderr, 1) || tailOf(stdout, 1);
  return last === '' ? '' : `: ${last.slice(0, MAX_LAST_OUTPUT_CHARS)}`;
}

interface Progress {
  /** Remembers the change, a note with how the candidate came about before it; the database hears of it at once when the state changed, else with the next write. */
  set(change: Partial<Omit<Candidate, 'runId' | 'alias'>>): void;
  /** Writes what is remembered; rejects if that fails, and may be asked again. */
  flush(): Promise<void>;
}

/** Serialises writes of one candidate's row: a coder's chatter becomes at most one write at a time. */
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
      // Not lost: the next change, or whoever flushes, writes it.
      dirty = true;
      throw thrown;
    } finally {
      busy = false;
    }
  };
  const write = (): void => {
    if (busy) return;
    writing = pump();
    // The rejection is delivered by flush; without this line it would count as unhandled until then.
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

/** Key of the intent that holds why the coders of a run may stop: written once, found again after a crash. */
const STOP_EARLY_KEY = 'enough';
/** Milliseconds between two looks of a coder that may be stopped. Our default: small beside its minutes. */
const STOP_CHECK_MS = 1_000;

/** Tells the coders of a run, on whatever machine, that those who have finished are enough. */
export async function requestStop(store: Store, runId: RunId, because: string): Promise<void> {
  await store.intend(runId, STOP_EARLY_KEY);
  await store.fulfil(runId, STOP_EARLY_KEY, because);
}

/** Why the coders of a run may stop; null while nobody has requested it. */
export async function stopReason(store: Store, runId: RunId): Promise<string | null> {
  const intent = await store.intent(runId, STOP_EARLY_KEY);
  return intent?.state === 'done' ? String(intent.result) : null;
}

/** A coder's view of it. */
interface StopListener {
  /** Aborts with the coder's own signal, and when an early stop is requested. */
  readonly signal: AbortSignal;
  /** Why, once an early stop is requested. */
  because(): string | null;
  /** No longer listens. */
  close(): void;
}

/** Watches for the request to stop early while a coder works. A store that cannot be reached is asked again later. */
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

/** Steps that are remembered to tell something new from a repetition. Our default, tune on dev data. */
const REPEATED_STEPS = 20;

interface ProgressLimit {
  /** The coder did something. */
  step(text: string): void;
  /** What the sandbox asks when a time is over. */
  readonly onLimit: NonNullable<ExecSpec['onLimit']>;
}

/** Watches one coder from its start on: does it get anywhere, and is it alive? */
export function progressLimitFor(
  clock: Pick<Clock, 'elapsed'>,
  lease: Pick<Lease, 'lastActivity'>,
  times: Times,
): ProgressLimit {
  const startedAt = clock.elapsed();
  const recentSteps: string[] = [];
  // To have been started is no progress, however short the wall time is.
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
