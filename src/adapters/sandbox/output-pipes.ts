import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ChildLost,
  Fault,
  machineFaultIn,
  mayStartLater,
  programKilled,
  restarting,
} from '../../core/model/index.ts';
import { HOST_PATH, killGroup, spawnFault } from './processes.ts';
import { SHORTAGE } from './supervise.ts';

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

/** Pipes that one shell makes. Our default: a shell takes as long to start as eight of its own processes. */
const MADE_AT_ONCE = 16;
/** Milliseconds after which one of the processes must have been killed, or is frozen. Our default. */
const MAKING_MS = 10_000;

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
  try {
    return await holdPipes();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const error = thrown as NodeJS.ErrnoException;
    if (mayStartLater(error.code)) return { kind: 'lost', how: `made no pipes: ${error.code}` };
    throw spawnFault('A command', error);
  }
}

async function holdPipes(): Promise<Made> {
  const shell: ChildProcess = spawn('/bin/sh', ['-c', HOLD_PIPES], {
    cwd: '/',
    env: { PATH: HOST_PATH },
    // An interrupt from the terminal does not reach it, and it can be killed with all of its processes.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = earlyEnd(shell);
  const tooLate = setTimeout(() => killGroup(shell), MAKING_MS);
  // Without a free descriptor there are no streams.
  shell.stdin?.on('error', () => undefined);
  try {
    const first = await Promise.race([ended, idsFrom(shell)]);
    return 'kind' in first ? first : { kind: 'ended', pipes: openAll(first) };
  } finally {
    clearTimeout(tooLate);
    shell.stdin?.end();
    ended.catch(() => undefined);
  }
}

/** The ids that its processes print, when all have printed theirs. */
const idsFrom = (shell: ChildProcess): Promise<readonly string[]> =>
  new Promise((resolve) => {
    let text = '';
    shell.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const ids = text.split('\n').slice(0, -1);
      if (ids.length === MADE_AT_ONCE) resolve(ids);
    });
  });

/** Why a shell ended before it was told to. Rejects if it would do so again. */
const earlyEnd = (shell: ChildProcess): Promise<ChildLost> =>
  new Promise((resolve, reject) => {
    let errors = '';
    shell.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    shell.once('error', reject);
    shell.once('close', (code, signal) => {
      if (signal !== null) resolve({ kind: 'lost', how: `was killed by ${signal}` });
      else if (SHORTAGE.test(errors)) resolve({ kind: 'lost', how: `made no pipes: ${errors.trim()}` });
      else {
        const because = `No pipes can be made (exit code ${code}): ${errors.trim()}`;
        reject(new Fault(machineFaultIn(errors) ?? 'SANDBOX_UNAVAILABLE', because));
      }
    });
  });

/** Opens both ends of the pipes that these processes hold. */
function openAll(ids: readonly string[]): readonly Pipe[] {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
  const opened: number[] = [];
  const open = (id: string, flags: number): number => {
    const fd = openSync(`/proc/${id}/fd/${HELD}`, flags);
    opened.push(fd);
    // The process may have been killed, and another one have its id.
    if (!fstatSync(fd).isFIFO()) throw programKilled('sh', { kind: 'lost', how: 'was killed' });
    return fd;
  };
  try {
    return ids.map((id) => {
      const pipe = { read: open(id, O_RDONLY | O_NONBLOCK), write: open(id, O_WRONLY) };
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
