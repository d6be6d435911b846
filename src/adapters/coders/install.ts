import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { Fault, machineFaultIn, runToEnd } from '../../core/model/index.ts';
import { suggest } from '../../core/settings/index.ts';
import { AGENTS, type InstallableAgent, installedVersion, programFile } from './catalogue.ts';
import names from './npm-environment.json' with { type: 'json' };

interface InstallRequest {
  /** Folder of all agents; created if it does not exist. */
  readonly folder: string;
  /** Returns a new path in it that only this process uses. */
  readonly newFolder: () => string;
  readonly name: string;
  /** Exact, such as `1.2.3`; absent: the version that Runoff's tests use. */
  readonly version?: string;
  /** Gets what npm says while it works. */
  readonly onLine: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Maximum milliseconds for npm from its start. Default: LIMIT_MS. */
  readonly limitMs?: number;
  /** Locates npm (npm_execpath, PATH) and its registry. Default: this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

interface InstalledPackage {
  readonly version: string;
  /** Its size on disk. */
  readonly bytes: number;
}

/** Maximum time for npm to install one agent: the largest, Codex, takes 400 MB on disk. Our default. */
const LIMIT_MS = 10 * 60_000;

const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/**
 * Installs an agent with npm, without running any script of a package, replacing the previous version atomically.
 * Faults: AGENT_UNKNOWN, AGENT_INSTALL_FAILED, DISK_FULL, PROGRAM_KILLED. Rejects with AbortError if the signal is
 * aborted before the replacement.
 */
export async function installAgent(request: InstallRequest): Promise<InstalledPackage> {
  const { folder, name, onLine, signal, limitMs = LIMIT_MS, environment = process.env } = request;
  const { agent, version } = installable(name, request.version);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const [fresh, old] = [request.newFolder(), request.newFolder()];
  try {
    await mkdir(fresh, { mode: 0o755 });
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
 * The agent and exact version to install for a name and an optional version. Faults with AGENT_UNKNOWN if there is no
 * such agent or the version is not exact; only the installation shows whether the registry has it.
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
      `${JSON.stringify(version)} is not an exact version of ${name}. Write ${name}@${agent.tested}, the version that Runoff was tested with, or another in that form.`,
    );
  return { agent, version };
}

function unknownText(name: string): string {
  const known = AGENTS.map((one) => one.name);
  const meant = suggest(name.slice(0, 60), known);
  const question = meant === null ? '' : ` Did you mean ${meant}?`;
  return `${JSON.stringify(name)} cannot be installed.${question} These can: ${known.join(', ')}.`;
}

/** The registry may be an incomplete mirror: the input was wrong only if a version was given. */
function absent(why: string, { name, tested, asked }: InstallableAgent, version: string): Fault {
  const packageName = asked.split('@npm:').at(-1) ?? asked;
  return version === tested
    ? new Fault('AGENT_INSTALL_FAILED', `${why} It is the version that Runoff was tested with.`)
    : new Fault(
        'AGENT_UNKNOWN',
        `${why} \`npm view ${packageName} versions\` lists the available ones; Runoff was tested with ${name}@${tested}.`,
      );
}

/**
 * Requires that the program exists in the requested version and that sandboxes, which run as another user, can read it.
 */
async function requireWhole(
  folder: string,
  fresh: string,
  agent: InstallableAgent,
  version: string,
): Promise<void> {
  const opened = await runToEnd('chmod', sleep, () =>
    execa('chmod', ['-R', 'a+rX', '--', join(folder, fresh)], { reject: false }),
  );
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
      `npm succeeded, but ${agent.name} ${version} has no program at ${agent.package}/${agent.program}.`,
    );
}

/** Bytes on the disk. */
async function sizeOf(folder: string): Promise<number> {
  const { failed, stdout, stderr } = await runToEnd('du', sleep, () =>
    execa('du', ['-sk', '--', folder], { reject: false }),
  );
  const kilobytes = Number.parseInt(stdout, 10);
  if (failed || Number.isNaN(kilobytes))
    throw new Fault('AGENT_INSTALL_FAILED', `Its size cannot be determined: ${stderr}`);
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

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

interface NpmRequest {
  /** The package is installed into its `node_modules`. Existing npm files there are removed first. */
  readonly folder: string;
  /** A package and its exact version in npm's syntax. */
  readonly spec: string;
  /** Maximum milliseconds for npm from its start. */
  readonly limitMs: number;
  readonly environment: EnvironmentVariables;
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** Result of npm. `absent`: the registry answered that it has no such package or version. */
type NpmEnd = { readonly kind: 'installed' } | { readonly kind: 'absent'; readonly why: string };

const NPM_FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--save-exact',
  // Agents run on the sandbox's own Node, so npm's own Node version does not matter.
  '--no-engine-strict',
  // Explicit, because npm's other settings files may set another level, up to `silent`.
  '--loglevel=warn',
  '--no-json',
  '--no-progress',
  '--no-color',
  // A registry that does not respond is abandoned within about three minutes; npm's own defaults take over fifteen. The
  // limit applies to silence: a large package on a slow line may take longer. Our defaults.
  '--fetch-retries=2',
  '--fetch-timeout=60000',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=10000',
] as const;

/**
 * Installs one package with npm, without its scripts; starts over if npm was killed. Faults: AGENT_INSTALL_FAILED,
 * DISK_FULL, PROGRAM_KILLED; rejects when the signal is aborted.
 */
export async function npmInstall(request: NpmRequest): Promise<NpmEnd> {
  const { spec, limitMs, signal } = request;
  const end = await runToEnd('npm', sleep, () => startNpm(request));
  signal?.throwIfAborted();
  if (end.exitCode === 0 && !end.timedOut) return { kind: 'installed' };
  if (end.code === 'ENOENT')
    throw installFault('npm was not found. Install Node with npm, or start Runoff with npm.');
  const npmError = errorOf(end.all ?? []);
  if (end.timedOut)
    throw installFault(
      `npm was stopped: it had not finished ${spec} after ${wordsFor(limitMs)}${npmError.reason ? ` (${npmError.reason})` : ''}.`,
    );
  return absentOr(spec, npmError);
}

async function startNpm({ folder, spec, limitMs, environment, onLine, signal }: NpmRequest) {
  signal?.throwIfAborted();
  for (const left of ['node_modules', 'package-lock.json'])
    await rm(join(folder, left), { recursive: true, force: true });
  // Without a package.json here, npm would search the parent folders for a project.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const [file, ...first] = npmCommand(environment);
  const running = execa(file, [...first, 'install', ...NPM_FLAGS, '--prefix', folder, '--', spec], {
    cwd: folder,
    env: forNpm(environment),
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    reject: false,
    lines: true,
    maxBuffer: { all: MAX_LINES },
    timeout: limitMs,
    ...(signal ? { cancelSignal: signal } : {}),
  });
  for await (const line of running.iterable({ from: 'all' })) {
    if (line.trim() !== '' && !NOISE.test(line)) onLine(line);
  }
  return running;
}

const installFault = (message: string) => new Fault('AGENT_INSTALL_FAILED', message);

const wordsFor = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1000)} seconds` : `${Math.round(ms / 60_000)} minutes`;

/** Irrelevant lines: warnings that a package requires another Node than npm's, and npm's own stack traces. */
const NOISE = /^npm (warn EBADENGINE\b|(error|ERR!) +at )/i;

/** Lines of npm's output that are kept. */
const MAX_LINES = 2000;

/** The npm that started this process (npm_execpath may belong to another package manager), else the one on PATH. */
const npmCommand = ({ npm_execpath }: EnvironmentVariables): readonly [string, ...string[]] =>
  npm_execpath?.endsWith('npm-cli.js') ? [process.execPath, npm_execpath] : ['npm'];

/** Patterns of the variables passed to npm, in upper or lower case; `scripts/setup.mjs` reads the same list. */
const ALLOWED = new RegExp(`^(?:${names.join('|')})$`, 'i');

/**
 * The variables that npm needs to find programs and its registry. Keys, logins, and settings of the npm that started
 * this process are not passed on.
 */
const forNpm = (environment: EnvironmentVariables) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => ALLOWED.test(name)));

/** npm's error code and its first message, which is the most specific; each may be empty. */
interface NpmError {
  readonly code: string;
  readonly reason: string;
}

function errorOf(lines: readonly string[]): NpmError {
  const errors = lines.flatMap((line) => /^npm (?:error|ERR!) (.+)/.exec(line)?.[1] ?? []);
  const code = errors.map((text) => /^code (\S+)/.exec(text)?.[1]).find((found) => found !== undefined) ?? '';
  const reason = errors.find((text) => !/^(code|errno|syscall|path|dest|A complete log)\b/.test(text)) ?? '';
  return { code, reason };
}

const UNREACHABLE =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EIDLETIMEOUT|ERR_SOCKET_TIMEOUT|FETCH_ERROR|E5\d\d)$/;
const UNTRUSTED = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/;

function absentOr(spec: string, { code, reason }: NpmError): NpmEnd {
  if (code === 'E404' || code === 'ETARGET')
    return { kind: 'absent', why: `The package registry has no ${spec}.` };
  if (machineFaultIn(`${code} ${reason}`) === 'DISK_FULL')
    throw new Fault('DISK_FULL', `The disk is full: no space is left to install ${spec}.`);
  if (UNREACHABLE.test(code)) throw installFault(`The package registry could not be reached (${code}).`);
  if (UNTRUSTED.test(code))
    throw installFault(
      `The certificate of the package registry is not trusted (${code}). If a proxy signs it, name its authority with \`npm config set cafile FILE\`.`,
    );
  throw installFault(`npm could not install ${spec}: ${reason || code || 'it gave no reason'}`);
}
