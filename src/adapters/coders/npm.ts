import { execa } from 'execa';
import { Fault } from '../../core/model/index.ts';
import names from './npm-environment.json' with { type: 'json' };

type Variables = Readonly<Record<string, string | undefined>>;

interface NpmRequest {
  /** Folder with a `package.json`; the package comes into its `node_modules`. */
  readonly folder: string;
  /** A package and its exact version, as npm is asked for it. */
  readonly spec: string;
  /** Milliseconds from its start after which npm is stopped. */
  readonly limitMs: number;
  readonly environment: Variables;
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** How npm ended. `absent`: the registry answered, and has no such package or version. */
type NpmEnd = { readonly kind: 'installed' } | { readonly kind: 'absent'; readonly why: string };

const FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--save-exact',
  // Agents run on the sandbox's own Node, so it does not matter which one npm runs on.
  '--no-engine-strict',
  // Named here, because files of settings that we do not see can have others, up to `silent`.
  '--loglevel=warn',
  '--no-json',
  '--no-progress',
  '--no-color',
  // A registry that does not answer is given up within about three minutes; npm's own defaults take over fifteen.
  // The time is one of silence: a large package on a slow line may take longer. Our defaults.
  '--fetch-retries=2',
  '--fetch-timeout=60000',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=10000',
] as const;

/** Installs one package with npm, without its scripts. Faults: AGENT_INSTALL_FAILED, DISK_FULL; rejects when the signal is aborted. */
export async function npmInstall(request: NpmRequest): Promise<NpmEnd> {
  const { folder, spec, limitMs, environment, onLine, signal } = request;
  const [file, ...first] = npmCommand(environment);
  const running = execa(file, [...first, 'install', ...FLAGS, '--prefix', folder, '--', spec], {
    cwd: folder,
    env: forNpm(environment),
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    reject: false,
    lines: true,
    maxBuffer: { all: MOST_LINES },
    timeout: limitMs,
    ...(signal ? { cancelSignal: signal } : {}),
  });
  for await (const line of running.iterable({ from: 'all' })) {
    if (line.trim() !== '' && !NOISE.test(line)) onLine(line);
  }
  const end = await running;
  signal?.throwIfAborted();
  if (end.exitCode === 0 && !end.timedOut) return { kind: 'installed' };
  if (end.code === 'ENOENT')
    throw failed('npm was not found. Install Node with npm, or start Runoff with npm.');
  const said = errorOf(end.all ?? []);
  if (end.timedOut)
    throw failed(
      `npm was stopped: it was not done with ${spec} after ${wordsFor(limitMs)}${said.reason ? ` (${said.reason})` : ''}.`,
    );
  return absentOr(spec, said);
}

const failed = (message: string) => new Fault('AGENT_INSTALL_FAILED', message);

const wordsFor = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1000)} seconds` : `${Math.round(ms / 60_000)} minutes`;

/** Warnings that a package wants another Node than the one npm runs on, which agents do not run on; npm's own stack. */
const NOISE = /^npm (warn EBADENGINE\b|(error|ERR!) +at )/i;

/** Lines of npm's output that are kept. */
const MOST_LINES = 2000;

/** npm itself if it started us (npm_execpath may be another package manager's), else the one on PATH. */
const npmCommand = ({ npm_execpath }: Variables): readonly [string, ...string[]] =>
  npm_execpath?.endsWith('npm-cli.js') ? [process.execPath, npm_execpath] : ['npm'];

/** Forms of the names, in upper or lower case, of the variables that npm gets; `scripts/setup.mjs` reads the same list. */
const ALLOWED = new RegExp(`^(?:${names.join('|')})$`, 'i');

/**
 * npm needs to know where things are and how it reaches its registry. Everything else stays here: keys, logins, and the
 * manner of the npm that started us.
 */
const forNpm = (environment: Variables) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => ALLOWED.test(name)));

/** npm's code and the first reason that it gave, which is the most exact; each may be empty. */
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
  if (code === 'ENOSPC') throw new Fault('DISK_FULL', `No space left for ${spec}.`);
  if (UNREACHABLE.test(code)) throw failed(`The package registry could not be reached (${code}).`);
  if (UNTRUSTED.test(code))
    throw failed(
      `The certificate of the package registry is not trusted (${code}). If a proxy signs it, name its authority with \`npm config set cafile FILE\`.`,
    );
  throw failed(`npm could not install ${spec}: ${reason || code || 'it gave no reason'}`);
}
