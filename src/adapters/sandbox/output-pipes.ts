import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Fault, machineFaultIn } from '../../core/model/index.ts';
import { runCommand, spawnFault } from './processes.ts';
import { ownFolder } from './scratch.ts';

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
 * its name: a script that writes to /dev/stderr would fail. Node cannot make a pipe, so these begin as named ones in a
 * folder of their own, and lose the name before the command starts.
 */
export interface PipeMaker {
  /** Rejects with a fault if the machine is short of descriptors, or if there can be no pipes in the folder. */
  open(): Promise<OutputPipes>;
}

/** Pipes that one program makes. Our default: it takes as long as one. */
const MADE_AT_ONCE = 16;

/** `folder` is created if it does not exist, and nobody else has access to it. */
export function openPipeMaker(folder: string): PipeMaker {
  const names: string[] = [];
  let making: Promise<void> | null = null;
  const make = async (): Promise<void> => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const made = Array.from({ length: MADE_AT_ONCE }, () => ownFolder(folder, 'pipe'));
    // A command runs as another user, and has to open its own pipe again.
    const { code, stderr } = await runCommand(['mkfifo', '-m', '666', '--', ...made], null);
    if (code !== 0) {
      removeAll(made);
      throw new Fault(
        machineFaultIn(stderr) ?? 'SANDBOX_UNAVAILABLE',
        `No pipes can be made in ${folder}: ${stderr.trim()}`,
      );
    }
    names.push(...made);
  };
  const take = async (): Promise<string> => {
    for (;;) {
      const name = names.pop();
      if (name !== undefined) return name;
      making ??= make().finally(() => {
        making = null;
      });
      await making;
    }
  };
  const openTwo = async (): Promise<OutputPipes> => {
    const paths: string[] = [];
    const next = async (): Promise<string> => {
      const path = await take();
      paths.push(path);
      return path;
    };
    try {
      return connect(await next(), await next());
    } finally {
      removeAll(paths);
    }
  };
  return {
    async open() {
      try {
        return await openTwo().catch((thrown: NodeJS.ErrnoException) => {
          if (thrown.code !== 'ENOENT') throw thrown;
          // Something has removed the names that were made earlier.
          names.length = 0;
          return openTwo();
        });
      } catch (thrown) {
        throw thrown instanceof Fault ? thrown : spawnFault('A command', thrown as NodeJS.ErrnoException);
      }
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

function removeAll(paths: readonly string[]): void {
  for (const path of paths) rmSync(path, { force: true });
}

function connect(first: string, second: string): OutputPipes {
  const opened = new Set<number>();
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags);
    opened.add(fd);
    return fd;
  };
  const closeOpened = (): void => {
    for (const fd of opened) closeSync(fd);
    opened.clear();
  };
  try {
    const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
    // A named pipe can be opened for reading without a writer if nobody waits for one, and then for writing.
    const toRead = [first, second].map((path) => open(path, O_RDONLY | O_NONBLOCK));
    const [written, writtenErrors] = [open(first, O_WRONLY), open(second, O_WRONLY)];
    const [stdout, stderr] = toRead.map((fd) => {
      const socket = new Socket({ fd, readable: true, writable: false });
      opened.delete(fd);
      return socket;
    }) as [Socket, Socket];
    const closed = [stdout, stderr].map(
      (one) => new Promise<void>((resolve) => one.once('close', () => resolve())),
    );
    return {
      stdout,
      stderr,
      spawning(spawn) {
        try {
          return spawn(written, writtenErrors);
        } finally {
          closeOpened();
        }
      },
      discard() {
        closeOpened();
        stdout.destroy();
        stderr.destroy();
      },
      closed: Promise.all(closed).then(() => undefined),
    };
  } catch (thrown) {
    closeOpened();
    throw thrown;
  }
}
