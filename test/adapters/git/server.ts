import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import type { GitCredential } from '../../../src/ports/index.ts';

/** Bare repositories of a folder over smart HTTP on loopback, for one login; those in `open` also without. */
export interface GitServer {
  url(name: string): string;
  readonly credential: GitCredential;
  /** Names with `.git`. */
  readonly open: Set<string>;
  /** Names with `.git` whose answers never end. */
  readonly endless: Set<string>;
  /** Requests so far, and how many of their bodies' bytes went to receive-pack. */
  readonly seen: { requests: string[]; pushedBytes: number };
  /** Runs before a push is told what is there, and before it is served: another writer's two moments. */
  beforePush: ((moment: 'told' | 'served') => void) | null;
  /** When set, all requests are answered with this status. */
  status: number | null;
  close(): Promise<void>;
}

const pkt = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

export async function startGitServer(folder: string): Promise<GitServer> {
  const credential = { username: 'x-access-token', password: 'ghs_canary0123456789' };
  const expected = `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`;
  const state: Pick<GitServer, 'seen' | 'beforePush' | 'status' | 'open' | 'endless'> = {
    open: new Set(),
    endless: new Set(),
    seen: { requests: [], pushedBytes: 0 },
    beforePush: null,
    status: null,
  };

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://localhost');
    state.seen.requests.push(`${request.method} ${url.pathname}`);
    const [, name = '', tail = ''] = /^\/([\w-]+\.git)\/(.+)$/.exec(url.pathname) ?? [];
    const isAllowed = request.headers.authorization === expected || state.open.has(name);
    if (state.status !== null || !isAllowed) {
      response.writeHead(state.status ?? 401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const service = tail === 'info/refs' ? url.searchParams.get('service') : tail;
    if (service !== 'git-upload-pack' && service !== 'git-receive-pack') {
      response.writeHead(404).end();
      return;
    }
    if (service === 'git-receive-pack') state.beforePush?.(tail === 'info/refs' ? 'told' : 'served');
    serve(request, response, { name, service, advertise: tail === 'info/refs' });
  }

  function serve(
    request: IncomingMessage,
    response: ServerResponse,
    asked: { name: string; service: string; advertise: boolean },
  ): void {
    const { name, service, advertise } = asked;
    const protocol = request.headers['git-protocol'];
    const flags = ['--stateless-rpc', ...(advertise ? ['--advertise-refs'] : [])];
    const child = spawn(
      'git',
      ['-c', 'safe.directory=*', service.slice('git-'.length), ...flags, join(folder, name)],
      {
        env: {
          PATH: process.env.PATH,
          GIT_CONFIG_NOSYSTEM: '1',
          ...(typeof protocol === 'string' ? { GIT_PROTOCOL: protocol } : {}),
        },
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    response.writeHead(200, {
      'content-type': `application/x-${service}-${advertise ? 'advertisement' : 'result'}`,
    });
    if (advertise) {
      child.stdin.end();
      response.write(`${pkt(`# service=${service}\n`)}0000`);
    } else {
      child.stdin.on('error', () => undefined);
      const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
      if (service === 'git-receive-pack') {
        request.on('data', (chunk: Buffer) => {
          state.seen.pushedBytes += chunk.length;
        });
      }
      body.pipe(child.stdin);
    }
    child.stdout.pipe(response, { end: advertise || !state.endless.has(name) });
  }

  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: (name: string) => `http://127.0.0.1:${port}/${name}.git`,
    credential,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
