import { availableParallelism } from 'node:os';

import { readSettingsText } from '../adapters/config/index.ts';
import { startEmbeddedPostgres } from '../adapters/database/index.ts';
import { type DbosEngineOptions, type HeartbeatOptions, openDbosEngine } from '../adapters/engine/index.ts';
import { type GatewayOptions, openGateway } from '../adapters/gateway/index.ts';
import { openWorkspaces } from '../adapters/git/index.ts';
import { openGitHub } from '../adapters/github/index.ts';
import { openMetrics } from '../adapters/metrics/index.ts';
import { openModel } from '../adapters/models/index.ts';
import type { ConnectionLimits } from '../adapters/postgres/index.ts';
import { readTestReport } from '../adapters/reports/index.ts';
import { openStore } from '../adapters/store/index.ts';
import { systemClock, systemRandom } from '../adapters/system/index.ts';
import { EXIT, type Needs, type TerminalRuntime } from '../cli/index.ts';
import { Fault } from '../core/model/index.ts';
import { ceilingsOf, type Operator } from '../core/policy/index.ts';
import type { Engine, Fence, Gateway, GitHub, Log, Store, Workspaces } from '../ports/index.ts';
import { openAnnouncer, type World } from '../runs/index.ts';
import { codersOf } from './agents.ts';
import { artifactsOf } from './artifacts.ts';
import { type Closers, closedOnFailure, openClosers } from './closers.ts';
import { openDataFolder } from './data-folder.ts';
import { type OpenLog, openLog } from './log.ts';
import { dataPaths, hostFolders } from './paths.ts';
import { promptsOf } from './prompts.ts';
import { providersOf } from './providers.ts';
import { holdQuota, type Quota, watchQuota } from './quota.ts';
import { type Room, watchRoom } from './room.ts';
import { NO_SANDBOX, openSandbox, ownerOf } from './sandbox.ts';
import { type Eyes, watchedGitHub, watchedLedger, watchedPushes, watchedSandbox } from './seen.ts';
import { newIdentity, openSharing, type Sharing, type SharingOptions } from './sharing.ts';
import { openTrustedChecks } from './trusted-checks.ts';
import { pruneUnused } from './upkeep.ts';

export interface RuntimeOptions {
  /** The GitHub of `serve` and of the demo, for a process that others may take over from. */
  readonly github?: (fence: Fence | undefined) => GitHub;
  readonly log?: OpenLog;
  /** No other process uses the data folder: the embedded database is stopped whoever is connected. */
  readonly ownsData?: boolean;
  /** False: what is no longer used is removed by whoever opens this, not in the background. Default true. */
  readonly prunes?: boolean;
  /** Ends the process at once: others have taken over its work. Default: with exit code 1. */
  readonly onExpired?: () => void;
  /** How soon others notice that a process is gone; the same for all that share the database. Default: the engine's own. */
  readonly heartbeat?: HeartbeatOptions;
  /** How long connections to the database wait. Default: those of each part. */
  readonly databaseLimits?: ConnectionLimits;
}

/** Of the durable flows. Raised only where runs under way could not go on at all: `FlowContext.patched` is for the rest. */
const APPLICATION_VERSION = '1';

/**
 * Puts the real world together: the database runs, and where anything is to be executed the sandbox is proven (or it
 * is a fault: never without one, I10).
 * Whatever was opened is closed again when a later part fails.
 */
export async function openRuntime(
  operator: Operator,
  needs: Needs,
  options: RuntimeOptions = {},
): Promise<TerminalRuntime> {
  const closers = openClosers();
  return closedOnFailure(closers, async () => {
    const world = await openParts(operator, needs, options, closers.later);
    const quota = { dir: operator.data, most: operator.maxDisk };
    if (needs.executor?.startsWith(ALONE)) {
      if (options.prunes !== false) pruneMeanwhile(world, quota, closers.later);
    } else if (needs.executor !== undefined) {
      closers.later(watchQuota(world, quota, world.room).close);
    }
    return { world, trusted: openTrustedChecks(operator.data), close: closers.close };
  });
}

/** Executors of the command line: no server looks after this machine's folders while they work. */
const ALONE = 'cli-';

/** Who works by hand waits for no room: a quota that cannot be held is only said. */
function pruneMeanwhile(world: World, quota: Quota, later: Later): void {
  const pruning = pruneUnused(world)
    .then(() => holdQuota(world, quota))
    .then((why) => why !== null && world.log.warn({ dir: quota.dir }, why))
    .catch((thrown: unknown) =>
      world.log.warn({ err: thrown }, 'What is no longer used could not be removed.'),
    );
  later(async () => void (await pruning));
}

type Later = Closers['later'];

/** The workspaces, whose pushes and damages are seen from outside. */
function openSeenWorkspaces(parts: Parameters<typeof openWorkspaces>[0], eyes: Eyes): Workspaces {
  const onDamage = (): void => eyes.metrics?.fault('STORED_DATA_DAMAGED');
  return watchedPushes(openWorkspaces({ ...parts, onDamage }), eyes, systemClock.now);
}

async function openParts(
  operator: Operator,
  needs: Needs,
  options: RuntimeOptions,
  later: Later,
): Promise<World & { readonly room: Room }> {
  const { log = openLog(operator), onExpired = () => process.exit(EXIT.failed) } = options;
  const owner = ownerOf(operator);
  await openDataFolder(operator.data, owner);
  // Before the database: the sandbox may move this process and its children to a control group.
  const bare = needs.executor === undefined ? NO_SANDBOX : await openSandbox(operator);
  const databaseUrl = await openDatabase(operator, options.ownsData ?? false, log, later);
  const { store, sharing } = await openRecord(databaseUrl, needs, { ...options, log, onExpired }, later);
  const eyes = { store, log, ...(await openEyes(operator, store, needs, later)) };
  const sandbox = watchedSandbox(bare, eyes);
  const found = options.github?.(sharing?.fence) ?? (needs.github ? appGitHub(operator, log) : undefined);
  const github = found && watchedGitHub(found, eyes);
  const artifacts = artifactsOf(operator);
  const ledger = watchedLedger(store, eyes);
  const onRefusal = (kind: string) => eyes.metrics?.gatewayRefusal(kind);
  const gateway = gatewayOver(operator, { ledger, answers: { store, artifacts }, onRefusal }, log);
  later(() => gateway.close());
  const room = await watchRoom(operator.data, operator.minFreeDisk, log);
  later(() => room.close());
  const leads = needs.leads ?? true;
  const announcer = openAnnouncer({ ...announcerParts(store, log, leads ? github : undefined), room });
  later(() => announcer.idle());
  // A run of the command line has somebody who sees what happens, and waits for nobody.
  const mayBegin = () => sharing === null || room.lacks() === null;
  const { databaseLimits: limits } = options;
  const engine = openEngine(operator, needs, { databaseUrl, sharing, mayBegin, log, limits });
  later(() => engine.shutdown());
  const workspaces = openSeenWorkspaces({ dataDir: operator.data, sandbox, owner, log }, eyes);
  return {
    ...unchanging(operator),
    store,
    artifacts,
    engine,
    workspaces,
    sandbox,
    gateway,
    log,
    ...(eyes.metrics ? { metrics: eyes.metrics } : {}),
    ...(eyes.tracer ? { tracer: eyes.tracer } : {}),
    ...(github ? { github: leads ? github : readOnly(github) } : {}),
    defaults: defaultsOf(operator, gateway),
    announcer,
    room,
  };
}

/** The store and, where this process shares its work, its place among the others. */
async function openRecord(
  databaseUrl: string,
  needs: Needs,
  options: SharingOptions,
  later: Later,
): Promise<{ readonly store: Store; readonly sharing: Sharing | null }> {
  const identity = identityOf(needs);
  const store = await openStore(databaseUrl, { identity, limits: options.databaseLimits });
  later(() => store.close());
  return { store, sharing: identity ? openSharing(databaseUrl, identity, options, later) : null };
}

const gatewayOver = (
  operator: Operator,
  kept: Pick<GatewayOptions, 'ledger' | 'answers' | 'onRefusal'>,
  log: Log,
): Gateway =>
  openGateway({
    dir: dataPaths(operator.data).sockets,
    providers: providersOf(operator),
    prices: operator.modelPrices,
    dayCaps: {
      repositoryUsd: operator.max.budgetRepositoryDay,
      everythingUsd: operator.max.budgetDay,
    },
    ...kept,
    clock: systemClock,
    log,
  });

/** Only what was asked for: the packages of a collector are loaded for nobody else. */
async function openEyes(
  { metricsToken, traces }: Operator,
  store: Store,
  { executor }: Needs,
  later: Later,
): Promise<Pick<Eyes, 'metrics' | 'tracer'>> {
  const metrics =
    metricsToken === undefined ? {} : { metrics: openMetrics({ census: () => store.census() }) };
  if (!traces || executor === undefined) return metrics;
  const { openTracer } = await import('../adapters/traces/index.ts');
  const tracer = openTracer({ ...traces, instance: executor });
  later(() => tracer.close());
  return { ...metrics, tracer };
}

/** Who this process is among those that share the work; undefined for one that works alone, or only reads. */
const identityOf = ({ executor }: Needs) =>
  executor === undefined || executor.startsWith(ALONE) ? undefined : newIdentity(executor);

const defaultsOf = ({ multiAgent, debates }: Operator, gateway: Gateway): World['defaults'] => ({
  models: multiAgent.models.length > 0 ? multiAgent.models : gateway.defaultModels(),
  ...(multiAgent.count ? { candidates: multiAgent.count } : {}),
  ...(debates === 'always' ? { debate: debates } : {}),
});

/** Parts that hold nothing open. */
const unchanging = (operator: Operator) => ({
  coders: codersOf(operator),
  model: openModel(),
  reports: { readTests: readTestReport, readSettings: readSettingsText },
  clock: systemClock,
  random: systemRandom,
  ceilings: ceilingsOf(operator),
  parallelChecks: availableParallelism(),
  prompts: promptsOf(operator),
});

/** The App shares its work through queues; the command line runs all of its own run in its own process. */
function openEngine(
  operator: Operator,
  { executor, leads = true }: Needs,
  {
    sharing,
    ...options
  }: Pick<DbosEngineOptions, 'databaseUrl' | 'mayBegin' | 'log' | 'limits'> & {
    readonly sharing: Sharing | null;
  },
): Engine {
  const { codersPerWorker, codersPerRepository, examinationsPerWorker } = operator;
  const queue = {
    name: 'coders',
    perWorker: codersPerWorker,
    perPartition: codersPerRepository,
    examinations: examinationsPerWorker,
  };
  return openDbosEngine({
    ...options,
    executorId: executor ?? `cli-${systemRandom.runId()}`,
    takesRuns: leads,
    applicationVersion: APPLICATION_VERSION,
    queue: sharing === null ? null : queue,
    // Alone, there is nobody else who could take them.
    directConcurrency: Math.max(1, codersPerWorker),
    runsAtOnce: operator.runsAtOnce,
    ...(sharing ? { among: sharing } : {}),
  });
}

/** For a process that leads no run: what is said on GitHub, the app says. */
const readOnly = (github: GitHub): GitHub => ({
  ...github,
  publisher: () => Promise.reject(new Fault('INTERNAL', 'A worker was asked to write to GitHub.')),
});

const announcerParts = (store: Store, log: Log, github: GitHub | undefined) =>
  github ? { store, clock: systemClock, log, github } : { store, clock: systemClock, log };

/** Address of the operator's database; the embedded one runs until the closers are called. */
export async function openDatabase(
  operator: Operator,
  ownsData: boolean,
  log: Log,
  later: Later,
): Promise<string> {
  if (operator.databaseUrl) return operator.databaseUrl;
  const postgres = await startEmbeddedPostgres({ dir: dataPaths(operator.data).database, log });
  later(() => postgres.stop({ force: ownsData }));
  await postgres.ensureDatabase('runoff');
  return postgres.url('runoff');
}

const appGitHub = (operator: Operator, log: Log): GitHub | undefined =>
  operator.app ? openAppGitHub(operator, log) : undefined;

/** GitHub as the operator's App; a fault says what is missing. */
export function openAppGitHub(
  operator: Operator,
  log: Log,
  extra: { fetch?: typeof fetch; throttle?: boolean; fence?: Fence | undefined } = {},
): GitHub {
  if (!operator.app)
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'No GitHub App is configured: APP_ID, PRIVATE_KEY and WEBHOOK_SECRET are needed.',
    );
  const { appId, privateKey } = operator.app;
  return openGitHub({
    appId,
    privateKey,
    apiUrl: operator.github.apiUrl,
    gitUrl: operator.github.gitUrl,
    hostFolders: hostFolders(operator.data),
    log,
    ...extra,
  });
}
