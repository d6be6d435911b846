import { availableParallelism } from 'node:os';
import { type DbosEngineOptions, type HeartbeatOptions, openDbosEngine } from '../adapters/engine/index.ts';
import { type GatewayOptions, openGateway } from '../adapters/gateway/index.ts';
import { openWorkspaces } from '../adapters/git/index.ts';
import { openModel } from '../adapters/models/index.ts';
import type { ConnectionLimits } from '../adapters/postgres/index.ts';
import { openStore } from '../adapters/store/index.ts';
import { systemClock, systemRandom } from '../adapters/system/index.ts';
import { asFault, Fault } from '../core/model/index.ts';
import { ceilingsOf, type Operator } from '../core/settings/index.ts';
import type { Engine, Fence, Gateway, GitHub, Log, Sandbox, Store, Workspaces } from '../ports/index.ts';
import type { World } from '../runs/index.ts';
import { EXIT, type RuntimeNeeds, type TerminalRuntime } from '../shell.ts';
import { codersOf } from './agents.ts';
import {
  announcerOf,
  closing,
  disposedOnFailure,
  linksTo,
  newIdentity,
  openAppGitHub,
  openDatabase,
  openSharing,
  providersOf,
  type Sharing,
  type SharingOptions,
} from './connections.ts';
import {
  artifactsOf,
  dataPaths,
  openDataFolder,
  openTrustedChecks,
  promptsOf,
  recipesOf,
} from './data-folder.ts';
import { type DiskSpace, enforceQuota, type Quota, watchDiskSpace, watchQuota } from './disk-space.ts';
import {
  type Instruments,
  instrumentedGitHub,
  instrumentedLedger,
  instrumentedPushes,
  instrumentedSandbox,
  type OpenLog,
  openLog,
} from './instrumentation.ts';
import { closableSandbox, NO_SANDBOX, openSandbox, ownerOf, registriesOf, toolchainsOf } from './sandbox.ts';
import { openInstruments, tracedWorkspaces } from './tracing.ts';
import { pruneUnused } from './upkeep.ts';

export interface RuntimeOptions {
  /** The GitHub of `serve` and of the demo, for a process whose work other processes may take over. */
  readonly github?: (fence: Fence | undefined) => GitHub;
  readonly log?: OpenLog;
  /** No other process uses the data folder: the embedded database is stopped regardless of connections. */
  readonly ownsData?: boolean;
  /** False: the caller removes what is no longer used; it is not done in the background. Default: true. */
  readonly prunes?: boolean;
  /** Ends the process at once, because other processes have taken over its work. Default: with exit code 1. */
  readonly onExpired?: () => void;
  /**
   * How soon other processes notice that this one has ended; the same for all that share the database. Default: the
   * engine's own.
   */
  readonly heartbeat?: HeartbeatOptions;
  /** How long connections to the database wait. Default: those of each part. */
  readonly databaseLimits?: ConnectionLimits;
}

/**
 * Version of the durable flows. Raised only if unfinished runs could not continue at all; `FlowContext.patched` is for
 * everything else.
 */
const APPLICATION_VERSION = '1';

/**
 * Opens the real world: starts the database and, if anything is to be executed, checks the sandbox. Without a working
 * sandbox it fails (I10). If a later part fails, everything that was opened is closed.
 */
export async function openRuntime(
  operator: Operator,
  needs: RuntimeNeeds,
  options: RuntimeOptions = {},
): Promise<TerminalRuntime> {
  const cleanups = new AsyncDisposableStack();
  return disposedOnFailure(cleanups, async () => {
    const world = await openParts(operator, needs, options, cleanups);
    if (needs.role !== 'reader' && operator.artifacts !== undefined) await claimArtifacts(world);
    const quota = { dir: operator.data, most: operator.maxDisk };
    // While a command in a terminal runs, no server cleans up this machine's folders.
    if (needs.role === 'standalone') {
      if (options.prunes !== false) pruneMeanwhile(world, quota, cleanups);
    } else if (needs.role !== 'reader') {
      cleanups.defer(watchQuota(world, quota, world.diskSpace).close);
    }
    return { world, trusted: openTrustedChecks(operator.data), close: closing(cleanups) };
  });
}

/** In an outage, whoever is about to delete artifacts claims them. */
async function claimArtifacts({
  artifacts,
  log,
  store,
}: Pick<World, 'artifacts' | 'log' | 'store'>): Promise<void> {
  try {
    await artifacts.claim((owner) => store.databaseName(owner));
  } catch (thrown) {
    if (asFault(thrown).code === 'ENVIRONMENT_INVALID') throw thrown;
    log.warn({ err: thrown }, 'It is not known yet which database the artifacts belong to.');
  }
}

/** A command in a terminal does not wait for disk space: if a quota cannot be enforced, this is only logged. */
function pruneMeanwhile(
  world: Pick<World, 'clock' | 'engine' | 'log' | 'store' | 'workspaces'>,
  quota: Quota,
  cleanups: AsyncDisposableStack,
): void {
  const pruning = pruneUnused(world)
    .then(() => enforceQuota(world, quota))
    .then((why) => why !== null && world.log.warn({ dir: quota.dir }, why))
    .catch((thrown: unknown) => world.log.warn({ err: thrown }, 'Unused files could not be removed.'));
  cleanups.defer(async () => void (await pruning));
}

/** The workspaces; pushes and damage are counted, and operations are traced. */
function openInstrumentedWorkspaces(
  parts: Parameters<typeof openWorkspaces>[0],
  instruments: Instruments,
): Workspaces {
  const onDamage = (): void => instruments.metrics?.fault('STORED_DATA_DAMAGED');
  const workspaces = tracedWorkspaces(openWorkspaces({ ...parts, onDamage }), instruments);
  return instrumentedPushes(workspaces, instruments, systemClock.now);
}

async function openParts(
  operator: Operator,
  needs: RuntimeNeeds,
  options: RuntimeOptions,
  cleanups: AsyncDisposableStack,
): Promise<World & { readonly diskSpace: DiskSpace }> {
  const { log = openLog(operator), onExpired = () => process.exit(EXIT.failed) } = options;
  const owner = ownerOf(operator);
  await openDataFolder(operator.data, owner);
  // Before the database: the sandbox may move this process and its children to another control group.
  const commands = closableSandbox(needs.role === 'reader' ? NO_SANDBOX : await openSandbox(operator));
  const databaseUrl = await openDatabase(operator, options.ownsData ?? false, log, cleanups);
  const sharingOptions = { ...options, log, onExpired };
  const { store, sharing } = await openStoreAndSharing(databaseUrl, needs, sharingOptions, cleanups);
  const instruments = { store, log, ...(await openInstruments(operator, { store, log }, needs, cleanups)) };
  const sandbox = instrumentedSandbox(commands.sandbox, instruments);
  const found = options.github?.(sharing?.fence) ?? (needs.github ? appGitHub(operator, log) : undefined);
  const github = found && instrumentedGitHub(found, instruments);
  const artifacts = artifactsOf(operator);
  const ledger = instrumentedLedger(store, instruments);
  const onRefusal = (kind: string) => instruments.metrics?.gatewayRefusal(kind);
  const gateway = gatewayOver(operator, { ledger, answers: { store, artifacts }, onRefusal }, log);
  cleanups.defer(() => gateway.close());
  const diskSpace = await watchDiskSpace(operator.data, operator.minFreeDisk, log);
  cleanups.defer(() => diskSpace.close());
  const leads = needs.role !== 'worker';
  const announcer = announcerOf(operator, { artifacts, store, log, diskSpace }, leads ? github : undefined);
  cleanups.defer(() => announcer.idle());
  // In a terminal the user sees what happens, and runs do not wait.
  const mayBegin = () => sharing === null || diskSpace.shortage() === null;
  const { databaseLimits: limits } = options;
  const engine = openEngine(operator, needs, { databaseUrl, sharing, mayBegin, log, limits });
  closeAtEnd(engine, commands, cleanups);
  const workspaces = openInstrumentedWorkspaces({ dataDir: operator.data, sandbox, owner, log }, instruments);
  return {
    ...statelessParts(operator, log, sandbox),
    ...keptIn(store, operator),
    artifacts,
    engine,
    workspaces,
    sandbox,
    gateway,
    log,
    ...metricsAndTracer(instruments),
    ...(github ? { github: leads ? github : readOnly(github) } : {}),
    defaults: defaultsOf(operator, gateway),
    announcer,
    diskSpace,
  };
}

/** The engine first: it waits for its steps. What they have left is ended here, not only by the end of this process. */
function closeAtEnd(
  engine: Engine,
  commands: { close(): Promise<void> },
  cleanups: AsyncDisposableStack,
): void {
  cleanups.defer(() => commands.close());
  cleanups.defer(() => engine.shutdown());
}

const keptIn = (store: Store, operator: Operator) => ({ store, recipes: recipesOf(operator, store) });

const metricsAndTracer = ({ metrics, tracer }: Instruments): Pick<World, 'metrics' | 'tracer'> => ({
  ...(metrics ? { metrics } : {}),
  ...(tracer ? { tracer } : {}),
});

/** Opens the store and, if this process shares its work, its identity and fence. */
async function openStoreAndSharing(
  databaseUrl: string,
  needs: RuntimeNeeds,
  options: SharingOptions,
  cleanups: AsyncDisposableStack,
): Promise<{ readonly store: Store; readonly sharing: Sharing | null }> {
  const identity = identityOf(needs);
  const store = await openStore(databaseUrl, { identity, limits: options.databaseLimits });
  cleanups.defer(() => store.close());
  return { store, sharing: identity ? openSharing(databaseUrl, identity, options, cleanups) : null };
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

/** The identity of this process among those that share the work; undefined if it works alone or only reads. */
const identityOf = (needs: RuntimeNeeds) =>
  needs.role === 'app' || needs.role === 'worker' ? newIdentity(needs.executor) : undefined;

const defaultsOf = ({ models, multiAgent, debates }: Operator, gateway: Gateway): World['defaults'] => ({
  providers: Object.keys(models),
  models: multiAgent.models.length > 0 ? multiAgent.models : gateway.defaultModels(),
  ...(multiAgent.count ? { candidates: multiAgent.count } : {}),
  ...(debates === 'always' ? { debate: debates } : {}),
});

/** Parts that need no cleanup. */
const statelessParts = (operator: Operator, log: OpenLog, sandbox: Sandbox) => ({
  coders: codersOf(operator),
  model: openModel(),
  clock: systemClock,
  random: systemRandom,
  ceilings: ceilingsOf(operator),
  parallelChecks: availableParallelism(),
  examinations: operator.examinationsPerWorker,
  prompts: promptsOf(operator),
  toolchains: toolchainsOf(operator, sandbox, log),
  ...registriesOf(operator, log),
  ...linksTo(operator),
});

/** The App shares its work through queues; the command line executes its whole run in its own process. */
function openEngine(
  operator: Operator,
  needs: RuntimeNeeds,
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
    executorId: needs.role === 'reader' ? `cli-${systemRandom.runId()}` : needs.executor,
    takesRuns: needs.role !== 'worker',
    applicationVersion: APPLICATION_VERSION,
    queue: sharing === null ? null : queue,
    // A process that works alone must execute them itself.
    directConcurrency: Math.max(1, codersPerWorker),
    runsAtOnce: operator.runsAtOnce,
    ...(sharing ? { among: sharing } : {}),
  });
}

/** GitHub for a process that executes no runs: only the App writes. */
const readOnly = (github: GitHub): GitHub => ({
  ...github,
  publisher: () => Promise.reject(new Fault('INTERNAL', 'A worker was asked to write to GitHub.')),
});

const appGitHub = (operator: Operator, log: Log): GitHub | undefined =>
  operator.app ? openAppGitHub(operator, log) : undefined;
