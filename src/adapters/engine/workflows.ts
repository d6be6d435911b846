import { setTimeout as delay } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Semaphore } from 'async-mutex';
import type { ChildInput, FlowContext, Flows } from '../../ports/index.ts';
import { type CoderQueue, EXAMINATION_QUEUE } from './dbos-config.ts';
import type { PollSchedule } from './dbos-internals.ts';
import { type FlowHost, type FlowResult, flowContext, neverSettle, toPlainJson } from './flow.ts';
import { type OwnFence, ownsWork } from './heartbeat.ts';
import { inSlot, openRunSlot, type RunQueue, type RunSlot } from './run-queue.ts';

/** After so many starts without an end, a flow probably kills its process each time. */
const MAX_RESTARTS = 20;
/** A run may wait for people for a week while its process is restarted many times. */
const MAX_RESTARTS_WAITING = 200;

type Workflow = (input: unknown, parent: string | null) => Promise<FlowResult>;
type FlowBody = (context: FlowContext, input: unknown) => Promise<unknown>;

export interface RegisteredFlows {
  readonly run: Workflow;
  readonly candidate: Workflow;
  readonly examination: Workflow;
}

/** One execution of a flow, the first one or a replay. */
async function runFlow(id: string, host: FlowHost, flow: FlowBody, input: unknown): Promise<FlowResult> {
  const value = toPlainJson(`The result of flow ${id}`, await flow(flowContext(id, host), input));
  return value === undefined ? {} : { value };
}

/** Registers the flows as DBOS workflows. The database keeps their names: never change them. */
export function register(flows: Flows, active: ActiveFlows, queue: CoderQueue | null): RegisteredFlows {
  const { candidateSlots, runQueue, isStopping, ownsWork } = active;

  const run: Workflow = DBOS.registerWorkflow(
    async (input: unknown, parent: string | null) => {
      const id = DBOS.workflowID ?? '';
      return active.run(id, parent, async (signal) => {
        const slot = openRunSlot(runQueue, id);
        try {
          return await runFlow(id, hostOf(id, signal, slot), flows.run, input);
        } finally {
          slot.release();
        }
      });
    },
    { name: 'run', maxRecoveryAttempts: MAX_RESTARTS_WAITING },
  );

  const candidate: Workflow = DBOS.registerWorkflow(
    async (input: unknown, parent: string | null) => {
      const id = DBOS.workflowID ?? '';
      return active.run(id, parent, async (signal) => {
        const code = async () => {
          if (isStopping()) return neverSettle<FlowResult>();
          return runFlow(id, hostOf(id, signal, openRunSlot(runQueue, id)), flows.candidate, input);
        };
        return candidateSlots === null ? code() : inSlot(candidateSlots, signal, code);
      });
    },
    { name: 'candidate', maxRecoveryAttempts: MAX_RESTARTS },
  );

  const examination: Workflow = DBOS.registerWorkflow(
    async (input: unknown, parent: string | null) => {
      const id = DBOS.workflowID ?? '';
      return active.run(id, parent, (signal) =>
        runFlow(id, hostOf(id, signal, openRunSlot(runQueue, id)), flows.examination, input),
      );
    },
    { name: 'examination', maxRecoveryAttempts: MAX_RESTARTS },
  );
  const children = { candidate, examination };

  async function startChild(id: string, parent: string, child: ChildInput) {
    const { flow = 'candidate', partition } = child;
    const where =
      queue === null
        ? {}
        : {
            queueName: flow === 'candidate' ? queue.name : EXAMINATION_QUEUE,
            enqueueOptions: { queuePartitionKey: partition, priority: child.priority ?? 0 },
          };
    const input = toPlainJson(`The input of flow ${id}`, child.input);
    await DBOS.startWorkflow(children[flow], { workflowID: id, ...where })(input, parent);
    active.schedule.expectWork();
    // Its result as the database has it: what ended here without a record is executed once more.
    return DBOS.retrieveWorkflow(id);
  }

  const hostOf = (id: string, signal: AbortSignal, slot: RunSlot): FlowHost => ({
    signal,
    slot,
    isStopping,
    shutdownSignal: active.shutdownSignal,
    ownsWork,
    track: (step) => active.track(id, step),
    startChild,
  });
  return { run, candidate, examination };
}

/** The flows that run in this process, and whether they may continue. */
export interface ActiveFlows {
  /**
   * Runs a flow: `signal` aborts when this process cancels it or the engine has shut down. Ends after all its steps,
   * including those that ran beside one that failed.
   */
  run<T>(id: string, parent: string | null, body: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Limits the candidates at a time; null where a queue of DBOS does. */
  readonly candidateSlots: Semaphore | null;
  /** Limits the runs at a time. */
  readonly runQueue: RunQueue;
  readonly schedule: PollSchedule;
  isStopping(): boolean;
  /** Aborts when `drain` begins. */
  readonly shutdownSignal: AbortSignal;
  /** Whether a step's result may be kept: no other process has taken over. */
  ownsWork(): Promise<boolean>;
  /** Registers a running step of this flow. */
  track(id: string, step: Promise<void>): void;
  /** Resolves when this flow has ended in this process; null if it does not run here. It never rejects. */
  endOf(id: string): Promise<void> | null;
  /** Whether a step of this flow, or of a child of it, is running here. */
  isWorking(id: string): boolean;
  /** Aborts a flow and its children. */
  abort(id: string): void;
  /** From now on no step starts; waits for running ones, at most `graceMs`. */
  drain(graceMs: number): Promise<void>;
  abortAll(): void;
}

interface ActiveFlow {
  readonly abort: AbortController;
  readonly parent: string | null;
  /** Running ones; none of them rejects. */
  readonly steps: Set<Promise<void>>;
  readonly end: PromiseWithResolvers<void>;
}

export function openActiveFlows(
  candidateSlots: Semaphore | null,
  runQueue: RunQueue,
  fence: OwnFence | null,
  schedule: PollSchedule,
): ActiveFlows {
  const active = new Map<string, ActiveFlow>();
  const shutdown = new AbortController();
  return {
    candidateSlots,
    runQueue,
    schedule,
    isStopping: () => shutdown.signal.aborted || (fence?.isExpired() ?? false),
    shutdownSignal: shutdown.signal,
    ownsWork: async () => fence === null || (await ownsWork(fence, delay)),
    async run(id, parent, body) {
      const abort = new AbortController();
      const steps = new Set<Promise<void>>();
      const end = Promise.withResolvers<void>();
      active.set(id, { abort, parent, steps, end });
      try {
        return await body(abort.signal);
      } finally {
        await Promise.all(steps);
        active.delete(id);
        end.resolve();
        schedule.expectWork();
      }
    },
    track(id, step) {
      const steps = active.get(id)?.steps;
      steps?.add(step);
      void step.then(() => steps?.delete(step));
    },
    endOf: (id) => active.get(id)?.end.promise ?? null,
    isWorking: (id) =>
      [...active].some(([other, { parent, steps }]) => (other === id || parent === id) && steps.size > 0),
    abort(id) {
      for (const [other, { abort, parent }] of active) {
        if (other === id || parent === id) abort.abort(new Error('The run was cancelled.'));
      }
    },
    async drain(graceMs) {
      shutdown.abort(new Error('Runoff is shutting down.'));
      runQueue.close();
      const grace = new AbortController();
      await Promise.race([
        Promise.all([...active.values()].flatMap(({ steps }) => [...steps])),
        delay(graceMs, undefined, { signal: grace.signal }).catch(() => undefined),
      ]);
      grace.abort();
    },
    abortAll() {
      for (const { abort } of active.values()) abort.abort(new Error('Runoff is shutting down.'));
    },
  };
}
