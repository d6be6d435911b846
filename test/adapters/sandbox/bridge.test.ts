import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const BRIDGE = new URL('../../../src/adapters/sandbox/bridge.mjs', import.meta.url).pathname;

/** Runs the bridge on the host, where the port it wants may be taken. */
function bridge(
  ...args: readonly string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BRIDGE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
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
