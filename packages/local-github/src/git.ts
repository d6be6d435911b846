import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { dirname, join } from 'node:path';
import { pipeline, type Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';

const run = promisify(execFile);
const MAX_OUTPUT = 256 << 20;

/** What git sees of us: no configuration of the user or the machine. */
export const gitEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
});

export async function git(directory: string, ...args: readonly string[]): Promise<string> {
  const options = { env: gitEnvironment(), maxBuffer: MAX_OUTPUT, encoding: 'utf8' } as const;
  return (await run('git', ['-C', directory, ...args], options)).stdout;
}

/** Runs git with this text as its standard input. */
export function gitWithInput(directory: string, input: string, ...args: readonly string[]): Promise<Buffer> {
  const child = spawn('git', ['-C', directory, ...args], {
    env: gitEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  // A process that ends early closes its input; its exit code tells why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(parts));
      else reject(new Error(`git ${args.join(' ')} ended with ${code}.`));
    });
  });
}

export type Refs = Readonly<Record<string, string>>;

/** Branches by full ref name. */
export async function branches(directory: string): Promise<Refs> {
  const out = await git(directory, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads');
  const rows = out.split('\n').filter((row) => row !== '');
  return Object.fromEntries(rows.map((row) => row.split(' ') as [string, string]));
}

/** The branch that HEAD names. */
export const currentBranch = async (directory: string): Promise<string> =>
  (await git(directory, 'symbolic-ref', '--short', 'HEAD')).trim();

export const bareDirectory = (root: string, fullName: string): string => join(root, `${fullName}.git`);

export async function copyBare(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await git(dirname(to), 'clone', '--quiet', '--bare', '--no-local', from, to);
  // A push may start housekeeping in the background, which would outlive close().
  await git(to, 'config', 'receive.autogc', 'false');
  await git(to, 'config', 'gc.auto', '0');
  await git(to, 'config', 'maintenance.auto', 'false');
}

/** The contents of blobs, read by one process. */
export async function readBlobs(directory: string, shas: readonly string[]): Promise<readonly Buffer[]> {
  if (shas.length === 0) return [];
  const out = await gitWithInput(directory, `${shas.join('\n')}\n`, 'cat-file', '--batch');
  let position = 0;
  return shas.map((sha) => {
    const header = out.subarray(position, out.indexOf('\n', position)).toString();
    const size = Number(header.split(' ')[2]);
    if (!header.startsWith(`${sha} blob `)) throw new Error(`git has no blob ${sha}: ${header}`);
    const start = position + header.length + 1;
    position = start + size + 1;
    return out.subarray(start, start + size);
  });
}

type Service = 'git-upload-pack' | 'git-receive-pack';
export interface GitRoute {
  readonly fullName: string;
  readonly service: Service;
  /** The first request of a fetch or push, which asks for the refs. */
  readonly advertise: boolean;
}

/** What git's answer is written to. */
export type GitResponse = Writable & { writeHead(status: number, headers: OutgoingHttpHeaders): unknown };

const isService = (name: string | null): name is Service =>
  name === 'git-upload-pack' || name === 'git-receive-pack';

/** Which part of git's smart HTTP protocol a request is, if any. */
export function matchGit(method: string, url: URL): GitRoute | undefined {
  const match = /^\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(
    url.pathname,
  );
  const [, fullName, tail] = match ?? [];
  if (fullName === undefined || tail === undefined) return undefined;
  const service = tail === 'info/refs' ? url.searchParams.get('service') : tail;
  const advertise = tail === 'info/refs';
  if (!isService(service) || method !== (advertise ? 'GET' : 'POST')) return undefined;
  return { fullName, service, advertise };
}

const packetLine = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** Ends git and what it has started. */
export function killProcessGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // It has ended by itself in this moment.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Lets git itself answer over a bare repository. Does not end the answer, so that the caller can finish its own work
 * before the other side sees the push as done. Resolves with git's exit code.
 */
export function serveGit(
  route: GitRoute,
  directory: string,
  request: IncomingMessage,
  answer: GitResponse,
  started: (child: ChildProcess) => void,
): Promise<number> {
  const protocol = request.headers['git-protocol'];
  const args = [route.service.slice('git-'.length), '--stateless-rpc'];
  const child = spawn('git', [...args, ...(route.advertise ? ['--advertise-refs'] : []), directory], {
    env: { ...gitEnvironment(), ...(typeof protocol === 'string' ? { GIT_PROTOCOL: protocol } : {}) },
    stdio: ['pipe', 'pipe', 'ignore'],
    // A process group of its own, so that git's helpers can be ended with it.
    detached: true,
  });
  started(child);
  answer.writeHead(200, {
    'content-type': `application/x-${route.service}-${route.advertise ? 'advertisement' : 'result'}`,
    'cache-control': 'no-cache, max-age=0, must-revalidate',
  });
  if (route.advertise) {
    child.stdin.end();
    answer.write(`${packetLine(`# service=${route.service}\n`)}0000`);
  } else {
    // A client that hangs up or sends no gzip ends git, whose exit code is what the caller acts on.
    const failed = (error: unknown): void => void (error && killProcessGroup(child));
    if (request.headers['content-encoding'] === 'gzip') {
      pipeline(request, createGunzip(), child.stdin, failed);
    } else pipeline(request, child.stdin, failed);
  }
  child.stdout.pipe(answer, { end: false });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
