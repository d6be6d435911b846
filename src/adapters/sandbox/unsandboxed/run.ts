import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../core/model/index.ts';
import type { ExecResult, ExecSpec } from '../../../ports/index.ts';
import { readHardLimits } from '../kernel-tables.ts';
import { MAX_OPEN_FILES } from '../launch.ts';
import { type OutputPipes, orDiscard, type PipeMaker } from '../output-pipes.ts';
import {
  asOwner,
  connectInput,
  findInit,
  GONE_TIMEOUT_MS,
  inheritedDescriptors,
  killGroup,
  type Owner,
  type ProcessTable,
  spawnFault,
} from '../processes.ts';
import { commandExit, supervise } from '../supervise.ts';
import { checkDiskAtEnd, measureDiskBefore, watchLimits } from '../watchdog.ts';

interface UnsandboxedRun {
  readonly spec: ExecSpec;
  /** Command and environment with the host's paths. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | null;
  readonly tree: ProcessTree;
  readonly owner: Owner | null;
  /** Bytes in the area that the command did not write, if the area is a copy. */
  readonly givenBytes: number;
  readonly pipes: PipeMaker;
}

const WATCHER_FD = 3;
/** The watcher and the bridge with its threads are counted too. */
const WATCHER_PROCESSES = 16;

/**
 * Starts a watcher, then becomes the command. If Runoff dies, by whatever signal, the watcher ends all processes with
 * the command's mark, and then the group.
 */
const MARK_WATCHER_SCRIPT = `{
  mark=$1
  read -r _ <&${WATCHER_FD}
  for _ in 1 2 3 4 5; do
    for file in $(grep -lse "^Max msgqueue size  *$mark " /proc/[0-9]*/limits); do
      pid=\${file#/proc/}
      kill -KILL "\${pid%/limits}"
    done
    sleep 0.2
  done
  kill -KILL 0
} > /dev/null 2>&1 < /dev/null &
shift
exec "$@" ${WATCHER_FD}<&-`;

/** Runs a command as a plain process to its end, within limits that it could evade if it wanted to. */
export async function runUnsandboxed(input: UnsandboxedRun): Promise<ExecResult> {
  const { spec, tree, owner, givenBytes } = input;
  const { memoryBytes, diskBytes } = spec.limits;
  const disk = await measureDiskBefore(spec, givenBytes);
  const output = await input.pipes.open();
  const { stdout, stderr } = output;
  const child = orDiscard(output, () => startCommand(input, output));
  const { end, stopped, ...rest } = await supervise(
    {
      stdout,
      stderr,
      ended: commandEnded(child, tree, output),
      kill: () => killCommandGroup(child),
      async watch(over) {
        const init = findInit(child.pid ?? 0);
        if (init === null) return null;
        const { onComputing } = spec;
        const watched = { ...disk, init, memoryBytes, diskBytes, mayHide: true, onComputing };
        return await watchLimits(watched, tree.table, owner, over);
      },
      lastLook: () => checkDiskAtEnd(disk, owner),
    },
    spec,
  );
  const how = stopped !== null || end === null ? { exitCode: null } : commandExit(end);
  return { ...how, stopped, ...rest };
}

function startCommand(
  { spec, argv, env, stdin, tree, owner }: UnsandboxedRun,
  output: OutputPipes,
): ChildProcess {
  const { limits, area } = spec;
  const ceilings = readHardLimits();
  // The kernel counts all processes of a user, not those of a command.
  const others = threadsOf(owner?.uid ?? process.getuid?.() ?? 0);
  const files = Math.min(MAX_OPEN_FILES, ceilings.files);
  const rlimits = [
    `--msgqueue=${tree.mark}:${tree.mark}`,
    '--core=0',
    `--nofile=${files}:${files}`,
    `--fsize=${Math.min(limits.diskBytes, ceilings.fileBytes)}`,
    `--nproc=${Math.min(others + limits.processes + WATCHER_PROCESSES, ceilings.processes)}`,
  ];
  const child = output.spawning((stdout, stderr) => {
    const first = stdin === null && !spec.input ? 'ignore' : 'pipe';
    const stdio: ('ignore' | 'pipe' | number)[] = [first, stdout, stderr, 'pipe'];
    for (const fd of inheritedDescriptors()) stdio[fd] ??= 'ignore';
    return spawn(
      '/bin/sh',
      ['-c', MARK_WATCHER_SCRIPT, 'sh', String(tree.mark), 'prlimit', ...rlimits, '--', ...argv],
      {
        cwd: area.upper,
        env,
        stdio: Array.from(stdio, (use) => use ?? 'ignore'),
        // Its own group can be killed as a whole, and an interrupt from the terminal does not reach it.
        detached: true,
        ...asOwner(owner),
      },
    );
  });
  if (spec.input) {
    connectInput(child, spec.input);
    return child;
  }
  // A reader that closed early is not an error here; its exit code shows the reason.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
  return child;
}

async function commandEnded(
  child: ChildProcess,
  tree: ProcessTree,
  output: OutputPipes,
): Promise<number | null> {
  const closed = Promise.all([
    output.closed,
    new Promise<void>((resolve) => child.once('close', () => resolve())),
  ]);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(spawnFault('A command', error)));
    child.once('exit', resolve);
  });
  // The group first: it contains the watcher, which would otherwise start to end the rest itself.
  killGroup(child);
  await tree.end();
  await groupGone(child);
  (child.stdio as readonly (Writable | Readable | null | undefined)[])[WATCHER_FD]?.destroy();
  await closed;
  return code;
}

function killCommandGroup(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) killGroup(child);
}

/**
 * Milliseconds to wait for killed processes of the group: long compared with an exit, short if they are never reaped.
 */
const GROUP_MS = 200;

/**
 * The watcher was started before the mark, so only its group identifies it; after it is killed, it takes a moment to
 * end.
 */
async function groupGone(child: ChildProcess): Promise<void> {
  const until = performance.now() + GROUP_MS;
  while (killGroup(child) && performance.now() < until) await sleep(2);
}

/**
 * All processes of one command are identified by a mark that children inherit and no ordinary program changes, whatever
 * happens to their parent, group or session: a limit of POSIX message queues (in bytes) that no other process has.
 */
interface ProcessTree {
  readonly mark: number;
  /** For the watchdog; it gets the tree for any namespace. */
  readonly table: ProcessTable;
  /** Ends all of them, and those that they start meanwhile. Rejects with a fault if some do not end. */
  end(): Promise<void>;
}

/** The kernel's default limit. */
const DEFAULT_QUEUE_LIMIT = 819_200;
/** Milliseconds for which one scan of /proc is reused. */
const TREE_FRESH_MS = 100;

function readProc(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has just ended.
    return '';
  }
}

const pids = (): readonly string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

const queueLimitOf = (pid: string): number | null => {
  const value = /^Max msgqueue size +(\d+)/m.exec(readProc(`/proc/${pid}/limits`))?.[1];
  return value === undefined ? null : Number(value);
};

/** From /proc/PID/status. If only the first thread has ended, the others continue. */
const statusHasEnded = (status: string): boolean =>
  /^State:\s+[ZX]/m.test(status) && !/^Threads:\s+(?:[2-9]|\d\d)/m.test(status);

/** `random` returns a number from 0 up to, but not including, its argument. */
export function openProcessTree(random: (below: number) => number): ProcessTree {
  const ceiling = Math.min(queueLimitOf('self') ?? DEFAULT_QUEUE_LIMIT, DEFAULT_QUEUE_LIMIT);
  const taken = new Set(pids().map(queueLimitOf));
  let mark = ceiling - 1 - random(Math.floor(ceiling / 2));
  while (taken.has(mark)) mark = ceiling - 1 - random(Math.floor(ceiling / 2));

  const alive = (): readonly number[] =>
    pids()
      .filter((pid) => queueLimitOf(pid) === mark && !statusHasEnded(readProc(`/proc/${pid}/status`)))
      .map(Number);
  let takenAt = Number.NEGATIVE_INFINITY;
  let latest: readonly number[] = [];
  return {
    mark,
    table: {
      within() {
        if (performance.now() - takenAt > TREE_FRESH_MS) {
          latest = alive();
          takenAt = performance.now();
        }
        return latest;
      },
    },
    async end() {
      const deadline = performance.now() + GONE_TIMEOUT_MS;
      for (let left = alive(); left.length > 0; left = alive()) {
        if (performance.now() > deadline) {
          throw new Fault(
            'RESOURCES_EXHAUSTED',
            `Processes of a command did not end within a minute of SIGKILL: ${left.join(', ')}.`,
          );
        }
        for (const pid of left) killProcess(pid);
        await sleep(5);
      }
    },
  };
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

/** Processes and threads of a user, as its limit counts them. */
function threadsOf(uid: number): number {
  return pids()
    .map((pid) => readProc(`/proc/${pid}/status`))
    .filter((status) => Number(/^Uid:\t(\d+)/m.exec(status)?.[1]) === uid)
    .reduce((sum, status) => sum + Number(/^Threads:\t(\d+)/m.exec(status)?.[1] ?? 1), 0);
}
