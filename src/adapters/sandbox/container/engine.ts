import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, openSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { type Surroundings, USUAL_SURROUNDINGS } from '../../../core/model/index.ts';
import type { ExecSpec } from '../../../ports/index.ts';
import { pathIn } from '../filesystem.ts';
import { commandLine } from '../launch.ts';
import { type CommandEnd, commandEnd, HOST_PATH, startedAt } from '../processes.ts';

export const ENGINES = ['podman', 'docker'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Where an engine finds its user's images and its server; nothing else of our environment is passed on to it. */
const PASSED_ON = [
  'HOME',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'CONTAINERS_CONF',
  'CONTAINERS_STORAGE_CONF',
  'DOCKER_CONFIG',
  'DOCKER_CONTEXT',
  'DOCKER_HOST',
];
/** Milliseconds for a command about images or containers. Our default; the first one after a boot is slow. */
const ENGINE_TIMEOUT_MS = 60_000;

/** An engine that responds. */
export interface ContainerEngine {
  readonly name: EngineName;
  readonly version: string;
  /** Whether it runs as the same unprivileged user as Runoff. */
  readonly rootless: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command of the engine, which must be safe to repeat, to its end. Rejects with PROGRAM_KILLED only. */
  run(args: readonly string[]): Promise<CommandEnd>;
}

type EngineFound = ContainerEngine | { readonly why: string };

export async function findEngine(
  name: EngineName,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<EngineFound> {
  const env = { PATH: HOST_PATH, ...pickEnvironment(environment) };
  const run = (args: readonly string[]): Promise<CommandEnd> =>
    commandEnd(name, args, { env, timeout: ENGINE_TIMEOUT_MS });
  const asked =
    name === 'podman'
      ? '{{.Version.Version}} rootless={{.Host.Security.Rootless}}'
      : '{{.ServerVersion}} {{.SecurityOptions}}';
  const info = await run(['info', '--format', asked]);
  const version = /^\d+\.\d+\S*/.exec(info.stdout)?.[0];
  if (info.code !== 0 || version === undefined) {
    return { why: `${name} does not work: ${firstErrorLine(info.stderr)}` };
  }
  return { name, version, rootless: /rootless=true|name=rootless/.test(info.stdout), env, run };
}

const firstErrorLine = (text: string): string => text.trim().split('\n')[0] || 'it says nothing';

const pickEnvironment = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Its value is the scratch folder, so that one Runoff does not touch the containers of another. */
export const CONTAINER_LABEL = 'runoff.sandbox';

/** `app` identifies this process: its id and start time. */
export const containerName = (app: string): string => `runoff-${app}-${randomBytes(6).toString('hex')}`;

/** Removes containers whose Runoff has ended: their watcher was killed with it, or the machine stopped. */
export async function removeLeftovers(engine: ContainerEngine, place: string): Promise<void> {
  const list = ['ps', '--all', '--filter', `label=${CONTAINER_LABEL}=${place}`, '--format', '{{.Names}}'];
  const { stdout } = await engine.run(list);
  const left = stdout.split('\n').filter((name) => {
    const [, pid, start] = /^runoff-(\d+)-(\d+)-[0-9a-f]+$/.exec(name.trim()) ?? [];
    return pid !== undefined && startedAt(Number(pid)) !== start;
  });
  if (left.length > 0) await engine.run(['rm', '--force', ...left]);
}

/**
 * First and only line of a container's entry: the kernel's name of the IPC namespace that all of its processes share.
 */
const Hello = z.object({ namespace: z.string().regex(/^ipc:\[\d+\]$/) });
/** Maximum length of that line in characters; it is never that long. */
const MAX_HELLO_CHARS = 1000;

/** The connection between a container and Runoff. The container runs as long as it is open. */
export interface ControlSocket {
  /** Host path of the socket. */
  readonly socket: string;
  /** Resolves to the container's IPC namespace once its entry has accepted the order; null if that will not happen. */
  readonly accepted: Promise<string | null>;
  /** Ends the container; can be called at any time. */
  cut(): void;
  close(): Promise<void>;
}

/** Sends one order to the first client, which is the entry: nothing else runs in the container before that. */
export async function openControlSocket(folder: string, order: EntryOrder): Promise<ControlSocket> {
  let entry: Socket | null = null;
  let over = false;
  let tell: (namespace: string | null) => void = () => undefined;
  const accepted = new Promise<string | null>((resolve) => {
    tell = resolve;
  });
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    if (over || entry !== null) {
      socket.destroy();
      return;
    }
    entry = socket;
    serveOrder(socket, order, tell);
  });
  const cut = (): void => {
    over = true;
    entry?.destroy();
    tell(null);
  };
  // Bound through a descriptor of its folder: the path of a socket may have only 107 bytes, and that of a data folder
  // may be longer.
  const fd = openSync(folder, 'r');
  try {
    await listenAt(server, `/proc/self/fd/${fd}/control.sock`);
    chmodSync(join(folder, 'control.sock'), 0o666);
  } catch (thrown) {
    server.close();
    closeSync(fd);
    throw thrown;
  }
  return {
    socket: join(folder, 'control.sock'),
    accepted,
    cut,
    async close() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      closeSync(fd);
    },
  };
}

function serveOrder(socket: Socket, order: EntryOrder, tell: (namespace: string | null) => void): void {
  let text = '';
  socket.on('close', () => tell(null));
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.length > MAX_HELLO_CHARS) socket.destroy();
    if (!text.endsWith('\n')) return;
    const hello = Hello.safeParse(parseJson(text));
    if (!hello.success) {
      socket.destroy();
      return;
    }
    tell(hello.data.namespace);
    socket.write(`${JSON.stringify(order)}\n`);
    // The entry sends nothing more; whatever arrives later from another process is ignored.
    socket.removeAllListeners('data').resume();
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const listenAt = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });

/**
 * Instructions for a container's entry. Sent through a socket, so that they appear neither in the engine's argv nor in
 * its records.
 */
interface EntryOrder {
  readonly argv: readonly string[];
  /** The command's complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | null;
  /** The command reads the container's own standard input instead. */
  readonly typed: boolean;
  readonly cwd: string;
}

/** The surroundings of a command's container: machine and user as it sees them. */
export const around = ({ surroundings }: ExecSpec): Surroundings => surroundings ?? USUAL_SURROUNDINGS;

export const entryOrder = (spec: ExecSpec, egress: boolean): EntryOrder => ({
  argv: commandLine(spec, egress),
  env: {
    PATH: pathIn(spec.area, spec.surroundings),
    HOME: around(spec).home,
    USER: around(spec).user,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    ...around(spec).env,
    ...spec.env,
  },
  stdin: spec.stdin ?? null,
  typed: spec.input !== undefined,
  cwd: around(spec).repo,
});
