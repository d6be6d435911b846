import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { killGroup } from '../kill-group.ts';
import { createClip } from './output.ts';

export interface ShellOptions {
  readonly cwd: string;
  readonly timeoutSeconds: number;
  /** Characters of output that are kept, standard error included. */
  readonly outputCharacters: number;
  readonly signal: AbortSignal;
  readonly onOutput: () => void;
}

/** How long output is read after the command has ended, when something it started holds the pipe. */
const DRAIN_MS = 500;

/**
 * Runs a command in bash and returns its output and how it ended. The command and all it left running in its group
 * are dead afterwards. It does not see our key: it could spend the budget with it.
 */
export async function runShell(command: string, options: ShellOptions): Promise<string> {
  const { GW_KEY: _key, GW_URL: _url, ...env } = process.env;
  const child = spawn('bash', ['-c', command], {
    cwd: options.cwd,
    env: { ...env, CI: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', NO_COLOR: '1' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const clip = createClip(options.outputCharacters);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      clip.add(text);
      options.onOutput();
    });
  }
  const ended = Promise.withResolvers<string>();
  const closed = Promise.withResolvers<void>();
  child.on('error', (error) => ended.resolve(`could not be started: ${error.message}`));
  child.on('exit', (code, signal) =>
    ended.resolve(code === null ? `killed by ${signal}` : `exit code ${code}`),
  );
  child.on('close', () => closed.resolve());

  let stopped: string | null = null;
  const stop = (why: string) => {
    stopped ??= why;
    killGroup(child.pid);
  };
  const timer = setTimeout(
    () => stop(`stopped after ${options.timeoutSeconds} s`),
    options.timeoutSeconds * 1000,
  );
  const onAbort = () => stop('stopped: the time for the whole task is over');
  options.signal.addEventListener('abort', onAbort);
  if (options.signal.aborted) onAbort();
  const end = await ended.promise;
  clearTimeout(timer);
  options.signal.removeEventListener('abort', onAbort);
  killGroup(child.pid);
  await Promise.race([closed.promise, sleep(DRAIN_MS)]);
  child.stdout.destroy();
  child.stderr.destroy();
  return `${clip.text()}\n[${stopped ?? end}]`.trimStart();
}
