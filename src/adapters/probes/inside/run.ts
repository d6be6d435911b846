import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Begun, JOURNAL, Journal, type Skip } from './journal.ts';

interface Limits {
  /** Milliseconds after which the command is stopped, whatever it does. */
  readonly wallMs: number;
  /** Milliseconds of processor time for a changed variant, and for an unchanged case. */
  readonly variantMs: number;
  readonly checkMs: number;
}

/** How a run of the command ended: by itself, because a variant hung, or because its time was up. */
type CommandEnd =
  | { readonly kind: 'exit'; readonly code: number | null }
  | { readonly kind: 'hung'; readonly begun: Begun }
  | { readonly kind: 'late' };

const LOOK_MS = 100;
/** On a busy machine a process may take this many times longer than its processor time. */
const MAX_SLOWDOWN = 20;
/** Milliseconds per clock tick of Linux, as counted in /proc. */
const TICK_MS = 10;

/** Runs the command in its own process group and watches the journal. No process is left afterwards. */
async function supervise(
  command: string,
  env: Readonly<Record<string, string>>,
  journal: Journal,
  limits: Limits,
): Promise<CommandEnd> {
  const started = performance.now();
  const watch = watcher(limits);
  // A test runner that finds this variable set considers itself a child of another one.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const child = spawn('sh', ['-c', command], {
    env: { ...inherited, ...env },
    stdio: 'ignore',
    detached: true,
  });
  const exit = new Promise<CommandEnd>((done) => {
    child.on('error', () => done({ kind: 'exit', code: null }));
    child.on('exit', (code) => done({ kind: 'exit', code }));
  });
  try {
    for (;;) {
      const ended = await Promise.race([exit, sleep(LOOK_MS, null, { ref: false })]);
      if (ended) return ended;
      const begun = await watch(await journal.unfinished());
      if (begun) return { kind: 'hung', begun };
      if (performance.now() - started > limits.wallMs) return { kind: 'late' };
    }
  } finally {
    kill(child);
    await exit;
  }
}

/**
 * Finds the variant that hangs by the processor time that its process has used since it started, if the system reports
 * it.
 */
function watcher({ variantMs, checkMs }: Limits): (begun: readonly Begun[]) => Promise<Begun | null> {
  const since = new Map<string, { readonly at: number; readonly cpu: number | null }>();
  return async (all) => {
    for (const begun of all) {
      const now = { at: performance.now(), cpu: await cpuOf(begun.file) };
      const mark = JSON.stringify([begun.key, begun.call]);
      const first = since.get(mark) ?? now;
      since.set(mark, first);
      const limit = begun.mode === 'check' || begun.mode === 'look' ? checkMs : variantMs;
      const wall = now.at - first.at;
      const used = now.cpu === null || first.cpu === null ? wall : now.cpu - first.cpu;
      if (used > limit || wall > limit * MAX_SLOWDOWN) return begun;
    }
    return null;
  };
}

/** Milliseconds of processor time of the process that writes this journal; null if unknown. */
async function cpuOf(file: string): Promise<number | null> {
  const stat = await readFile(`/proc/${/^\d+/.exec(file)?.[0]}/stat`, 'utf8').catch(() => '');
  const after = stat.slice(stat.lastIndexOf(')') + 1);
  const [, user, system] = / \S (?:-?\d+ ){10}(\d+) (\d+)/.exec(after) ?? [];
  return user && system ? (Number(user) + Number(system)) * TICK_MS : null;
}

function kill(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No process of it is left.
  }
}

// Runs inside the sandbox: copies derived test files over the tree in the current folder, runs the tests as often as
// hanging and crashing cases require, and prints the observations. stdin: see `Input`; stdout: see `Output`.
interface Input {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Passed to `sh -c`. */
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variants, or single calls, that hung or crashed on the base. */
  readonly skip?: readonly Skip[];
  readonly limits?: Partial<Limits & { readonly restarts: number; readonly bytes: number }>;
}

interface Output {
  /**
   * The lines of recorder.cjs, plus `["h", key, call]` for what hung and `["q", key, call]` for what ended the process.
   */
  readonly lines: readonly (readonly unknown[])[];
  readonly ended: 'done' | 'late' | 'restarts';
  readonly starts: number;
  readonly exitCode: number | null;
}

const DEFAULTS = { wallMs: 20_000, variantMs: 400, checkMs: 5000, restarts: 5, bytes: 8 << 20 };

async function runProbes({ files, command, env = {}, skip = [], limits }: Input): Promise<Output> {
  const most = { ...DEFAULTS, ...limits };
  const started = performance.now();
  const journal = await Journal.open(tmpdir());
  try {
    for (const { path, text } of files) await writeFiles(path, text.replaceAll(JOURNAL, journal.folder));
    for (const each of skip) await journal.avoid(each);
    const fates: (readonly unknown[])[] = [];
    let killedBefore = false;
    for (let starts = 1; ; starts += 1) {
      const wallMs = most.wallMs - (performance.now() - started);
      const ending = await supervise(command, env, journal, { ...most, wallMs });
      const unfinished = ending.kind === 'late' ? [] : await journal.unfinished();
      // The machine may have killed it: only the second time counts against the code.
      if (!killedBefore && endedEarly(ending, unfinished)) {
        killedBefore = true;
        starts -= 1;
        for (const begun of unfinished) await journal.forget(begun);
        continue;
      }
      for (const begun of unfinished) fates.push(...(await settle(journal, ending, begun)));
      if (unfinished.length > 0 && starts <= most.restarts) continue;
      const lines = [...(await journal.lines(most.bytes)), ...fates];
      return { lines, ended: outcomeOf(ending, unfinished), starts, exitCode: codeOf(ending) };
    }
  } finally {
    await journal.remove();
  }
}

const codeOf = (ending: CommandEnd): number | null => (ending.kind === 'exit' ? ending.code : null);

/** By a signal, or with an active variant. */
const endedEarly = (ending: CommandEnd, unfinished: readonly Begun[]): boolean =>
  ending.kind === 'exit' && (unfinished.length > 0 || ending.code === null || ending.code > 128);

function outcomeOf(ending: CommandEnd, unfinished: readonly Begun[]): Output['ended'] {
  if (ending.kind === 'late') return 'late';
  return unfinished.length === 0 ? 'done' : 'restarts';
}

/** Records the outcome of a variant that did not end. The next start skips it, or only the active call. */
async function settle(
  journal: Journal,
  ending: CommandEnd,
  begun: Begun,
): Promise<readonly (readonly unknown[])[]> {
  // A variant that was only active while another one hung runs again.
  if (ending.kind === 'hung' && ending.begun.key !== begun.key) {
    await journal.forget(begun);
    return [];
  }
  await journal.avoid(begun);
  await (begun.call ? journal.forget(begun) : journal.close(begun));
  return [[ending.kind === 'hung' ? 'h' : 'q', begun.key, begun.call ?? '']];
}

async function writeFiles(path: string, content: string): Promise<void> {
  const target = resolve(path);
  if (!target.startsWith(resolve('.') + sep)) throw new Error(`${path} lies outside of the tree.`);
  await mkdir(dirname(target), { recursive: true });
  // A link in the tree must not redirect the text.
  await rm(target, { force: true });
  await writeFile(target, content);
}

process.stdout.write(JSON.stringify(await runProbes(JSON.parse(await text(process.stdin)) as Input)));
