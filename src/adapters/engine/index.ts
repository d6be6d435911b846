import { setTimeout as delay } from 'node:timers/promises';
import { DBOS, Error as DbosErrors, type WorkflowStatus } from '@dbos-inc/dbos-sdk';
import { Semaphore } from 'async-mutex';
import type pg from 'pg';
import { Fault, type RunId } from '../../core/model/index.ts';
import type { Engine, FlowStatus, Flows } from '../../ports/index.ts';
import {
  type CoderQueue,
  type DbosEngineOptions,
  DEFAULT_EXAMINATIONS,
  dbosConfigOf,
  EXAMINATION_QUEUE,
  migrateEngine,
  openEnginePool,
  QUEUE_POLL_MS,
  queueLimitsOf,
  RUN_QUEUE,
} from './dbos-config.ts';
import { launchDbos, openPollSchedule, watchWallClock } from './dbos-internals.ts';
import { type FlowResult, toPlainJson } from './flow.ts';
import { forgetEnded } from './forget.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { type ExecutorLock, lockExecutor, lockedExecutors, withLaunchLock } from './locks.ts';
import { openUnansweredClaims, type UnansweredClaims, watchLostFlows } from './lost-flows.ts';
import { openRunQueue } from './run-queue.ts';
import { type ActiveFlows, openActiveFlows, type RegisteredFlows, register } from './workflows.ts';

export { type DbosEngineOptions, prepareEngineSchema } from './dbos-config.ts';
export { type HeartbeatOptions, type OwnFence, openFence } from './heartbeat.ts';
export { LAUNCH_LOCK } from './locks.ts';

/** Milliseconds between two checks of a run that somebody waits for. */
const SETTLED_POLL_MS = 100;
const DEFAULT_GRACE_MS = 10_000;

const shutDownFault = (id: RunId): Fault =>
  new Fault(
    'INTERNAL',
    `The engine was shut down while somebody waited for run ${id}; the run continues at the next launch.`,
  );

async function sendSignal(id: RunId, topic: string, key: string): Promise<void> {
  try {
    // The engine stores the keys of all topics of a flow together.
    await DBOS.send(id, key, topic, `${topic}:${key}`);
  } catch (error) {
    if (!(error instanceof DbosErrors.DBOSNonExistentWorkflowError)) throw error;
  }
}

/** Before any flow is resumed: writes of this process are rejected until it has joined. */
async function joinExecutors(options: DbosEngineOptions): Promise<Heartbeat | null> {
  const { among, queue, takesRuns = true, log } = options;
  if (!among || queue === null) return null;
  const { fence, facts } = among;
  const role = takesRuns ? 'app' : 'worker';
  const { perWorker, examinations = DEFAULT_EXAMINATIONS } = queue;
  await fence.executors.join({ ...facts, role, coders: perWorker, examinations }, Date.now());
  await fence.beat();
  return startHeartbeat(fence, log);
}

interface Dbos {
  /** Fault: DATABASE_UNAVAILABLE. */
  launch(flows: Flows): Promise<RegisteredFlows>;
  forget(before: number): Promise<number>;
  shutDown(): Promise<void>;
}

/** DBOS on our connections. */
function openDbos(options: DbosEngineOptions, activeFlows: ActiveFlows): Dbos {
  const { queue, log, databaseUrl } = options;
  const fence = options.among?.fence;
  let pool: pg.Pool | null = null;
  let claims: UnansweredClaims | null = null;
  let wallClock: ReturnType<typeof watchWallClock> | null = null;
  let lost: ReturnType<typeof watchLostFlows> | null = null;

  async function begin(given: Flows): Promise<RegisteredFlows> {
    await migrateEngine(databaseUrl, log);
    pool = openEnginePool(options);
    claims = openUnansweredClaims(pool, log);
    const config = dbosConfigOf(options, pool);
    DBOS.setConfig(config);
    const found = register(given, activeFlows, queue);
    const mayClaim = (): boolean => !activeFlows.isStopping() && (fence?.isFresh() ?? true);
    await launchDbos({
      schedule: activeFlows.schedule,
      flows: activeFlows,
      limits: queue === null ? new Map() : queueLimitsOf(queue),
      mayClaim,
      onUnanswered: claims.add,
      log,
    });
    lost = watchLostFlows(pool, { ...options, mayClaim });
    if (queue !== null) {
      await registerQueues(queue);
      wallClock = watchWallClock(config.listenQueues ?? [], log);
    }
    return found;
  }

  async function shutDown(): Promise<void> {
    await wallClock?.stop();
    claims?.stop();
    lost?.stop();
    await DBOS.shutdown({ deregister: true });
    await pool?.end();
    pool = null;
  }

  const launch = (given: Flows) =>
    withLaunchLock(databaseUrl, async () => {
      try {
        return await begin(given);
      } catch (error) {
        await shutDown();
        throw new Fault('DATABASE_UNAVAILABLE', `The engine did not start: ${(error as Error).message}.`, {
          cause: error,
        });
      }
    });
  const forget = async (before: number) => (pool ? forgetEnded(pool, before) : 0);
  return { launch, forget, shutDown };
}

async function registerQueues(queue: CoderQueue): Promise<void> {
  const { name, perPartition } = queue;
  await DBOS.registerQueue(RUN_QUEUE, { minPollingIntervalMs: QUEUE_POLL_MS });
  await DBOS.registerQueue(EXAMINATION_QUEUE, {
    partitionConcurrency: perPartition,
    minPollingIntervalMs: QUEUE_POLL_MS,
  });
  await DBOS.registerQueue(name, {
    partitionConcurrency: perPartition,
    minPollingIntervalMs: QUEUE_POLL_MS,
  });
}

/** Durable execution on Postgres. DBOS keeps its state in module variables, so a process can have only one engine. */
export function openDbosEngine(options: DbosEngineOptions): Engine {
  const { queue, log, databaseUrl, executorId, runsAtOnce = 8, mayBegin } = options;
  const line = openRunQueue({ slots: runsAtOnce, ...(mayBegin ? { mayBegin } : {}) });
  const activeFlows = openActiveFlows(
    queue === null ? new Semaphore(options.directConcurrency ?? 3) : null,
    line,
    options.among?.fence ?? null,
    openPollSchedule(),
  );
  let lock: ExecutorLock | null = null;
  let heartbeat: Heartbeat | null = null;
  const dbos = openDbos(options, activeFlows);
  let flows: RegisteredFlows | null = null;

  function registered(): RegisteredFlows {
    if (flows === null)
      throw new Fault('INTERNAL', 'The engine is used before `launch` or after `shutdown`.');
    return flows;
  }

  async function status(id: RunId): Promise<FlowStatus> {
    registered();
    const [found] = await DBOS.listWorkflows({ workflowIDs: [id], loadInput: false });
    return flowStatusOf(found ?? null);
  }

  return {
    async launch(given) {
      if (DBOS.isInitialized()) throw new Fault('INTERNAL', 'This process has launched an engine already.');
      lock = await lockExecutor(databaseUrl, executorId, log, options.limits);
      try {
        heartbeat = await joinExecutors(options);
        flows = await dbos.launch(given);
      } catch (error) {
        await heartbeat?.stop();
        await lock.release();
        throw error;
      }
      heartbeat?.launched();
    },

    async start(id, input) {
      const { run } = registered();
      const start = { workflowID: id, ...(queue === null ? {} : { queueName: RUN_QUEUE }) };
      await DBOS.startWorkflow(run, start)(toPlainJson(`The input of run ${id}`, input), null);
      activeFlows.schedule.expectWork();
    },

    status,
    activeExecutors: (executors) => lockedExecutors(databaseUrl, executors, options.limits),

    async settled(id) {
      for (;;) {
        if (activeFlows.isStopping()) throw shutDownFault(id);
        const now = await status(id);
        if (now.kind !== 'running' && !activeFlows.isWorking(id)) return now;
        await delay(SETTLED_POLL_MS);
      }
    },

    async cancel(id) {
      registered();
      await DBOS.cancelWorkflow(id, { cancelChildren: true });
      // DBOS notifies running steps within a second; those in this process need not wait for that.
      activeFlows.abort(id);
    },

    async signal(id, topic, key) {
      registered();
      await sendSignal(id, topic, key);
    },

    async forget(before) {
      registered();
      return dbos.forget(before);
    },

    async shutdown(graceMs = DEFAULT_GRACE_MS) {
      if (flows === null) return;
      flows = null;
      await activeFlows.drain(graceMs);
      await heartbeat?.stop();
      await dbos.shutDown();
      activeFlows.abortAll();
      await lock?.release();
    },
  };
}

function whyFailed(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Translates DBOS's status of a flow to the port's; null if it does not know the flow. */
function flowStatusOf(found: WorkflowStatus | null): FlowStatus {
  if (found === null) return { kind: 'unknown' };
  switch (found.status) {
    case 'SUCCESS':
      return { kind: 'done', value: (found.output as FlowResult | undefined)?.value };
    case 'CANCELLED':
      return { kind: 'cancelled' };
    case 'ERROR':
      return { kind: 'failed', why: whyFailed(found.error) };
    case 'MAX_RECOVERY_ATTEMPTS_EXCEEDED':
      return { kind: 'failed', why: 'It was restarted too often without finishing.' };
    default:
      return { kind: 'running' };
  }
}
