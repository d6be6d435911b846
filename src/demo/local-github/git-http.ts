import { type ChildProcess, spawn } from 'node:child_process';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { pipeline, type Writable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { gitEnvironment } from './git.ts';

type Service = 'git-upload-pack' | 'git-receive-pack';
export interface GitRoute {
  readonly fullName: string;
  readonly service: Service;
  /** The first request of a fetch or push, which asks for the refs. */
  readonly advertise: boolean;
}

/** What git's answer is written to. */
export type GitAnswer = Writable & { writeHead(status: number, headers: OutgoingHttpHeaders): unknown };

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
export function endGroup(child: ChildProcess): void {
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
  answer: GitAnswer,
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
    const failed = (error: unknown): void => void (error && endGroup(child));
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
