import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArtifacts } from '../../src/adapters/artifacts/index.ts';
import { coders } from '../../src/adapters/coders/index.ts';
import { openGateway } from '../../src/adapters/gateway/index.ts';
import { openWorkspaces } from '../../src/adapters/git/index.ts';
import { openBubblewrap, prepareToolchain } from '../../src/adapters/sandbox/index.ts';
import { openStore } from '../../src/adapters/store/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { providersOf } from '../../src/compose/connections.ts';
import type { CoderEvent, Usage } from '../../src/core/model/index.ts';
import type { ModelProtocol } from '../../src/core/settings/index.ts';
import { parseEnvironment } from '../../src/core/settings/index.ts';
import {
  type ScriptedModels,
  type Scripts,
  type SeenRequest,
  startScriptedModels,
} from '../../src/demo/scripted-models/index.ts';
import {
  type BaseCheckout,
  type Coder,
  type CoderLaunch,
  type Collected,
  DEFAULT_LIMITS,
  type ExecResult,
  type ExecSpec,
  type Lease,
  type LedgerRow,
  type Limits,
  type Log,
  type Sandbox,
  type WorkArea,
} from '../../src/ports/index.ts';
import { type Files, git, writeFiles } from '../adapters/git/world.ts';
import { installedAgents } from '../setup/agents.ts';
import { freshDatabase, type TestDatabase } from './database.ts';

/** The operator's keys. They must never be seen again but by the model server. */
export const PROVIDER_KEYS = {
  anthropic: 'sk-ant-canary-6d1f0c9e8b7a4521',
  openai: 'sk-oai-canary-93b2e7d4a1f85c06',
  google: 'AIza-canary-58c0d3f7e2b94a16',
} as const;

/** US dollars for a million tokens. */
export const PRICE = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 } as const;

/** The provider at which a test's agent looks for its model. */
const PROVIDER: Readonly<Record<ModelProtocol, keyof typeof PROVIDER_KEYS>> = {
  anthropic: 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  gemini: 'google',
};

/** An unused id, so that no other process of the machine counts. */
const OWNER = process.getuid?.() === 0 ? { uid: 64192, gid: 64192 } : null;

/** What an agent is set to. */
export interface Job {
  readonly agent: string;
  /** Name of a script. */
  readonly script: string;
  readonly prompt?: string;
  /** The repository's files at the base commit; absent: a README only. */
  readonly files?: Files;
  /** An earlier job's run, whose work is done again from scratch; absent: a run of its own. */
  readonly again?: string;
  /** Dollars that the candidate may spend; absent: 5. */
  readonly capUsd?: number;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  readonly onLimit?: NonNullable<ExecSpec['onLimit']>;
  /** Changes how the agent is started: for showing what its own arguments are good for. */
  readonly alter?: (launch: CoderLaunch) => CoderLaunch;
  /** Called when the agent has been started, with the key and socket of its lease. */
  readonly onStart?: (lease: Lease) => void;
}

/** What came of it. */
export interface Work {
  readonly result: ExecResult;
  readonly launch: CoderLaunch;
  readonly events: readonly CoderEvent[];
  readonly collected: Collected;
  /** Files in the writable layer of the clone and in HOME afterwards: `repo/…`, `home/…`. */
  readonly left: ReadonlyMap<string, Buffer>;
  /** Whose calls they are in ledger and log. */
  readonly runId: string;
  readonly key: string;
  readonly socket: string;
  readonly usage: Usage;
  readonly refusal: string | null;
  /** The ledger's rows in the order of the calls. */
  readonly calls: readonly LedgerRow[];
  /** What reached the model server for this job's script. */
  readonly requests: readonly SeenRequest[];
}

export interface AgentBench {
  readonly models: ScriptedModels;
  readonly database: TestDatabase;
  /** Every line of the log. */
  readonly log: readonly string[];
  coder(name: string): Coder;
  work(job: Job): Promise<Work>;
  close(): Promise<void>;
}

/** Real agents, sandbox, gateway, workspaces and database; only the models are scripted. */
export async function openAgentBench(options: { scripts: Scripts; paceMs?: number }): Promise<AgentBench> {
  const agents = await installedAgents();
  const home = await mkdtemp(join(tmpdir(), 'runoff-agents-'));
  // The sandboxes' user must be able to pass through.
  await chmod(home, 0o711);
  const models = await startScriptedModels(options);
  const operator = operatorFor(home, models.url, Object.keys(options.scripts));
  const sandbox = await openTestSandbox(operator.data);
  const { log, lines } = recordingLog();
  const database = await freshDatabase();
  const store = await openStore(database.url);
  const gateway = openGateway({
    dir: join(operator.data, 'gw'),
    providers: providersOf(operator),
    prices: operator.modelPrices,
    dayCaps: { repositoryUsd: 1000, everythingUsd: 1000 },
    ledger: store,
    answers: { store, artifacts: openArtifacts(join(operator.data, 'artifacts')) },
    clock: systemClock,
    log,
  });
  const workspaces = openWorkspaces({ dataDir: operator.data, sandbox, owner: OWNER, log });
  const known = coders({ agentsFolder: agents, commands: {} });
  const repositories = openRepositories(home);
  let jobs = 0;

  const coder = (name: string): Coder => {
    const found = known.get(name);
    if (!found) throw new Error(`There is no coder ${name}.`);
    return found;
  };
  const room: Room = { sandbox, gateway, workspaces, models, database };
  return {
    models,
    database,
    log: lines,
    coder,
    async work(job) {
      jobs += 1;
      const { path, sha } = await repositories(job.files ?? { 'README.md': '# A small project\n' });
      const base = await workspaces.prepare({ kind: 'local', path }, sha);
      const area = await workspaces.open(base, `job-${jobs}`);
      try {
        return await workIn(room, {
          job,
          id: job.again ?? `job-${jobs}`,
          coder: coder(job.agent),
          base,
          area,
        });
      } finally {
        await workspaces.remove(area);
      }
    },
    async close() {
      await gateway.close();
      await store.close();
      await database.drop();
      await models.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Room {
  readonly sandbox: Sandbox;
  readonly gateway: ReturnType<typeof openGateway>;
  readonly workspaces: ReturnType<typeof openWorkspaces>;
  readonly models: ScriptedModels;
  readonly database: TestDatabase;
}

interface Posted {
  readonly job: Job;
  readonly id: string;
  readonly coder: Coder;
  readonly base: BaseCheckout;
  readonly area: WorkArea;
}

async function workIn(room: Room, posted: Posted): Promise<Work> {
  const { gateway, workspaces, models, database } = room;
  const { job, id, coder, base, area } = posted;
  const [protocol = 'openai-chat'] = coder.protocols;
  const model = `${PROVIDER[protocol]}/${job.script}`;
  const lease = await gateway.open({
    runId: id,
    spender: 'A',
    repository: 'local-test',
    models: [model],
    capUsd: job.capUsd ?? 5,
    runCapUsd: 20,
    ttlMs: 10 * 60_000,
  });
  const before = models.requests.length;
  const route = gateway.route(model, { protocols: coder.protocols });
  const ran = await runCoder(room, posted, lease, route).finally(() => lease.close());
  return {
    ...ran,
    left: new Map([...(await filesBelow('repo', area.upper)), ...(await filesBelow('home', area.home))]),
    collected: await workspaces.collect(base, area),
    runId: id,
    key: lease.key,
    socket: lease.socket,
    usage: lease.usage(),
    refusal: lease.refusal(),
    calls: await callsOf(database, id),
    requests: models.requests.slice(before).filter((request) => request.model === job.script),
  };
}

/** As the supervisor of `src/runs/code` starts a coder. */
async function runCoder(
  { sandbox }: Room,
  { job, coder, area }: Posted,
  lease: Lease,
  route: { readonly protocol: ModelProtocol; readonly model: string },
): Promise<Pick<Work, 'result' | 'launch' | 'events'>> {
  // Each sandbox has a loopback interface of its own.
  const port = job.again === undefined ? 8484 : 8485;
  const limits = { ...DEFAULT_LIMITS, wallMs: 120_000, ...job.limits };
  const input = {
    ...route,
    prompt: job.prompt ?? 'Do what the issue says.',
    wallSeconds: Math.floor(limits.wallMs / 1000),
    gateway: { url: `http://127.0.0.1:${port}`, key: lease.key },
    seed: 0,
  };
  const launch = (job.alter ?? ((same) => same))(coder.launch(input));
  const events: CoderEvent[] = [];
  job.onStart?.(lease);
  const result = await sandbox.exec({
    ...launch,
    area,
    env: { ...launch.env, GW_KEY: lease.key },
    gateway: { socket: lease.socket, port },
    limits,
    onLine: (line, stream) => {
      if (stream === 'stdout') events.push(...coder.read(line));
    },
    ...(job.onLimit ? { onLimit: job.onLimit } : {}),
    ...(job.signal ? { signal: job.signal } : {}),
  });
  return { result, launch, events };
}

function operatorFor(home: string, models: string, scripts: readonly string[]) {
  const prices = scripts.flatMap((script) =>
    Object.keys(PROVIDER_KEYS).map((provider) => [`${provider}/${script}`, PRICE] as const),
  );
  const parsed = parseEnvironment({
    RUNOFF_DATA: join(home, 'data'),
    ANTHROPIC_API_KEY: PROVIDER_KEYS.anthropic,
    ANTHROPIC_BASE_URL: models,
    OPENAI_API_KEY: PROVIDER_KEYS.openai,
    OPENAI_BASE_URL: `${models}/v1`,
    OPENAI_PROTOCOLS: 'openai-responses,openai-chat',
    GEMINI_API_KEY: PROVIDER_KEYS.google,
    GEMINI_BASE_URL: models,
    MODEL_PRICES: JSON.stringify(Object.fromEntries(prices)),
  });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.operator;
}

async function openTestSandbox(data: string): Promise<Sandbox> {
  const scratch = join(data, 'scratch');
  await mkdir(scratch, { recursive: true });
  await chmod(data, 0o711);
  if (OWNER) await chown(scratch, OWNER.uid, OWNER.gid);
  const toolchain = await prepareToolchain({ dir: join(data, 'toolchain'), owner: OWNER });
  const sandbox = openBubblewrap({ toolchain: toolchain.dir, owner: OWNER, scratch });
  const probe = await sandbox.probe();
  if (probe.kind === 'missing') throw new Error(`${probe.why} ${probe.remedy}`);
  return sandbox;
}

/** Makes each repository once: the same files are the same commit. */
function openRepositories(home: string) {
  const made = new Map<Files, { readonly path: string; readonly sha: string }>();
  return async (files: Files) => {
    const known = made.get(files);
    if (known) return known;
    const path = join(home, `repository-${made.size}`);
    await mkdir(path);
    git(path, 'init', '-q');
    writeFiles(path, files);
    git(path, 'add', '-A', '-f');
    git(path, 'commit', '-q', '-m', 'Start');
    const repository = { path, sha: git(path, 'rev-parse', 'HEAD') };
    made.set(files, repository);
    return repository;
  };
}

function recordingLog(): { readonly log: Log; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => {
    lines.push(JSON.stringify({ ...fields, message }));
  };
  return { log: { info: keep, warn: keep, error: keep, within: (_fields, work) => work() }, lines };
}

async function callsOf(database: TestDatabase, runId: string): Promise<readonly LedgerRow[]> {
  const rows = await database.query('select * from runoff.gateway_call where run_id = $1 order by id', [
    runId,
  ]);
  return rows.map((row) => ({
    runId,
    spender: String(row.spender),
    repository: String(row.repository),
    model: String(row.model),
    tokensIn: Number(row.tokens_in),
    tokensOut: Number(row.tokens_out),
    tokensCached: Number(row.tokens_cached),
    tokensReasoning: Number(row.tokens_reasoning),
    usd: Number(row.usd),
    exact: row.exact === true,
    status: Number(row.status),
    ms: Number(row.ms),
    at: Number(row.at),
  }));
}

/** Regular files of a folder that a candidate owned: links are not followed. */
async function filesBelow(name: string, folder: string): Promise<readonly (readonly [string, Buffer])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.map(async (path) => [join(name, path.slice(folder.length + 1)), await readFile(path)] as const),
  );
}
