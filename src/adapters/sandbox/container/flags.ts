import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault, type Surroundings, USUAL_SURROUNDINGS } from '../../../core/model/index.ts';
import type { ExecSpec } from '../../../ports/index.ts';
import { INSIDE, prepareEtc, shareFiles } from '../filesystem.ts';
import type { HardLimits } from '../kernel-tables.ts';
import { KERNEL_OBJECTS, MAX_OPEN_FILES, mountPoint, segmentPages, toolPoint } from '../launch.ts';
import { around, type ContainerEngine } from './engine.ts';

/** How containers are started on this host, as found by the probe. */
export interface ContainerSetup {
  readonly engine: ContainerEngine;
  /** User id of the command inside the container. */
  readonly uid: number;
  readonly gid: number;
  /** Whether the user has the same id inside and outside; rootless podman only. */
  readonly keepId: boolean;
  /**
   * False: the engine cannot set limits for a container on this host, so memory is watched and processes are counted
   * per user.
   */
  readonly groups: boolean;
  /**
   * False: the kernel does not let this engine limit System V segments, semaphores and queues (rootless before 5.19).
   */
  readonly objects: boolean;
}

export interface ContainerInput {
  readonly spec: ExecSpec;
  readonly setup: ContainerSetup;
  readonly image: string;
  readonly name: string;
  /** Labels that identify leftovers. */
  readonly labels: readonly string[];
  readonly toolchain: string;
  readonly files: ContainerFiles;
  readonly controlSocket: string;
  readonly egress: string | null;
  readonly ceilings: HardLimits;
}

const SECCOMP = join(import.meta.dirname, 'seccomp.json');
const ENTRY_INSIDE = '/run/bridge/entry.mjs';
const CONTROL_INSIDE = '/run/bridge/control.sock';

const SYNTHETIC = ['passwd', 'group', 'hosts', 'nsswitch.conf', 'gitconfig', 'resolv.conf'] as const;

/** Shares of the memory limit for files in /tmp and /dev/shm. Our defaults, the same as in the default sandbox. */
const TMPFS_SHARES = { tmp: 1 / 4, shm: 1 / 8 } as const;
/**
 * The kernel's limit is above ours: the watchdog stops the whole tree, while the kernel stops only one process of it
 * and is for what happens between two checks. Bytes, our default.
 */
const KERNEL_MARGIN_BYTES = 128 * 2 ** 20;
/** Processes of one user in all containers, if each container has its own limit. Our default. */
const MAX_USER_PROCESSES = 32_768;
/** The shell, the entry and the bridge with their threads are counted too. */
const ENTRY_PROCESSES = 32;
/** Variables in which docker's client passes its own proxy, perhaps with a password, to every container. */
const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'NO_PROXY', 'ALL_PROXY'];

/**
 * The first process: reaps orphans, which Node cannot, and ends with the entry; then the kernel ends the rest of the
 * container. Signals from inside do not reach it. A shell gives background commands no standard input by itself.
 */
const INIT_SCRIPT = '"$@" <&0 & wait $!';

/** The engine's arguments for one command. They contain nothing of the command, its environment or its input. */
export function containerArgs(input: ContainerInput): readonly string[] {
  const { setup, name, image, labels } = input;
  return [
    ...(setup.engine.name === 'podman' ? ['--log-level=error'] : []),
    'run',
    ...(input.spec.input ? ['--interactive'] : []),
    ...['--name', name, ...labels.flatMap((label) => ['--label', label])],
    ...['--pull', 'never', '--network', 'none', '--hostname', around(input.spec).host],
    ...['--log-driver', 'none', '--no-healthcheck', '--stop-timeout', '0'],
    ...confinementFlags(setup),
    ...limitFlags(input),
    ...mountFlags(input),
    ...['--workdir', '/', '--entrypoint', '/bin/sh', image],
    ...['-c', INIT_SCRIPT, 'sh', INSIDE.node, ENTRY_INSIDE],
  ];
}

function confinementFlags({ engine, uid, gid, keepId, groups }: ContainerSetup): readonly string[] {
  const own =
    engine.name === 'podman'
      ? // Neither the host's proxy, nor its names, nor what a distribution puts into every container (/run/secrets).
        ['--http-proxy=false', '--no-hosts', '--read-only-tmpfs=false', '--image-volume=ignore'].concat([
          '--tmpfs',
          ...['/run/secrets:ro,size=4k,mode=0555', '--security-opt', `mask=${hiddenOfSys(groups).join(':')}`],
        ])
      : PROXY_VARIABLES.flatMap((proxy) => [proxy, proxy.toLowerCase()]).flatMap((proxy) => [
          '--env',
          `${proxy}=`,
        ]);
  return [
    // On version 1 of control groups, the engines' default shows where its group is among the host's.
    ...['--read-only', '--cap-drop', 'ALL', '--ipc', 'private', '--cgroupns', 'private'],
    ...['--security-opt', 'no-new-privileges', '--security-opt', `seccomp=${SECCOMP}`],
    ...(keepId ? ['--userns', 'keep-id'] : []),
    ...['--user', `${uid}:${gid}`],
    ...own,
  ];
}

/**
 * Hides all of the host's /sys; if there are control groups, all but the container's own, in which the probe sees its
 * limits.
 */
function hiddenOfSys(groups: boolean): readonly string[] {
  if (!groups) return ['/sys'];
  const below = (folder: string, but: string): string[] =>
    readdirSync(folder)
      .filter((name) => name !== but)
      .map((name) => join(folder, name));
  return [...below('/sys', 'fs'), ...below('/sys/fs', 'cgroup')];
}

/** Limits on kernel objects that no process maps; they belong to the container's own IPC namespace. */
function objectBounds(memoryBytes: number): readonly string[] {
  const bounds = { ...KERNEL_OBJECTS, 'kernel/shmall': String(segmentPages(memoryBytes)) };
  return Object.entries(bounds).flatMap(([name, most]) => ['--sysctl', `${name.replace('/', '.')}=${most}`]);
}

function limitFlags({ spec, setup, ceilings }: ContainerInput): readonly string[] {
  const { memoryBytes, processes, diskBytes } = spec.limits;
  const size = (share: number): number => Math.ceil(memoryBytes * share);
  const memory = String(memoryBytes + KERNEL_MARGIN_BYTES);
  const descriptors = Math.min(MAX_OPEN_FILES, ceilings.files);
  const file = Math.min(diskBytes, ceilings.fileBytes);
  const counted = processes + ENTRY_PROCESSES;
  // Always set: an engine that runs as root requests more than a container or systemd unit around it may allow.
  const byUser = Math.min(setup.groups ? MAX_USER_PROCESSES : counted, ceilings.processes);
  // Otherwise podman fills it from the image's own folder, whose mode it gets in any case.
  const fresh = setup.engine.name === 'podman' ? ',notmpcopyup' : '';
  return [
    ...['--tmpfs', `/tmp:rw,exec,nosuid,nodev,size=${size(TMPFS_SHARES.tmp)},mode=1777${fresh}`],
    ...['--shm-size', String(size(TMPFS_SHARES.shm))],
    ...['--ulimit', `nofile=${descriptors}:${descriptors}`, '--ulimit', 'core=0:0'],
    ...['--ulimit', `fsize=${file}:${file}`, '--ulimit', `nproc=${byUser}:${byUser}`],
    ...(setup.objects ? objectBounds(memoryBytes) : []),
    ...(setup.groups ? ['--memory', memory, '--memory-swap', memory, '--pids-limit', String(counted)] : []),
  ];
}

function mountFlags({ spec, toolchain, files, controlSocket, egress }: ContainerInput): readonly string[] {
  const { area, gateway, out, binds = [] } = spec;
  const bind = (from: string, to: string, readOnly: boolean): string[] => {
    // Both engines split the value at commas, and they handle quotes differently.
    if (/[,"\n]/.test(from) || /[,"\n]/.test(to)) {
      throw new Fault(
        'SANDBOX_UNAVAILABLE',
        `"${from}" cannot be mounted: its name contains a comma or a quote.`,
      );
    }
    return ['--mount', `type=bind,source=${from},target=${to}${readOnly ? ',readonly' : ''}`];
  };
  return [
    ...bind(area.upper, around(spec).repo, spec.readOnly === true),
    ...bind(area.home, around(spec).home, false),
    ...(out === undefined ? [] : bind(out, INSIDE.out, false)),
    ...bind(toolchain, INSIDE.toolchain, true),
    ...bind(files.entry, ENTRY_INSIDE, true),
    ...bind(controlSocket, CONTROL_INSIDE, true),
    ...(gateway === undefined ? [] : bind(gateway.socket, INSIDE.gateway, true)),
    ...(egress === null ? [] : bind(egress, INSIDE.egress, true)),
    ...SYNTHETIC.flatMap((file) => bind(join(files.etc, file), `/etc/${file}`, true)),
    ...(area.tools?.mounts ?? []).flatMap(({ from, to }) => bind(from, toolPoint(to, around(spec)), true)),
    ...binds.flatMap(({ from, to }) => bind(from, mountPoint(to), true)),
  ];
}

interface ContainerFiles {
  /** Folder of the synthetic /etc. */
  readonly etc: string;
  readonly entry: string;
}

const ENTRY_SOURCE = readFileSync(join(import.meta.dirname, 'entry.mjs'), 'utf8');

/**
 * Writes the entry and the /etc files of containers to `scratch/container-files` once. They are copies, because the sandboxes'
 * user may have no access to Runoff's folder. The ids differ from the default sandbox's, because engines map users
 * differently.
 */
export function prepareContainerFiles(
  scratch: string,
  { uid, gid }: Pick<ContainerSetup, 'uid' | 'gid'>,
  surroundings: Surroundings = USUAL_SURROUNDINGS,
): ContainerFiles {
  const { user, home } = surroundings;
  const given = prepareEtc(scratch, surroundings);
  const files: Record<string, string> = {
    ...Object.fromEntries(readdirSync(given).map((name) => [name, readFileSync(join(given, name), 'utf8')])),
    passwd: `${unlessRoot(uid, 'root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n')}${user}:x:${uid}:${gid}:${user}:${home}:/bin/sh\n`,
    group: `${unlessRoot(gid, 'root:x:0:\n')}${user}:x:${gid}:\n`,
    // Without a network there is no resolver; otherwise the engine would show the host's.
    'resolv.conf': '',
    'entry.mjs': ENTRY_SOURCE,
  };
  const folder = shareFiles(join(scratch, 'container-files'), files);
  return { etc: folder, entry: join(folder, 'entry.mjs') };
}

const unlessRoot = (id: number, line: string): string => (id === 0 ? '' : line);
