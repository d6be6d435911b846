import { randomBytes } from 'node:crypto';
import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { Fault } from '../../core/model/index.ts';
import { AGENTS, type InstallableAgent } from './catalogue.ts';
import { installedVersion, programFile } from './installed.ts';

export interface InstallRequest {
  /** Folder of all agents; made when it is not there. */
  readonly folder: string;
  readonly name: string;
  /** Exact, such as `1.2.3`; absent: the version that our tests run with. */
  readonly version?: string;
  /** Gets what npm says while it works. */
  readonly onLine: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Tells where npm is (npm_execpath, PATH) and how it reaches its registry. Default: this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/**
 * Installs an agent with npm, without running any script of a package, in place of the version that was there. Whole or
 * not at all: what a crash leaves behind is a hidden folder that nobody reads. Faults: AGENT_UNKNOWN, AGENT_INSTALL_FAILED,
 * DISK_FULL. Rejects with AbortError when the signal is aborted before it is in place.
 */
export async function installAgent(request: InstallRequest): Promise<{ readonly version: string }> {
  const { folder, name, signal } = request;
  const agent = agentNamed(name);
  const version = request.version ?? agent.tested;
  if (!EXACT.test(version))
    throw new Fault(
      'AGENT_UNKNOWN',
      `${JSON.stringify(version)} is no exact version, such as ${agent.tested}.`,
    );
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const mark = randomBytes(6).toString('hex');
  const fresh = join(folder, `.${name}.${mark}`);
  const old = `${fresh}.old`;
  try {
    await mkdir(fresh, { mode: 0o755 });
    // Without one of its own, npm would look for a project in the folders above.
    await writeFile(join(fresh, 'package.json'), '{ "private": true }\n');
    await runNpm(request, fresh, `${agent.asked}@${version}${agent.suffix}`);
    await requireWhole(folder, basename(fresh), agent, version);
    signal?.throwIfAborted();
    await putInPlace(fresh, join(folder, name), old);
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
  return { version };
}

function agentNamed(name: string): InstallableAgent {
  const agent = AGENTS.find((one) => one.name === name);
  if (agent) return agent;
  const known = AGENTS.map((one) => one.name).join(', ');
  throw new Fault('AGENT_UNKNOWN', `${JSON.stringify(name)} cannot be installed; these can: ${known}.`);
}

async function runNpm(request: InstallRequest, folder: string, spec: string): Promise<void> {
  const { onLine, signal, environment = process.env } = request;
  const [file, ...first] = npmCommand(environment);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--save-exact'];
  const running = execa(file, [...first, 'install', ...flags, '--prefix', folder, '--', spec], {
    cwd: folder,
    env: withoutKeys(environment),
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    reject: false,
    lines: true,
    maxBuffer: { all: MOST_LINES },
    ...(signal ? { cancelSignal: signal } : {}),
  });
  for await (const line of running.iterable({ from: 'all' })) onLine(line);
  const end = await running;
  signal?.throwIfAborted();
  if (end.exitCode === 0) return;
  if (end.code === 'ENOENT')
    throw new Fault(
      'AGENT_INSTALL_FAILED',
      'npm was not found. Install Node with npm, or start Runoff with npm.',
    );
  throw new Fault('AGENT_INSTALL_FAILED', failureText(spec, (end.all ?? []).join('\n')));
}

/** Lines of npm's output that are kept. */
const MOST_LINES = 2000;

/** npm itself if it started us (npm_execpath may be another package manager's), else the one on PATH. */
const npmCommand = ({
  npm_execpath,
}: Readonly<Record<string, string | undefined>>): readonly [string, ...string[]] =>
  npm_execpath?.endsWith('npm-cli.js') ? [process.execPath, npm_execpath] : ['npm'];

/** npm needs the operator's proxy and registry settings, but none of what we hold for models, GitHub and the database. */
const withoutKeys = (environment: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !/_API_KEY$|^PRIVATE_KEY|^WEBHOOK_SECRET$|^DATABASE_URL$/.test(name),
    ),
  );

function failureText(spec: string, output: string): string {
  const code = /^npm (?:error|ERR!) code (\S+)/m.exec(output)?.[1] ?? '';
  if (/^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E5\d\d)$/.test(code))
    return `The package registry could not be reached (${code}). Check the network, and npm's settings for registry and proxy (\`npm config list\`).`;
  if (code === 'ENOSPC') throw new Fault('DISK_FULL', `No space left for ${spec}.`);
  if (code === 'E404' || code === 'ETARGET') return `The package registry has no ${spec}.`;
  const last = output.split('\n').findLast((line) => /^npm (error|ERR!) (?!code|A complete log)/.test(line));
  return `npm could not install ${spec}: ${last?.replace(/^npm (error|ERR!) /, '') ?? 'it gave no reason'}`;
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
