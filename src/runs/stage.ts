import { asFault, Fault, type FaultCode, OUTAGES, type RunId } from '../core/model/index.ts';
import type { Clock, FlowContext, RunRecord, StepOptions, Store } from '../ports/index.ts';
import { loadRun, type World } from './context.ts';

/** Dependencies of every stage. */
export type StagePorts = Pick<World, 'store' | 'clock' | 'log' | 'ceilings'>;

/** A fault as plain data, which a durable step can return. */
export interface FaultData {
  readonly code: FaultCode;
  readonly message: string;
}

export type StageResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'fault'; readonly fault: FaultData };

/** Input of a stage: the run as stored when the stage began, and the signal that aborts the stage. */
export interface RunContext {
  readonly run: RunRecord;
  readonly signal: AbortSignal;
  /** Milliseconds of work time left to the run; absent: unlimited. */
  readonly leftMs?: number;
}

/** Runs a stage as one durable step, with the run loaded once; returns a fault as a value. */
export type StageRunner = <T>(
  name: string,
  work: (context: RunContext) => Promise<T>,
) => Promise<StageResult<T>>;

/**
 * Milliseconds between retries during an external outage or while the machine kills Runoff's programs: a quarter of an
 * hour in total.
 */
const WAITS_MS = [2_000, 10_000, ...Array.from({ length: 29 }, () => 30_000)];
/**
 * Further ones where GitHub alone is missing to publish what is paid: nearly a day. Our default: longer than most outages
 * of GitHub (0236).
 */
export const PUBLISHING_WAITS_MS = Array.from({ length: 285 }, () => 300_000);
/** Longest wait for damaged stored data: the next try recreates what can be recreated. */
const MAX_WAIT_FOR_RESTORE_MS = 10_000;
/** An outage that outlasted all retries: an outer retry does not repeat the work. */
class LongOutage extends Fault {
  constructor({ code, message, cause }: Fault) {
    super(code, message, { cause });
  }
}

/** Message for the log; the fault itself is logged with it. */
function outageText({ code }: Fault): string {
  if (code === 'DISK_FULL') return 'the disk is full';
  if (code === 'DISK_FAILING') return 'the disk reports errors or is read-only';
  if (code === 'RESOURCES_EXHAUSTED') return 'memory or open files have run out';
  if (code === 'PROGRAM_KILLED') return 'a program that Runoff started was killed';
  if (code === 'REGISTRY_UNAVAILABLE') return 'a package registry does not answer';
  if (code === 'STORED_DATA_DAMAGED') return 'stored data is damaged';
  return 'a service does not answer';
}

/** The error with which a cancelled step rejects. */
export const cancelledError = (): DOMException => new DOMException('The run was cancelled.', 'AbortError');

export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelledError();
}

/**
 * Retries the work during an outage of a dependency or while the disk is full. The work must be safe to repeat.
 * `onWait` is called before each wait with its milliseconds and never rejects. `waits`: milliseconds between tries.
 */
export async function retryOutages<T>(
  world: Pick<World, 'clock' | 'log'>,
  signal: AbortSignal,
  work: () => Promise<T>,
  onWait: (fault: Fault, wait: number) => Promise<void> = async () => undefined,
  waits: readonly number[] = WAITS_MS,
): Promise<T> {
  for (const wait of [...waits, null]) {
    try {
      return await work();
    } catch (thrown) {
      const fault = asFault(thrown);
      if (fault instanceof LongOutage) throw fault;
      const isOutage = OUTAGES.has(fault.code);
      if (wait === null) throw isOutage ? new LongOutage(fault) : thrown;
      const isRemade = fault.code === 'STORED_DATA_DAMAGED' && wait <= MAX_WAIT_FOR_RESTORE_MS;
      if (!isOutage && !isRemade) throw thrown;
      world.log.warn({ err: thrown, wait }, `${outageText(fault)}; Runoff retries later`);
      await onWait(fault, wait);
      await world.clock.sleep(wait, signal);
      throwIfCancelled(signal);
    }
  }
  throw new Fault('INTERNAL', 'The last try returns or rejects.');
}

/** Restores the fault from data, with its advice and retry class. */
export const faultOf = (data: FaultData): Fault => new Fault(data.code, data.message);

/** A result with its duration. A stage without remaining time does not begin and has no duration. */
export type Timed<T> = T & {
  /** Milliseconds of work in the process that finished it. */
  readonly elapsed?: number;
};

/**
 * A run's work time, computed in the flow's body from recorded steps, so that it is the same after a restart. Excludes
 * time without work (waits for people, a slot, a worker, or a restarted process).
 */
export interface WorkTime {
  /** Milliseconds left at this point of the flow; never below 0. */
  left(): number;
  /**
   * Starts measuring; call the returned function with the milliseconds it took. Of concurrent work, the longest counts.
   */
  begin(): (elapsed: number) => void;
}

export function workTimeOf(mostMs: number): WorkTime {
  let spent = 0;
  return {
    left: () => Math.max(0, mostMs - spent),
    begin() {
      const from = spent;
      return (elapsed) => {
        spent = Math.max(spent, from + elapsed);
      };
    },
  };
}

/** For stages without a time limit, whose time does not count towards the run's. */
export const UNLIMITED: WorkTime = { left: () => Number.POSITIVE_INFINITY, begin: () => () => undefined };

/** Maximum work time of a run in milliseconds; the operator's MAX_RUN_TIME. */
export const maxWorkMs = ({ ceilings }: Pick<World, 'ceilings'>): number => ceilings.runSeconds * 1_000;

/** The stages of a run, each with the time that earlier ones left. `options`: of the step of each stage. */
export const stagesOf =
  (world: StagePorts, flow: FlowContext, runId: RunId, time: WorkTime, options?: StepOptions): StageRunner =>
  async (name, work) => {
    const leftMs = time.left();
    const took = time.begin();
    const execute = (signal: AbortSignal) =>
      executeStage(world, name, { signal, leftMs }, async (within) =>
        work({ run: await loadRun(world, runId), signal: within, leftMs }),
      );
    const { elapsed = 0, ...result } = await flow.step(name, execute, options);
    took(elapsed);
    return result;
  };

/**
 * Executes one stage in this process: waits out outages, aborts the work with RUN_TOO_LONG after `leftMs` milliseconds
 * (with none left it does not begin), and returns a thrown fault as data, so that it is stored like any result. Rejects
 * only if the step was cancelled, which ends the flow.
 */
export async function executeStage<T>(
  world: StagePorts,
  stage: string,
  { signal, leftMs = Number.POSITIVE_INFINITY }: { readonly signal: AbortSignal; readonly leftMs?: number },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Timed<StageResult<T>>> {
  if (leftMs <= 0) return runTooLong(world, stage);
  const began = world.clock.elapsed();
  const limit = timeLimit(world.clock, leftMs);
  const within = AbortSignal.any([signal, limit.signal]);
  const elapsed = (): number => Math.round(world.clock.elapsed() - began);
  try {
    const value = await retryOutages(world, within, () => work(within));
    return { kind: 'ok', value, elapsed: elapsed() };
  } catch (thrown) {
    if (signal.aborted) throw cancelledError();
    if (limit.signal.aborted) return { ...runTooLong(world, stage), elapsed: elapsed() };
    if (thrown instanceof DOMException && thrown.name === 'AbortError') throw cancelledError();
    const fault = asFault(thrown);
    const level = fault.code === 'INTERNAL' ? 'error' : 'warn';
    world.log[level]({ stage, code: fault.code, err: thrown }, fault.message);
    return { kind: 'fault', fault: { code: fault.code, message: fault.message }, elapsed: elapsed() };
  } finally {
    limit.clear();
  }
}

/** A signal that aborts after `ms` milliseconds unless it is cleared first. */
function timeLimit(clock: Clock, ms: number): { readonly signal: AbortSignal; clear(): void } {
  const limit = new AbortController();
  const over = new AbortController();
  if (Number.isFinite(ms))
    void clock.sleep(ms, over.signal).then(() => {
      if (!over.signal.aborted) limit.abort();
    });
  return { signal: limit.signal, clear: () => over.abort() };
}

function runTooLong(world: StagePorts, stage: string): Extract<StageResult<never>, { kind: 'fault' }> {
  const hours = Math.round(maxWorkMs(world) / 36_000) / 100;
  const fault = new Fault(
    'RUN_TOO_LONG',
    `The run reached this server's limit of ${hours} h of working time and was stopped in its stage \`${stage}\`.`,
  );
  world.log.warn({ stage, code: fault.code }, fault.message);
  return { kind: 'fault', fault: { code: fault.code, message: fault.message } };
}

/** Null if the data is damaged or deleted, for callers that can do without it or recreate it. */
export async function unlessDamaged<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (thrown) {
    if (asFault(thrown).code !== 'STORED_DATA_DAMAGED') throw thrown;
    return null;
  }
}

/**
 * Performs one external write exactly once per run and key (I8). Stores an intent first. If a crash came between the
 * write and its record, `look` finds what was written, which is adopted instead of written again.
 */
export async function idempotentWrite<T>(
  store: Pick<Store, 'intend' | 'fulfil'>,
  runId: RunId,
  key: string,
  effect: { look(): Promise<T | null>; write(): Promise<T> },
): Promise<T> {
  const { fresh, intent } = await store.intend(runId, key);
  if (intent.state === 'done') return intent.result as T;
  const result = (fresh ? null : await effect.look()) ?? (await effect.write());
  await store.fulfil(runId, key, result);
  return result;
}
