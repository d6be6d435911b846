import { randomBytes } from 'node:crypto';
import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { Fault } from '../../core/model/index.ts';
import { suggest } from '../../core/settings/index.ts';
import { AGENTS, type InstallableAgent, installedVersion, programFile } from './catalogue.ts';
import { npmInstall } from './npm.ts';

export interface InstallRequest {
  /** Folder of all agents; made when it is not there. */
  readonly folder: string;
  readonly name: string;
  /** Exact, such as `1.2.3`; absent: the version that our tests run with. */
  readonly version?: string;
  /** Gets what npm says while it works. */
  readonly onLine: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Milliseconds that npm may take from its start. Default: LIMIT_MS. */
  readonly limitMs?: number;
  /** Tells where npm is (npm_execpath, PATH) and how it reaches its registry. Default: this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface Installed {
  readonly version: string;
  /** What it takes on the disk. */
  readonly bytes: number;
}

/** Longest that npm may work on one agent: the largest, Codex, takes 400 MB on the disk. Our default. */
const LIMIT_MS = 10 * 60_000;

const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/**
 * Installs an agent with npm, without running any script of a package, in place of the version that was there. Whole or
 * not at all: what a crash leaves behind is a hidden folder that nobody reads. Faults: AGENT_UNKNOWN, AGENT_INSTALL_FAILED,
 * DISK_FULL. Rejects with AbortError when the signal is aborted before it is in place.
 */
export async function installAgent(request: InstallRequest): Promise<Installed> {
  const { folder, name, onLine, signal, limitMs = LIMIT_MS, environment = process.env } = request;
  const { agent, version } = installable(name, request.version);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const mark = randomBytes(6).toString('hex');
  const fresh = join(folder, `.${name}.${mark}`);
  const old = `${fresh}.old`;
  try {
    await mkdir(fresh, { mode: 0o755 });
    // Without one of its own, npm would look for a project in the folders above.
    await writeFile(join(fresh, 'package.json'), '{ "private": true }\n');
    const spec = `${agent.asked}@${version}${agent.suffix}`;
    const end = await npmInstall({ folder: fresh, spec, limitMs, environment, onLine, signal });
    if (end.kind === 'absent') throw absent(end.why, agent, version);
    await requireWhole(folder, basename(fresh), agent, version);
    const bytes = await sizeOf(fresh);
    signal?.throwIfAborted();
    await putInPlace(fresh, join(folder, name), old);
    return { version, bytes };
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
}

/**
 * The agent and the exact version that are installed for a name and, maybe, a version. Faults with AGENT_UNKNOWN where
 * there is no such agent or the version is not exact; whether the registry has it only the installation tells.
 */
export function installable(
  name: string,
  version?: string,
): { readonly agent: InstallableAgent; readonly version: string } {
  const agent = AGENTS.find((one) => one.name === name);
  if (!agent) throw new Fault('AGENT_UNKNOWN', unknownText(name));
  if (version === undefined) return { agent, version: agent.tested };
  if (!EXACT.test(version))
    throw new Fault(
      'AGENT_UNKNOWN',
      `${JSON.stringify(version)} is no exact version of ${name}. Write ${name}@${agent.tested}, the one that Runoff was tried with, or another in that form.`,
    );
  return { agent, version };
}

function unknownText(name: string): string {
  const known = AGENTS.map((one) => one.name);
  const meant = suggest(name.slice(0, 60), known);
  const question = meant === null ? '' : ` Did you mean ${meant}?`;
  return `${JSON.stringify(name)} cannot be installed.${question} These can: ${known.join(', ')}.`;
}

/** The registry may be a mirror that lacks what everybody else has: the word was wrong only if a version was written. */
function absent(why: string, { name, tested, asked }: InstallableAgent, version: string): Fault {
  const packageName = asked.split('@npm:').at(-1) ?? asked;
  return version === tested
    ? new Fault('AGENT_INSTALL_FAILED', `${why} It is the version that Runoff was tried with.`)
    : new Fault(
        'AGENT_UNKNOWN',
        `${why} \`npm view ${packageName} versions\` lists those that it has; Runoff was tried with ${name}@${tested}.`,
      );
}

/** The program is there in the version that was asked for, and sandboxes, which run as another user, can read it. */
async function requireWhole(
  folder: string,
  fresh: string,
  agent: InstallableAgent,
  version: string,
): Promise<void> {
  const opened = await execa('chmod', ['-R', 'a+rX', '--', join(folder, fresh)], { reject: false });
  if (opened.failed) throw new Fault('AGENT_INSTALL_FAILED', `Sandboxes cannot read it: ${opened.stderr}`);
  const program = programFile(join(folder, fresh), agent);
  const mode = agent.script ? constants.R_OK : constants.X_OK;
  const there = await access(program, mode).then(
    () => true,
    () => false,
  );
  const found = await installedVersion(folder, fresh, agent.package);
  if (!there || found !== version)
    throw new Fault(
      'AGENT_INSTALL_FAILED',
      `npm ended well, but ${agent.name} ${version} has no program at ${agent.package}/${agent.program}.`,
    );
}

/** Bytes on the disk. */
async function sizeOf(folder: string): Promise<number> {
  const { failed, stdout, stderr } = await execa('du', ['-sk', '--', folder], { reject: false });
  const kilobytes = Number.parseInt(stdout, 10);
  if (failed || Number.isNaN(kilobytes))
    throw new Fault('AGENT_INSTALL_FAILED', `Its size cannot be told: ${stderr}`);
  return kilobytes * 1024;
}

async function putInPlace(fresh: string, place: string, old: string): Promise<void> {
  await rename(place, old).catch(unlessMissing);
  try {
    await rename(fresh, place);
  } catch (thrown) {
    await rename(old, place).catch(unlessMissing);
    throw thrown;
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
