// The demo's App in a process of its own, on a local GitHub and scripted models of this one: what these need, and what a
// bench needs to look, takes nothing from the App's thread and memory.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type LocalGitHub, type LocalGitHubOptions, startLocalGitHub } from '@runoff/local-github';
import { startEmbeddedPostgres } from '../src/adapters/database/index.ts';
import { openStore } from '../src/adapters/store/index.ts';
import { demoVariables, MAINTAINER, REPOSITORY } from '../src/demo/environment.ts';
import { makeSampleRepository } from '../src/demo/sample/index.ts';
import { type Scripts, startScriptedModels } from '../src/demo/scripted-models/index.ts';
import type { Store } from '../src/ports/index.ts';
import { type AppProcess, inTemporaryHome, startApp } from './app-process.ts';

export interface DemoAppOptions {
  readonly scripts: Scripts;
  /** Text of the settings file. */
  readonly settings: string;
  /** Of the App's environment, besides the demo's own. */
  readonly variables: Readonly<Record<string, string>>;
  /** Adds to the sample repository's files. */
  readonly furnish: (folder: string) => Promise<void>;
  readonly onDelivery?: LocalGitHubOptions['onDelivery'];
}

export interface DemoApp {
  readonly home: string;
  readonly github: LocalGitHub;
  readonly app: AppProcess;
}

/** Milliseconds between pieces of a scripted answer. */
const PACE_MS = 40;

/** Everything that it starts has ended when it resolves. */
export const withDemoApp = <T>(options: DemoAppOptions, work: (demo: DemoApp) => Promise<T>): Promise<T> =>
  inTemporaryHome(async (home) => {
    await using cleanups = new AsyncDisposableStack();
    const from = join(home, REPOSITORY.name);
    await mkdir(from);
    await makeSampleRepository(from, options.settings, options.furnish);
    let webhooks: string | undefined;
    const github = await startLocalGitHub({
      users: [MAINTAINER],
      repositories: [{ ...REPOSITORY, from }],
      webhookUrl: () => webhooks,
      ...(options.onDelivery ? { onDelivery: options.onDelivery } : {}),
    });
    cleanups.defer(() => github.close());
    const models = await startScriptedModels({ scripts: options.scripts, paceMs: PACE_MS });
    cleanups.defer(() => models.close());
    const traces = process.env.TRACE ? { TRACE_FOLDER: resolve(process.env.TRACE) } : {};
    const environment = { ...traces, ...options.variables };
    const app = await startApp(home, demoVariables(home, github, models.url, { environment }));
    cleanups.defer(() => app.end());
    webhooks = `${app.url}/api/github/webhooks`;
    return await work({ home, github, app });
  });

/** The App's store, on connections of this process. */
export async function withStore<T>({ home }: DemoApp, work: (store: Store) => Promise<T>): Promise<T> {
  const postgres = await startEmbeddedPostgres({ dir: join(home, 'data', 'pg') });
  try {
    const store = await openStore(postgres.url('runoff'));
    return await work(store).finally(() => store.close());
  } finally {
    await postgres.stop();
  }
}
