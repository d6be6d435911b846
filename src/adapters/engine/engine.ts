import { setTimeout as delay } from 'node:timers/promises';
import { DBOS, Error as DbosErrors } from '@dbos-inc/dbos-sdk';
import { Fault, type RunId } from '../../core/model/index.ts';
import type { Engine, FlowStatus, Flows } from '../../ports/index.ts';
import { withLaunchLock } from './connection.ts';
import { type ExecutorLock, lockExecutor } from './executor-lock.ts';
import { createHeartbeatTable, type Heartbeat, type HeartbeatOptions, startHeartbeat } from './heartbeat.ts';
import { configOf, type DbosEngineOptions, EXAMINATION_QUEUE, QUEUE_POLL_MS, RUN_QUEUE } from './options.ts';
import { plain } from './plain.ts';
import { type Registered, register } from './register.ts';
import { openResidents } from './residents.ts';
import { slots } from './slots.ts';
import { statusOf } from './status.ts';

/** Milliseconds between two looks at a run somebody waits for. */
const SETTLED_POLL_MS = 100;
const GRACE_MS = 10_000;
const HEARTBEAT: HeartbeatOptions = { everyMs: 10_000, staleMs: 60_000 };

const shutDown = (id: RunId): Fault =>
  new Fault(
    'INTERNAL',
    `The engine was shut down while somebody waited for run ${id}; the run goes on at the next launch.`,
  );

/** Durable execution on Postgres. DBOS keeps its state in module variables, so there is one of these in a process. */
export function openDbosEngine(options: DbosEngineOptions): Engine {
  const { queue, log, databaseUrl, executorId } = options;
  const residents = openResidents(queue === null ? slots(options.directConcurrency ?? 3) : null);
  let lock: ExecutorLock | null = null;
  let heartbeat: Heartbeat | null = null;
  let flows: Registered | null = null;

  function registered(): Registered {
    if (flows === null)
      throw new Fault('INTERNAL', 'The engine is used before `launch` or after `shutdown`.');
    return flows;
  }

  async function launchDbos(given: Flows): Promise<Registered> {
    DBOS.setConfig(configOf(options));
    const found = register(given, residents, queue);
    await DBOS.launch();
    if (queue === null) return found;
    await DBOS.registerQueue(RUN_QUEUE, { minPollingIntervalMs: QUEUE_POLL_MS });
    await DBOS.registerQueue(EXAMINATION_QUEUE, {
      workerConcurrency: queue.examinations ?? 2,
      partitionConcurrency: queue.perPartition,
      minPollingIntervalMs: QUEUE_POLL_MS,
    });
    await DBOS.registerQueue(queue.name, {
      workerConcurrency: queue.perWorker,
      partitionConcurrency: queue.perPartition,
      minPollingIntervalMs: QUEUE_POLL_MS,
    });
    return found;
  }

  function launchOnce(given: Flows): Promise<Registered> {
    return withLaunchLock(databaseUrl, async (client) => {
      if (queue !== null) await createHeartbeatTable(client);
      try {
        return await launchDbos(given);
      } catch (error) {
        await DBOS.shutdown({ deregister: true });
        throw new Fault('DATABASE_UNAVAILABLE', `The engine did not start: ${(error as Error).message}.`, {
          cause: error,
        });
      }
    });
  }

  async function status(id: RunId): Promise<FlowStatus> {
    registered();
    const [found] = await DBOS.listWorkflows({ workflowIDs: [id], loadInput: false });
    return statusOf(found ?? null);
  }

  return {
    async launch(given) {
      if (DBOS.isInitialized()) throw new Fault('INTERNAL', 'This process has launched an engine already.');
      lock = await lockExecutor(databaseUrl, executorId, log);
      try {
        flows = await launchOnce(given);
      } catch (error) {
        await lock.release();
        throw error;
      }
      if (queue === null) return;
      heartbeat = await startHeartbeat(databaseUrl, executorId, options.heartbeat ?? HEARTBEAT, log);
    },

    async start(id, input) {
      const { run } = registered();
      const start = { workflowID: id, ...(queue === null ? {} : { queueName: RUN_QUEUE }) };
      await DBOS.startWorkflow(run, start)(plain(`The input of run ${id}`, input), null);
    },

    status,

    async settled(id) {
      for (;;) {
        if (residents.isStopping()) throw shutDown(id);
        const now = await status(id);
        if (now.kind !== 'running') return now;
        await delay(SETTLED_POLL_MS);
      }
    },

    async cancel(id) {
      registered();
      await DBOS.cancelWorkflow(id, { cancelChildren: true });
      // DBOS tells running steps within a second; those of this process need not wait for it.
      residents.abort(id);
    },

    async signal(id, topic, key) {
      registered();
      try {
        // The engine keeps keys for all topics of a flow together.
        await DBOS.send(id, key, topic, `${topic}:${key}`);
      } catch (error) {
        if (!(error instanceof DbosErrors.DBOSNonExistentWorkflowError)) throw error;
      }
    },

    async shutdown(graceMs = GRACE_MS) {
      if (flows === null) return;
      flows = null;
      await residents.settle(graceMs);
      await heartbeat?.stop();
      await DBOS.shutdown({ deregister: true });
      residents.abortAll();
      await lock?.release();
    },
  };
}
