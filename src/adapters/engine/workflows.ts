import { setTimeout as delay } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { ChildInput, FlowContext, Flows } from '../../ports/index.ts';
import { type CoderQueue, EXAMINATION_QUEUE } from './dbos-config.ts';
import { type FlowResult, flowContext, frozen, type Host, plain } from './flow.ts';
import { isOurs, type OwnFence } from './heartbeat.ts';
import { type Line, openTicket, type Slots, type Ticket } from './run-queue.ts';

/** A flow that was started this often and never ended takes its process down each time. */
const MAX_RESTARTS = 20;
/** A run may wait for people for a week, and its process may be started anew many times meanwhile. */
const MAX_RESTARTS_WAITING = 200;

type FlowFunction = (input: unknown, parent: string | null) => Promise<FlowResult>;
type Flow = (context: FlowContext, input: unknown) => Promise<unknown>;

export interface Registered {
  readonly run: FlowFunction;
  readonly candidate: FlowFunction;
  readonly examination: FlowFunction;
}

/** One pass of a flow, first or replayed. */
async function pass(id: string, host: Host, flow: Flow, input: unknown): Promise<FlowResult> {
  const value = plain(`The result of flow ${id}`, await flow(flowContext(id, host), input));
  return value === undefined ? {} : { value };
}

/** Makes DBOS workflows of the two flows. The names stand in the database: they are never changed. */
export function register(flows: Flows, residents: Residents, queue: CoderQueue | null): Registered {
  const { places, line, isStopping, isOurs } = residents;

  const run: FlowFunction = DBOS.registerWorkflow(
    async (input: unknown, parent: string | null) => {
      const id = DBOS.workflowID ?? '';
      return residents.host(id, parent, async (signal) => {
        const ticket = openTicket(line, id);
        try {
          return await pass(id, hostOf(id, signal, ticket), flows.run, input);
        } finally {
          ticket.leave();
        }
      });
    },
    { name: 'run', maxRecoveryAttempts: MAX_RESTARTS_WAITING },
  );

  const candidate: FlowFunction = DBOS.registerWorkflow(
    async (input: unknown, parent: string | null) => {
      const id = DBOS.workflowID ?? '';
      return residents.host(id, parent, async (signal) => {
        await places?.take(signal);
        try {
          if (isStopping()) return await frozen<FlowResult>();
          return await pass(id, hostOf(id, signal, openTicket(line, id)), flows.candidate, input);
        } finally {
          places?.give();
        }
      });
    },
    { name: 'candidate', maxRecoveryAttempts: MAX_RESTARTS },
  );

  const examination: FlowFunction = DBOS.registerWorkflow(
    async (input: unknown, parent: string | null) => {
      const id = DBOS.workflowID ?? '';
      return residents.host(id, parent, (signal) =>
        pass(id, hostOf(id, signal, openTicket(line, id)), flows.examination, input),
      );
    },
    { name: 'examination', maxRecoveryAttempts: MAX_RESTARTS },
  );
  const children = { candidate, examination };

  function startChild(id: string, parent: string, child: ChildInput) {
    const { flow = 'candidate', partition } = child;
    const where =
      queue === null
        ? {}
        : {
            queueName: flow === 'candidate' ? queue.name : EXAMINATION_QUEUE,
            enqueueOptions: { queuePartitionKey: partition, priority: child.priority ?? 0 },
          };
    const input = plain(`The input of flow ${id}`, child.input);
    return DBOS.startWorkflow(children[flow], { workflowID: id, ...where })(input, parent);
  }

  const hostOf = (id: string, signal: AbortSignal, ticket: Ticket): Host => ({
    signal,
    ticket,
    isStopping,
    isOurs,
    track: (step) => residents.track(id, step),
    startChild,
  });
  return { run, candidate, examination };
}

/** The flows that run in this process now, and whether they may go on. */
export interface Residents {
  /**
   * Runs a flow: `signal` aborts when it is cancelled from here or the engine has shut down. Ends after all its steps, those
   * included that ran beside one which failed.
   */
  host<T>(id: string, parent: string | null, body: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Where candidates wait for their turn; null where a queue outside decides. */
  readonly places: Slots | null;
  /** Where runs wait for a place. */
  readonly line: Line;
  isStopping(): boolean;
  /** Whether what a step brought may be kept: nobody else has taken over. */
  isOurs(): Promise<boolean>;
  /** Notes a step of this flow that is under way. */
  track(id: string, step: Promise<void>): void;
  /** Whether a step of this flow, or of a child of it, is under way here. */
  isWorking(id: string): boolean;
  /** Aborts a flow and its children. */
  abort(id: string): void;
  /** From now on no step starts; waits for those under way, at most `graceMs`. */
  settle(graceMs: number): Promise<void>;
  abortAll(): void;
}

interface Resident {
  readonly abort: AbortController;
  readonly parent: string | null;
  /** Those under way; none of them rejects. */
  readonly steps: Set<Promise<void>>;
}

export function openResidents(places: Slots | null, line: Line, fence: OwnFence | null): Residents {
  const living = new Map<string, Resident>();
  let stopping = false;
  return {
    places,
    line,
    isStopping: () => stopping || (fence?.isGivenUp() ?? false),
    isOurs: async () => fence === null || (await isOurs(fence, delay)),
    async host(id, parent, body) {
      const abort = new AbortController();
      const steps = new Set<Promise<void>>();
      living.set(id, { abort, parent, steps });
      try {
        return await body(abort.signal);
      } finally {
        await Promise.all(steps);
        living.delete(id);
      }
    },
    track(id, step) {
      const steps = living.get(id)?.steps;
      steps?.add(step);
      void step.then(() => steps?.delete(step));
    },
    isWorking: (id) =>
      [...living].some(([other, { parent, steps }]) => (other === id || parent === id) && steps.size > 0),
    abort(id) {
      for (const [other, { abort, parent }] of living) {
        if (other === id || parent === id) abort.abort(new Error('The run was cancelled.'));
      }
    },
    async settle(graceMs) {
      stopping = true;
      line.close();
      const patience = new AbortController();
      await Promise.race([
        Promise.all([...living.values()].flatMap(({ steps }) => [...steps])),
        delay(graceMs, undefined, { signal: patience.signal }).catch(() => undefined),
      ]);
      patience.abort();
    },
    abortAll() {
      for (const { abort } of living.values()) abort.abort(new Error('Runoff is shutting down.'));
    },
  };
}
