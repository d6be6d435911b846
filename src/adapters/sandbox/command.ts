import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { mayStartLater, retryLost } from '../../core/model/index.ts';
import { asOwner, type Owner } from './owner.ts';

/** Where the host's own programs are looked for; the operator's PATH is not trusted with it. */
export const HOST_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Most characters of each stream of a host program, our default; their output is short. More ends the program. */
const MOST_OUTPUT = 1024 * 1024;

export interface CommandEnd {
  /** Null when the program could not be started or was ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  /** What it wrote, or why it could not be started. */
  readonly stderr: string;
}

/** Runs a trusted host program to its end with an empty environment but PATH, again where it was killed. Never rejects. */
export async function runCommand(
  argv: readonly [string, ...string[]],
  owner: Owner | null,
): Promise<CommandEnd> {
  const { lost: _, ...end } = await retryLost(
    sleep,
    () => runOnce(argv, owner),
    ({ lost }) => lost,
  );
  return end;
}

async function runOnce([file, ...args]: readonly [string, ...string[]], owner: Owner | null) {
  const end = await execa(file, args, {
    cwd: '/',
    env: { PATH: HOST_PATH },
    extendEnv: false,
    stdin: 'ignore',
    stripFinalNewline: false,
    reject: false,
    maxBuffer: MOST_OUTPUT,
    ...asOwner(owner),
  });
  const why = end instanceof Error ? (end.shortMessage ?? '') : '';
  const { signal, code } = end as { readonly signal?: string; readonly code?: string };
  // Output without end is cut off by ourselves. What is not there now is not looked for again: it is a question here.
  const killed = signal !== undefined && code === undefined;
  return {
    lost: killed || (code !== 'ENOENT' && mayStartLater(code)),
    code: end.exitCode ?? null,
    stdout: end.stdout ?? '',
    stderr: end.stderr || why,
  };
}
