import { spawn } from 'node:child_process';

/** The reader of a long text: `RUNOFF_PAGER`, else `PAGER`, else `less`; null if it is to be printed as it is. */
export function pagerOf(env: Readonly<Record<string, string | undefined>>): string | null {
  const command = (env.RUNOFF_PAGER ?? env.PAGER ?? 'less').trim();
  return command === '' || command === 'cat' ? null : command;
}

/**
 * Shows a finished text in a pager and waits until the reader leaves it. Unless LESS is set, `less` gets git's options: it
 * keeps colours, exits at once if the text fits the screen, and leaves the text there. False if the pager could not be
 * started: nothing was shown.
 */
export function showInPager(
  command: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // A command of the person at this terminal, which may have options: a shell reads it.
  const child = spawn('/bin/sh', ['-c', command], {
    env: { LESS: 'FRX', LV: '-c', ...env },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  // The reader may leave before the end of the text.
  child.stdin.on('error', () => undefined);
  child.on('error', () => resolve(false));
  child.on('close', (code) => resolve(code !== NOT_FOUND && code !== NOT_EXECUTABLE));
  child.stdin.end(text);
  return promise;
}

/** Exit codes of a shell. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
