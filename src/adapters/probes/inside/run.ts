import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Begun, JOURNAL, Journal, type Skip } from './journal.ts';
import { type AuthorValues, type RestartLimits, Restarts } from './restarts.ts';
import { type CommandEnd, type SupervisedLimits, supervise } from './supervise.ts';

// Runs inside the sandbox: copies derived test files over the tree in the current folder, runs the tests as often as
// hanging and crashing cases require, and prints the observations. stdin: see `Input`; stdout: see `Output`.
interface Input {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Passed to `sh -c`. */
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variants, or single calls, that hung or crashed on the base. */
  readonly skip?: readonly Skip[];
  /** Values that were not used any more on the base. */
  readonly avoid?: readonly string[];
  /** Of each author of changed code. */
  readonly values?: readonly AuthorValues[];
  readonly limits?: Partial<SupervisedLimits & RestartLimits & { readonly bytes: number }>;
}

interface Output {
  /**
   * The lines of recorder.cjs, plus `["h", key, call]` for what hung and `["q", key, call]` for what ended the process.
   */
  readonly lines: readonly (readonly unknown[])[];
  /** How the last start ended; `restarts`: an unchanged case hung or ended the process too often. */
  readonly ended: 'done' | 'late' | 'restarts';
  /** Why only unchanged cases ran in the end; null: all variants ran. */
  readonly cut: Cut | null;
  /** Values that were not used any more. */
  readonly avoided: readonly string[];
  readonly starts: number;
  readonly exitCode: number | null;
}

/** No time is left for variants, or too many of them hung or ended the process. */
type Cut = 'late' | 'restarts';

const DEFAULTS = {
  wallMs: 20_000,
  variantMs: 400,
  checkMs: 5000,
  restarts: 5,
  restartsOfAuthor: 2,
  memoryBytes: 2 ** 31,
  bytes: 8 << 20,
};

async function runProbes({
  files,
  command,
  env = {},
  skip = [],
  avoid = [],
  values = [],
  limits,
}: Input): Promise<Output> {
  const most = { ...DEFAULTS, ...limits };
  const started = performance.now();
  const leftMs = () => most.wallMs - (performance.now() - started);
  const journal = await Journal.open(tmpdir());
  try {
    for (const { path, text } of files) await writeFiles(path, text.replaceAll(JOURNAL, journal.folder));
    for (const each of skip) await journal.avoid(each);
    for (const value of avoid) await journal.avoidValue(value);
    const progress: Progress = {
      ...{ starts: 0, cut: null, killedBefore: false, fates: [], avoided: [] },
      restarts: new Restarts(values, most),
    };
    for (;;) {
      const limit = { ...most, wallMs: leftMs(), leavesTime: progress.cut === null };
      const ending = await supervise(command, env, journal, limit);
      const ended = await afterStart(journal, progress, ending);
      if (ended === 'again') continue;
      if (ended === 'done' || progress.cut !== null || leftMs() <= 0) {
        const { fates, starts, avoided, cut } = progress;
        const lines = [...(await journal.lines(most.bytes)), ...fates];
        return { lines, ended, cut, avoided, starts, exitCode: codeOf(ending) };
      }
      // Unchanged cases say most, and what hung before must not keep others from running.
      progress.cut = ended;
      progress.restarts = new Restarts([], most);
      await journal.onlyUnchanged();
    }
  } finally {
    await journal.remove();
  }
}

/** What is known after some starts of the command. */
interface Progress {
  starts: number;
  cut: Cut | null;
  /** The command ended early once, which the machine may have done. */
  killedBefore: boolean;
  restarts: Restarts;
  readonly fates: (readonly unknown[])[];
  readonly avoided: string[];
}

/** Records what did not end. `again`: the command is started once more, without that. */
async function afterStart(
  journal: Journal,
  progress: Progress,
  ending: CommandEnd,
): Promise<'again' | Output['ended']> {
  const unfinished = await journal.unfinished();
  // The machine may have killed it: only the second time counts against the code.
  if (!progress.killedBefore && endedEarly(ending, unfinished)) {
    progress.killedBefore = true;
    for (const begun of unfinished) await journal.forget(begun);
    return 'again';
  }
  progress.starts += 1;
  const stuck = unfinished.filter((begun) => isStuck(ending, begun));
  for (const begun of unfinished) {
    if (stuck.includes(begun)) progress.fates.push(await settle(journal, ending, begun));
    else await journal.forget(begun);
  }
  if (ending.kind === 'late') return 'late';
  if (unfinished.length === 0) return 'done';
  const unused = stuck.length > 0 ? progress.restarts.spend(stuck.map(inputOf)) : [];
  for (const value of unused) await journal.avoidValue(value);
  progress.avoided.push(...unused);
  return progress.restarts.isOver ? 'restarts' : 'again';
}

const codeOf = (ending: CommandEnd): number | null => (ending.kind === 'exit' ? ending.code : null);

/** By a signal, or with an active variant. */
const endedEarly = (ending: CommandEnd, unfinished: readonly Begun[]): boolean =>
  ending.kind === 'exit' && (unfinished.length > 0 || ending.code === null || ending.code > 128);

/** A variant that was only active while another one hung, or when the time was up, runs again. */
const isStuck = (ending: CommandEnd, { key }: Begun): boolean =>
  ending.kind === 'exit' || (ending.kind === 'hung' && ending.begun.key === key);

const inputOf = ({ call, value }: Begun): string => call ?? value ?? '';

/** Records the outcome of a variant that did not end. The next start skips it, or only the active call. */
async function settle(journal: Journal, ending: CommandEnd, begun: Begun): Promise<readonly unknown[]> {
  await journal.avoid(begun);
  await (begun.call ? journal.forget(begun) : journal.close(begun));
  return [ending.kind === 'hung' ? 'h' : 'q', begun.key, begun.call ?? ''];
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
