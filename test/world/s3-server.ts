import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isSigned } from './s3-signatures.ts';

const PROGRAM = fileURLToPath(new URL('../../node_modules/s3rver/bin/s3rver.js', import.meta.url));
/** Its only key, and the secret. */
const KEY = 'S3RVER';

/**
 * A real S3 server, s3rver, in a process of its own, with one bucket. It does not check signatures and knows buckets in
 * the host by its own name only: a front before it does both, by Amazon's signer.
 */
export interface S3Server {
  readonly endpoint: string;
  readonly port: number;
  readonly bucket: string;
  readonly key: string;
  /** Kills the process; what was put stays. */
  kill(): Promise<void>;
  /** A new process with the same files. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

interface Backend {
  readonly child: ChildProcess;
  readonly port: number;
}

async function startBackend(folder: string, bucket: string): Promise<Backend> {
  const child = spawn(
    process.execPath,
    [PROGRAM, '-d', folder, '-a', '127.0.0.1', '-p', '0', '--configure-bucket', bucket],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: folder },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /listening on .*:(\d+)/.exec(line)?.[1];
    if (found === undefined) continue;
    child.stdout.resume();
    return { child, port: Number(found) };
  }
  throw new Error('The S3 server ended before it listened.');
}

async function forward(backend: Backend, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const body = await buffer(asked);
  if (!(await isSigned(asked, body, KEY, KEY))) {
    answer.writeHead(403, { 'content-type': 'application/xml' });
    answer.end('<Error><Code>SignatureDoesNotMatch</Code><Message>Check your key.</Message></Error>');
    return;
  }
  const host = asked.headers.host ?? '';
  const path = host.startsWith('127.0.0.1') ? asked.url : `/${host.split('.')[0]}${asked.url}`;
  const { method, headers } = asked;
  const onward = request({
    host: '127.0.0.1',
    port: backend.port,
    method,
    path,
    headers: { ...headers, host: 'localhost' },
  });
  // As a load balancer hangs up when the server behind it is gone.
  onward.on('error', () => answer.destroy());
  onward.on('response', (said) => {
    answer.writeHead(said.statusCode ?? 502, said.headers);
    said.pipe(answer);
  });
  onward.end(body);
}

export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-s3-'));
  const bucket = 'artifacts';
  let backend = await startBackend(folder, bucket);
  const front = createServer((asked, answer) => {
    forward(backend, asked, answer).catch((error: unknown) => answer.destroy(error as Error));
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;
  const kill = async () => {
    const { child } = backend;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    bucket,
    key: KEY,
    kill,
    async restart() {
      backend = await startBackend(folder, bucket);
    },
    async close() {
      await kill();
      front.close();
      front.closeAllConnections();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
