import { DBOS } from '@dbos-inc/dbos-sdk';
import type { ChildInput, FlowContext, Flows } from '../../ports/index.ts';
import { type FlowResult, flowContext, frozen, type Host } from './flow.ts';
import { type CoderQueue, EXAMINATION_QUEUE } from './options.ts';
import { plain } from './plain.ts';
import type { Residents } from './residents.ts';
import { openTicket, type Ticket } from './ticket.ts';

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
