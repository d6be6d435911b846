import { randomInt } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { asFault, Fault, USUAL_SURROUNDINGS } from '../../../core/model/index.ts';
import {
  DEFAULT_LIMITS,
  type ExecResult,
  type ExecSpec,
  type Sandbox,
  type SandboxProbe,
} from '../../../ports/index.ts';
import { folder, makeArea, openCopies, openToOwner, removeArea, writeBelow } from '../areas.ts';
import { lackOfCapabilities } from '../capabilities.ts';
import { type Dialler, type EgressProxy, openEgress, publicInternet, withHosts } from '../egress/index.ts';
import { INSIDE, insidePath, pathIn } from '../filesystem.ts';
import { commandLine, mountPoint } from '../launch.ts';
import { openPipeMaker } from '../output-pipes.ts';
import { NEVER_STARTED } from '../probed.ts';
import type { Owner } from '../processes.ts';
import { discardFolder, ownFolder } from '../scratch.ts';
import { openProcessTree, runUnsandboxed } from './run.ts';

interface UnsandboxedOptions {
  /** Folder created by `prepareToolchain`. */
  readonly toolchain: string;
  /** The unprivileged user of all commands if Runoff is root; null if Runoff itself is unprivileged. */
  readonly owner: Owner | null;
  /**
   * Folder for the backend's own files; created if it does not exist. `owner` must be able to reach it; no one else may
   * write to it.
   */
  readonly scratch: string;
  /** Tests only: where `egress` names lead. Default: the public internet. */
  readonly dialler?: Dialler;
}

/** Runs commands as plain processes without any sandbox, for operators who explicitly ask for that. Linux. */
export function openUnsandboxed(options: UnsandboxedOptions): Sandbox {
  const { owner, scratch, toolchain, dialler = publicInternet } = options;
  const copies = openCopies(scratch, owner);
  const pipes = openPipeMaker();
  const ports = openPortPool();

  const execHere = async (spec: ExecSpec): Promise<ExecResult> => {
    for (const { to } of spec.binds ?? []) mountPoint(to);
    // Rejects a port on which no sandbox could listen, before anything is created.
    commandLine(spec, false);
    openToOwner(spec);
    const givenBytes = await copies.ensure(spec.area);
    const temporary = ownFolder(folder(scratch, 'tmp'), 'command');
    mkdirSync(temporary, { mode: 0o700 });
    if (owner !== null) chownSync(temporary, owner.uid, owner.gid);
    let port: number | null = null;
    let egress: EgressProxy | null = null;
    try {
      port = spec.gateway === undefined ? null : await ports.take(spec.gateway.port);
      egress = await openEgress(spec, folder(scratch, 'egress'), owner, dialler);
      const places = pathMapOf(spec, { toolchain, temporary, egress: egress?.socket ?? null, port });
      const here = (text: string): string => onHost(text, places);
      const moved: ExecSpec =
        spec.gateway === undefined || port === null ? spec : { ...spec, gateway: { ...spec.gateway, port } };
      writeBelow(spec.area.home, mapValues(spec.files ?? {}, here), owner);
      const { user, env: given } = spec.surroundings ?? USUAL_SURROUNDINGS;
      const own = { USER: user, TMPDIR: temporary, LANG: 'C.UTF-8', ...given };
      const env = { ...own, ...mapValues(spec.env ?? {}, here) };
      const result = await runUnsandboxed({
        spec,
        argv: commandLine(moved, egress !== null).map(here),
        env: { PATH: hostPath(places, pathIn(spec.area)), HOME: spec.area.home, ...env },
        stdin: spec.stdin ?? null,
        tree: openProcessTree(randomInt),
        owner,
        givenBytes,
        pipes,
      });
      return withHosts(result, egress);
    } finally {
      await egress?.close();
      if (port !== null) ports.release(port);
      await discardFolder(temporary);
    }
  };

  return {
    probe: () => probeHost(options, execHere),
    async exec(spec) {
      const never = reasonAgainst(owner);
      if (never !== null) throw new Fault('SANDBOX_UNAVAILABLE', `${never.why} To fix it: ${never.remedy}`);
      return spec.signal?.aborted ? NEVER_STARTED : await execHere(spec);
    },
  };
}

const mapValues = (
  values: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

interface PortPool {
  /** Reserves the requested port if it is free, else another one, until it is released. */
  take(wanted: number): Promise<number>;
  release(port: number): void;
}

/** Commands share this machine's ports, so two gateways cannot use the same one. */
function openPortPool(): PortPool {
  const taken = new Set<number>();
  return {
    async take(wanted) {
      for (let port = wanted; ; port = 0) {
        if (taken.has(port)) continue;
        const free = await listenOnce(port);
        if (free === null || taken.has(free)) continue;
        taken.add(free);
        return free;
      }
    },
    release: (port) => taken.delete(port),
  };
}

/** The port, if it can be listened on and is free again; null if it is in use. */
function listenOnce(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const found = (server.address() as AddressInfo).port;
      server.close(() => resolve(found));
    });
  });
}

function reasonAgainst(owner: Owner | null): { readonly why: string; readonly remedy: string } | null {
  if (process.platform !== 'linux') {
    return {
      why: `Commands can only be followed to their end on Linux; this is ${process.platform}.`,
      remedy: 'Run Runoff in a Linux virtual machine or container.',
    };
  }
  if (owner === null && process.getuid?.() === 0) {
    return {
      why: 'Runoff runs as root without an ordinary user for its commands.',
      remedy: 'Start Runoff as an ordinary user.',
    };
  }
  return lackOfCapabilities(owner);
}

async function probeHost(
  { owner, scratch }: UnsandboxedOptions,
  exec: (spec: ExecSpec) => Promise<ExecResult>,
): Promise<SandboxProbe> {
  const never = reasonAgainst(owner);
  if (never !== null) return { kind: 'missing', ...never };
  const root = ownFolder(scratch, 'probe');
  const remedy =
    'sudo apt-get install util-linux   (and set RUNOFF_DATA to a folder that other users may enter)';
  try {
    const area = makeArea(root, owner);
    const argv = ['/opt/toolchain/bin/node', '--version'] as const;
    const result = await exec({ area, argv, limits: { ...DEFAULT_LIMITS, wallMs: 60_000 } });
    if (result.exitCode !== 0)
      return {
        kind: 'missing',
        why: result.stderr.trim() || 'A trial command failed without a message.',
        remedy,
      };
    const user = owner === null ? 'the same user as Runoff' : `user ${owner.uid}`;
    const detail = `no sandbox: plain processes of ${user}, full copies, limits by watchdogs`;
    return { kind: 'ready', backend: 'none', detail, weaker: unsandboxedWeaknesses(owner) };
  } catch (thrown) {
    return { kind: 'missing', why: asFault(thrown).message, remedy };
  } finally {
    removeArea(root);
  }
}

const unsandboxedWeaknesses = (owner: Owner | null): readonly string[] => [
  'Candidates are not isolated: their commands are ordinary processes of this machine, with its network and every file that their user may read or write.',
  owner === null
    ? "They run as Runoff's own user, so that they can read its keys and change its data and every other candidate."
    : 'All candidates run as one user, so that each can read, change and stop the others.',
  'Limits are for accidents: a command that wants to can escape the watch and outlive its run.',
];

/** The replacements for paths and addresses of the sandbox on a host that does not have them. */
type PathMap = readonly (readonly [inside: string, outside: string])[];

/** Maps the paths of a sandbox to this host, for one command. */
function pathMapOf(
  spec: ExecSpec,
  host: {
    readonly toolchain: string;
    /** A temporary folder for this command alone, because all processes share /tmp here. */
    readonly temporary: string;
    readonly egress: string | null;
    readonly port: number | null;
  },
): PathMap {
  const { area, gateway, out, surroundings, binds = [] } = spec;
  return [
    [INSIDE.repo, area.upper],
    [INSIDE.home, area.home],
    ...(surroundings
      ? ([
          [surroundings.repo, area.upper],
          [surroundings.home, area.home],
        ] as const)
      : []),
    [INSIDE.toolchain, host.toolchain],
    ['/tmp', host.temporary],
    ...(out === undefined ? [] : [[INSIDE.out, out] as const]),
    ...(gateway === undefined ? [] : [[INSIDE.gateway, gateway.socket] as const]),
    ...(gateway === undefined || host.port === null
      ? []
      : [[`127.0.0.1:${gateway.port}`, `127.0.0.1:${host.port}`] as const]),
    ...(host.egress === null ? [] : [[INSIDE.egress, host.egress] as const]),
    ...binds.map(({ from, to }) => [to, from] as const),
    ...(area.tools?.mounts ?? []).map(({ from, to }) => [to, from] as const),
  ];
}

/**
 * Replaces the sandbox's paths in a text by those on the host: in `/repo/src` and `cd /repo;`, but not in
 * `/repository`, `/srv/repo` or `$HOME/repo`. A text that attaches the name to something else (`"$X"/repo`) is not
 * recognised.
 */
export function onHost(text: string, places: PathMap): string {
  const outside = new Map(places);
  // The longest first: /run/bridge/x before a bind at /run/bridge.
  const names = [...outside.keys()].toSorted((a, b) => b.length - a.length);
  const inside = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const whole = new RegExp(
    `(?<![\\w.~/})*$-]|\\d)(?:${inside})(?![\\w-]|\\.\\w)|(?<=//)127\\.0\\.0\\.1:\\d+(?!\\d)`,
    'g',
  );
  return text.replace(whole, (name) => outside.get(name) ?? name);
}

/** The PATH of every sandbox, with this host's toolchain. */
const hostPath = (places: PathMap, inside = insidePath(INSIDE.home)): string =>
  inside
    .split(':')
    .map((folder) => onHost(folder, places))
    .join(':');
