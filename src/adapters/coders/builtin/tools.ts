import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, unlinkSync } from 'node:fs';
import { lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tool } from 'ai';
import { z } from 'zod';
import { killGroup } from '../progress.ts';

/** Characters of a command's output that the model sees. Our default, tune on dev data. */
const OUTPUT_CHARACTERS = 12_000;
/** Seconds; our defaults. */
const TIMEOUT = { usual: 120, most: 900 } as const;

interface ToolContext {
  readonly root: string;
  readonly signal: AbortSignal;
  /** Called while a command prints, so that long work does not look like silence. */
  readonly onOutput: () => void;
}

/** All that the model can do. */
export function toolsFor({ root, signal, onOutput }: ToolContext) {
  return {
    bash: tool({
      description:
        'Runs a shell command in the repository: to read, search, build and test. Each call is a new shell in the repository. Long output is cut in the middle.',
      inputSchema: z.object({
        command: z.string().min(1),
        timeoutSeconds: z
          .number()
          .int()
          .min(1)
          .max(TIMEOUT.most)
          .optional()
          .describe(`Default ${TIMEOUT.usual}.`),
      }),
      execute: ({ command, timeoutSeconds = TIMEOUT.usual }) =>
        runShell(command, {
          cwd: root,
          timeoutSeconds,
          outputCharacters: OUTPUT_CHARACTERS,
          signal,
          onOutput,
        }),
    }),
    write: tool({
      description: 'Creates a file, or overwrites it as a whole. Folders are made as needed.',
      inputSchema: z.object({ path: z.string().min(1), content: z.string() }),
      execute: ({ path, content }) => writeRepoFile(root, path, content),
    }),
    edit: tool({
      description:
        'Replaces a text in a file. `old` must be exactly as in the file, whitespace included, and occur once.',
      inputSchema: z.object({ path: z.string().min(1), old: z.string(), new: z.string() }),
      execute: ({ path, old, new: fresh }) => editRepoFile(root, path, old, fresh),
    }),
  };
}

/** Creates or overwrites a file of the repository. Returns what happened, for the model. */
export async function writeRepoFile(root: string, path: string, content: string): Promise<string> {
  const file = await inRepository(root, path);
  if (!file) return `error: ${path} is outside of the repository`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return `wrote ${relative(root, file)}`;
}

const CRLF_HINT = '. Lines of this file end with CRLF (\\r\\n)';

/** Where `wanted` begins, without overlaps. */
function bytePlaces(wanted: Buffer, content: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, at + wanted.length))
    places.push(at);
  return places;
}

/** Replaces the one occurrence of a text in a file of the repository. Returns what happened, for the model. */
export async function editRepoFile(root: string, path: string, old: string, fresh: string): Promise<string> {
  const file = await inRepository(root, path);
  if (!file) return `error: ${path} is outside of the repository`;
  if (old === '') return 'error: old is empty; use write to make a file';
  // As bytes: decoding would change those that are not valid UTF-8, anywhere in the file.
  const content = await readFile(file);
  const wanted = Buffer.from(old);
  const places = bytePlaces(wanted, content);
  const [at] = places;
  if (at === undefined || places.length > 1) {
    const hint = at === undefined && old.includes('\n') && content.includes('\r\n') ? CRLF_HINT : '';
    return `error: old occurs ${places.length} times in ${path}; it must occur exactly once${hint}`;
  }
  const rest = content.subarray(at + wanted.length);
  await writeFile(file, Buffer.concat([content.subarray(0, at), Buffer.from(fresh), rest]));
  return `edited ${relative(root, file)}`;
}

/**
 * The real path of an existing or new file in the repository; null if it would be outside, also through a symbolic
 * link. The sandbox is the boundary; this only keeps a model from writing files that would be lost.
 */
async function inRepository(root: string, path: string): Promise<string | null> {
  const realRoot = await realpath(root);
  const wanted = resolve(realRoot, path);
  if (!isWithin(realRoot, wanted)) return null;
  const existing = await deepestExisting(wanted);
  const real = await realpath(existing).catch(() => null);
  if (real === null || !isWithin(realRoot, real)) return null;
  const file = resolve(real, relative(existing, wanted));
  return file === realRoot ? null : file;
}

const isWithin = (root: string, path: string) => path === root || path.startsWith(root + sep);

async function deepestExisting(path: string): Promise<string> {
  const there = await lstat(path).then(
    () => true,
    () => false,
  );
  return there || dirname(path) === path ? path : deepestExisting(dirname(path));
}

export interface ShellOptions {
  readonly cwd: string;
  readonly timeoutSeconds: number;
  /** Maximum characters of output kept, standard error included. */
  readonly outputCharacters: number;
  readonly signal: AbortSignal;
  readonly onOutput: () => void;
}

/**
 * A pipe, which a command can open as /dev/stderr. Node connects a program with a socket, where that fails, and cannot
 * make a pipe: this one has a name for a moment.
 */
function openPipe(): { readonly output: Socket; readonly end: number } {
  mkdirSync(tmpdir(), { recursive: true });
  const path = join(tmpdir(), `output-${randomUUID()}`);
  const { status, stderr, error } = spawnSync('mkfifo', ['-m', '600', path], { encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(stderr.trim());
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const output = new Socket({ fd, readable: true, writable: false });
    return { output, end: openSync(path, constants.O_WRONLY) };
  } finally {
    unlinkSync(path);
  }
}

/** How long output is read after the command has ended if a child process still holds the pipe, in milliseconds. */
const DRAIN_MS = 500;

function startShell(command: string, cwd: string): { readonly output: Socket; readonly child: ChildProcess } {
  const { GW_KEY: _key, GW_URL: _url, ...env } = process.env;
  const { output, end } = openPipe();
  try {
    const child = spawn('bash', ['-c', command], {
      cwd,
      env: { ...env, CI: 'true', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', NO_COLOR: '1' },
      detached: true,
      stdio: ['ignore', end, end],
    });
    return { output, child };
  } catch (thrown) {
    output.destroy();
    throw thrown;
  } finally {
    closeSync(end);
  }
}

/**
 * Runs a command in bash and returns its output and exit status. Kills the command's process group afterwards. The
 * command does not see the lease's key, with which it could spend the budget.
 */
export async function runShell(command: string, options: ShellOptions): Promise<string> {
  const { output, child } = startShell(command, options.cwd);
  const clip = createClip(options.outputCharacters);
  output.setEncoding('utf8').on('data', (text: string) => {
    clip.add(text);
    options.onOutput();
  });
  const ended = Promise.withResolvers<string>();
  const closed = Promise.withResolvers<void>();
  child.on('error', (error) => ended.resolve(`could not be started: ${error.message}`));
  child.on('exit', (code, signal) =>
    ended.resolve(code === null ? `killed by ${signal}` : `exit code ${code}`),
  );
  output.on('close', () => closed.resolve());

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
  output.destroy();
  return `${clip.text()}\n[${stopped ?? end}]`.trimStart();
}

/** Keeps the first and the last half of a text of any length. */
interface Clip {
  add(text: string): void;
  text(): string;
}

/** `most`: characters that are kept. */
export function createClip(most: number): Clip {
  const half = Math.floor(most / 2);
  let head = '';
  let tail = '';
  let dropped = 0;
  return {
    add(text) {
      const spaceLeft = half - head.length;
      head += text.slice(0, spaceLeft);
      tail += text.slice(Math.max(0, spaceLeft));
      const over = tail.length - half;
      if (over <= 0) return;
      dropped += over;
      tail = tail.slice(over);
    },
    text: () =>
      dropped === 0 ? head + tail : `${head}\n[… ${dropped} characters left out …]\n${tail}`.toWellFormed(),
  };
}
