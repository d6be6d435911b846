import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, mayStartLater } from '../../core/model/index.ts';
import type { ExecSpec } from '../../ports/index.ts';
import { FD, type Launch } from './launch.ts';
import type { OutputPipes } from './output-pipes.ts';
import {
  asOwner,
  connectInput,
  findInit,
  GONE_TIMEOUT_MS,
  HOST_PATH,
  hasEnded,
  type Init,
  inheritedDescriptors,
  isAlive,
  killGroup,
  type Owner,
} from './processes.ts';

export interface BoxEnd {
  /**
   * The exit code as reported by bubblewrap (signals as 128 + number), on a descriptor that no process in the sandbox
   * has; null if it could not start the command or was killed.
   */
  readonly reported: number | null;
  /** Exit code of the launcher itself; null if a signal ended it, or if it could not be started. */
  readonly code: number | null;
  /** Whether its outer namespaces were set up. */
  readonly entered: boolean;
  /** Whether the command may have done something; if false, the sandbox never had a process. */
  readonly begun: boolean;
  /** Why there was no process at all; null if there was one. */
  readonly refused: string | null;
}

/** A running sandbox. */
interface Box {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once the first process of the sandbox exists; null if the box ended without one. */
  readonly init: Promise<Init | null>;
  /** Resolves when no process is left and all output has been read. Rejects with a fault if it could not be set up. */
  readonly ended: Promise<BoxEnd>;
  /** Ends every process of the box at once; can be called at any time. */
  kill(): void;
}

/** Options of a box besides its launch. */
interface BoxOptions {
  /** System call filter. */
  readonly filter: Buffer;
  /** Descriptor of the control group that it starts in; null: none. Needs a launch with `group`. */
  readonly groupFd: number | null;
  readonly output: OutputPipes;
}

/** Starts a box. It ends when Runoff ends, even by SIGKILL. */
export function startBox(
  { argv: [file, ...args], options, first }: Launch,
  { stdin, input }: Pick<ExecSpec, 'input' | 'stdin'>,
  { filter, groupFd, output }: BoxOptions,
  owner: Owner | null,
): Box {
  const child = spawnWithoutLeaks(
    file,
    args,
    { stdin: stdin !== undefined || input !== undefined, groupFd, output },
    owner,
  );
  const status = readStatus(child, first);
  preferAsOutOfMemoryVictim(child);
  const streams = streamsOf(child);
  if (input) connectInput(child, input);
  else feed(child.stdin, stdin ?? '');
  feed(streams[FD.seccomp], filter);
  feed(streams[FD.options], options.map((option) => `${option}\0`).join(''));
  streams[FD.alive]?.on('error', ignoreLeftReader);
  return {
    stdout: output.stdout,
    stderr: output.stderr,
    init: status.init,
    ended: boxEnd(child, status, output),
    kill: () => killLauncherGroup(child),
  };
}

const streamsOf = (child: ChildProcess): readonly (Readable | Writable | null | undefined)[] =>
  child.stdio ?? [];

const OWN_PIPES = [FD.seccomp, FD.status, FD.options, FD.alive] as const;

interface LaunchDescriptors {
  readonly stdin: boolean;
  readonly groupFd: number | null;
  readonly output: OutputPipes;
}

function spawnWithoutLeaks(
  file: string,
  args: string[],
  wanted: LaunchDescriptors,
  owner: Owner | null,
): ChildProcess {
  const empty = openSync('/dev/null', 'r');
  try {
    return wanted.output.spawning((stdout, stderr) =>
      spawn(file, args, {
        cwd: '/',
        // /proc/1/environ inside shows the environment of the launcher, so it must contain nothing.
        env: { PATH: HOST_PATH },
        stdio: descriptors(wanted, [stdout, stderr], empty),
        // Its own process group can be killed as a whole, and an interrupt from the terminal does not reach it.
        detached: true,
        ...asOwner(owner),
      }),
    );
  } finally {
    closeSync(empty);
  }
}

/**
 * The three standard descriptors and ours. bubblewrap passes every open descriptor on to the command, so all others
 * that this process would pass on are replaced by /dev/null.
 */
function descriptors(
  { stdin, groupFd }: LaunchDescriptors,
  output: readonly [stdout: number, stderr: number],
  empty: number,
): ('ignore' | 'pipe' | number)[] {
  const wanted: ('ignore' | 'pipe' | number)[] = [stdin ? 'pipe' : 'ignore', ...output];
  for (const fd of OWN_PIPES) wanted[fd] = 'pipe';
  wanted[FD.group] = groupFd ?? 'ignore';
  for (const fd of inheritedDescriptors()) wanted[fd] ??= empty;
  return Array.from(wanted, (use) => use ?? 'ignore');
}

async function boxEnd(child: ChildProcess, status: LauncherStatus, output: OutputPipes): Promise<BoxEnd> {
  const own = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const closed = Promise.all([own, output.closed]);
  const exit = await new Promise<Pick<BoxEnd, 'code' | 'refused'>>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (mayStartLater(error.code)) resolve({ code: null, refused: error.message });
      else reject(new Fault('SANDBOX_UNAVAILABLE', `The sandbox could not be started: ${error.message}`));
    });
    child.once('exit', (code) => resolve({ code, refused: null }));
  });
  if (exit.refused !== null) return { ...exit, reported: null, entered: false, begun: false };
  // Ends the watcher, the last process that can write to `status`.
  streamsOf(child)[FD.alive]?.destroy();
  const init = await status.init.catch(async (thrown: unknown) => {
    await closed;
    throw thrown;
  });
  if (init !== null) await initGone(init);
  await closed;
  return { ...exit, ...status.report() };
}

/** A launcher that ended by itself has waited for its first process. One that was killed may end a moment earlier. */
async function initGone(init: Init): Promise<void> {
  const deadline = performance.now() + GONE_TIMEOUT_MS;
  while (isAlive(init)) {
    if (performance.now() > deadline) {
      throw new Fault(
        'RESOURCES_EXHAUSTED',
        `Process ${init.pid} of a sandbox did not end within a minute of SIGKILL.`,
      );
    }
    await sleep(2);
  }
}

/**
 * The group contains the launcher and the first process of the outer namespace; when that ends, the kernel ends all
 * others.
 */
function killLauncherGroup(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) killGroup(child);
}

interface LauncherStatus {
  readonly init: Promise<Init | null>;
  report(): Pick<BoxEnd, 'reported' | 'entered' | 'begun'>;
}

/** Reads the JSON lines that the launcher writes about itself; no process in the sandbox has that descriptor. */
function readStatus(child: ChildProcess, first: Launch['first']): LauncherStatus {
  const stream = child.stdio?.[FD.status] as Readable | null | undefined;
  let text = '';
  const init = new Promise<Init | null>((resolve, reject) => {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const pid = new RegExp(`"${first}": (\\d+)[ ,]`).exec(text)?.[1];
      if (pid === undefined) return;
      try {
        resolve(findInit(Number(pid)));
      } catch (thrown) {
        reject(thrown);
      }
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

/** A reader that closed early is not an error here; its exit code shows the reason. */
const ignoreLeftReader = (): void => undefined;

function feed(stream: Writable | Readable | null | undefined, content: string | Buffer): void {
  if (stream === null || stream === undefined || !('end' in stream)) return;
  stream.on('error', ignoreLeftReader);
  stream.end(content);
}

/** If the machine runs out of memory, the kernel should kill a sandbox before anything else. */
function preferAsOutOfMemoryVictim(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    writeFileSync(`/proc/${child.pid}/oom_score_adj`, '1000');
  } catch (thrown) {
    // It may have failed to start, which its end reports; any other reason would leave the host unprotected.
    if (!hasEnded(child.pid)) {
      killLauncherGroup(child);
      throw thrown;
    }
  }
}
