import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildLost, Fault, programKilled, signalIn } from '../../../core/model/index.ts';
import {
  connectInput,
  findInit,
  GONE_TIMEOUT_MS,
  type Init,
  inheritedDescriptors,
  isAlive,
  type Owner,
  type ProcessTable,
  spawnFault,
} from '../processes.ts';
import {
  type CommandExit,
  commandExit,
  type Ended,
  lastErrorLines,
  SHORTAGE,
  supervise,
} from '../supervise.ts';
import { checkDiskAtEnd, measureDiskBefore, watchLimits } from '../watchdog.ts';
import type { ControlSocket } from './engine.ts';
import { type ContainerInput, containerArgs } from './flags.ts';

interface ContainerRun extends ContainerInput {
  readonly control: ControlSocket;
  readonly owner: Owner | null;
  readonly table: ProcessTable;
  /** Bytes in the area that the command did not write, if the area is a copy. */
  readonly givenBytes: number;
}

/** Milliseconds that a container gets to end by itself before the engine is asked to end it. Our default. */
const STOP_WAIT_MS = 2_000;
/** Milliseconds within which the processes of a container that has started are to be seen. Our default. */
const FIND_TIMEOUT_MS = 10_000;
const WATCHER_FD = 3;

/**
 * Becomes the engine's client, and leaves a watcher outside of the container, where no candidate can reach it: if
 * Runoff dies, by whatever signal, the watcher removes the container. It retries for a while, because the client may
 * still be creating it. A line instead of the end of input means that Runoff has removed the container itself.
 */
const WATCHER_SCRIPT = `{
  if read -r _ <&${WATCHER_FD}; then exit 0; fi
  for _ in 1 2 3 4 5 6; do "$1" rm --force "$2"; sleep 1; done
} > /dev/null 2>&1 < /dev/null &
shift 2
exec "$@" ${WATCHER_FD}<&-`;

interface ContainerEnd {
  readonly code: number | null;
  /** Whether the command was started. */
  readonly started: boolean;
  readonly outOfMemory: boolean;
}

/**
 * Runs a command in its own container to its end, within its limits, and removes the container. Returns `lost` if the
 * engine's client was killed, or short of a resource, before the command began, so that it can be retried. Rejects with
 * PROGRAM_KILLED if it was killed later, because it is unknown how far the command got.
 */
export async function runContainer(input: ContainerRun): Promise<Ended | ChildLost> {
  const { spec, table, owner, givenBytes } = input;
  const { memoryBytes, diskBytes } = spec.limits;
  const disk = await measureDiskBefore(spec, givenBytes);
  const container = startContainer(input);
  const { end, stopped, ...rest } = await supervise(
    {
      ...container,
      async watch(over) {
        const init = await container.init;
        if (init === null) return null;
        const { onComputing } = spec;
        const watched = { ...disk, init, memoryBytes, diskBytes, mayHide: true, onComputing };
        return await watchLimits(watched, table, owner, over);
      },
      lastLook: () => checkDiskAtEnd(disk, owner),
    },
    spec,
  );
  const reason = stopped ?? (end.outOfMemory ? 'memory' : null);
  const ended = (how: CommandExit): Ended => ({
    kind: 'ended',
    result: { ...how, stopped: reason, ...rest },
  });
  if (reason !== null) return ended({ exitCode: null });
  const program = clientName(input);
  if (end.code === null) {
    const lost: ChildLost = { kind: 'lost', program, how: 'was killed' };
    if (end.started) throw programKilled(program, lost);
    return lost;
  }
  if (end.started) return ended(commandExit(end.code));
  const why = lastErrorLines(rest.stderr) || `it ended with code ${end.code}`;
  const killed = signalIn(end.code) !== null;
  if (killed || SHORTAGE.test(rest.stderr))
    return { kind: 'lost', program, how: `could not start a container (${why})` };
  throw new Fault('SANDBOX_UNAVAILABLE', `No container could be started: ${why}`);
}

/** The program of the engine that starts a container and waits for its end, as the start of a sentence. */
export const clientName = ({ setup }: Pick<ContainerRun, 'setup'>): string =>
  `${setup.engine.name}, which starts a container,`;

interface Container {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The first process, as the host sees it, after the command was started; null if it was not. */
  readonly init: Promise<Init | null>;
  readonly ended: Promise<ContainerEnd>;
  kill(): void;
}

function startContainer(input: ContainerRun): Container {
  const { control, setup, table } = input;
  const child = spawnClient(input);
  if (input.spec.input) connectInput(child, input.spec.input);
  if (!child.stdout || !child.stderr) {
    child.once('error', () => undefined);
    throw spawnFault(setup.engine.name, Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
  }
  let exited = false;
  // Registered from the start: if the watcher is killed too, this comes with the exit.
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(spawnFault(setup.engine.name, error)));
    child.once('exit', resolve);
  }).finally(() => {
    exited = true;
    // A client that has ended before its container started will not start it any more.
    control.cut();
  });
  const init = findInside(control, table, () => exited);
  let found: Init | null = null;
  let killed = false;
  const kill = (): void => {
    if (!killed) void endInTime(() => exited, input);
    killed = true;
    control.cut();
    if (found !== null) killInit(found);
  };
  void init
    .then((first) => {
      found = first;
      if (killed && first !== null) killInit(first);
    })
    // `watch` fails because of it, and so does the run.
    .catch(() => undefined);
  return {
    stdout: child.stdout,
    stderr: child.stderr,
    init,
    kill,
    ended: exit.then((code) => cleanUp(code, { child, closed }, () => found, input)),
  };
}

function spawnClient(input: ContainerRun): ChildProcess {
  const { setup, name, spec } = input;
  const { engine } = setup;
  const stdio: ('ignore' | 'pipe')[] = [spec.input ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'];
  for (const fd of inheritedDescriptors()) stdio[fd] ??= 'ignore';
  return spawn(
    '/bin/sh',
    ['-c', WATCHER_SCRIPT, 'sh', engine.name, name, engine.name, ...containerArgs(input)],
    // Its own process group: an interrupt from the terminal does not reach it.
    { cwd: '/', env: engine.env, stdio: Array.from(stdio, (use) => use ?? 'ignore'), detached: true },
  );
}

/**
 * The container's first process; null if it ended before it was found. Rejects if it is not on this machine, where
 * nothing could watch it.
 */
async function findInside(
  control: ControlSocket,
  table: ProcessTable,
  over: () => boolean,
): Promise<Init | null> {
  const namespace = await control.accepted;
  if (namespace === null) return null;
  const deadline = performance.now() + FIND_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const first = findInitAmong(table.within(namespace));
    if (first !== null || over()) return first;
    await sleep(50);
  }
  throw new Fault(
    'SANDBOX_UNAVAILABLE',
    'The processes of a container are not visible on this machine: the engine runs elsewhere, or hides them.',
  );
}

function killInit(init: Init): void {
  if (!isAlive(init)) return;
  try {
    process.kill(init.pid, 'SIGKILL');
  } catch (thrown) {
    // The process belongs to another user or has ended: the engine is asked next.
    if (!['EPERM', 'ESRCH'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown;
  }
}

/**
 * For a container that does not end although its control socket is closed and its first process was, or could not be,
 * killed. Never rejects: an engine that is killed itself, as where memory is short, is asked again.
 */
async function endInTime(over: () => boolean, { setup, name }: ContainerRun): Promise<void> {
  for (;;) {
    await sleep(STOP_WAIT_MS, undefined, { ref: false });
    if (over()) return;
    await setup.engine.run(['rm', '--force', name]).catch(() => undefined);
  }
}

async function cleanUp(
  code: number | null,
  { child, closed }: { readonly child: ChildProcess; readonly closed: Promise<void> },
  first: () => Init | null,
  { setup, name, control }: ContainerRun,
): Promise<ContainerEnd> {
  const { engine, groups } = setup;
  const started = (await control.accepted) !== null;
  const inspected = groups && started && code !== 0;
  const oom = ['inspect', '--format', '{{.State.OOMKilled}}', name] as const;
  const outOfMemory = inspected && (await engine.run(oom)).stdout.trim() === 'true';
  const removed = await engine.run(['rm', '--force', name]);
  if (removed.code !== 0 && !/no such container|no container with/i.test(removed.stderr)) {
    throw new Fault('INTERNAL', `The container ${name} could not be removed: ${removed.stderr.trim()}`);
  }
  tellWatcher(child);
  await closed;
  await firstGone(first());
  return { code, started, outOfMemory };
}

function tellWatcher(child: ChildProcess): void {
  const watcher = (child.stdio as readonly (Writable | Readable | null | undefined)[])[
    WATCHER_FD
  ] as Writable;
  watcher.on('error', () => undefined);
  watcher.end('done\n');
}

async function firstGone(init: Init | null): Promise<void> {
  const deadline = performance.now() + GONE_TIMEOUT_MS;
  while (init !== null && isAlive(init)) {
    if (performance.now() > deadline) {
      throw new Fault(
        'RESOURCES_EXHAUSTED',
        `Process ${init.pid} of a container did not end within a minute.`,
      );
    }
    await sleep(5);
  }
}

/** Among processes of a container, with ids as the host sees them, the one with id 1 inside; null if there is none. */
function findInitAmong(pids: readonly number[]): Init | null {
  const pid = pids.find((candidate) => numberInside(candidate) === 1);
  try {
    return pid === undefined ? null : findInit(pid);
  } catch {
    // The engine hides it while it sets it up.
    return null;
  }
}

function numberInside(pid: number): number | null {
  try {
    const line = /^NSpid:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return line === undefined ? null : Number(line.split('\t').at(-1));
  } catch {
    // It has just ended.
    return null;
  }
}
