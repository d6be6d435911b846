import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { normalize } from 'node:path';
import { Fault, type Surroundings, USUAL_SURROUNDINGS } from '../../core/model/index.ts';
import type { ExecSpec } from '../../ports/index.ts';
import { INSIDE, type MergedView, PUBLIC_ETC, pathIn, SYNTHETIC_ETC, versionedEtc } from './filesystem.ts';
import type { HardLimits } from './kernel-tables.ts';

/**
 * Descriptors of a launch besides the three standard ones. bubblewrap reads `seccomp` and `options` and writes JSON
 * lines to `status`. Nobody writes to `alive`, which closes when Runoff ends. `group` belongs to a control group. The
 * launch itself opens and closes `proc`.
 */
export const FD = { seccomp: 3, status: 4, options: 5, alive: 6, group: 7, proc: 8 } as const;

/** Features that this host supports, as found by the probe. */
export interface Variant {
  /** False: areas are full copies, because overlay mounts are refused. */
  readonly overlay: boolean;
  /** False in containers whose system call filter forbids setting a host name. */
  readonly hostname: boolean;
  /**
   * `outer`, which is weaker: the host's own /proc, read-only, because the kernel does not allow a sandbox to mount its
   * own.
   */
  readonly proc: 'own' | 'outer';
  /** False, which is weaker: only the system call filter prevents a command from creating namespaces. */
  readonly lockNamespaces: boolean;
  /** Whether the command starts in a control group that enforces its limits. */
  readonly group: boolean;
}

interface LaunchInput {
  readonly spec: ExecSpec;
  readonly variant: Variant;
  /** Folder of the synthetic /etc. */
  readonly etc: string;
  /** Host folder that is visible as /opt/toolchain; skipped if it does not exist. */
  readonly toolchain: string;
  /** Host path of the proxy's socket. */
  readonly egress: string | null;
  readonly ceilings: HardLimits;
  /** Overlay mounts that are made before bubblewrap starts; none if areas are full copies. */
  readonly views: readonly MergedView[];
  /** Files and folders in /usr that may hold a credential: a command finds them empty. */
  readonly hidden: readonly string[];
}

export interface Launch {
  readonly argv: readonly [string, ...string[]];
  /** Options that bubblewrap reads from a descriptor, so that none of their values is in the host's process list. */
  readonly options: readonly string[];
  /** The name under which `status` reports the process whose end ends all others of the sandbox. */
  readonly first: 'outer-pid' | 'child-pid';
}

/** Maximum number of open descriptors of a process. Our default: bundlers and watchers need several thousand. */
export const MAX_OPEN_FILES = 8192;
/** bubblewrap's monitor and the namespace's first process are counted too. */
const LAUNCHER_PROCESSES = 2;
/** Shares of the memory limit for files in /tmp and /dev/shm and for System V segments; our defaults. */
const MEMORY_SHARES = { tmp: 1 / 4, shm: 1 / 8, segments: 1 / 8 } as const;
/** The unit of kernel.shmall. Larger pages exist only on arm64, where the limit is then higher. */
const PAGE_BYTES = 4096;

/** Limits of System V semaphores and queues: the kernel's own defaults until 3.18. */
export const KERNEL_OBJECTS = {
  'kernel/sem': '250 32000 32 128',
  'kernel/msgmni': '1024',
  'kernel/msgmnb': '16384',
} as const;
/**
 * Limits of file watches. Our defaults: the kernel counts them per user, usually 128 instances, and sandboxes share
 * theirs; a watch takes about a kilobyte.
 */
const INOTIFY_LIMITS = { 'user/max_inotify_instances': '32', 'user/max_inotify_watches': '65536' } as const;

/** Maximum memory in System V segments, in the unit of kernel.shmall. */
export const segmentPages = (memoryBytes: number): number =>
  Math.ceil((memoryBytes * MEMORY_SHARES.segments) / PAGE_BYTES);

/**
 * Runs first, on the host, and leaves a watcher in its process group: if Runoff dies, by whatever signal, the watcher
 * kills the group. The watcher may be killed or frozen itself, so the kernel is asked for the same (PARENT_DEATH), which
 * alone would not be enough: it does not apply if Runoff died before it was asked.
 */
const WATCHER_SCRIPT = `{ read -r _ <&6; kill -KILL 0; } > /dev/null 2>&1 3<&- 5<&- &
exec "$@" 6<&- ${FD.proc}< /proc`;

/** The launcher that it starts is killed when Runoff dies. The kernel keeps that through `unshare` and its user namespace. */
const PARENT_DEATH = ['setpriv', '--pdeathsig', 'KILL', '--'] as const;

/** Comes first, so that nothing runs outside of the control group. */
const ENTER_GROUP = `echo 0 >&${FD.group} && exec ${FD.group}>&- || exit 125
`;

/**
 * Runs as root and as first process of the outer namespaces, then becomes bubblewrap: when it ends, the kernel ends
 * everything else, whatever bubblewrap was doing. It reports its own id as the host sees it, read from the host's
 * /proc, because its own /proc is already mounted: bubblewrap looks there for its child by the id in this namespace.
 * Kernel objects that no process maps are limited by number; older kernels do not allow that, and there only a control
 * group limits them. Arguments: the number of pages, the folder in which overlay mounts find their layers, and three
 * words for each of these.
 */
const OUTER_SCRIPT = `set -e
read -r pid rest < /proc/self/fd/${FD.proc}/self/stat
exec ${FD.proc}<&-
echo "{ \\"outer-pid\\": $pid }" >&4
{ echo "$1" > /proc/sys/kernel/shmall
${Object.entries({ ...KERNEL_OBJECTS, ...INOTIFY_LIMITS })
  .map(([setting, most]) => `echo '${most}' > /proc/sys/${setting}`)
  .join('\n')}
} 2> /dev/null || :
cd "$2"
shift 2
while test "$1" != --; do
if test "$3" = optional; then mount -t overlay overlay -o "$1" "$2" 2> /dev/null || :
else mount -t overlay overlay -o "$1" "$2"; fi
shift 3
done
cd /
unset OLDPWD
shift
exec prlimit "$@"`;

/** Command and bubblewrap options for one run of a command. Throws a fault for paths that cannot be mounted safely. */
export function planLaunch(input: LaunchInput): Launch {
  const { spec, variant, ceilings } = input;
  const { limits } = spec;
  const segments = segmentPages(limits.memoryBytes);
  const files = Math.min(MAX_OPEN_FILES, ceilings.files);
  return {
    argv: [
      ...(['/bin/sh', '-c', variant.group ? ENTER_GROUP + WATCHER_SCRIPT : WATCHER_SCRIPT, 'sh'] as const),
      ...PARENT_DEATH,
      // Each sandbox has its own user namespace and so its own count of processes; the ids stay those of the
      // unprivileged user.
      ...['unshare', '--user', '--map-root-user', '--mount', '--ipc', '--propagation', 'private'],
      // If no /proc can be mounted, bubblewrap needs the ids that the outer one shows.
      ...(variant.proc === 'own' ? ['--pid', '--fork', '--kill-child', '--mount-proc', '--'] : ['--']),
      ...['/bin/sh', '-c', OUTER_SCRIPT, 'sh', String(segments), spec.area.merged],
      ...input.views.flatMap(({ options, at, optional }) => [
        options,
        at,
        optional ? 'optional' : 'required',
      ]),
      '--',
      '--core=0',
      `--nproc=${Math.min(limits.processes + LAUNCHER_PROCESSES, ceilings.processes)}`,
      `--nofile=${files}:${files}`,
      `--fsize=${Math.min(limits.diskBytes, ceilings.fileBytes)}`,
      ...['--', 'bwrap', '--args', String(FD.options), '--'],
      ...commandLine(spec, input.egress !== null),
    ],
    options: bubblewrapOptions(input),
    first: variant.proc === 'own' ? 'outer-pid' : 'child-pid',
  };
}

export function commandLine(spec: ExecSpec, egress: boolean): readonly string[] {
  const bridges = [
    ...(spec.gateway === undefined ? [] : ['--gateway', INSIDE.gateway, String(checkedPort(spec.gateway))]),
    ...(egress ? ['--egress', INSIDE.egress] : []),
  ];
  return bridges.length === 0 ? spec.argv : [INSIDE.node, INSIDE.bridge, ...bridges, '--', ...spec.argv];
}

/** Unprivileged users cannot use ports below 1024, inside or outside. */
function checkedPort({ port }: NonNullable<ExecSpec['gateway']>): number {
  if (Number.isInteger(port) && port >= 1024 && port <= 65_535) return port;
  throw new Fault('INTERNAL', `${port} is not a port that a sandbox can listen on.`);
}

function bubblewrapOptions(input: LaunchInput): readonly string[] {
  const { spec, variant, etc, toolchain, egress } = input;
  const { limits, area } = spec;
  const size = (share: number): string => String(Math.ceil(limits.memoryBytes * share));
  const around = spec.surroundings ?? USUAL_SURROUNDINGS;
  const environment = {
    PATH: pathIn(area, around),
    HOME: around.home,
    USER: around.user,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
  };
  const bind = (kind: string, from: string, to: string): string[] => [kind, from, to];
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...(variant.lockNamespaces ? ['--disable-userns'] : []),
    ...['--uid', String(around.uid), '--gid', String(around.uid), '--cap-drop', 'ALL'],
    ...(variant.hostname ? ['--hostname', around.host] : []),
    ...['--die-with-parent', '--new-session', '--clearenv'],
    ...['--seccomp', String(FD.seccomp), '--json-status-fd', String(FD.status)],
    ...systemFolders(),
    ...input.hidden.flatMap(emptied),
    ...[...PUBLIC_ETC, ...versionedEtc()].flatMap((path) => bind('--ro-bind-try', path, path)),
    ...SYNTHETIC_ETC.flatMap((name) => bind('--ro-bind', `${etc}/${name}`, `/etc/${name}`)),
    ...['--symlink', '../usr/lib/os-release', '/etc/os-release', '--symlink', '/tmp', '/var/tmp'],
    // /dev is its own tmpfs; if it were writable, it would be storage that no limit includes.
    ...(variant.proc === 'own' ? ['--proc', '/proc'] : bind('--ro-bind', '/proc', '/proc')),
    // The settings of its own namespaces belong to its user: if they were writable, it could raise limits that were set
    // from outside.
    ...bind('--ro-bind', '/proc/sys', '/proc/sys'),
    ...['--dev', '/dev'],
    ...['--size', size(MEMORY_SHARES.tmp), '--perms', '1777', '--tmpfs', '/tmp'],
    ...['--size', size(MEMORY_SHARES.shm), '--perms', '1777', '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...bind('--bind', area.home, around.home),
    ...bind(spec.readOnly ? '--ro-bind' : '--bind', variant.overlay ? area.merged : area.upper, around.repo),
    ...(spec.out === undefined ? [] : bind('--bind', spec.out, INSIDE.out)),
    ...(existsSync(toolchain) ? bind('--ro-bind', toolchain, INSIDE.toolchain) : []),
    ...(spec.gateway === undefined ? [] : bind('--ro-bind', spec.gateway.socket, INSIDE.gateway)),
    ...(egress === null ? [] : bind('--ro-bind', egress, INSIDE.egress)),
    ...(area.tools?.mounts ?? []).flatMap(({ from, to }) => bind('--ro-bind', from, toolPoint(to, around))),
    ...(spec.binds ?? []).flatMap(({ from, to }) => bind('--ro-bind', from, mountPoint(to))),
    ...['--remount-ro', '/', '--chdir', around.repo],
    ...Object.entries({ ...environment, ...around.env, ...spec.env }).flatMap(([name, value]) => [
      '--setenv',
      name,
      value,
    ]),
  ];
}

/**
 * Rejects anything outside of /run/bridge and /opt. A mount point in a folder that the sandbox can write to may be a
 * symbolic link of its own, which bubblewrap before 0.12 follows out to the host (GHSA-pxhw-h44j-8pfx).
 */
export function mountPoint(to: string): string {
  const owned = Object.values<string>(INSIDE).some((path) => to === path || to.startsWith(`${path}/`));
  if (owned || normalize(to) !== to || !/^\/(?:run\/bridge|opt)\/[^/]/.test(to)) {
    throw new Fault('INTERNAL', `"${to}" is not a valid mount point in a sandbox.`);
  }
  return to;
}

/** Folders inside that a tool may neither cover nor lie in: what a command can write to, and what it trusts. */
const NO_TOOL_IN = [
  '/usr',
  '/etc',
  '/proc',
  '/sys',
  '/dev',
  '/run',
  '/tmp',
  '/var/tmp',
  '/bin',
  '/sbin',
  '/lib',
];

/** Whether a tool can be mounted at a path. */
export function mayHoldTool(
  to: string,
  { repo, home }: Pick<Surroundings, 'repo' | 'home'> = USUAL_SURROUNDINGS,
): boolean {
  const taken = [...NO_TOOL_IN, '/lib64', '/lib32', '/libx32', ...Object.values<string>(INSIDE), repo, home];
  const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const clear = taken.every((path) => !isBelow(to, path) && !isBelow(path, to));
  return clear && normalize(to) === to && /^(?:\/[^/\0,"\n]+){2,}$/.test(to);
}

export function toolPoint(to: string, surroundings: Surroundings = USUAL_SURROUNDINGS): string {
  if (mayHoldTool(to, surroundings)) return to;
  throw new Fault('INTERNAL', `"${to}" is no place for a tool in a sandbox.`);
}

/** Covers a file or folder of the host, if it still exists. */
function emptied(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isDirectory()
    ? ['--size', '4096', '--tmpfs', path, '--remount-ro', path]
    : ['--dev-bind', '/dev/null', path];
}

/** /usr, and the folders that are links in a merged /usr, as on this host. */
function systemFolders(): string[] {
  const links = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return found.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
  return ['--ro-bind', '/usr', '/usr', ...links];
}
