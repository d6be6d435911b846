import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  appEnvironment,
  type LocalGitHub,
  type LocalGitHubOptions,
  startLocalGitHub,
} from '@runoff/local-github';
import {
  closing,
  disposedOnFailure,
  openAppGitHub,
  openLog,
  openRuntime,
  type Served,
  startApp,
} from '../compose/index.ts';
import { Fault } from '../core/model/index.ts';
import { parseEnvironment } from '../core/settings/index.ts';
import type { Fence } from '../ports/index.ts';
import type { World } from '../runs/index.ts';
import { makeSampleRepository, SCRIPTED_PRICES, SCRIPTS } from './sample/index.ts';
import { type Scripts, startScriptedModels } from './scripted-models/index.ts';

export const REPOSITORY = { owner: 'alice', name: 'tally' } as const;
export const MAINTAINER = 'alice';

/** Everything the demo runs: a local GitHub, scripted models, and the App as `runoff serve` starts it. */
export interface DemoEnvironment {
  /** Folder that holds all of it. */
  readonly home: string;
  readonly github: LocalGitHub;
  readonly world: World;
  /** The variables that the App was started with: a worker needs the same. Its secrets are of this environment alone. */
  readonly environment: Readonly<Record<string, string>>;
  readonly app: Served;
  /** Milliseconds that each part took to start. */
  readonly timings: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

export interface DemoEnvironmentOptions {
  /** Folder for all of it; absent: a temporary one that `close` removes. */
  readonly home?: string;
  /** Adds to the sample repository's files before its first commit. */
  readonly furnish?: (folder: string) => Promise<void>;
  /** Text of `.github/auto-dev.yml` in the sample repository; absent: the sample's own. */
  readonly settings?: string;
  /** Whether the sample repository is private; default false. */
  readonly private?: boolean;
  /** Further logins, with what they may do. */
  readonly collaborators?: LocalGitHubOptions['collaborators'];
  /** What the App's calls to GitHub are made with. */
  readonly fetch?: typeof fetch;
  /** Whether writes keep GitHub's rate; default true. */
  readonly throttle?: boolean;
  readonly onDelivery?: LocalGitHubOptions['onDelivery'];
  /** Variables of the App on top of the demo's own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Folder of installed agents; absent: the builtin coder only. */
  readonly agents?: string;
  /** What the models answer; absent: the sample's scripts. */
  readonly scripts?: Scripts;
  /** Milliseconds between pieces of a scripted answer, so that progress can be seen. */
  readonly paceMs: number;
  /** Called with the name of each part that starts; for the terminal. */
  readonly onStep: (text: string) => void;
  /** Rejects with its reason between two parts when it aborts; what was started is closed again. */
  readonly signal?: AbortSignal;
}

/** Starts all of it on 127.0.0.1, in a folder of its own that `close` removes. */
export async function openDemoEnvironment(options: DemoEnvironmentOptions): Promise<DemoEnvironment> {
  const { paceMs, onStep, signal } = options;
  const cleanups = new AsyncDisposableStack();
  const timings: Record<string, number> = {};
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted();
    onStep(name);
    const began = performance.now();
    const result = await work();
    timings[name] = Math.round(performance.now() - began);
    return result;
  };
  return disposedOnFailure(cleanups, async () => {
    const home = options.home ?? (await mkdtemp(join(tmpdir(), 'runoff-demo-')));
    if (!options.home) cleanups.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
    // The sandbox's and the database's own users must be able to pass through.
    await chmod(home, 0o711);
    const { github, webhook } = await timed('local GitHub', () => openGitHub(home, options));
    cleanups.defer(() => github.close());
    const models = await timed('scripted models', () =>
      startScriptedModels({ scripts: options.scripts ?? SCRIPTS, paceMs }),
    );
    cleanups.defer(() => models.close());
    const { app, world, environment } = await timed('database, sandbox, engine, App', () =>
      openApp(home, github, models.url, options),
    );
    cleanups.defer(() => app.close());
    signal?.throwIfAborted();
    webhook(`${app.url}/api/github/webhooks`);
    return { home, github, world, environment, app, timings, close: closing(cleanups) };
  });
}

async function openGitHub(
  home: string,
  options: DemoEnvironmentOptions,
): Promise<{ github: LocalGitHub; webhook: (url: string) => void }> {
  const from = join(home, 'tally');
  await mkdir(from);
  await makeSampleRepository(from, options.settings, options.furnish);
  let url: string | undefined;
  const github = await startLocalGitHub({
    users: [MAINTAINER, ...Object.keys(options.collaborators ?? {})],
    repositories: [{ ...REPOSITORY, from, private: options.private ?? false }],
    webhookUrl: () => url,
    ...(options.collaborators ? { collaborators: options.collaborators } : {}),
    ...(options.onDelivery ? { onDelivery: options.onDelivery } : {}),
  });
  return {
    github,
    webhook: (to) => {
      url = to;
    },
  };
}

/** Variables of an App with its data in this folder, on a local GitHub and the scripted models at this address. */
export const demoVariables = (
  home: string,
  github: LocalGitHub,
  models: string,
  options: Pick<DemoEnvironmentOptions, 'agents' | 'environment'> = {},
): Readonly<Record<string, string>> => ({
  RUNOFF_DATA: join(home, 'data'),
  ...appEnvironment(github),
  HOST: '127.0.0.1',
  PORT: '0',
  RUNOFF_OPERATORS: MAINTAINER,
  ANTHROPIC_API_KEY: 'scripted-key-for-anthropic',
  ANTHROPIC_BASE_URL: models,
  OPENAI_API_KEY: 'scripted-key-for-openai',
  OPENAI_BASE_URL: `${models}/v1`,
  OPENAI_PROTOCOLS: 'openai-chat,openai-responses',
  GEMINI_API_KEY: 'scripted-key-for-google',
  GEMINI_BASE_URL: models,
  ...(options.agents ? { RUNOFF_AGENTS: options.agents } : {}),
  MODEL_PRICES: JSON.stringify(SCRIPTED_PRICES),
  CODERS_PER_WORKER: '4',
  CODERS_PER_REPOSITORY: '4',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
  ...options.environment,
});

async function openApp(
  home: string,
  github: LocalGitHub,
  models: string,
  options: DemoEnvironmentOptions,
): Promise<Pick<DemoEnvironment, 'app' | 'world' | 'environment'>> {
  const environment = demoVariables(home, github, models, options);
  const parsed = parseEnvironment(environment);
  if (parsed.kind === 'invalid')
    throw new Fault('INTERNAL', `The demo's own settings are invalid: ${JSON.stringify(parsed.problems)}`);
  const log = openLog(parsed.operator);
  const { fetch, throttle } = options;
  const asApp = (fence: Fence | undefined) =>
    openAppGitHub(parsed.operator, log, {
      fence,
      ...(fetch ? { fetch } : {}),
      ...(throttle === undefined ? {} : { throttle }),
    });
  const runtime = await openRuntime(
    parsed.operator,
    { role: 'app', executor: 'demo' },
    { github: asApp, log, ownsData: true },
  );
  return {
    app: await startApp(parsed.operator, runtime, { onOwnAddress: true }),
    world: runtime.world,
    environment,
  };
}
