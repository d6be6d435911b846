import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { appEnvironment, type LocalGitHub, startLocalGitHub } from '@runoff/local-github';
import { simpleGit } from 'simple-git';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/adapters/database/index.ts';
import type { ConnectionLimits } from '../../src/adapters/postgres/index.ts';
import { dataPaths } from '../../src/compose/data-folder.ts';
import { isOver, type RunState } from '../../src/core/model/index.ts';
import { SCRIPTED_PRICES } from '../../src/demo/sample/index.ts';
import { type ScriptedModels, startScriptedModels } from '../../src/demo/scripted-models/index.ts';
import { LABEL } from '../../src/runs/index.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../world/database-proxy.ts';
import { furnishFrom } from '../world/prepared-data-folder.ts';
import type { AppOptions, Death } from './app.ts';
import { addressOf, ask, postmaster } from './embedded-database.ts';
import { type AppProcess, type Program, startProcess } from './process.ts';
import { issueNumbered, makeTinyRepository, TINY_SCRIPTS } from './repository.ts';

export const OWNER = 'alice';
/** Folder for temporary files of the App and its workers. */
export const TEMPORARY = 'tmp';
export const PLACE = { owner: OWNER, name: 'tiny' } as const;

/**
 * Milliseconds that all runs may take together from the last fault on, restarts included: dozens of times what they do on
 * an idle machine, and less than a test may take.
 */
const PATIENCE_MS = 600_000;
const LOOK_EVERY_MS = 100;

/** GitHub and the models live here and see everything; the App lives in processes that come and go. */
export interface ChaosEnvironment {
  readonly home: string;
  readonly github: LocalGitHub;
  readonly models: ScriptedModels;
  /** Between the App, its workers and their database, where that is a server apart; else none. */
  readonly proxies: readonly DatabaseProxy[];
  /** Starts the App and waits until it listens, or is dead. */
  start(death?: Death): Promise<AppProcess>;
  /** Starts a worker on the App's database with a data folder of this name, and waits until it works. */
  worker(name: string): Promise<AppProcess>;
  /** Opens and labels this many further issues; resolves with their numbers. */
  label(count: number): Promise<readonly number[]>;
  /** Runs one statement on the embedded database. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** The same when the App has stopped, and its database with it. */
  afterwards<T>(look: () => Promise<T>): Promise<T>;
  /** The first process of the embedded database; null when it does not run. */
  postmaster(): Promise<number | null>;
  /** Resolves with `over` when the runs of all these issues are and that was said, with `dead` when the process is before. */
  play(app: AppProcess, issues: readonly number[]): Promise<'over' | 'dead'>;
}

export interface ChaosEnvironmentOptions {
  /** A data folder to copy, made by the first who asks for it. */
  readonly furnished: string;
  /** The database is a server that this process keeps up, behind proxies; else the App has an embedded one. */
  readonly databaseApart?: boolean;
  /** Of connections to the database; absent: those of each part. */
  readonly databaseLimits?: ConnectionLimits;
  /** Where all that lies on the environment is moved when `work` fails; absent: it is removed. */
  readonly keepAt?: string;
  /** Called with the home folder, before anything lies in it; what it returns is called before it is removed. */
  readonly furnishHome?: (home: string) => Promise<() => Promise<void>>;
  /** Milliseconds that `play` waits at most. Default: four minutes. */
  readonly patienceMs?: number;
  /** The App leads only: workers do the work. */
  readonly withWorkers?: boolean;
  /** Variables of the App's environment besides the usual ones. */
  readonly env?: (home: string) => Promise<NodeJS.ProcessEnv>;
}

/** Of an App that has workers, and of these: a busy machine must not be taken for a dead one. */
const HEARTBEAT = { everyMs: 500, staleMs: 8_000 } as const;

/** So long that a turn of a coder can be met. */
const PACE_MS = 100;

/** Every process of a environment has this variable, with the environment's home folder: whoever must end them finds them by it. */
export const MARK = 'RUNOFF_CHAOS_STAGE';

/** `work` is done on a environment of its own, of which nothing is left afterwards. */
export async function withChaosEnvironment(
  work: (environment: ChaosEnvironment) => Promise<void>,
  options: ChaosEnvironmentOptions,
): Promise<void> {
  const { withWorkers = false, furnished } = options;
  const home = await mkdtemp(join(tmpdir(), 'runoff-chaos-'));
  await chmod(home, 0o711);
  const leaveHome = await options.furnishHome?.(home);
  const data = join(home, 'data');
  await furnishFrom(furnished, data);
  const from = join(home, 'tiny');
  await mkdir(from);
  await mkdir(join(home, TEMPORARY), { mode: 0o1777 });
  await makeTinyRepository(from);
  const github = await startLocalGitHub({
    users: [OWNER],
    repositories: [{ ...PLACE, from }],
    webhookUrl: () => processes.webhooks(),
  });
  await simpleGit(github.directory(PLACE.owner, PLACE.name)).addConfig('core.logAllRefUpdates', 'always');
  const models = await startScriptedModels({
    scripts: TINY_SCRIPTS,
    ...(withWorkers ? { paceMs: PACE_MS } : {}),
  });
  const server = options.databaseApart ? await startServer(data) : null;
  // Processes of one test run need not compile our sources each for itself.
  const env = {
    ...environment(home, github, models),
    ...(await options.env?.(home)),
    NODE_COMPILE_CACHE: join(dirname(furnished), 'compiled'),
  };
  const processes = openProcesses(home, env, options, server?.proxies ?? []);
  const query = (sql: string) => ask(data, sql);
  let labelled = 0;
  let failed = true;
  try {
    await work({
      home,
      github,
      models,
      proxies: server?.proxies ?? [],
      query,
      async label(count) {
        labelled += count;
        return label(github, labelled - count, count);
      },
      afterwards: (look) => (server ? look().finally(server.stop) : onStoppedDatabase(data, look)),
      postmaster: () => postmaster(data),
      play: (app, issues) => play(app, issues, query, options.patienceMs),
      start: processes.start,
      worker: processes.worker,
    });
    failed = false;
  } finally {
    await processes.kill();
    await server?.stop();
    const left = await postmaster(data);
    if (left !== null) process.kill(left, 'SIGQUIT');
    await models.close();
    await github.close();
    if (failed && options.keepAt) await cp(home, options.keepAt, { recursive: true, filter: worthKeeping });
    await leaveHome?.();
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** Programs are the same everywhere, and sockets cannot be copied. */
const worthKeeping = (path: string): boolean => !/\/(?:toolchain|bin-[^/]*|gw|areas)(?:\/|$)/.test(path);

async function onStoppedDatabase<T>(data: string, look: () => Promise<T>): Promise<T> {
  const server = await startEmbeddedPostgres({ dir: dataPaths(data).database });
  return look().finally(() => server.stop({ force: true }));
}

/** A database that this process brings back when it dies, and a proxy before it for the App, and one for all workers. */
async function startServer(data: string) {
  const server: EmbeddedPostgres = await startEmbeddedPostgres({ dir: dataPaths(data).database });
  await server.ensureDatabase('runoff');
  const url = server.url('runoff');
  const proxies = [await openDatabaseProxy(url), await openDatabaseProxy(url)] as const;
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    for (const proxy of proxies) await proxy.close();
    await server.stop({ force: true });
  };
  return {
    proxies,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

const LEADS_ONLY = { CODERS_PER_WORKER: '0', EXAMINATIONS_PER_WORKER: '0' } as const;

function openProcesses(
  home: string,
  env: NodeJS.ProcessEnv,
  { withWorkers = false, furnished, databaseLimits, keepAt }: ChaosEnvironmentOptions,
  [ofApp, ofWorkers]: readonly DatabaseProxy[],
) {
  const all: AppProcess[] = [];
  const shared = { ...env, ...(withWorkers ? { ARTIFACTS_URL: join(home, 'artifacts') } : {}) };
  const options = {
    ...(withWorkers ? { heartbeat: HEARTBEAT } : {}),
    ...(databaseLimits ? { databaseLimits } : {}),
  };
  const begin = (program: Program, own: NodeJS.ProcessEnv, more: AppOptions): AppProcess => {
    const log = keepAt ? join(home, `${program}-${all.length}.log`) : undefined;
    const started = startProcess(program, own, home, { ...options, ...more }, log);
    all.push(started);
    return started;
  };
  let webhooks: string | undefined;
  return {
    webhooks: () => webhooks,
    async start(death?: Death): Promise<AppProcess> {
      const database = ofApp ? { DATABASE_URL: ofApp.url } : {};
      const own = { ...shared, ...database, ...(withWorkers ? LEADS_ONLY : {}) };
      const app = begin('app', own, death ? { death } : {});
      const url = await app.url;
      if (url !== null) webhooks = `${url}/api/github/webhooks`;
      else if (death === undefined) throw new Error(`The App does not start: ${app.said()}`);
      return app;
    },
    async worker(name: string): Promise<AppProcess> {
      const data = join(home, name);
      if (!existsSync(data)) await furnishFrom(furnished, data);
      const database = { DATABASE_URL: ofWorkers?.url ?? (await addressOf(join(home, 'data'))), PORT: '' };
      const own = { ...shared, ...database, RUNOFF_DATA: data, RUNOFF_WORKER_NAME: name };
      const worker = begin('worker', own, {});
      if ((await worker.url) === null) throw new Error(`Worker ${name} does not start: ${worker.said()}`);
      return worker;
    },
    async kill() {
      for (const one of all) await one.kill();
    },
  };
}

const environment = (home: string, github: LocalGitHub, models: ScriptedModels): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  [MARK]: home,
  RUNOFF_DATA: join(home, 'data'),
  TMPDIR: join(home, TEMPORARY),
  ...appEnvironment(github),
  PORT: '0',
  ANTHROPIC_API_KEY: 'scripted-key-for-anthropic',
  ANTHROPIC_BASE_URL: models.url,
  MODEL_PRICES: JSON.stringify(SCRIPTED_PRICES),
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
});

async function label(github: LocalGitHub, before: number, count: number): Promise<readonly number[]> {
  const person = github.as(OWNER);
  const issues: number[] = [];
  for (let n = before + 1; n <= before + count; n += 1) {
    const issue = await person.openIssue(PLACE, issueNumbered(n));
    await person.addLabel(PLACE, issue, LABEL);
    issues.push(issue);
  }
  return issues;
}

/** An end is said in the background, at the latest after the next start. */
const RUNS = `
  select issue, run.state, intent.result = 'true' as said
    from runoff.run left join runoff.intent on scope = run.id and key = 'said' and intent.state = 'done'`;

async function play(
  app: AppProcess,
  issues: readonly number[],
  query: ChaosEnvironment['query'],
  patienceMs = PATIENCE_MS,
): Promise<'over' | 'dead'> {
  let dead = false;
  void app.ended.then(() => {
    dead = true;
  });
  const until = performance.now() + patienceMs;
  for (;;) {
    // Between a kill of the server and its return there is nobody to ask.
    const runs = await query(RUNS).catch(() => []);
    const over = issues.every((issue) =>
      runs.some((run) => run.issue === issue && run.said === true && isOver(run.state as RunState)),
    );
    if (dead) return 'dead';
    if (over) return 'over';
    if (performance.now() > until)
      throw new Error(`The runs are ${JSON.stringify(runs)} after ${patienceMs} ms. ${app.said()}`);
    await delay(LOOK_EVERY_MS);
  }
}
