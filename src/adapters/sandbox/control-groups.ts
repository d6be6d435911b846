import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, formatList } from '../../core/model/index.ts';
import type { Limits } from '../../ports/index.ts';
import { GONE_TIMEOUT_MS, runCommand, startedAt } from './processes.ts';

/** Where control groups are and how they are changed; tests use a folder of plain files. */
export interface GroupHost extends GroupFolders {
  /** Folder with `cgroup` and `mountinfo` of this process. */
  readonly proc: string;
}

export const THIS_HOST: GroupHost = {
  proc: '/proc/self',
  pid: process.pid,
  mkdir: (path) => mkdirSync(path, { mode: 0o755 }),
  rmdir: rmdirSync,
  put: writeControlFile,
};

export type Delegation =
  | { readonly kind: 'ready'; readonly groups: ControlGroups }
  | { readonly kind: 'none'; readonly why: string };

/** Both are needed: with only one of them, a limit would not be enforced. */
const CONTROLLERS = ['memory', 'pids'] as const;
/** The group that Runoff itself moves to: the kernel does not allow processes next to child groups that have limits. */
const OWN_GROUP = 'app';
/** Number of checks for processes that are left in the group before we give up emptying it. Our default. */
const MAX_EMPTYING_ROUNDS = 10;

/**
 * Checks whether we may divide our own control group (version 2), moves this process and its children into a leaf of
 * it, and enables limits for the others. Never rejects: without delegation it returns the reason.
 */
export async function findControlGroups(host: GroupHost = THIS_HOST): Promise<Delegation> {
  try {
    const root = ownGroup(host);
    const why = root === null ? 'this host has none of version 2' : await whyNotDelegated(root, host);
    if (root === null || why !== null) return { kind: 'none', why: why ?? '' };
    moveIntoLeaf(root, host);
    const turnOn = CONTROLLERS.map((name) => `+${name}`).join(' ');
    host.put(join(root, 'cgroup.subtree_control'), turnOn);
    return { kind: 'ready', groups: openControlGroups(root, host) };
  } catch (thrown) {
    return { kind: 'none', why: (thrown as Error).message };
  }
}

/** The folder of the group that was delegated to us: our own, or its parent after we have moved into a leaf. */
function ownGroup({ proc }: GroupHost): string | null {
  const own = /^0::(\/.*)$/m.exec(readFileSync(join(proc, 'cgroup'), 'utf8'))?.[1];
  // Fields of proc(5): … root, mount point, options, optional fields, a hyphen, type.
  const mount = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(readFileSync(join(proc, 'mountinfo'), 'utf8'));
  const [shown, mountedAt] = [mount?.[1], mount?.[2]];
  if (own === undefined || shown === undefined || mountedAt === undefined) return null;
  const top = shown === '/' ? '' : shown;
  if (own !== top && !own.startsWith(`${top}/`)) return null;
  const folder = join(mountedAt, own.slice(top.length));
  return basename(folder) === OWN_GROUP ? dirname(folder) : folder;
}

/** Why we may not divide the group; null if we may. */
async function whyNotDelegated(root: string, host: GroupHost): Promise<string | null> {
  const missing = CONTROLLERS.filter((name) => !wordsIn(join(root, 'cgroup.controllers')).includes(name));
  if (missing.length > 0) return `no ${formatList(missing)} controller in Runoff's control group`;
  const files = ['', 'cgroup.procs', 'cgroup.subtree_control'];
  if (!files.every((name) => writable(join(root, name)))) return "Runoff's control group is not delegated";
  if (processesIn(root).some((pid) => !descendsFromUs(pid, host.pid)))
    return "other programs are in Runoff's control group";
  return process.getuid?.() === 0 ? await notDelegatedToRoot(root) : null;
}

const wordsIn = (file: string): readonly string[] => readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);

function writable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Root can write everywhere, but systemd reverts what it did not delegate: limits would silently disappear. */
async function notDelegatedToRoot(root: string): Promise<string | null> {
  if (!existsSync('/run/systemd/system')) return null;
  const unit = root.split('/').findLast((part) => /\.(?:service|scope)$/.test(part));
  if (unit === undefined) return null;
  const show = ['systemctl', 'show', '--property=Delegate', '--value', '--', unit] as const;
  const { stdout } = await runCommand(show, null);
  return stdout.trim() === 'yes' ? null : `${unit} has no Delegate=yes`;
}

const processesIn = (group: string): readonly number[] => wordsIn(join(group, 'cgroup.procs')).map(Number);

/** Whether it is this process or a descendant. A process of another process namespace has id 0 and is not. */
function descendsFromUs(pid: number, own: number): boolean {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === own) return true;
  return pid === own;
}

function parentOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

function moveIntoLeaf(root: string, host: GroupHost): void {
  const leaf = join(root, OWN_GROUP);
  if (!existsSync(leaf)) host.mkdir(leaf);
  for (let round = 0; round < MAX_EMPTYING_ROUNDS; round += 1) {
    const left = processesIn(root);
    if (left.length === 0) return;
    for (const pid of left) moveIfThere(leaf, pid, host);
  }
  throw new Error("Runoff's control group does not become empty");
}

function moveIfThere(leaf: string, pid: number, host: GroupHost): void {
  try {
    host.put(join(leaf, 'cgroup.procs'), String(pid));
  } catch (thrown) {
    // It ended between two checks.
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH' || startedAt(pid) !== null) throw thrown;
  }
}

/** One command's control group. */
export interface ControlGroup {
  /** Descriptor, opened with our rights: a process that writes 0 to it is moved into the group. */
  readonly fd: number;
  /** Ends every process in it. */
  kill(): void;
  /** Ends what is left and removes the group. Rejects with a fault if a process does not end. */
  close(): Promise<{ readonly outOfMemory: boolean }>;
}

export interface ControlGroups {
  /** Throws SANDBOX_UNAVAILABLE if a limit cannot be set. */
  open(limits: Pick<Limits, 'memoryBytes' | 'processes'>): ControlGroup;
}

/** How control groups are changed. */
interface GroupFolders {
  /** This process. */
  readonly pid: number;
  mkdir(path: string): void;
  rmdir(path: string): void;
  /** Writes a control file. */
  put(file: string, text: string): void;
}

/** Processes of the launcher: `unshare`, the watcher, bubblewrap and the first process of each namespace. */
const OUTSIDE_PROCESSES = 5;
const GROUP_NAME = /^box-(\d+)-(\d+)-/;

/**
 * Writes a control file, but never creates it: a file that does not exist is a limit that the kernel does not support.
 */
function writeControlFile(file: string, text: string): void {
  const fd = openSync(file, constants.O_WRONLY);
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** Creates groups in a group that was delegated to us; removes what a killed Runoff left there. */
function openControlGroups(root: string, host: GroupFolders): ControlGroups {
  removeLeftovers(root, host);
  const prefix = `box-${host.pid}-${startedAt(host.pid) ?? '0'}`;
  return {
    open(limits) {
      const folder = join(root, `${prefix}-${randomBytes(6).toString('hex')}`);
      try {
        host.mkdir(folder);
        setLimits(folder, limits, host);
        return groupIn(folder, openSync(join(folder, 'cgroup.procs'), constants.O_WRONLY), host);
      } catch (thrown) {
        if (existsSync(folder)) host.rmdir(folder);
        throw new Fault(
          'SANDBOX_UNAVAILABLE',
          `No control group with the limits of a command can be made: ${(thrown as Error).message}`,
        );
      }
    },
  };
}

function setLimits(
  folder: string,
  { memoryBytes, processes }: Pick<Limits, 'memoryBytes' | 'processes'>,
  { put }: GroupFolders,
): void {
  put(join(folder, 'memory.max'), String(memoryBytes));
  // Does not exist if the kernel does not count swap.
  if (existsSync(join(folder, 'memory.swap.max'))) put(join(folder, 'memory.swap.max'), '0');
  // A tree that lost one process to the limit must not be left half alive.
  put(join(folder, 'memory.oom.group'), '1');
  put(join(folder, 'pids.max'), String(processes + OUTSIDE_PROCESSES));
}

function groupIn(folder: string, fd: number, host: GroupFolders): ControlGroup {
  const kill = (): void => {
    // Linux before 5.14 has no such file; there, the end of the sandbox's first process ends the others.
    if (existsSync(join(folder, 'cgroup.kill'))) host.put(join(folder, 'cgroup.kill'), '1');
  };
  return {
    fd,
    kill,
    async close() {
      closeSync(fd);
      const events = readFileSync(join(folder, 'memory.events'), 'utf8');
      kill();
      const deadline = performance.now() + GONE_TIMEOUT_MS;
      while (!tryRemove(folder, host)) {
        if (performance.now() > deadline) {
          throw new Fault(
            'RESOURCES_EXHAUSTED',
            `Processes of a sandbox are left in ${folder} a minute after SIGKILL.`,
          );
        }
        await sleep(2);
      }
      return { outOfMemory: Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0) > 0 };
    },
  };
}

/** False while a process is still exiting. */
function tryRemove(folder: string, host: GroupFolders): boolean {
  try {
    host.rmdir(folder);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EBUSY') return false;
    throw thrown;
  }
}

function removeLeftovers(root: string, host: GroupFolders): void {
  for (const name of readdirSync(root)) {
    const [, pid, start] = GROUP_NAME.exec(name) ?? [];
    if (pid === undefined || startedAt(Number(pid)) === start) continue;
    const folder = join(root, name);
    if (existsSync(join(folder, 'cgroup.kill'))) host.put(join(folder, 'cgroup.kill'), '1');
    // Busy: its processes are still exiting, and the next start finds it empty.
    tryRemove(folder, host);
  }
}
