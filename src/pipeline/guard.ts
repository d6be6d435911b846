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
 * Turns a thrown fault into data, so that a stage's failure is remembered like any result and the run can say it.
 * Rejects only when the step was cancelled: that ends the flow.
 */
export async function guard<T>(world: World, stage: string, work: () => Promise<T>): Promise<Guarded<T>> {
  try {
    return { kind: 'ok', value: await work() };
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === 'AbortError') throw thrown;
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
