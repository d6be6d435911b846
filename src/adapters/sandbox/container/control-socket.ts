import { chmodSync, closeSync, openSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import type { ExecSpec } from '../../../ports/index.ts';
import { INSIDE, pathIn } from '../filesystem.ts';
import { commandLine } from '../launch.ts';

/** First and only line of a container's entry: the kernel's name of the IPC namespace that all of its processes share. */
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
 * What a container's entry is told to run. It is sent through a socket, so that none of it is in the engine's argv or
 * records.
 */
interface EntryOrder {
  readonly argv: readonly string[];
  /** The command's complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | null;
}

export const entryOrder = (spec: ExecSpec, egress: boolean): EntryOrder => ({
  argv: commandLine(spec, egress),
  env: {
    PATH: pathIn(spec.area),
    HOME: INSIDE.home,
    USER: 'agent',
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    ...spec.env,
  },
  stdin: spec.stdin ?? null,
});
