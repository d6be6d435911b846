import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { Fault, runToEnd } from '../../core/model/index.ts';
import { type ClientEnvironment, clientEnvironment, hostOf } from './answers.ts';

/** Maximum milliseconds per query, our default: Maven starts a Java virtual machine. */
export const ANSWER_MS = 30_000;

/** A client that gave no answer in its time. */
export class SilentClient extends Fault {
  constructor(program: string, ms: number) {
    super('PROGRAM_KILLED', `${program} did not say within ${ms / 1000} s which registry it uses.`);
  }
}

/** How a client is asked. */
export interface ClientQuestion {
  readonly env: ClientEnvironment;
  /** Returns a new path that only this process uses. */
  readonly newFolder: () => string;
  /** Maximum milliseconds until the answer. */
  readonly answerMs: number;
}

/**
 * Clients also read settings of the folders above the one in which they start, and the data folder may be part of a
 * repository. Only the operator can write to this one, and it is above every other.
 */
const OUTSIDE_REPOSITORIES = '/';

/** Standard output of a client, run where no repository's settings affect it. */
export const run = (question: ClientQuestion, ...argv: readonly [string, ...string[]]): Promise<string> =>
  runIn(OUTSIDE_REPOSITORIES, argv, question);

/** Rejects with PROGRAM_KILLED if the client was killed each time or does not respond. */
async function runIn(
  cwd: string,
  [program, ...args]: readonly [string, ...string[]],
  { env, answerMs }: Pick<ClientQuestion, 'env' | 'answerMs'>,
): Promise<string> {
  const limits = { extendEnv: false, stdin: 'ignore', timeout: answerMs, killSignal: 'SIGKILL' } as const;
  const end = await runToEnd(program, sleep, () =>
    execa(program, args, { ...limits, cwd, env: clientEnvironment(env), reject: false }),
  );
  if (end.timedOut) throw new SilentClient(program, answerMs);
  if (end.failed) throw end;
  return end.stdout;
}

/** Our default; `fetch` follows more. */
const MOST_REDIRECTS = 5;

/** Where an answer leads; null if it is final. */
function redirectIn({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | null {
  const leads = [301, 302, 303, 307, 308].includes(statusCode) && headers.location !== undefined;
  return leads ? new URL(headers.location ?? '', from) : null;
}

/** What a host answers to a GET request, through the proxy of this machine, if the environment names one. */
export async function fetchProxied(
  url: string,
  { env, answerMs }: Pick<ClientQuestion, 'env' | 'answerMs'>,
): Promise<{ readonly status: number; readonly text: string }> {
  const signal = AbortSignal.timeout(answerMs);
  const proxy = env.https_proxy || env.HTTPS_PROXY || env.all_proxy || env.ALL_PROXY;
  if (!proxy) {
    const answer = await fetch(url, { signal });
    return { status: answer.status, text: await answer.text() };
  }
  // Node's own `fetch` takes no proxy for a single request.
  const HTTPS_PROXY = proxy.includes('://') ? proxy : `http://${proxy}`;
  // Others take an entry for the hosts below it, too.
  const direct = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[\s,]+/).filter(Boolean);
  const NO_PROXY = direct.flatMap((name) => [name, `.${name.replace(/^\./, '')}`]).join(',');
  const agent = new Agent({ proxyEnv: { HTTPS_PROXY, NO_PROXY } });
  try {
    let at = new URL(url);
    for (let redirects = 0; ; redirects += 1) {
      const [answer] = (await once(get(at, { agent, signal }), 'response')) as [IncomingMessage];
      const next = redirectIn(answer, at);
      if (next === null || redirects === MOST_REDIRECTS)
        return { status: answer.statusCode ?? 0, text: await text(answer) };
      answer.resume();
      at = next;
    }
  } finally {
    agent.destroy();
  }
}

async function inNewFolder<T>(
  newFolder: () => string,
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = newFolder();
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The operator's exceptions would lead past the proxy that watches. */
const THROUGH_PROXY = { NO_PROXY: '', no_proxy: '' };

/** A project that makes a client ask its registries for something. */
interface WatchedProject {
  readonly files: Readonly<Record<string, string>>;
  readonly argv: (folder: string) => readonly [string, ...string[]];
  /** The client starts in the folder of the project, because it takes the project from there. */
  readonly inside?: true;
  /** Variables that name the proxy. */
  readonly proxyEnv: (proxy: string) => ClientEnvironment;
}

/** `host:port` names that a client requests from a proxy that refuses everything. */
export async function watched(
  { env, newFolder, answerMs }: ClientQuestion,
  { files, argv, inside, proxyEnv }: WatchedProject,
): Promise<readonly string[]> {
  const asked = new Set<string>();
  const server = createServer((_request, response) => response.writeHead(403).end());
  server.on('connect', (request, socket) => {
    socket.on('error', () => socket.destroy());
    if (hostOf(`https://${request.url}`)) asked.add(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await inNewFolder(newFolder, files, async (folder) => {
      const proxied = { ...env, ...THROUGH_PROXY, ...proxyEnv(proxy) };
      const cwd = inside ? folder : OUTSIDE_REPOSITORIES;
      await runIn(cwd, argv(folder), { env: proxied, answerMs }).catch((thrown: unknown) => {
        // A failure is expected, because nothing was reachable; a client that timed out may have made requests.
        if (thrown instanceof Fault && !(thrown instanceof SilentClient && asked.size > 0)) throw thrown;
      });
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return [...asked];
}
