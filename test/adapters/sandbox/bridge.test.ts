import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tried } from '../../world/tried.ts';

const BRIDGE = new URL('../../../src/adapters/sandbox/bridge.mjs', import.meta.url).pathname;

interface BridgeEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the bridge on the host, where the port it wants may be taken. */
const bridge = (...args: readonly string[]): Promise<BridgeEnd> => bridgeWith([], ...args);

/** The same with options for Node. */
function bridgeWith(options: readonly string[], ...args: readonly string[]): Promise<BridgeEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...options, BRIDGE, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const end = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        end[name] += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...end }));
  });
}

describe('the bridge', () => {
  let folder: string;
  let gateway: Server;
  const answer: RequestListener = (_request, response) => response.end('a model');
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runoff-bridge-'));
    gateway = createServer(answer);
    await new Promise<void>((resolve) => gateway.listen(join(folder, 'g'), resolve));
  });
  afterEach(() => {
    gateway.close();
    gateway.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Node's `spawn` fails so many times as on a machine without a free process. */
  const short = (times: number): string =>
    `data:text/javascript,${encodeURIComponent(`
      import { EventEmitter } from 'node:events';
      import childProcess from 'node:child_process';
      import { syncBuiltinESMExports } from 'node:module';
      const real = childProcess.spawn;
      let left = ${times};
      childProcess.spawn = (...given) => {
        if (left-- <= 0) return real(...given);
        const child = new EventEmitter();
        process.nextTick(() => child.emit('error', Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' })));
        return child;
      };
      syncBuiltinESMExports();`)}`;

  test('starts the command a moment later if the machine has no process for it', async () => {
    tried({
      id: 'bridge-short',
      part: 'Child processes are killed',
      what: 'The machine has no process for a command with network access, twice in a row and every time.',
      held: 'It is started a moment later, or counts as killed; it is not taken for a program that cannot run.',
    });
    const args = ['--', 'echo', 'started'];
    expect(await bridgeWith(['--import', short(2)], ...args)).toEqual({
      code: 0,
      stdout: 'started\n',
      stderr: '',
    });
    expect(await bridgeWith(['--import', short(9)], ...args)).toMatchObject({ code: 137, stdout: '' });
  });

  test('reports a port in use and does not start the command', async () => {
    const other = createTcpServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const port = String((other.address() as AddressInfo).port);
    const taken = await bridge('--gateway', join(folder, 'g'), port, '--', 'echo', 'started');
    other.close();
    expect(taken).toEqual({
      code: 125,
      stdout: '',
      stderr: `runoff: 127.0.0.1:${port} cannot be listened on (EADDRINUSE)\n`,
    });
    const free = await bridge('--gateway', join(folder, 'g'), port, '--', 'sh', '-c', 'echo $GW_URL');
    expect(free).toEqual({ code: 0, stdout: `http://127.0.0.1:${port}\n`, stderr: '' });
  });

  test("does not interpret the command's arguments", async () => {
    const end = await bridge('--gateway', join(folder, 'g'), '0', '--', 'echo', '--gateway', 'x', '--', 'y');
    expect(end).toEqual({ code: 0, stdout: '--gateway x -- y\n', stderr: '' });
  });
});
