import { hostname } from 'node:os';
import { EXIT, onPresses, type Runtime, type Surroundings } from '../cli/index.ts';
import { Fault } from '../core/model/index.ts';
import type { Operator } from '../core/policy/index.ts';
import { flows } from '../runs/index.ts';
import { startWeb } from '../server/index.ts';
import { type Closers, closedOnFailure, openClosers } from './closers.ts';
import { figuresOf } from './figures.ts';
import { healthOf } from './health.ts';
import { openLog } from './log.ts';
import { logSettings, type OperatorSettings } from './operator.ts';
import { openRuntime, type RuntimeOptions } from './runtime.ts';
import { startWorkerUpkeep } from './upkeep.ts';

/** Milliseconds that running steps get at SIGTERM; what is unfinished goes on elsewhere. Our default. */
const GRACE_MS = 8_000;
/** Where a worker answers nothing. */
const NO_WEBHOOKS = '/api/github/webhooks';

export interface Working {
  /** What the others know it by. */
  readonly name: string;
  /** Where its health is told; null where PORT is not set. */
  readonly url: string | null;
  close(): Promise<void>;
}

/** `runoff worker`: runs until SIGINT or SIGTERM, then takes nothing more and ends. A second one ends it at once. */
export async function work(settings: OperatorSettings, surroundings: Surroundings): Promise<number> {
  const { screen } = surroundings;
  const stop = Promise.withResolvers<void>();
  const deaf = onPresses(surroundings.onInterrupt, (press) => {
    if (press > 1) return surroundings.exit(EXIT.cancelled);
    screen.err('Stopping: what is unfinished goes on elsewhere …\n');
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
    deaf();
  }
}

/** A worker on the operator's database. Faults: ENVIRONMENT_INVALID, and all of opening a world. */
export async function openWorker(
  operator: Operator,
  options: Pick<RuntimeOptions, 'heartbeat' | 'databaseLimits' | 'log'> = {},
): Promise<Working> {
  requireShared(operator);
  const { workerName } = operator;
  const name = `worker-${hostname()}${workerName ? `-${workerName}` : ''}`;
  const runtime = await openRuntime(operator, { executor: name, github: true, leads: false }, options);
  const closers = openClosers();
  closers.later(runtime.close);
  return closedOnFailure(closers, async () => {
    const url = await begin(operator, runtime, closers.later);
    return { name, url, close: closers.close };
  });
}

async function begin(operator: Operator, runtime: Runtime, later: Closers['later']): Promise<string | null> {
  const { world } = runtime;
  const { http } = operator;
  let launched = false;
  later(() => world.engine.shutdown(GRACE_MS));
  const web = http.portIsSet
    ? await startWeb({
        ...http,
        webhooksPath: NO_WEBHOOKS,
        health: async () => (launched ? healthOf(runtime) : { ok: false, detail: { engine: 'starting' } }),
        ...figuresOf(operator, world),
        log: world.log,
      })
    : null;
  if (web) later(() => web.close(GRACE_MS));
  await world.engine.launch(flows(world));
  const upkeep = startWorkerUpkeep(world);
  later(async () => upkeep.stop());
  launched = true;
  return web?.url ?? null;
}

/** Without these a worker would wait for work that never comes, or could not read what it works on. */
function requireShared(operator: Operator): void {
  if (!operator.databaseUrl) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'DATABASE_URL is not set: a worker shares the database of the app, and the embedded one is of one machine. Set it to the same address as for `runoff serve`.',
    );
  }
  if (!operator.app) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      `A worker reads repositories as the GitHub App, which is not configured here: ${operator.appLacks.join(', ')} missing. Set what \`runoff serve\` has.`,
    );
  }
  if (operator.codersPerWorker + operator.examinationsPerWorker === 0) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'CODERS_PER_WORKER and EXAMINATIONS_PER_WORKER are both 0: this worker would take nothing. Raise one.',
    );
  }
}
