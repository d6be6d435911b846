import { execFile, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MAX_OUTPUT = 256 << 20;

/** What git sees of us: no configuration of the user or the machine. */
export const gitEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
});

export async function git(directory: string, ...args: readonly string[]): Promise<string> {
  const options = { env: gitEnvironment(), maxBuffer: MAX_OUTPUT, encoding: 'utf8' } as const;
  return (await run('git', ['-C', directory, ...args], options)).stdout;
}

/** Runs git with this text as its standard input. */
export function gitWithInput(directory: string, input: string, ...args: readonly string[]): Promise<Buffer> {
  const child = spawn('git', ['-C', directory, ...args], {
    env: gitEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  // A process that ends early closes its input; its exit code tells why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(parts));
      else reject(new Error(`git ${args.join(' ')} ended with ${code}.`));
    });
  });
}

export type Refs = Readonly<Record<string, string>>;

/** Branches by full ref name. */
export async function branches(directory: string): Promise<Refs> {
  const out = await git(directory, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads');
  const rows = out.split('\n').filter((row) => row !== '');
  return Object.fromEntries(rows.map((row) => row.split(' ') as [string, string]));
}

/** The branch that HEAD names. */
export const currentBranch = async (directory: string): Promise<string> =>
  (await git(directory, 'symbolic-ref', '--short', 'HEAD')).trim();

export const bareDirectory = (root: string, fullName: string): string => join(root, `${fullName}.git`);

export async function copyBare(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await git(dirname(to), 'clone', '--quiet', '--bare', '--no-local', from, to);
  // A push may start housekeeping in the background, which would outlive close().
  await git(to, 'config', 'receive.autogc', 'false');
  await git(to, 'config', 'gc.auto', '0');
  await git(to, 'config', 'maintenance.auto', 'false');
}

/** The contents of blobs, read by one process. */
export async function readBlobs(directory: string, shas: readonly string[]): Promise<readonly Buffer[]> {
  if (shas.length === 0) return [];
  const out = await gitWithInput(directory, `${shas.join('\n')}\n`, 'cat-file', '--batch');
  let position = 0;
  return shas.map((sha) => {
    const header = out.subarray(position, out.indexOf('\n', position)).toString();
    const size = Number(header.split(' ')[2]);
    if (!header.startsWith(`${sha} blob `)) throw new Error(`git has no blob ${sha}: ${header}`);
    const start = position + header.length + 1;
    position = start + size + 1;
    return out.subarray(start, start + size);
  });
}
