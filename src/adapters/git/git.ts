import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { getSystemErrorName } from 'node:util';
import { GitError, type SimpleGitOptions, simpleGit } from 'simple-git';
import {
  type ChildLost,
  mayStartLater,
  programKilled,
  restarting,
  retryLost,
  signalIn,
} from '../../core/model/index.ts';
import type { GitCredential } from '../../ports/index.ts';
import { ensureSettings } from './host-settings.ts';
import { type FileOwner, isFull, watchSize } from './trees.ts';

export interface GitCall {
  /** Folder in which git is started; must exist. */
  readonly cwd: string;
  readonly args: readonly string[];
  /** Added to the clean environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
  readonly as?: FileOwner;
  /** Settings for this call only: they override every file, including the repository's own. */
  readonly config?: Readonly<Record<string, string>>;
  /** Passed to git as a header in the environment, never in argv, URLs or files (I3). */
  readonly login?: { readonly url: string; readonly credential: GitCredential };
  /** Git is stopped after this many milliseconds without output. Default: never. */
  readonly silenceMs?: number;
  /** Git is stopped after this many milliseconds, whatever it does. Default: never. */
  readonly maxMs?: number;
  /** Git is stopped when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Git is stopped when `cwd` has more bytes on disk than this. Default: never. */
  readonly maxBytes?: number;
  /** Removes what a killed git may have left, such as lock files, before it is started again. */
  readonly onKilled?: () => Promise<void>;
  /**
   * How often git is started if it is killed; `once` for a caller that must first check the result. Default: four
   * times.
   */
  readonly starts?: 'once';
}

export interface GitDone {
  /** The folder in which it was started. */
  readonly cwd: string;
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs git on the host; never rejects because of its exit code. If git or one of its helpers is killed, it is started
 * again. Rejects with PROGRAM_KILLED if that does not help.
 */
export type Git = (call: GitCall) => Promise<GitDone>;

/** Inherited from our own environment: where programs are, and how to reach the network. */
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

// simple-git rejects these in case they come from a user. Here each value is ours: the settings file above, and
// settings in the environment, which keep a login out of argv and files, and disable for one call what a user's
// repository sets. The program for the other end of a fetch is git's own, by name.
const UNSAFE = {
  allowUnsafeAlias: true,
  allowUnsafeAskPass: true,
  allowUnsafeCommandBinaries: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeDiffExternal: true,
  allowUnsafeDiffTextConv: true,
  allowUnsafeEditor: true,
  allowUnsafeExec: true,
  allowUnsafeFilter: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeGitProxy: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeHooksPath: true,
  allowUnsafeInclude: true,
  allowUnsafeMergeDriver: true,
  allowUnsafePack: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
  allowUnsafeSubmodule: true,
  allowUnsafeTemplateDir: true,
  allowUnsafeUrlRewrite: true,
} as const satisfies SimpleGitOptions['unsafe'];

const NO_SPACE = 'fatal: No space left on device';

type GitEnd = Omit<GitDone, 'cwd'> & { readonly kind: 'done' };

/** Every git reads `settingsFile`, which is written where it is missing or not as it should be. */
export function openGit(settingsFile: string): Git {
  return async (call) => {
    await ensureSettings(settingsFile);
    const program = `git ${call.args[0]}`;
    let killed = false;
    const run = () =>
      restarting<GitEnd | ChildLost>(program, sleep, async () => {
        if (killed) await call.onKilled?.();
        const end = await start(call, settingsFile);
        killed = end.kind === 'lost';
        if (call.starts === 'once' && end.kind === 'lost') throw programKilled(program, end);
        return end;
      });
    // The result of the fourth try is final: what git reads may be damaged.
    const { kind: _, ...done } = await retryLost(sleep, run, (end) => {
      killed = lostOtherEnd(call, end);
      return killed;
    });
    // Git does not always say why a write failed.
    const full = done.exitCode !== 0 && existsSync(call.cwd) && (await isFull(call.cwd));
    return { ...done, cwd: call.cwd, stderr: full ? `${done.stderr}\n${NO_SPACE}` : done.stderr };
  };
}

async function start(call: GitCall, settingsFile: string): Promise<GitEnd | ChildLost> {
  if (!existsSync(call.cwd)) return failedGit(`fatal: there is no folder ${call.cwd}`);
  const env = environment(call, settingsFile);
  const end: { exitCode: number | null; stderr: string; silent: boolean } = {
    exitCode: null,
    stderr: '',
    silent: false,
  };
  const size = watchSize(call.cwd, call.maxBytes);
  const late = call.maxMs === undefined ? null : AbortSignal.timeout(call.maxMs);
  const stop = AbortSignal.any([size.exceeded, late ?? [], call.signal ?? []].flat());
  const stopped = Promise.withResolvers<''>();
  stop.addEventListener('abort', () => stopped.resolve(''), { once: true });
  if (stop.aborted) stopped.resolve('');
  const git = simpleGit({
    baseDir: call.cwd,
    abort: stop,
    trimmed: false,
    allowEnvironment: Object.keys(env),
    unsafe: UNSAFE,
    completion: { onClose: true, onExit: false },
    input: () => call.input,
    errors: (error, result) => {
      end.exitCode = result.exitCode;
      end.stderr = Buffer.concat(result.stdErr).toString('utf8');
      end.silent = error instanceof Error && /block timeout/.test(error.message);
      return error instanceof Error && !(error instanceof GitError) ? error : undefined;
    },
    ...(call.as ? { spawnOptions: { uid: call.as.uid, gid: call.as.gid } } : {}),
    ...(call.silenceMs === undefined ? {} : { timeout: { block: call.silenceMs } }),
  });
  const running: Promise<string> = (async () => git.env(env).raw([...call.args]))();
  // A helper of a stopped git may keep its pipes open until its server answers.
  const stdout = await Promise.race([running, stopped.promise]).finally(size.end);
  if (call.signal?.aborted) return failedGit('fatal: cancelled');
  if (size.exceeded.aborted)
    return failedGit(`fatal: more than ${Math.round((call.maxBytes ?? 0) / 2 ** 20)} MiB`);
  if (late?.aborted) return failedGit(`fatal: not done after ${Math.round((call.maxMs ?? 0) / 1000)} s`);
  if (end.silent) return failedGit(`fatal: no answer for ${Math.round((call.silenceMs ?? 0) / 1000)} s`);
  const { exitCode, stderr } = end;
  if (typeof exitCode !== 'number') return { kind: 'lost', how: 'was killed' };
  // The negative number of the system error, if no process was started.
  if (exitCode < 0) return notStarted(getSystemErrorName(exitCode));
  return lostHelper(call, exitCode, stderr) ?? { kind: 'done', exitCode, stdout, stderr };
}

const failedGit = (stderr: string): GitEnd => ({ kind: 'done', exitCode: 128, stdout: '', stderr });

function notStarted(code: string): GitEnd | ChildLost {
  const how = `could not be started: ${code}`;
  return mayStartLater(code) ? { kind: 'lost', how } : failedGit(`fatal: git ${how}`);
}

/** Git exits with 129 for arguments that it does not know. */
const USAGE_EXIT = 129;
/** A helper whose reader has ended dies of this signal; what ended the reader is the cause. */
const PIPE = 13;

/**
 * Git reports which of its helper programs was killed; a wrapper around git adds 128 to the signal. A git that reads its
 * input has no helpers, but may quote from the input what looks like such a report.
 */
function lostHelper({ input }: GitCall, exitCode: number, stderr: string): ChildLost | null {
  if (exitCode === 0) return null;
  const reported = input === undefined ? /^error: (\S+).* died of signal (\d+)/m.exec(stderr) : null;
  const [, helper, signal] = reported ?? [];
  if (signal !== undefined && Number(signal) !== PIPE) {
    return { kind: 'lost', program: `${helper} of git`, how: `was killed by signal ${signal}` };
  }
  const own = exitCode === USAGE_EXIT ? null : signalIn(exitCode);
  return own === null || own === PIPE ? null : { kind: 'lost', how: `was killed by signal ${own}` };
}

const OTHER_END_GONE =
  /^fatal: (?:Could not read from remote|the remote end hung up|early EOF|protocol error)/m;

/**
 * Whether a fetch from a folder lost the git process at the other end. It may be killed before it has become a program
 * of its own, and then nothing reports the signal.
 */
const lostOtherEnd = ({ args, login, starts }: GitCall, { exitCode, stderr }: GitEnd): boolean =>
  exitCode === 128 &&
  args[0] === 'fetch' &&
  starts !== 'once' &&
  !login &&
  args.some((argument) => argument.startsWith('/')) &&
  OTHER_END_GONE.test(stderr) &&
  !stderr.includes('does not appear to be a git repository');

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
    // A repository can ask for missing objects to be fetched, and name the program for that.
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
