import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createNodeMiddleware, createProbot } from 'probot';
import { parse } from 'yaml';
import { systemRandom } from '../adapters/system/index.ts';
import { app } from '../app.ts';
import { EXIT, type Runtime, type Screen } from '../cli/index.ts';
import { Fault } from '../core/model/index.ts';
import { missingForServe, type Operator } from '../core/policy/index.ts';
import { flows, takeUpQueued } from '../pipeline/index.ts';
import { fileKeeper, type Health, openSetup, startWeb } from '../web/index.ts';
import { openLog } from './log.ts';
import { OWN } from './paths.ts';
import { openAppGitHub, openRuntime } from './runtime.ts';

export const WEBHOOKS_PATH = '/api/github/webhooks';

/** APP_ID, PRIVATE_KEY and WEBHOOK_SECRET. */
const APP_VARIABLES = 3;

/** Milliseconds that running steps get at SIGTERM; what is unfinished goes on at the next start. */
const GRACE_MS = 8_000;

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** The GitHub App on an open world: webhooks in, runs in the durable engine. The demo runs this same function. */
export async function startApp(operator: Operator, runtime: Runtime): Promise<Served> {
  const { world } = runtime;
  const credentials = operator.app;
  if (!credentials) throw new Error('startApp needs the App to be configured.');
  const probot = createProbot({
    // Nothing implicit: without this Probot reads the environment itself, and `.env` over it.
    env: {},
    overrides: {
      appId: credentials.appId,
      privateKey: credentials.privateKey,
      secret: credentials.webhookSecret,
      baseUrl: operator.github.apiUrl,
      logLevel: 'fatal',
    },
  });
  const webhook = await createNodeMiddleware(app(world), { probot, webhooksPath: WEBHOOKS_PATH });
  await world.engine.launch(flows(world));
  await takeUpQueued(world);
  const web = await startWeb({
    host: operator.http.host,
    port: operator.http.port,
    webhook: async (request, response) => (await webhook(request, response)) === true,
    webhooksPath: WEBHOOKS_PATH,
    health: () => healthOf(runtime),
    log: world.log,
  });
  return {
    url: web.url,
    async close() {
      await web.close(GRACE_MS);
      await world.engine.shutdown(GRACE_MS);
      await runtime.close();
    },
  };
}

/** Anybody can read it, so it says which part is down, and the log says why. */
async function healthOf({ world }: Runtime): Promise<Health> {
  const reachable = await world.store.runs(1).then(
    () => true,
    (thrown: unknown) => {
      world.log.error({ err: thrown }, 'health: the database does not answer');
      return false;
    },
  );
  const sandbox = await world.sandbox.probe();
  if (sandbox.kind === 'missing') world.log.error({ why: sandbox.why }, 'health: there is no sandbox');
  const ok = reachable && sandbox.kind === 'ready';
  return {
    ok,
    detail: {
      database: reachable ? 'ok' : 'not reachable',
      sandbox: sandbox.kind === 'ready' ? 'ok' : 'missing',
    },
  };
}

interface Surroundings {
  onInterrupt(handler: () => void): () => void;
  readonly screen: Screen;
}

/** `runoff serve`: runs until SIGINT or SIGTERM, then stops taking work and ends. */
export async function serve(operator: Operator, surroundings: Surroundings): Promise<number> {
  const { screen } = surroundings;
  const missing = missingForServe(operator);
  requireAllOrNothing(operator, missing.length);
  const served =
    missing.length > 0
      ? await serveSetup(
          operator,
          missing.map((problem) => problem.name),
          screen,
        )
      : await serveApp(operator);
  screen.err(`Runoff listens at ${served.url}\n`);
  await new Promise<void>((resolve) => {
    surroundings.onInterrupt(resolve);
  });
  screen.err('Stopping: what is unfinished goes on at the next start …\n');
  await served.close();
  return EXIT.done;
}

/** Half an App is a mistake, not a wish for a new one. */
function requireAllOrNothing(operator: Operator, missing: number): void {
  if (missing > 0 && missing < APP_VARIABLES) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      `The GitHub App is only partly configured: ${operator.appLacks.join(', ')} missing. Set all of them, or none to make a new App.`,
    );
  }
}

async function serveApp(operator: Operator): Promise<Served> {
  const log = openLog(operator);
  const github = openAppGitHub(operator, log);
  // Stable across restarts, so that this process takes up what it left unfinished.
  const executor = `app-${hostname()}`;
  return startApp(operator, await openRuntime(operator, { executor }, { github, log }));
}

/** Without an App there is only one thing to do: make one. */
async function serveSetup(operator: Operator, missing: readonly string[], screen: Screen): Promise<Served> {
  const log = openLog(operator);
  const setup = openSetup({
    appFile: parse(await readFile(OWN.appManifest, 'utf8')) as unknown,
    gitUrl: operator.github.gitUrl,
    apiUrl: operator.github.apiUrl,
    webhooksPath: WEBHOOKS_PATH,
    keeper: fileKeeper({ dataFolder: operator.data, envFile: join(process.cwd(), '.env') }),
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
    `No GitHub App is configured (${missing.join(', ')}). Make one here:\n\n    ${setup.link(web.url)}\n\n`,
  );
  setup.done.then(
    () => screen.err('The App is set up. Stop Runoff and start it again to use it.\n'),
    () => {},
  );
  return { url: web.url, close: () => web.close(GRACE_MS) };
}
