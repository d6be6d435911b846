import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../core/model/index.ts';
import type { ExecResult, ExecSpec } from '../../../ports/index.ts';
import { inheritedDescriptors } from '../inherited.ts';
import { asOwner, type Owner } from '../owner.ts';
import { findInit } from '../processes.ts';
import { readCeilings } from '../rlimits.ts';
import { DEADLY_SIGNALS } from '../run.ts';
import { supervise } from '../supervise.ts';
import { diskBefore, lastLook, watch } from '../watchdog.ts';
import { type Tree, threadsOf } from './tree.ts';

export interface UnguardedRun {
  readonly spec: ExecSpec;
  /** Command and environment in the host's own places. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | null;
  readonly tree: Tree;
  readonly owner: Owner | null;
  /** Bytes in the area that the command did not write, because the area is a copy. */
  readonly givenBytes: number;
}

const LIFE = 3;
/** Descriptors a process may have open, our default: as many as in the default sandbox. */
const OPEN_FILES = 8192;
/** The watcher and the bridge with its threads count too. */
const OWN_PROCESSES = 16;

/**
 * Leaves a watcher, then becomes the command. When Runoff dies, by whatever signal, the watcher ends all that has the
 * command's mark, and then the group.
 */
const GUARD = `{
  mark=$1
  read -r _ <&${LIFE}
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
exec "$@" ${LIFE}<&-`;

/** Runs a command as a plain process to its end, within limits that it could leave if it wanted to. */
export async function runUnguarded(input: UnguardedRun): Promise<ExecResult> {
  const { spec, tree, owner, givenBytes } = input;
  const { memoryBytes, diskBytes } = spec.limits;
  const disk = await diskBefore(spec, givenBytes);
  const child = start(input);
  const { stdout, stderr } = child;
  if (!stdout || !stderr)
    throw new Fault('SANDBOX_UNAVAILABLE', 'No command can be started: Runoff has too many files open.');
  const { end, stopped, ...rest } = await supervise(
    {
      stdout,
      stderr,
      ended: ended(child, tree),
      kill: () => killGroup(child),
      async watch(over) {
        const init = findInit(child.pid ?? 0);
        if (init === null) return null;
        return await watch({ ...disk, init, memoryBytes, diskBytes }, tree.table, owner, over);
      },
      lastLook: () => lastLook(disk, owner),
    },
    spec,
  );
  const exitCode = stopped !== null || end === null || DEADLY_SIGNALS.includes(end - 128) ? null : end;
  return { exitCode, stopped, ...rest };
}

function start({ spec, argv, env, stdin, tree, owner }: UnguardedRun): ChildProcess {
  const { limits, area } = spec;
  const ceilings = readCeilings();
  // The kernel counts all processes of a user, not those of a command.
  const others = threadsOf(owner?.uid ?? process.getuid?.() ?? 0);
  const files = Math.min(OPEN_FILES, ceilings.files);
  const stdio: ('ignore' | 'pipe')[] = [stdin === null ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'];
  for (const fd of inheritedDescriptors()) stdio[fd] ??= 'ignore';
  const rlimits = [
    `--msgqueue=${tree.mark}:${tree.mark}`,
    '--core=0',
    `--nofile=${files}:${files}`,
    `--fsize=${Math.min(limits.diskBytes, ceilings.fileBytes)}`,
    `--nproc=${Math.min(others + limits.processes + OWN_PROCESSES, ceilings.processes)}`,
  ];
  const child = spawn(
    '/bin/sh',
    ['-c', GUARD, 'sh', String(tree.mark), 'prlimit', ...rlimits, '--', ...argv],
    {
      cwd: area.upper,
      env,
      stdio: Array.from(stdio, (use) => use ?? 'ignore'),
      // A group of its own can be killed as one, and an interrupt from the terminal does not reach it.
      detached: true,
      ...asOwner(owner),
    },
  );
  // A reader that left early is no fault; why it left shows in its exit code.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
  return child;
}

async function ended(child: ChildProcess, tree: Tree): Promise<number | null> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Fault('SANDBOX_UNAVAILABLE', `The command could not be started: ${error.message}`)),
    );
    child.once('exit', resolve);
  });
  // The group first: it holds the watcher, which would start to end the rest its own way.
  signalGroup(child);
  await tree.end();
  await groupGone(child);
  (child.stdio as readonly (Writable | Readable | null | undefined)[])[LIFE]?.destroy();
  await closed;
  return code;
}

function killGroup(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) signalGroup(child);
}

/** False where nobody is left in the group. */
function signalGroup(child: ChildProcess): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
    return false;
  }
}

/** Milliseconds for which killed processes of the group are waited for: long beside an exit, short where none reaps them. */
const GROUP_MS = 200;

/** The watcher was there before the mark, so that only its group knows it: killed, it takes a moment to be gone. */
async function groupGone(child: ChildProcess): Promise<void> {
  const until = performance.now() + GROUP_MS;
  while (signalGroup(child) && performance.now() < until) await sleep(2);
}
