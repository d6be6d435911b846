import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { simpleGit } from 'simple-git';
import { inject } from 'vitest';
import { startEmbeddedPostgres } from '../../src/adapters/database/index.ts';
import { dataPaths } from '../../src/compose/paths.ts';
import { isOver } from '../../src/core/lifecycle/index.ts';
import type { RunState } from '../../src/core/model/index.ts';
import { type LocalGitHub, startLocalGitHub } from '../../src/demo/local-github/index.ts';
import { SCRIPTED_PRICES } from '../../src/demo/sample/index.ts';
import { type ScriptedModels, startScriptedModels } from '../../src/demo/scripted-models/index.ts';
import { LABEL } from '../../src/pipeline/index.ts';
import { furnish } from '../world/data-folder.ts';
import type { Death } from './app.ts';
import { type AppProcess, startProcess } from './process.ts';
import { issueNumbered, makeTinyRepository, TINY_SCRIPTS } from './repository.ts';

export const OWNER = 'alice';
export const PLACE = { owner: OWNER, name: 'tiny' } as const;

/** Milliseconds that all runs of a round may take together, restarts included: ten times what they do here. */
const PATIENCE_MS = 240_000;
const LOOK_EVERY_MS = 100;

/** GitHub and the models live here and see everything; the App lives in processes that come and go. */
export interface Stage {
  readonly home: string;
  readonly github: LocalGitHub;
  readonly models: ScriptedModels;
  /** Starts the App and waits until it listens, or is dead. */
  start(death?: Death): Promise<AppProcess>;
  /** Starts a worker on the App's database with a data folder of this name, and waits until it works. */
  worker(name: string): Promise<AppProcess>;
  /** Opens and labels this many issues; resolves with their numbers. */
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

export interface StageOptions {
  /** The App leads only: workers do the work. */
  readonly withWorkers?: boolean;
  /** Variables of the App's environment besides the usual ones. */
  readonly env?: (home: string) => Promise<NodeJS.ProcessEnv>;
}

/** Of an App that has workers, and of these: a busy machine must not be taken for a dead one. */
const HEARTBEAT = { everyMs: 500, staleMs: 8_000 } as const;

/** So long that a turn of a coder can be met. */
const PACE_MS = 100;

/** `work` is done on a stage of its own, of which nothing is left afterwards. */
export async function onChaosStage(
  work: (stage: Stage) => Promise<void>,
  { withWorkers = false, env }: StageOptions = {},
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-chaos-'));
  await chmod(home, 0o711);
  const data = join(home, 'data');
  await furnish(data);
  const from = join(home, 'tiny');
  await mkdir(from);
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
  const own = { ...environment(home, github, models), ...(await env?.(home)) };
  const processes = openProcesses(home, own, withWorkers);
  const query = (sql: string) => ask(data, sql);
  try {
    await work({
      home,
      github,
      models,
      query,
      label: (count) => label(github, count),
      async afterwards(look) {
        const server = await startEmbeddedPostgres({ dir: dataPaths(data).database });
        return look().finally(() => server.stop({ force: true }));
      },
      postmaster: () => postmaster(data),
      play: (app, issues) => play(app, issues, query),
      start: processes.start,
      worker: processes.worker,
    });
  } finally {
    await processes.kill();
    const left = await postmaster(data);
    if (left !== null) process.kill(left, 'SIGQUIT');
    await models.close();
    await github.close();
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

const LEADS_ONLY = { CODERS_PER_WORKER: '0', EXAMINATIONS_PER_WORKER: '0' } as const;

function openProcesses(home: string, env: NodeJS.ProcessEnv, withWorkers: boolean) {
  const all: AppProcess[] = [];
  const shared = { ...env, ...(withWorkers ? { ARTIFACTS_URL: join(home, 'artifacts') } : {}) };
  const heart = withWorkers ? { heartbeat: HEARTBEAT } : {};
  let webhooks: string | undefined;
  return {
    webhooks: () => webhooks,
    async start(death?: Death): Promise<AppProcess> {
      const own = { ...shared, ...(withWorkers ? LEADS_ONLY : {}) };
      const app = startProcess('app', own, home, { ...heart, ...(death ? { death } : {}) });
      all.push(app);
      const url = await app.url;
      if (url !== null) webhooks = `${url}/api/github/webhooks`;
      else if (death === undefined) throw new Error(`The App does not start: ${app.said()}`);
      return app;
    },
    async worker(name: string): Promise<AppProcess> {
      const data = join(home, name);
      await furnish(data);
      const database = { DATABASE_URL: await addressOf(join(home, 'data')), PORT: '' };
      const own = { ...shared, ...database, RUNOFF_DATA: data, RUNOFF_WORKER_NAME: name };
      const worker = startProcess('worker', own, home, heart);
      all.push(worker);
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
  // Processes of one test run need not compile our sources each for itself.
  NODE_COMPILE_CACHE: join(dirname(inject('furnishedData')), 'compiled'),
  RUNOFF_DATA: join(home, 'data'),
  APP_ID: String(github.appId),
  PRIVATE_KEY: github.privateKey,
  WEBHOOK_SECRET: github.webhookSecret,
  GITHUB_API_URL: github.apiUrl,
  PORT: '0',
  ANTHROPIC_API_KEY: 'scripted-key-for-anthropic',
  ANTHROPIC_BASE_URL: models.url,
  MODEL_PRICES: JSON.stringify(SCRIPTED_PRICES),
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
});

async function label(github: LocalGitHub, count: number): Promise<readonly number[]> {
  const person = github.as(OWNER);
  const issues: number[] = [];
  for (let n = 1; n <= count; n += 1) {
    const issue = await person.openIssue(PLACE, issueNumbered(n));
    await person.addLabel(PLACE, issue, LABEL);
    issues.push(issue);
  }
  return issues;
}

/** A connection of its own each time: the server may have been killed since. */
async function ask(data: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: await addressOf(data) });
  // A server that is killed says so here as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function addressOf(data: string): Promise<string> {
  const text = await readFile(join(dataPaths(data).database, 'pg.json'), 'utf8');
  const { password, port } = JSON.parse(text) as { password: string; port: number };
  return `postgresql://runoff:${password}@127.0.0.1:${port}/runoff`;
}

async function postmaster(data: string): Promise<number | null> {
  const file = join(dataPaths(data).database, 'pg18', 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number(text.split('\n', 1)[0]);
  if (!pid) return null;
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return line.includes(dataPaths(data).database) ? pid : null;
}

/** An end is said in the background, at the latest after the next start. */
const RUNS = `
  select issue, run.state, intent.result = 'true' as said
    from runoff.run left join runoff.intent on scope = run.id and key = 'said' and intent.state = 'done'`;

async function play(
  app: AppProcess,
  issues: readonly number[],
  query: Stage['query'],
): Promise<'over' | 'dead'> {
  let dead = false;
  void app.ended.then(() => {
    dead = true;
  });
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    // Between a kill of the server and its return there is nobody to ask.
    const runs = await query(RUNS).catch(() => []);
    const over = issues.every((issue) =>
      runs.some((run) => run.issue === issue && run.said === true && isOver(run.state as RunState)),
    );
    if (dead) return 'dead';
    if (over) return 'over';
    if (performance.now() > until)
      throw new Error(`The runs are ${JSON.stringify(runs)} after ${PATIENCE_MS} ms. ${app.said()}`);
    await delay(LOOK_EVERY_MS);
  }
}
