import { GitError, type SimpleGitOptions, simpleGit } from 'simple-git';
import { Fault } from '../../core/model/index.ts';
import type { GitCredential } from '../../ports/index.ts';
import { isFull } from './tools.ts';

/** The user that sandboxed work runs as and that owns all checkouts; null where we are that user already. */
export type Owner = { readonly uid: number; readonly gid: number } | null;

export interface GitCall {
  /** Folder that git is started in; must exist. */
  readonly cwd: string;
  readonly args: readonly string[];
  /** Added to the clean environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
  readonly as?: Owner;
  /** Settings of this one call: they beat every file, the repository's own included. */
  readonly config?: Readonly<Record<string, string>>;
  /** Reaches git as a header by environment: it stands in no argv, URL or file (I3). */
  readonly login?: { readonly url: string; readonly credential: GitCredential };
  /** Milliseconds without output after which git is stopped; absent: none. */
  readonly silenceMs?: number;
}

export interface GitDone {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs git on the host; rejects only when git could not be run or was killed, never for its exit code. */
export type Git = (call: GitCall) => Promise<GitDone>;

/**
 * Settings of every host git, as a file: `safe.directory` must also reach the upload-pack that a local fetch starts,
 * and git takes settings given by environment away from that child.
 */
export const GIT_SETTINGS = `[safe]
	directory = *
[init]
	defaultBranch = work
	templateDir =
[core]
	hooksPath = /dev/null
	fsmonitor = false
	quotePath = false
	autocrlf = false
	symlinks = true
	logAllRefUpdates = false
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol]
	allow = never
[protocol "file"]
	allow = always
[protocol "http"]
	allow = always
[protocol "https"]
	allow = always
[http]
	followRedirects = false
	lowSpeedLimit = 1000
	lowSpeedTime = 60
[push]
	negotiate = true
[fetch]
	recurseSubmodules = false
[submodule]
	recurse = false
[advice]
	detachedHead = false
`;

/** Kept from our own environment: where programs are, and how the network is reached. */
const INHERITED = [
  'PATH',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

// simple-git refuses these when they could come from a user. Here each value is ours: the settings file above, and
// settings by environment, which is how a login stays out of argv and files, and how hooks and monitors of a user's
// repository are switched off for one call. The program for the other end of a fetch is git's own, by name.
const UNSAFE = {
  allowUnsafeConfigPaths: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeFilter: true,
  allowUnsafePack: true,
} as const satisfies SimpleGitOptions['unsafe'];

const NO_SPACE = 'fatal: No space left on device';

export function openGit(settingsFile: string): Git {
  return async (call) => {
    const env = environment(call, settingsFile);
    const end: { exitCode: number | null; stderr: string } = { exitCode: null, stderr: '' };
    const git = simpleGit({
      baseDir: call.cwd,
      trimmed: false,
      allowEnvironment: Object.keys(env),
      unsafe: UNSAFE,
      completion: { onClose: true, onExit: false },
      input: () => call.input,
      errors: (error, result) => {
        end.exitCode = result.exitCode;
        end.stderr = Buffer.concat(result.stdErr).toString('utf8');
        return error instanceof Error && !(error instanceof GitError) ? error : undefined;
      },
      ...(call.as ? { spawnOptions: { uid: call.as.uid, gid: call.as.gid } } : {}),
      ...(call.silenceMs === undefined ? {} : { timeout: { block: call.silenceMs } }),
    });
    const stdout = await git.env(env).raw([...call.args]);
    if (typeof end.exitCode !== 'number' || end.exitCode < 0) {
      throw new Fault('INTERNAL', `git ${call.args[0]} was killed before it was done.`);
    }
    // Git does not always say why a write failed.
    const full = end.exitCode !== 0 && (await isFull(call.cwd));
    return { exitCode: end.exitCode, stdout, stderr: full ? `${end.stderr}\n${NO_SPACE}` : end.stderr };
  };
}

function environment(call: GitCall, settingsFile: string): Record<string, string> {
  const settings = Object.entries(call.config ?? {});
  if (call.login) settings.push(loginHeader(call.login));
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  Object.assign(env, {
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: settingsFile,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    // A repository can say that missing objects are to be fetched, and by which program.
    GIT_NO_LAZY_FETCH: '1',
    ...call.env,
  });
  if (settings.length === 0) return env;
  env.GIT_CONFIG_COUNT = String(settings.length);
  settings.forEach(([key, value], at) => {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  });
  return env;
}

function loginHeader(login: NonNullable<GitCall['login']>): [string, string] {
  const { username, password } = login.credential;
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return [`http.${new URL(login.url).origin}/.extraHeader`, `Authorization: Basic ${basic}`];
}
