import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../../../core/model/index.ts';
import { isVersionRange, type NodeManager, type Version } from '../../../core/settings/index.ts';
import type { Tools } from '../../../ports/index.ts';
import { INSIDE } from '../filesystem.ts';
import { runCommand } from '../processes.ts';
import { ownFolder } from '../scratch.ts';
import { type Lender, SHELF } from './lend.ts';

/**
 * Installs a package, without its scripts, into the `node_modules` of a folder. Rejects with a fault that states the
 * reason.
 */
export type InstallPackage = (folder: string, spec: string, signal?: AbortSignal) => Promise<void>;

/**
 * The first line that a program of the sandbox prints, or one of these tools; null if it is missing there or fails.
 */
export type AskInside = (argv: readonly [string, ...string[]], tools?: Tools) => Promise<string | null>;

/** A tool from the registry, in a folder of its own. */
interface PackagedTool {
  readonly version: string;
  readonly tools: Tools;
  /** The range of Node that it asks for; absent: any. */
  readonly node?: string;
}

const ARCH = process.arch === 'arm64' ? 'arm64' : 'x64';
const BUN_ARCH = process.arch === 'arm64' ? 'aarch64' : 'x64';

/** The range comes from the repository, and npm would also install an address, a path or another package under this name. */
function specOf(name: string, range: string): string {
  if (!isVersionRange(range))
    throw new Fault(
      'AGENT_INSTALL_FAILED',
      "That is no range of versions in npm's syntax, so nothing was installed.",
    );
  return `${name}@${range === '' ? 'latest' : range}`;
}

const isBerry = (range: string): boolean => range !== '' && !/^[\^~]?1(?:\.|$)/.test(range);

/** The package that contains a tool. */
function packageOf(name: 'node' | NodeManager, range: string): string {
  switch (name) {
    case 'node':
      return `node-linux-${ARCH}`;
    case 'bun':
      return `@oven/bun-linux-${BUN_ARCH}`;
    case 'yarn':
      return isBerry(range) ? '@yarnpkg/cli-dist' : 'yarn';
    default:
      return name;
  }
}

/** The npm that was bundled with a version of Node, or a newer one that still runs on it. */
export function npmRangeFor([major, minor]: Version): string {
  if (major >= 23 || (major === 22 && minor >= 9)) return '11';
  if (major >= 19 || (major === 18 && minor >= 17)) return '10';
  return major >= 14 ? '8' : '6';
}

const Installed = z.object({
  name: z.string(),
  version: z.string().regex(/^[\w.+-]{1,60}$/),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  engines: z.object({ node: z.string().optional() }).optional().catch(undefined),
});

const installedIn = async (folder: string, name: string): Promise<z.infer<typeof Installed>> =>
  Installed.parse(JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')));

/** Node or a package manager in a range, from the registry, unless it was installed for the same range before. */
export async function packagedTool(
  wanted: { readonly name: 'node' | NodeManager; readonly range: string },
  { dir, install, ask }: Pick<Lender, 'dir'> & { readonly install: InstallPackage; readonly ask: AskInside },
  signal?: AbortSignal,
): Promise<PackagedTool> {
  const spec = specOf(packageOf(wanted.name, wanted.range), wanted.range);
  // A Node that was installed without its headers is installed again.
  const form = wanted.name === 'node' ? '\0headers' : '';
  const key = `${wanted.name}-${createHash('sha256').update(`${spec}\0${ARCH}${form}`).digest('hex').slice(0, 12)}`;
  const folder = join(dir, key);
  if (!existsSync(join(folder, 'version'))) {
    const building = ownFolder(dir, 'building');
    try {
      await build({ ...wanted, spec, building, inside: `${SHELF}/${key}`, install }, signal);
      await rename(building, folder);
    } catch (thrown) {
      // Another process may have been faster.
      if (!existsSync(join(folder, 'version'))) throw thrown;
    } finally {
      await rm(building, { recursive: true, force: true });
    }
  }
  const tools = { mounts: [{ from: folder, to: `${SHELF}/${key}` }], path: [`${SHELF}/${key}/bin`] };
  // In a sandbox, as everything that comes from a package.
  if (wanted.name === 'node' && (await ask([`${SHELF}/${key}/bin/node`, '--version'], tools)) === null)
    throw new Fault(
      'SANDBOX_UNAVAILABLE',
      'The one from the package registry does not start in a sandbox here.',
    );
  const { engines } = await installedIn(folder, packageOf(wanted.name, wanted.range));
  return {
    version: readFileSync(join(folder, 'version'), 'utf8').trim(),
    tools,
    ...(engines?.node === undefined ? {} : { node: engines.node }),
  };
}

interface Build {
  readonly name: 'node' | NodeManager;
  readonly range: string;
  readonly spec: string;
  readonly building: string;
  /** Path of the folder in a sandbox. */
  readonly inside: string;
  readonly install: InstallPackage;
}

async function build(
  { name, range, spec, building, inside, install }: Build,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(join(building, 'bin'), { recursive: true, mode: 0o755 });
  await install(building, spec, signal);
  const at = join('node_modules', packageOf(name, range));
  const found = await installedIn(building, packageOf(name, range));
  if (found.name !== packageOf(name, range))
    throw new Fault(
      'AGENT_INSTALL_FAILED',
      `npm installed another package instead of ${packageOf(name, range)}.`,
    );
  const native = name === 'node' || name === 'bun';
  const programs = native ? { [name]: `bin/${name}` } : binOf(name, found.bin);
  for (const [program, path] of Object.entries(programs)) {
    const target = `${inside}/${at}/${path}`;
    await writeProgram(
      join(building, 'bin', program),
      native ? `exec ${target}` : `${SETTLED}exec node ${target}`,
    );
    if (native) await chmod(join(building, at, path), 0o755);
  }
  if (name === 'bun') await writeProgram(join(building, 'bin/bunx'), `exec ${inside}/${at}/bin/bun x`);
  if (name === 'node') await placeNode(building, at);
  await writeFile(join(building, 'version'), `${found.version.replace(/^v/, '')}\n`);
  const opened = await runCommand(['chmod', '-R', 'a+rX', '--', building], null);
  if (opened.code !== 0)
    throw new Fault('INTERNAL', `${building} could not be made readable: ${opened.stderr.trim()}`);
}

/**
 * Package managers must neither look for another version of themselves nor install before they run a script, as pnpm 11
 * does where a candidate has changed package.json: there is no network.
 */
const SETTLED =
  'export npm_config_manage_package_manager_versions=false pnpm_config_manage_package_manager_versions=false pnpm_config_verify_deps_before_run=false COREPACK_ENABLE_STRICT=0\n';

const binOf = (name: string, bin: string | Readonly<Record<string, string>> = {}): Record<string, string> => {
  const all = typeof bin === 'string' ? { [name]: bin } : bin;
  const plain = ([program, path]: readonly [string, string]): boolean =>
    /^[\w-]+$/.test(program) && /^(?:\.\/)?[\w./-]+$/.test(path) && !path.includes('..');
  return Object.fromEntries(Object.entries(all).filter(plain));
};

const writeProgram = (path: string, line: string): Promise<void> =>
  writeFile(path, `#!/bin/sh\n${line} "$@"\n`, { mode: 0o755 });

/**
 * Node itself instead of a wrapper script: programs start it by `process.execPath` and in shebang lines. And its
 * headers, with which native packages are compiled (`withNodeHeaders`).
 */
async function placeNode(building: string, at: string): Promise<void> {
  await rm(join(building, 'bin/node'));
  await rename(join(building, at, 'bin/node'), join(building, 'bin/node'));
  const headers = join(building, at, 'include');
  if (existsSync(headers)) await rename(headers, join(building, 'include'));
}

/** The yarn that is part of a repository, under the name `yarn`. `release` is its path there. */
export async function releasedYarn(release: string, { dir }: Lender): Promise<PackagedTool> {
  const key = `yarn-${createHash('sha256').update(release).digest('hex').slice(0, 12)}`;
  const folder = join(dir, key);
  if (!existsSync(folder)) {
    const building = ownFolder(dir, 'building');
    try {
      await mkdir(join(building, 'bin'), { recursive: true, mode: 0o755 });
      await writeProgram(join(building, 'bin/yarn'), `exec node ${INSIDE.repo}/${release}`);
      await rename(building, folder);
    } catch (thrown) {
      await rm(building, { recursive: true, force: true });
      // Another process may have been faster.
      if (!existsSync(folder)) throw thrown;
    }
  }
  const tools = { mounts: [{ from: folder, to: `${SHELF}/${key}` }], path: [`${SHELF}/${key}/bin`] };
  return { version: /(\d[\w.-]*?)\.[cm]?js$/.exec(release)?.[1] ?? release, tools };
}
