import { createHash } from 'node:crypto';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Surroundings, USUAL_SURROUNDINGS } from '../../core/model/index.ts';
import type { ExecSpec, WorkArea } from '../../ports/index.ts';
import type { Owner } from './processes.ts';
import { ownFolder } from './scratch.ts';

/** Paths inside a sandbox. /repo, /home/agent and /out are the only folders of the host that it can write to. */
export const INSIDE = {
  repo: USUAL_SURROUNDINGS.repo,
  home: USUAL_SURROUNDINGS.home,
  out: '/out',
  toolchain: '/opt/toolchain',
  node: '/opt/toolchain/bin/node',
  bridge: '/opt/toolchain/bridge.mjs',
  gateway: '/run/bridge/gateway.sock',
  egress: '/run/bridge/egress.sock',
} as const;

/** Folders in which pip, cargo, go and others install programs for a user. */
const HOME_PROGRAMS = ['.local/bin', '.cargo/bin', 'go/bin'];

/**
 * The host's own programs come first, so that a repository is tested with what the operator installed. Folders that a
 * command can write to come last: a candidate must not replace a program that Runoff itself starts later.
 */
export const insidePath = (home: string): string =>
  ['/usr/local/bin:/usr/bin:/bin:/opt/toolchain/bin', ...HOME_PROGRAMS.map((name) => `${home}/${name}`)].join(
    ':',
  );

/** PATH of the commands in an area. */
export const pathIn = (
  { tools }: WorkArea,
  { home }: Pick<Surroundings, 'home'> = USUAL_SURROUNDINGS,
): string => [...(tools?.path ?? []), insidePath(home)].join(':');

/** Replacements for the host's /etc files inside a sandbox: no accounts, names or time zone (so UTC). */
const etcFiles = ({ user, uid, home, host }: Surroundings): Readonly<Record<string, string>> => ({
  passwd: [
    'root:x:0:0:root:/nonexistent:/usr/sbin/nologin',
    `${user}:x:${uid}:${uid}:${user}:${home}:/bin/sh`,
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
    '',
  ].join('\n'),
  group: ['root:x:0:', `${user}:x:${uid}:`, 'nogroup:x:65534:', ''].join('\n'),
  hosts: [`127.0.0.1 localhost ${host}`, '::1 localhost ip6-localhost', ''].join('\n'),
  'nsswitch.conf': ['passwd: files', 'group: files', 'hosts: files', 'services: files', ''].join('\n'),
  // In some mounts /repo belongs to another uid than its readers, and git would refuse it.
  gitconfig: [
    '[safe]',
    '\tdirectory = *',
    '[user]',
    `\tname = ${user}`,
    `\temail = ${user}@${host}.invalid`,
    '[init]',
    '\tdefaultBranch = main',
    '',
  ].join('\n'),
});

/** Public host files that programs in /usr need in order to run; missing ones are skipped. */
export const PUBLIC_ETC = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
  '/etc/ca-certificates/extracted',
  '/etc/crypto-policies',
  '/etc/services',
  '/etc/protocols',
  '/etc/mime.types',
  '/etc/fonts',
  '/etc/perl',
  '/etc/php',
  // Excludes Maven's settings, which may contain passwords.
  '/etc/maven/m2.conf',
  '/etc/maven/logging',
] as const;

/** Settings of toolchains in /usr whose folders have versions in their names. */
const VERSIONED_ETC = /^(?:java|java-\d+-openjdk|python\d\.\d+)$/;
/** Java's settings for remote management, where its passwords are too. */
const PRIVATE_ETC = 'management';

/** Further public files of this host's /etc, in the versions that are installed now. */
export function versionedEtc(): readonly string[] {
  const folders = readdirSync('/etc').filter(
    (name) => VERSIONED_ETC.test(name) && isDirectory(`/etc/${name}`),
  );
  return folders.flatMap((folder) =>
    readdirSync(`/etc/${folder}`)
      .filter((name) => name !== PRIVATE_ETC)
      .map((name) => `/etc/${folder}/${name}`),
  );
}

export const SYNTHETIC_ETC = Object.keys(etcFiles(USUAL_SURROUNDINGS));

/** Milliseconds without use after which a folder of shared files is removed. Our default; no command runs for as long. */
const FILES_UNUSED_MS = 3 * 24 * 3_600_000;

/** Writes the synthetic files for these surroundings to `scratch/etc` once and returns their folder. */
export const prepareEtc = (scratch: string, surroundings: Surroundings = USUAL_SURROUNDINGS): string =>
  shareFiles(join(scratch, 'etc'), etcFiles(surroundings));

/**
 * Writes files that sandboxes read to a folder below `all` once and returns it. Each run has surroundings of its own, so
 * folders that no command has used for days are removed when a new one is written.
 */
export function shareFiles(all: string, files: Readonly<Record<string, string>>): string {
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 12);
  const folder = join(all, digest);
  if (!existsSync(folder)) {
    mkdirSync(all, { recursive: true, mode: 0o755 });
    removeUnused(all);
    writeOnce(folder, files);
  }
  const now = new Date();
  utimesSync(folder, now, now);
  return folder;
}

function removeUnused(all: string): void {
  for (const name of readdirSync(all)) {
    const used = statSync(join(all, name), { throwIfNoEntry: false })?.mtimeMs;
    if (used !== undefined && Date.now() - used > FILES_UNUSED_MS)
      rmSync(join(all, name), { recursive: true, force: true });
  }
}

/**
 * Creates a folder of files that sandboxes read, completely or not at all, unless it exists: its name depends on its
 * content.
 */
function writeOnce(folder: string, files: Readonly<Record<string, string>>): void {
  if (existsSync(folder)) return;
  const building = ownFolder(dirname(folder), 'building');
  mkdirSync(building, { recursive: true, mode: 0o755 });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(building, name), text, { mode: 0o644 });
  try {
    renameSync(building, folder);
  } catch (thrown) {
    rmSync(building, { recursive: true, force: true });
    // Another process was faster; its files are the same.
    if (!existsSync(folder)) throw thrown;
  }
}

/**
 * A folder of the host that a sandbox sees through an overlay mount. /proc/self/mountinfo shows every process the
 * source of a bind mount, but of an overlay mount only the options as they were given. These are names of links here,
 * so that no path of the host is visible.
 */
export interface MergedView {
  /** Options of the mount: `lowerdir`, `upperdir` and `workdir` are names in the area's mount folder. */
  readonly options: string;
  /** Where it is mounted: on the folder itself. */
  readonly at: string;
  /** If it cannot be mounted this way, it is bound directly: its path becomes visible, with no other effect. */
  readonly optional: boolean;
}

interface ViewInput {
  readonly spec: ExecSpec;
  /** Folder of the synthetic /etc. */
  readonly etc: string;
  /** Host folder that is visible as /opt/toolchain. */
  readonly toolchain: string;
  /** An empty folder: a read-only overlay mount needs two layers. */
  readonly empty: string;
  readonly owner: Owner | null;
}

/**
 * The overlay mounts of one command, and the links that name their layers, created in the folder that the area's mount
 * covers. What our own programs read in a read-only run is bound directly.
 */
export function makeViews({ spec, etc, toolchain, empty, owner }: ViewInput): readonly MergedView[] {
  const { area } = spec;
  const names = new Map<string, string>();
  const name = (path: string): string => {
    const known = names.get(path) ?? createHash('sha256').update(path).digest('hex').slice(0, 12);
    if (!names.has(path)) linkOnce(path, join(area.merged, known));
    names.set(path, known);
    return known;
  };
  const through = (at: string, layers: OverlayLayers, optional = false): MergedView => ({
    options: [...overlayOptions(layers, name), 'userxattr', 'nosuid', 'nodev'].join(','),
    at,
    optional,
  });
  if (spec.readOnly) return [through(area.merged, { lowers: [area.upper, ...area.lowers] })];
  const work = join(area.work, 'home');
  folderOf(work, owner);
  // Tools are mostly mounted at their host paths too; copies by Runoff are not.
  const copies = (area.tools?.mounts ?? []).flatMap(({ from, to }) => (from === to ? [] : [from]));
  const folders = [etc, toolchain, ...copies, ...(spec.binds ?? []).map(({ from }) => from)];
  return [
    ...folders.filter(isDirectory).map((path) => through(path, { lowers: [path, empty] }, true)),
    through(area.home, { lowers: [area.homeLower ?? empty], upper: area.home, work }),
    through(area.merged, { lowers: area.lowers, upper: area.upper, work: area.work }),
  ];
}

interface OverlayLayers {
  readonly lowers: readonly string[];
  readonly upper?: string;
  readonly work?: string;
}

const overlayOptions = (
  { lowers, upper, work }: OverlayLayers,
  name: (path: string) => string,
): readonly string[] => [
  `lowerdir=${lowers.map(name).join(':')}`,
  ...(upper === undefined ? [] : [`upperdir=${name(upper)}`]),
  ...(work === undefined ? [] : [`workdir=${name(work)}`]),
];

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The name is derived from the path, so an existing link is the same. */
function linkOnce(path: string, link: string): void {
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(path, link);
}

function folderOf(path: string, owner: Owner | null): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(path, { mode: 0o755 });
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
}
