import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, mayStartLater } from '../../core/model/index.ts';
import { asOwner, HOST_PATH, inheritedDescriptors, type Owner } from './host-programs.ts';
import { FD, type Launch } from './launch.ts';
import { findInit, hasEnded, type Init, isAlive, KILL_TIMEOUT_MS } from './processes.ts';

export interface BoxEnd {
  /**
   * As bubblewrap reports it, signals as 128 + number, on a descriptor that nothing in the sandbox holds; null when it could
   * not start the command or was killed itself.
   */
  readonly reported: number | null;
  /** How the launcher itself ended; null: by a signal, or it could not be started. */
  readonly code: number | null;
  /** Its outer namespaces stood. */
  readonly entered: boolean;
  /** The command may have done something: where it is false, no process of the sandbox was ever there. */
  readonly begun: boolean;
  /** Why there was no process to start with; null where there was one. */
  readonly refused: string | null;
}

/** A running sandbox. */
interface Box {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once the sandbox's first process exists; null when the box ended without one. */
  readonly init: Promise<Init | null>;
  /** Resolves when no process is left and all output was read. Rejects with a fault when it could not be set up. */
  readonly ended: Promise<BoxEnd>;
  /** Ends every process of the box at once, at any moment of its life. */
  kill(): void;
}

/** What a box is given besides its launch. */
interface BoxOptions {
  /** System call filter. */
  readonly filter: Buffer;
  /** Descriptor of the control group it starts in; null: none. Needs a launch made with `group`. */
  readonly groupFd: number | null;
}

/** Starts a box. The app's death, even by SIGKILL, is the box's death. */
export function startBox(
  { argv: [file, ...args], options, first }: Launch,
  stdin: string | undefined,
  { filter, groupFd }: BoxOptions,
  owner: Owner | null,
): Box {
  const child = spawnWithoutLeaks(file, args, { stdin: stdin !== undefined, groupFd }, owner);
  const status = readStatus(child, first);
  preferAsOutOfMemoryVictim(child);
  const streams = streamsOf(child);
  feed(child.stdin, stdin ?? '');
  feed(streams[FD.seccomp], filter);
  feed(streams[FD.options], options.map((option) => `${option}\0`).join(''));
  streams[FD.alive]?.on('error', ignoreLeftReader);
  return {
    // Without descriptors to spare there are none.
    stdout: child.stdout ?? Readable.from([]),
    stderr: child.stderr ?? Readable.from([]),
    init: status.init,
    ended: boxEnd(child, status),
    kill: () => killLauncherGroup(child),
  };
}

const streamsOf = (child: ChildProcess): readonly (Readable | Writable | null | undefined)[] =>
  child.stdio ?? [];

const OWN_PIPES = [FD.seccomp, FD.status, FD.options, FD.alive] as const;

interface LaunchDescriptors {
  readonly stdin: boolean;
  readonly groupFd: number | null;
}

function spawnWithoutLeaks(
  file: string,
  args: string[],
  wanted: LaunchDescriptors,
  owner: Owner | null,
): ChildProcess {
  const empty = openSync('/dev/null', 'r');
  try {
    return spawn(file, args, {
      cwd: '/',
      // /proc/1/environ inside shows the environment of the launcher: it must hold nothing.
      env: { PATH: HOST_PATH },
      stdio: descriptors(wanted, empty),
      // A process group of its own can be killed as one, and an interrupt from the terminal does not reach it.
      detached: true,
      ...asOwner(owner),
    });
  } finally {
    closeSync(empty);
  }
}

/**
 * Three standard ones and ours. bubblewrap hands every open descriptor on to the command, so whatever this process would
 * pass on besides is covered by the empty device.
 */
function descriptors({ stdin, groupFd }: LaunchDescriptors, empty: number): ('ignore' | 'pipe' | number)[] {
  const wanted: ('ignore' | 'pipe' | number)[] = [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'];
  for (const fd of OWN_PIPES) wanted[fd] = 'pipe';
  wanted[FD.group] = groupFd ?? 'ignore';
  for (const fd of inheritedDescriptors()) wanted[fd] ??= empty;
  return Array.from(wanted, (use) => use ?? 'ignore');
}

async function boxEnd(child: ChildProcess, status: LauncherStatus): Promise<BoxEnd> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exit = await new Promise<Pick<BoxEnd, 'code' | 'refused'>>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (mayStartLater(error.code)) resolve({ code: null, refused: error.message });
      else reject(new Fault('SANDBOX_UNAVAILABLE', `The sandbox could not be started: ${error.message}`));
    });
    child.once('exit', (code) => resolve({ code, refused: null }));
  });
  if (exit.refused !== null) return { ...exit, reported: null, entered: false, begun: false };
  // Ends the watcher, and with it the last writer of `status`.
  streamsOf(child)[FD.alive]?.destroy();
  const init = await status.init;
  if (init !== null) await initGone(init);
  await closed;
  return { ...exit, ...status.report() };
}

/** A launcher that ended by itself saw its first process end. One that was killed may be a moment ahead of it. */
async function initGone(init: Init): Promise<void> {
  const deadline = performance.now() + KILL_TIMEOUT_MS;
  while (isAlive(init)) {
    if (performance.now() > deadline) {
      throw new Fault(
        'INTERNAL',
        `Process ${init.pid} of a sandbox did not end within ten seconds of SIGKILL.`,
      );
    }
    await sleep(2);
  }
}

/** The group holds the launcher and the first process of the outer namespace, with which the kernel ends all others. */
function killLauncherGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

interface LauncherStatus {
  readonly init: Promise<Init | null>;
  report(): Pick<BoxEnd, 'reported' | 'entered' | 'begun'>;
}

/** Reads the JSON lines that the launcher writes about itself; nothing in the sandbox holds that descriptor. */
function readStatus(child: ChildProcess, first: Launch['first']): LauncherStatus {
  const stream = child.stdio?.[FD.status] as Readable | null | undefined;
  let text = '';
  const init = new Promise<Init | null>((resolve) => {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const pid = new RegExp(`"${first}": (\\d+)[ ,]`).exec(text)?.[1];
      if (pid !== undefined) resolve(findInit(Number(pid)));
    });
    stream?.on('error', () => resolve(null));
    stream?.on('close', () => resolve(null));
    child.once('error', () => resolve(null));
  });
  return {
    init,
    report: () => {
      const code = /"exit-code": (\d+)/.exec(text)?.[1];
      return {
        reported: code === undefined ? null : Number(code),
        entered: text.includes(`"${first}"`),
        begun: text.includes('"child-pid"'),
      };
    },
  };
}

/** A reader that left early is no fault of ours; why it left shows in its exit code. */
const ignoreLeftReader = (): void => undefined;

function feed(stream: Writable | Readable | null | undefined, content: string | Buffer): void {
  if (stream === null || stream === undefined || !('end' in stream)) return;
  stream.on('error', ignoreLeftReader);
  stream.end(content);
}

/** When the machine runs out of memory, the kernel shall take a sandbox before anything else. */
function preferAsOutOfMemoryVictim(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    writeFileSync(`/proc/${child.pid}/oom_score_adj`, '1000');
  } catch (thrown) {
    // It may have failed to start, which its end tells; any other reason would leave the host unprotected.
    if (!hasEnded(child.pid)) {
      killLauncherGroup(child);
      throw thrown;
    }
  }
}
