import { execa } from 'execa';
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

/** Runs a trusted host program to its end with an empty environment but PATH. Never rejects. */
export async function runCommand(
  argv: readonly [string, ...string[]],
  owner: Owner | null,
): Promise<CommandEnd> {
  const [file, ...args] = argv;
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
  return { code: end.exitCode ?? null, stdout: end.stdout ?? '', stderr: end.stderr || why };
}
