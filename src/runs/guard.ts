import { asFault, Fault, type FaultCode } from '../core/model/index.ts';
import type { World } from './world.ts';

/** A fault as plain data: what a durable step may return. */
export interface FaultData {
  readonly code: FaultCode;
  readonly message: string;
}

export type Guarded<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'fault'; readonly fault: FaultData };

/** A stage as the run sees it: named, durable, and faults come back as values. */
export type StageRunner = <T>(name: string, work: (signal: AbortSignal) => Promise<T>) => Promise<Guarded<T>>;

/**
 * Waits between tries while something outside of the run is away, or the machine kills what Runoff starts, milliseconds: a
 * quarter of an hour in all.
 */
const WAITS_MS = [2_000, 10_000, ...Array.from({ length: 29 }, () => 30_000)];
/** Longest wait for stored data that was found damaged: what can be made again is made by the next try. */
const REMAKING_MS = 10_000;
/** Faults that waiting can mend. */
export const OUTAGES: ReadonlySet<FaultCode> = new Set([
  'GITHUB_UNAVAILABLE',
  'DATABASE_UNAVAILABLE',
  'ARTIFACTS_UNAVAILABLE',
  'DISK_FULL',
  'PROGRAM_KILLED',
]);

/** An outage that lasted for all of these waits: a wait around it does not begin the work anew. */
class LongOutage extends Fault {
  constructor({ code, message, cause }: Fault) {
    super(code, message, { cause });
  }
}

/** What fails, for the log; the fault itself is beside it. */
function whatFails({ code }: Fault): string {
  if (code === 'DISK_FULL') return 'the disk is full';
  if (code === 'PROGRAM_KILLED') return 'a program that Runoff started was killed';
  if (code === 'STORED_DATA_DAMAGED') return 'stored data is damaged';
  return 'a service does not answer';
}

/** What a cancelled step rejects with. */
export const cancelled = (): DOMException => new DOMException('The run was cancelled.', 'AbortError');

export function stopIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled();
}

/**
 * Does the work again while a service that we depend on is away, or the disk full. The work must be safe to repeat.
 * `onWait` is told before each wait, of so many milliseconds; it never rejects.
 */
export async function patiently<T>(
  world: World,
  signal: AbortSignal,
  work: () => Promise<T>,
  onWait: (fault: Fault, wait: number) => Promise<void> = async () => undefined,
): Promise<T> {
  for (const wait of [...WAITS_MS, null]) {
    try {
      return await work();
    } catch (thrown) {
      const fault = asFault(thrown);
      if (fault instanceof LongOutage) throw fault;
      const isOutage = OUTAGES.has(fault.code);
      if (wait === null) throw isOutage ? new LongOutage(fault) : thrown;
      const isRemade = fault.code === 'STORED_DATA_DAMAGED' && wait <= REMAKING_MS;
      if (!isOutage && !isRemade) throw thrown;
      world.log.warn({ err: thrown, wait }, `${whatFails(fault)}; tried again later`);
      await onWait(fault, wait);
      await world.clock.sleep(wait, signal);
      stopIfCancelled(signal);
    }
  }
  throw new Fault('INTERNAL', 'The last try returns or rejects.');
}

/**
 * Turns a thrown fault into data, so that a stage's failure is remembered like any result and the run can say it.
 * Outages are waited out first. Rejects only when the step was cancelled: that ends the flow.
 */
export async function guard<T>(
  world: World,
  stage: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<Guarded<T>> {
  try {
    return { kind: 'ok', value: await patiently(world, signal, work) };
  } catch (thrown) {
    if (signal.aborted || (thrown instanceof DOMException && thrown.name === 'AbortError')) throw cancelled();
    const fault = asFault(thrown);
    world.log[fault.code === 'INTERNAL' ? 'error' : 'warn'](
      { stage, code: fault.code, err: thrown },
      fault.message,
    );
    return { kind: 'fault', fault: { code: fault.code, message: fault.message } };
  }
}

/** Back from data, for its advice and retry class. */
export const faultOf = (data: FaultData): Fault => new Fault(data.code, data.message);
