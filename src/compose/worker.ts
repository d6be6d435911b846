import { hostname } from 'node:os';
import { Fault } from '../core/model/index.ts';
import type { Operator } from '../core/settings/index.ts';
import { flows } from '../runs/index.ts';
import { startWeb } from '../server/index.ts';
import { EXIT, onPresses, type Runtime, type Terminal } from '../shell.ts';
import { closing, disposedOnFailure } from './connections.ts';
import { healthOf, metricsPageOf } from './doctor.ts';
import { openLog } from './instrumentation.ts';
import { logSettings, type OperatorSettings } from './operator-settings.ts';
import { openRuntime, type RuntimeOptions } from './runtime.ts';
import { startWorkerUpkeep } from './upkeep.ts';

/** Milliseconds that active steps get after SIGTERM; other processes continue unfinished ones. Our default. */
const GRACE_MS = 8_000;
/** Path at which a worker rejects webhooks. */
const NO_WEBHOOKS = '/api/github/webhooks';

interface RunningWorker {
  /** Its name among the processes that share the work. */
  readonly name: string;
  /** URL of its health page; null if PORT is not set. */
  readonly url: string | null;
  close(): Promise<void>;
}

/**
 * `runoff worker`: runs until SIGINT or SIGTERM, then stops accepting work and ends. A second signal ends it at once.
 */
export async function work(settings: OperatorSettings, terminal: Terminal): Promise<number> {
  const { screen } = terminal;
  const stop = Promise.withResolvers<void>();
  const stopListening = onPresses(terminal.onInterrupt, (press) => {
    if (press > 1) return terminal.exit(EXIT.stopped);
    screen.err('Stopping: other processes continue unfinished work …\n');
    stop.resolve();
  });
  try {
    const { operator, file } = settings;
    const log = openLog(operator);
    logSettings(log, file);
    const working = await openWorker(operator, { log });
    const health = working.url ? `, health at ${working.url}/healthz` : '';
    screen.err(`Runoff works as ${working.name}${health}\n`);
    await stop.promise;
    await working.close();
    return EXIT.done;
  } finally {
    stopListening();
  }
}

/** A worker on the operator's database. Faults: ENVIRONMENT_INVALID, and all faults of opening a runtime. */
export async function openWorker(
  operator: Operator,
  options: Pick<RuntimeOptions, 'heartbeat' | 'databaseLimits' | 'log'> = {},
): Promise<RunningWorker> {
  requireShared(operator);
  const { workerName } = operator;
  const name = `worker-${hostname()}${workerName ? `-${workerName}` : ''}`;
  const runtime = await openRuntime(operator, { role: 'worker', executor: name, github: true }, options);
  const cleanups = new AsyncDisposableStack();
  cleanups.defer(runtime.close);
  return disposedOnFailure(cleanups, async () => {
    const url = await begin(operator, runtime, cleanups);
    return { name, url, close: closing(cleanups) };
  });
}

async function begin(
  operator: Operator,
  runtime: Runtime,
  cleanups: AsyncDisposableStack,
): Promise<string | null> {
  const { world } = runtime;
  const { http } = operator;
  let launched = false;
  cleanups.defer(() => world.engine.shutdown(GRACE_MS));
  const web = http.portIsSet
    ? await startWeb({
        ...http,
        webhooksPath: NO_WEBHOOKS,
        health: async () => (launched ? healthOf(runtime) : { ok: false, detail: { engine: 'starting' } }),
        ...metricsPageOf(operator, world),
        log: world.log,
      })
    : null;
  if (web) cleanups.defer(() => web.close(GRACE_MS));
  await world.engine.launch(flows(world));
  const upkeep = startWorkerUpkeep(world);
  cleanups.defer(async () => upkeep.stop());
  launched = true;
  return web?.url ?? null;
}

/** Without these settings a worker would wait for work that never comes, or could not read its repositories. */
function requireShared(operator: Operator): void {
  if (!operator.databaseUrl) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'DATABASE_URL is not set: a worker shares the database of the App, and the embedded one serves one machine only. Set it to the same value as for `runoff serve`.',
    );
  }
  if (!operator.artifacts) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'ARTIFACTS_URL is not set: the App could not read the patches and test results of this worker. Set it to the same value as for `runoff serve`.',
    );
  }
  if (!operator.app) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      `A worker reads repositories as the GitHub App, which is not configured here: ${operator.appLacks.join(', ')} missing. Set the same values as for \`runoff serve\`.`,
    );
  }
  if (operator.codersPerWorker + operator.examinationsPerWorker === 0) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'CODERS_PER_WORKER and EXAMINATIONS_PER_WORKER are both 0: this worker would have nothing to do. Raise one of them.',
    );
  }
}
