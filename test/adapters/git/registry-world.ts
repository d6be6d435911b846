import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openWorkspaces } from '../../../src/adapters/git/index.ts';
import type { Patience } from '../../../src/core/model/index.ts';
import type { Sandbox, Workspaces } from '../../../src/ports/index.ts';
import { silent } from '../../world/silent-log.ts';
import { openWorkbench } from '../sandbox/workbench.ts';
import { type Files, openGitWorld } from './world.ts';

/** Set-ups in a real sandbox, every name of which leads to one server on loopback. */
export interface RegistryWorld {
  readonly workspaces: Workspaces;
  readonly sandbox: Sandbox;
  readonly port: number;
  /** A shell command that gets a path of the server through the egress proxy, silently. */
  get(path: string, host?: string): string;
  repository(files: Files): { readonly path: string; readonly sha: string };
  /** Nobody listens on the port until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function openRegistryWorld(
  answer: RequestListener,
  patience?: Patience,
): Promise<RegistryWorld> {
  const dialler = { resolve: async () => ['127.0.0.1'], mayDial: () => true };
  const bench = await openWorkbench({ dialler });
  const repositories = openGitWorld();
  const { owner, root, sandbox } = bench;
  const dataDir = join(root, 'data');
  const workspaces = openWorkspaces({
    dataDir,
    sandbox,
    owner,
    log: silent,
    ...(patience ? { patience } : {}),
  });
  const server = createServer(answer);
  const start = (at = 0) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await start();
  const { port } = server.address() as AddressInfo;
  return {
    workspaces,
    sandbox,
    port,
    get: (path, host = 'registry.test') =>
      `curl --silent --show-error --fail --proxytunnel http://${host}:${port}/${path} --output got`,
    repository: (files) => repositories.repository(files),
    stop,
    start: () => start(port),
    async close() {
      if (server.listening) await stop();
      repositories.close();
      bench.close();
    },
  };
}
