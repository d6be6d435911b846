import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/** Milliseconds until a program that is still running counts as successful. Our default. */
const STARTED_MS = 3_000;

/** Characters of its standard error that are kept. */
const KEPT_CHARS = 200;

/**
 * Opens a file with a program of the desktop, such as `xdg-open`. Returns why it could not, as a clause; null if the
 * program succeeded or is still running: some last as long as the browser. Neither it nor its output keeps this process
 * alive, and Ctrl-C at the terminal does not reach it.
 */
export async function openOnDesktop(
  program: string,
  file: string,
  { env, startedMs = STARTED_MS }: { readonly env: NodeJS.ProcessEnv; readonly startedMs?: number },
): Promise<string | null> {
  const child = spawn(program, [file], {
    cwd: '/',
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let written = '';
  // Read until this process ends, so that the browser does not wait for a reader.
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written = `${written}${text}`.slice(0, KEPT_CHARS);
  });
  child.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
  child.on('error', ({ message }) => resolve(message));
  // The browser that it started may keep its standard error open.
  child.on('exit', (code) => code === 0 && resolve(null));
  child.on('close', (code, signal) =>
    resolve(written.trim().split('\n', 1)[0] || `it ended with ${code ?? signal}`),
  );
  const timer = setTimeout(resolve, startedMs, null);
  return promise.finally(() => clearTimeout(timer));
}
