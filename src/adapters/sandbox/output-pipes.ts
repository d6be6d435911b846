import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fchmodSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildLost, Fault, mayStartLater, restarting } from '../../core/model/index.ts';
import { HOST_PATH, spawnFault } from './processes.ts';

/** A command's standard output and standard error. */
export interface OutputPipes {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What the command writes to, for `spawn`. Closed here as soon as it was called: the command has its own copies. */
  spawning<T>(spawn: (stdout: number, stderr: number) => T): T;
  /** Closes everything, if there is no command that would. */
  discard(): void;
  /** Resolves when no process can write any more, and everything was read. */
  readonly closed: Promise<void>;
}

/**
 * Makes pipes as shells do. What Node connects a program with is a pair of sockets instead, which no program can open by
 * its name: a script that writes to /dev/stderr would fail. Node cannot make a pipe, so a shell does, whose processes
 * hold it until both ends are opened here. A named pipe would do as well, but shows every command the name that it had on
 * the host.
 */
export interface PipeMaker {
  /** Rejects with a fault if the machine is short of descriptors or processes, or if there can be no pipes. */
  open(): Promise<OutputPipes>;
}

/** The ends of a pipe, as descriptors of this process. */
interface Pipe {
  readonly read: number;
  readonly write: number;
}

/** Pipes that one shell makes. Our default: a shell takes as long to start as ten of its own processes. */
const MADE_AT_ONCE = 16;

/** The descriptor of a pipe in the process that holds it. Its standard output is another one while it prints. */
const HELD = 5;

/**
 * Each process but the last writes to a pipe, prints its own id, and ends when the standard input of all of them does.
 * `$$` would be the id of their shell.
 */
const HOLD_PIPES = `hold() { exec ${HELD}>&1; read -r id rest < /proc/self/stat; echo "$id" >&4; read -r rest <&3; }
exec 3<&0 4>&1
${'hold | '.repeat(MADE_AT_ONCE)}read -r rest <&3`;

export function openPipeMaker(): PipeMaker {
  const unused: Pipe[] = [];
  let making: Promise<void> | null = null;
  const make = async (): Promise<void> => {
    const { pipes } = await restarting('sh', sleep, makePipes);
    unused.push(...pipes);
  };
  const take = async (): Promise<Pipe> => {
    for (;;) {
      const pipe = unused.pop();
      if (pipe !== undefined) return pipe;
      making ??= make().finally(() => {
        making = null;
      });
      await making;
    }
  };
  return {
    async open() {
      const stdout = await take();
      const stderr = await take().catch((thrown: unknown) => {
        unused.push(stdout);
        throw thrown;
      });
      return connect(stdout, stderr);
    },
  };
}

/** Starts what uses the pipes. If that throws, nobody else closes them. */
export function orDiscard<T>(pipes: OutputPipes, start: () => T): T {
  try {
    return start();
  } catch (thrown) {
    pipes.discard();
    throw thrown;
  }
}

type Made = { readonly kind: 'ended'; readonly pipes: readonly Pipe[] } | ChildLost;

async function makePipes(): Promise<Made> {
  const shell: ChildProcess = spawn('/bin/sh', ['-c', HOLD_PIPES], {
    cwd: '/',
    env: { PATH: HOST_PATH },
    // An interrupt from the terminal does not reach it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [ids, errors]: [readonly string[], string] = [[], ''];
  // Without a free descriptor there are no streams.
  shell.stdin?.on('error', () => undefined);
  shell.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<Made>((resolve, reject) => {
    shell.once('error', (error: NodeJS.ErrnoException) => {
      if (mayStartLater(error.code)) resolve({ kind: 'lost', how: `could not be started: ${error.code}` });
      else reject(spawnFault('sh', error));
    });
    shell.once('close', (code, signal) => {
      if (signal !== null) resolve({ kind: 'lost', how: `was killed by ${signal}` });
      else reject(new Fault('SANDBOX_UNAVAILABLE', `No pipes can be made (exit code ${code}): ${errors}`));
    });
  });
  const held = new Promise<void>((resolve) => {
    let text = '';
    shell.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      ids = text.split('\n').slice(0, -1);
      if (ids.length === MADE_AT_ONCE) resolve();
    });
  });
  try {
    const failed = await Promise.race([ended, held]);
    return failed ?? { kind: 'ended', pipes: openAll(ids) };
  } catch (thrown) {
    throw thrown instanceof Fault ? thrown : spawnFault('A command', thrown as NodeJS.ErrnoException);
  } finally {
    shell.stdin?.end();
    ended.catch(() => undefined);
  }
}

/** Opens both ends of the pipes that these processes hold. */
function openAll(ids: readonly string[]): readonly Pipe[] {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
  const opened: number[] = [];
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags);
    opened.push(fd);
    return fd;
  };
  try {
    return ids.map((id) => {
      const path = `/proc/${id}/fd/${HELD}`;
      const pipe = { read: open(path, O_RDONLY | O_NONBLOCK), write: open(path, O_WRONLY) };
      // A command runs as another user, and has to open its own pipe again.
      fchmodSync(pipe.write, 0o666);
      return pipe;
    });
  } catch (thrown) {
    for (const fd of opened) closeSync(fd);
    throw thrown;
  }
}

function connect(out: Pipe, errors: Pipe): OutputPipes {
  const written = new Set([out.write, errors.write]);
  const closeWritten = (): void => {
    for (const fd of written) closeSync(fd);
    written.clear();
  };
  const [stdout, stderr] = [out, errors].map(
    ({ read }) => new Socket({ fd: read, readable: true, writable: false }),
  ) as [Socket, Socket];
  const closed = [stdout, stderr].map(
    (one) => new Promise<void>((resolve) => one.once('close', () => resolve())),
  );
  return {
    stdout,
    stderr,
    spawning(spawn) {
      try {
        return spawn(out.write, errors.write);
      } finally {
        closeWritten();
      }
    },
    discard() {
      closeWritten();
      stdout.destroy();
      stderr.destroy();
    },
    closed: Promise.all(closed).then(() => undefined),
  };
}
