import { DBOS, Error as DbosErrors, type WorkflowHandle } from '@dbos-inc/dbos-sdk';
import { FAULTS, Fault, type FaultCode } from '../../core/model/index.ts';
import type { ChildInput, ChildResult, FlowContext, StepOptions } from '../../ports/index.ts';
import type { RunSlot } from './run-queue.ts';

/**
 * Milliseconds between two checks of a child flow in another process. Our default: short compared with a coder's
 * minutes.
 */
const RESULT_POLL_MS = 200;

/**
 * Milliseconds between two checks of a waiting flow. Our default: a signal reaches it at once, so this only limits how
 * late it notices a cancellation, or a signal while notifications do not work.
 */
const WAIT_POLL_MS = 5_000;

/** The parts of the engine that a flow requires. */
export interface FlowHost {
  /** Aborts if this process cancels the flow, or when the engine has shut down. */
  readonly signal: AbortSignal;
  /** True: no further step starts. The flow freezes where it is and continues at the next launch. */
  isStopping(): boolean;
  /** Aborts when the engine begins to shut down. */
  readonly shutdownSignal: AbortSignal;
  /** Whether no other process has taken this flow over. */
  ownsWork(): Promise<boolean>;
  /** The flow's slot in this process. */
  readonly slot: RunSlot;
  /**
   * The engine waits for this step before it shuts down, and before it reports the flow as settled. It never rejects.
   */
  track(step: Promise<void>): void;
  startChild(id: string, parent: string, child: ChildInput): Promise<WorkflowHandle<unknown>>;
}

/** The value that a flow returns to the engine, wrapped so that `undefined` can be stored as JSON too. */
export interface FlowResult {
  readonly value?: unknown;
}

/** Never settles. A frozen flow ends with its process, or is garbage-collected with its engine. */
export const neverSettle = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** Errors about the flow itself, not about a child that it waits for: they belong to DBOS. */
function isOwnEnd(error: unknown, id: string): boolean {
  if (error instanceof DbosErrors.DBOSWorkflowConflictError) return true;
  return (
    (error instanceof DbosErrors.DBOSWorkflowCancelledError ||
      error instanceof DbosErrors.DBOSUnexpectedStepError ||
      error instanceof DbosErrors.DBOSStepNondeterminismError) &&
    error.workflowID === id
  );
}

function whyChildEnded(error: unknown): string {
  if (
    error instanceof DbosErrors.DBOSWorkflowCancelledError ||
    error instanceof DbosErrors.DBOSAwaitedWorkflowCancelledError
  ) {
    return 'It was cancelled.';
  }
  return error instanceof Error ? error.message : String(error);
}

/** The port's context for the flow `id`, for use inside its DBOS workflow. */
export function flowContext(id: string, host: FlowHost): FlowContext {
  /** The signal of the DBOS step in which it is called. */
  function stepSignal(): AbortSignal {
    const cancelled = DBOS.stepStatus?.cancelSignal;
    return cancelled === undefined ? host.signal : AbortSignal.any([cancelled, host.signal]);
  }

  /**
   * Executes work inside a DBOS step: failures become values, except for those that DBOS must see. A shutdown waits for
   * `ended`, but not for a run that only waits for a slot. A step that the shutdown has interrupted has no outcome.
   */
  async function perform<T>(
    name: string,
    work: (signal: AbortSignal) => Promise<T>,
    ended: PromiseWithResolvers<void>,
    { abortOnShutdown = false }: StepOptions,
  ): Promise<StepOutcome> {
    const signal = stepSignal();
    await host.slot.regain(signal);
    if (host.isStopping()) return neverSettle();
    host.track(ended.promise);
    const { shutdownSignal } = host;
    try {
      const value = toPlainJson(
        `The result of step \`${name}\``,
        await work(abortOnShutdown ? AbortSignal.any([signal, shutdownSignal]) : signal),
      );
      return { ok: true, ...(value === undefined ? {} : { value }) };
    } catch (error) {
      if (signal.aborted) throw error;
      if (!abortOnShutdown || !shutdownSignal.aborted) return failureOf(error);
      ended.resolve();
      return neverSettle();
    }
  }

  /**
   * The result that is stored first counts: a process that froze must not store its result before the one that took
   * over.
   */
  async function kept(outcome: Promise<StepOutcome>): Promise<StepOutcome> {
    const found = await outcome;
    return (await host.ownsWork()) ? found : neverSettle();
  }

  async function childResult<T>(handle: WorkflowHandle<unknown>): Promise<ChildResult<T>> {
    try {
      const { value } = (await handle.getResult({ pollingIntervalMs: RESULT_POLL_MS })) as FlowResult;
      return { kind: 'done', value: value as T };
    } catch (error) {
      if (host.isStopping()) return neverSettle();
      if (isOwnEnd(error, id)) throw error;
      return { kind: 'failed', why: whyChildEnded(error) };
    }
  }

  return {
    id,
    async step<T>(
      name: string,
      work: (signal: AbortSignal) => Promise<T>,
      options: StepOptions = {},
    ): Promise<T> {
      if (host.isStopping()) return neverSettle();
      let thrown: { readonly error: unknown } | null = null;
      const watched = async (signal: AbortSignal): Promise<T> => {
        try {
          return await work(signal);
        } catch (error) {
          thrown = { error };
          throw error;
        }
      };
      const ended = Promise.withResolvers<void>();
      const outcome = await DBOS.runStep(() => kept(perform(name, watched, ended, options)), { name })
        .finally(ended.resolve)
        .catch((error) => {
          // The engine stopped before the step ended: the failure is ours, not the step's.
          if (host.isStopping()) return neverSettle<StepOutcome>();
          throw error;
        });
      if (outcome.ok) return outcome.value as T;
      // In the first execution this is the original error of `work`; in a replay it is rebuilt from the stored outcome.
      throw (thrown as { readonly error: unknown } | null)?.error ?? errorFrom(outcome);
    },
    async wait(topic, ms) {
      if (host.isStopping()) return neverSettle();
      host.slot.release();
      // Not tracked: a shutdown does not wait for people.
      const received = await DBOS.recv<string>(topic, {
        timeoutSeconds: Math.max(ms, 1) / 1000,
        pollingIntervalMs: WAIT_POLL_MS,
      }).catch((error) => {
        if (host.isStopping()) return neverSettle<string>();
        throw error;
      });
      return received === null ? 'timeout' : 'signalled';
    },
    async waitForSlot(entry) {
      if (host.isStopping()) return neverSettle();
      let first = false;
      const begin = async (): Promise<null> => {
        first = true;
        await host.slot.enter(entry, stepSignal());
        return null;
      };
      await DBOS.runStep(begin, { name: 'slot' }).catch((error) => {
        if (host.isStopping()) return neverSettle<null>();
        throw error;
      });
      if (!first) host.slot.restore(entry);
    },
    async patched(name) {
      if (host.isStopping()) return neverSettle();
      return DBOS.patch(name).catch((error) => {
        if (host.isStopping()) return neverSettle<boolean>();
        throw error;
      });
    },
    async fanOut<T>(inputs: readonly ChildInput[]): Promise<readonly ChildResult<T>[]> {
      if (host.isStopping()) return neverSettle();
      await host.slot.regain(host.signal);
      if (host.isStopping()) return neverSettle();
      const handles: WorkflowHandle<unknown>[] = [];
      for (const input of inputs) handles.push(await host.startChild(`${id}-${input.key}`, id, input));
      const results: ChildResult<T>[] = [];
      for (const handle of handles) results.push(await childResult<T>(handle));
      return results;
    },
  };
}

/** Our limit, from the port's contract. The engine would accept megabytes, which every replay would read again. */
const MAX_JSON_BYTES = 64 * 1024;
/** A message is for people; a command's whole output in it would exceed the limit. */
const MAX_FAULT_CHARS = 8_000;

/**
 * A value as it will be after a restart: converted to JSON and back, so that the first execution sees what a replay
 * sees. `what` names the value in the fault INTERNAL that is thrown if it is too big or has no JSON.
 */
export function toPlainJson(what: string, value: unknown): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Fault('INTERNAL', `${what} has no JSON: ${(error as Error).message}.`, { cause: error });
  }
  if (text === undefined) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_JSON_BYTES) {
    throw new Fault(
      'INTERNAL',
      `${what} is ${bytes} bytes of JSON; the engine remembers at most ${MAX_JSON_BYTES}. Put the content into an artifact.`,
    );
  }
  return JSON.parse(text);
}

/** How a step ended, in a form that is the same in the first execution and in a replay. */
type StepOutcome =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly name: string; readonly message: string; readonly code?: string };

function failureOf(thrown: unknown): StepOutcome {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const message = error.message.slice(0, MAX_FAULT_CHARS);
  return {
    ok: false,
    name: error.name,
    message,
    ...(thrown instanceof Fault ? { code: thrown.code } : {}),
  };
}

const isFaultCode = (code: string | undefined): code is FaultCode => code !== undefined && code in FAULTS;

/**
 * Rebuilds the error of an earlier execution: a fault becomes a fault again, anything else an error of the same name.
 */
function errorFrom(outcome: Extract<StepOutcome, { ok: false }>): Error {
  if (isFaultCode(outcome.code)) return new Fault(outcome.code, outcome.message);
  const error = new Error(outcome.message);
  error.name = outcome.name;
  return error;
}
