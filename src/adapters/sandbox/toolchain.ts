import { createHash } from 'node:crypto';
import { constants, existsSync, readFileSync, realpathSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { z } from 'zod';
import { Fault, machineFaultIn } from '../../core/model/index.ts';
import { INSIDE } from './filesystem.ts';
import { type Owner, runCommand } from './processes.ts';
import { ownFolder } from './scratch.ts';

interface Toolchain {
  /** Pass it to `openBubblewrap` as `toolchain`. */
  readonly dir: string;
  /** Such as `24.1.0`. */
  readonly nodeVersion: string;
  /** Version of the npm in it; null if this host has none. */
  readonly npm: string | null;
}

/** The headers of this Node, where its package has them. */
const OWN_HEADERS = join(dirname(process.execPath), '../include/node');
const BRIDGE = join(import.meta.dirname, 'bridge.mjs');

/**
 * Copies what every sandbox needs (this Node, the host's npm and the bridge) to a folder in `dir` that is named after
 * their versions, unless it exists. A copy, because Runoff may be installed where `owner` cannot read. `environment`
 * tells where npm is (npm_execpath, PATH).
 */
export async function prepareToolchain(options: {
  readonly dir: string;
  readonly owner: Owner | null;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}): Promise<Toolchain> {
  const { owner, environment = process.env } = options;
  const npm = findNpm(environment);
  const nodeVersion = process.versions.node;
  const dir = join(options.dir, toolchainName(nodeVersion, npm));
  if (!existsSync(dir)) await buildToolchain(dir, npm);
  await mustRun([join(dir, 'bin/node'), '--version'], owner, `Sandboxes cannot run ${dir}/bin/node`);
  return { dir, nodeVersion, npm: npm?.version ?? null };
}

interface NpmPackage {
  readonly folder: string;
  readonly version: string;
}

/** The bridge's digest is part of the name, so that a newer Runoff does not use an older bridge. */
function toolchainName(nodeVersion: string, npm: NpmPackage | null): string {
  const bridge = createHash('sha256').update(readFileSync(BRIDGE)).digest('hex').slice(0, 8);
  const headers = existsSync(OWN_HEADERS) ? '-headers' : '';
  return `node-${nodeVersion}-${process.arch}-npm-${npm?.version ?? 'none'}-${bridge}${headers}`;
}

const PackageFile = z.object({ name: z.string(), version: z.string().regex(/^[\w.+-]+$/) });

/** The npm package that contains a path, if it is npm's: npm_execpath may belong to another package manager. */
function npmPackageAround(path: string): NpmPackage | null {
  if (!existsSync(path)) return null;
  for (let folder = dirname(realpathSync(path)); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (!existsSync(file)) continue;
    const found = PackageFile.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    // Some distributions keep npm's dependencies elsewhere; a copy of their package does not run.
    const whole = existsSync(join(folder, 'node_modules'));
    return found.data?.name === 'npm' && whole ? { folder, version: found.data.version } : null;
  }
  return null;
}

function findNpm(environment: Readonly<Record<string, string | undefined>>): NpmPackage | null {
  const places = [
    environment.npm_execpath ?? '',
    ...(environment.PATH ?? '').split(delimiter).map((folder) => join(folder, 'npm')),
    join(dirname(process.execPath), '../lib/node_modules/npm/package.json'),
  ];
  for (const place of places) {
    const found = place.startsWith('/') ? npmPackageAround(place) : null;
    if (found !== null) return found;
  }
  return null;
}

async function buildToolchain(dir: string, npm: NpmPackage | null): Promise<void> {
  const building = ownFolder(dirname(dir), 'building');
  try {
    await mkdir(join(building, 'bin'), { recursive: true, mode: 0o755 });
    // No hard link: a change of mode or owner would also affect the original.
    await copyFile(process.execPath, join(building, 'bin/node'), constants.COPYFILE_FICLONE);
    await chmod(join(building, 'bin/node'), 0o755);
    await copyFile(BRIDGE, join(building, 'bridge.mjs'));
    await chmod(join(building, 'bridge.mjs'), 0o644);
    if (npm !== null) await addNpm(building, npm);
    if (existsSync(OWN_HEADERS)) await addHeaders(building);
    await mustRun(
      ['chmod', '-R', 'a+rX', '--', building],
      null,
      'The toolchain could not be opened to sandboxes',
    );
    await rename(building, dir);
  } catch (thrown) {
    await rm(building, { recursive: true, force: true });
    // Another process was faster; its result is the same.
    if (!existsSync(dir)) throw thrown;
  }
}

/** Native packages are compiled with them (`withNodeHeaders`). Hardly any needs those of OpenSSL, which are 65 MB. */
async function addHeaders(building: string): Promise<void> {
  const filter = (path: string) => basename(path) !== 'openssl';
  await cp(OWN_HEADERS, join(building, 'include/node'), { recursive: true, filter });
}

async function addNpm(building: string, npm: NpmPackage): Promise<void> {
  const copy = join(building, 'lib/node_modules/npm');
  await mkdir(copy, { recursive: true });
  // npm has 2,000 files, for which Node's own copying takes eight times as long.
  await mustRun(['cp', '-R', '-P', '--', `${npm.folder}/.`, copy], null, 'npm could not be copied');
  for (const program of ['npm', 'npx']) {
    const script = `${INSIDE.toolchain}/lib/node_modules/npm/bin/${program}-cli.js`;
    const path = join(building, 'bin', program);
    await writeFile(path, `#!/bin/sh\nexec ${INSIDE.node} ${script} "$@"\n`, { mode: 0o755 });
  }
}

async function mustRun(
  argv: readonly [string, ...string[]],
  owner: Owner | null,
  otherwise: string,
): Promise<void> {
  const end = await runCommand(argv, owner);
  if (end.code === 0) return;
  throw new Fault(machineFaultIn(end.stderr) ?? 'SANDBOX_UNAVAILABLE', `${otherwise}: ${end.stderr.trim()}`);
}
