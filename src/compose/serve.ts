import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { createNodeMiddleware, createProbot, type Probot } from 'probot';
import { systemRandom } from '../adapters/system/index.ts';
import { app } from '../app.ts';
import { type CancelPorts, type CommandIntake, openCommandIntake } from '../commands/index.ts';
import { Fault } from '../core/model/index.ts';
import { missingForServe, type Operator } from '../core/settings/index.ts';
import type { Fence } from '../ports/index.ts';
import { flows, type World } from '../runs/index.ts';
import {
  beforeDeadline,
  fileCredentialStore,
  openSetup,
  startWeb,
  type WebhookMiddleware,
  type WebServer,
} from '../server/index.ts';
import { EXIT, onPresses, type Runtime, type Screen, type Terminal } from '../shell.ts';
import type { WebApp } from '../web/index.ts';
import { readAppFile } from './app-file.ts';
import { closing, disposedOnFailure, openAppGitHub } from './connections.ts';
import { OWN } from './data-folder.ts';
import { apartFromWorkers, healthOf, metricsPageOf, unclaimedWork } from './doctor.ts';
import { instrumentedWebhook, type OpenLog, openLog } from './instrumentation.ts';
import { logSettings, type OperatorSettings } from './operator-settings.ts';
import { onOwnAddress, openPages } from './pages.ts';
import { openRuntime } from './runtime.ts';
import { recordServedDatabase } from './served-database.ts';
import { startUpkeep } from './upkeep.ts';

const WEBHOOKS_PATH = '/api/github/webhooks';

/** Number of variables: APP_ID, PRIVATE_KEY and WEBHOOK_SECRET. */
const APP_VARIABLES = 3;

/** Milliseconds that active steps get after SIGTERM; unfinished ones continue at the next start. */
const GRACE_MS = 8_000;

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Runs the GitHub App in an open world: receives webhooks and executes runs in the durable engine. The demo uses the
 * same function. It takes ownership of the runtime, which is closed with it, and also if it does not start.
 */
export async function startApp(
  operator: Operator,
  runtime: Runtime,
  options: StartOptions = {},
): Promise<Served> {
  const cleanups = new AsyncDisposableStack();
  cleanups.defer(runtime.close);
  return disposedOnFailure(cleanups, async () => {
    const { url } = await openApp(operator, runtime, options, cleanups);
    return { url, close: closing(cleanups) };
  });
}

interface StartOptions {
  /** Browsers reach this server where it listens, whatever PUBLIC_URL says. */
  readonly onOwnAddress?: boolean;
}

/** Listens before the engine starts, so that a port in use is detected before any work begins. */
async function openApp(
  operator: Operator,
  runtime: Runtime,
  options: StartOptions,
  cleanups: AsyncDisposableStack,
): Promise<WebServer> {
  const { world } = runtime;
  const intake = openCommandIntake(world);
  const webhook = await webhookMiddleware(operator, world, intake);
  const start = Promise.withResolvers<'launched' | 'expired'>();
  const pages = Promise.withResolvers<WebApp>();
  let launched = false;
  cleanups.defer(() => world.engine.shutdown(GRACE_MS));
  // An interrupted command is applied again at the next start.
  cleanups.defer(() => Promise.race([intake.idle(), world.clock.sleep(GRACE_MS)]));
  const web = await startWeb({
    host: operator.http.host,
    port: operator.http.port,
    // GitHub waits ten seconds for an answer and does not retry, so a delivery that arrives during the start waits.
    webhook: {
      secret: webhookSecretOf(operator),
      take: instrumentedWebhook(world, async (request, response) => {
        if ((await start.promise) === 'launched') return (await webhook(request, response)) === true;
        response
          .writeHead(503, { 'content-type': 'text/plain' })
          .end('Runoff could not start. Redeliver this once it runs.\n');
        return true;
      }),
    },
    webhooksPath: WEBHOOKS_PATH,
    pages: {
      fetch: async (request) =>
        (await start.promise) === 'launched' ? (await pages.promise).fetch(request) : NOT_STARTED(),
    },
    publicUrl: operator.pages.publicUrl,
    health: async () => (launched ? healthOf(runtime) : { ok: false, detail: { engine: 'starting' } }),
    ...metricsPageOf(operator, world),
    log: world.log,
  });
  cleanups.defer(() => web.close(GRACE_MS));
  const app = openPages(options.onOwnAddress ? onOwnAddress(operator, web.url) : operator, world, intake);
  pages.resolve(app);
  // Before the server waits for its last answers: live streams do not end by themselves.
  cleanups.defer(async () => app.close());
  cleanups.defer(async () => start.resolve('expired'));
  await world.engine.launch(flows(world));
  await recordServedDatabase(operator, world.log);
  await warnOfWorkers(operator, world);
  const upkeep = await startUpkeep(world, intake, operator.keep);
  cleanups.defer(async () => upkeep.stop());
  launched = true;
  start.resolve('launched');
  return web;
}

const NOT_STARTED = (): Response =>
  new Response('Runoff could not start. Its log says why.\n', {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  });

/** Not a fault: a worker that executes them may start later. */
async function warnOfWorkers(
  operator: Operator,
  { store, log }: Pick<World, 'log' | 'store'>,
): Promise<void> {
  const executors = await store.executors();
  for (const what of [...unclaimedWork(executors), ...apartFromWorkers(executors, operator)])
    log.warn({}, what);
}

function webhookSecretOf({ app: credentials }: Operator): string {
  if (!credentials) throw new Fault('INTERNAL', 'startApp needs the App to be configured.');
  return credentials.webhookSecret;
}

function webhookMiddleware(
  operator: Operator,
  world: CancelPorts,
  intake: CommandIntake,
): Promise<WebhookMiddleware> {
  const credentials = operator.app;
  if (!credentials) throw new Fault('INTERNAL', 'startApp needs the App to be configured.');
  const probot = createProbot({
    // No implicit settings: without this, Probot reads the environment itself, and `.env` over it.
    env: {},
    overrides: {
      appId: credentials.appId,
      privateKey: credentials.privateKey,
      secret: credentials.webhookSecret,
      baseUrl: operator.github.apiUrl,
      logLevel: 'fatal',
    },
  });
  const answering = (bot: Probot) => app(world, intake)(answeredInTime(bot));
  return createNodeMiddleware(answering, { probot, webhooksPath: WEBHOOKS_PATH });
}

/**
 * `runoff serve`: runs until SIGINT or SIGTERM, then stops accepting work and ends. A second signal ends it at once.
 */
export async function serve(settings: OperatorSettings, terminal: Terminal): Promise<number> {
  const { screen } = terminal;
  const stop = Promise.withResolvers<void>();
  const stopListening = onPresses(terminal.onInterrupt, (press) => {
    if (press > 1) return terminal.exit(EXIT.stopped);
    screen.err('Stopping: unfinished runs continue at the next start …\n');
    stop.resolve();
  });
  try {
    const served = await open(settings, screen);
    screen.err(`Runoff listens at ${served.url}\n`);
    await stop.promise;
    await served.close();
    return EXIT.done;
  } finally {
    stopListening();
  }
}

async function open(settings: OperatorSettings, screen: Screen): Promise<Served> {
  const { operator, file } = settings;
  const log = openLog(operator);
  logSettings(log, file);
  const missing = missingForServe(operator);
  requireAllOrNothing(operator, missing.length);
  if (missing.length === 0) return serveApp(operator, log);
  const names = missing.map((problem) => problem.name);
  return serveSetup(settings, names, log, screen);
}

/** A partly configured App is a mistake, not a request for a new one. */
function requireAllOrNothing(operator: Operator, missing: number): void {
  if (missing > 0 && missing < APP_VARIABLES) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      `The GitHub App is only partly configured: ${operator.appLacks.join(', ')} missing. Set all of them, or none to create a new App.`,
    );
  }
}

async function serveApp(operator: Operator, log: OpenLog): Promise<Served> {
  const github = (fence: Fence | undefined) => openAppGitHub(operator, log, { fence });
  // Stable across restarts, so that this process resumes its own unfinished work.
  const executor = `app-${hostname()}`;
  return startApp(operator, await openRuntime(operator, { role: 'app', executor }, { github, log }));
}

/** Without an App, the server only serves the pages that create one. */
async function serveSetup(
  { operator, file }: OperatorSettings,
  missing: readonly string[],
  log: OpenLog,
  screen: Screen,
): Promise<Served> {
  const { publicUrl } = operator.pages;
  const setup = openSetup({
    ...readAppFile(await readFile(OWN.appManifest, 'utf8')),
    gitUrl: operator.github.gitUrl,
    apiUrl: operator.github.apiUrl,
    publicUrl,
    webhooksPath: WEBHOOKS_PATH,
    credentialStore: fileCredentialStore({ dataFolder: operator.data, envFile: file.writeTo }),
    fetch,
    random: systemRandom,
    log,
  });
  const web = await startWeb({
    host: operator.http.host,
    port: operator.http.port,
    webhooksPath: WEBHOOKS_PATH,
    health: async () => ({ ok: false, detail: { app: 'not set up yet' } }),
    setup: setup.pages,
    log,
  });
  screen.err(
    `No GitHub App is configured (${missing.join(', ')}). Create one here:\n\n    ${setup.link(publicUrl ?? web.url)}\n\n` +
      (publicUrl === undefined
        ? 'From another machine, use the same path at the address of this server. PUBLIC_URL makes it the address above.\n\n'
        : `If that address (PUBLIC_URL) does not lead here yet, on this machine:\n\n    ${setup.link(web.url)}\n\n`),
  );
  setup.done.then(
    () => screen.err('The App is set up. Restart Runoff to use it.\n'),
    () => {},
  );
  return { url: web.url, close: () => web.close(GRACE_MS) };
}

/**
 * Milliseconds until a delivery must be accepted. GitHub waits ten seconds, and after nine Probot reports success
 * regardless of the result. Our default.
 */
const DELIVERY_MS = 8_000;

const notAccepted = (ms: number): Fault =>
  new Fault('DATABASE_UNAVAILABLE', `A delivery was not accepted within ${ms} ms.`);

/**
 * The same Probot, but handlers that take too long fail as if the database were down, so that GitHub shows the delivery
 * as failed. Their work is not stopped: the delivery is accepted once, now or when it is sent again.
 */
export function answeredInTime(
  probot: Pick<Probot, 'on' | 'onError'>,
  ms = DELIVERY_MS,
): Pick<Probot, 'on' | 'onError'> {
  const on: Probot['on'] = (events, handler) =>
    probot.on(events, (context) => beforeDeadline(ms, handler(context), () => notAccepted(ms)));
  return { on, onError: probot.onError.bind(probot) };
}
