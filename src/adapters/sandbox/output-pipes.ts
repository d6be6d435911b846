import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Fault } from '../../core/model/index.ts';
import { runCommand, spawnFault } from './processes.ts';
import { ownFolder } from './scratch.ts';

/** A command's standard output and standard error. */
export interface OutputPipes {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What the command writes to, for `spawn`. Closed here as soon as it was called: the command has its own copies. */
  spawning<T>(spawn: (stdout: number, stderr: number) => T): T;
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
    if (code !== 0)
      throw new Fault('SANDBOX_UNAVAILABLE', `No pipes can be made in ${folder}: ${stderr.trim()}`);
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
  return {
    async open() {
      const paths = [await take(), await take()] as const;
      try {
        return connect(paths);
      } catch (thrown) {
        throw spawnFault('A command', thrown as NodeJS.ErrnoException);
      } finally {
        for (const path of paths) rmSync(path, { force: true });
      }
    },
  };
}

function connect(paths: readonly [string, string]): OutputPipes {
  const opened: number[] = [];
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags);
    opened.push(fd);
    return fd;
  };
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
  try {
    // A named pipe can be opened for reading without a writer if nobody waits for one, and then for writing.
    const [toRead, errorsToRead] = [
      open(paths[0], O_RDONLY | O_NONBLOCK),
      open(paths[1], O_RDONLY | O_NONBLOCK),
    ];
    const ends = [open(paths[0], O_WRONLY), open(paths[1], O_WRONLY)] as const;
    const stdout = new Socket({ fd: toRead, readable: true, writable: false });
    const stderr = new Socket({ fd: errorsToRead, readable: true, writable: false });
    const closed = [stdout, stderr].map(
      (one) => new Promise<void>((resolve) => one.once('close', () => resolve())),
    );
    return {
      stdout,
      stderr,
      spawning(spawn) {
        try {
          return spawn(...ends);
        } catch (thrown) {
          stdout.destroy();
          stderr.destroy();
          throw thrown;
        } finally {
          for (const end of ends) closeSync(end);
        }
      },
      closed: Promise.all(closed).then(() => undefined),
    };
  } catch (thrown) {
    for (const fd of opened) closeSync(fd);
    throw thrown;
  }
}
