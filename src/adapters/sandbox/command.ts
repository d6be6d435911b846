import { spawn } from 'node:child_process';
import { asOwner, type Owner } from './owner.ts';

/** Where the host's own programs are looked for; the operator's PATH is not trusted with it. */
export const HOST_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Most characters of each stream that are kept of a host program, our default; their output is short. */
const KEPT = 64 * 1024;

export interface CommandEnd {
  /** Null when the program could not be started or was ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  /** What it wrote, or why it could not be started. */
  readonly stderr: string;
}

/** Runs a trusted host program to its end with an empty environment but PATH. Never rejects. */
export function runCommand(argv: readonly [string, ...string[]], owner: Owner | null): Promise<CommandEnd> {
  const [file, ...args] = argv;
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: HOST_PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...asOwner(owner),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < KEPT) stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < KEPT) stderr += text;
    });
    child.on('error', (error) => resolve({ code: null, stdout, stderr: error.message }));
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
