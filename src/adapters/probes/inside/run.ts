// Runs inside the sandbox: lays derived test files over the tree in the current directory, runs the tests as often as
// hanging and crashing cases ask for, and prints what was observed. stdin: see `Input`; stdout: see `Output`.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Begun, Journal, type Skip } from './journal.ts';
import { type Ending, type Limits, supervise } from './supervise.ts';

interface Input {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** For `sh -c`. */
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variants, or single calls, that hung or crashed on the base. */
  readonly skip?: readonly Skip[];
  readonly limits?: Partial<Limits & { readonly restarts: number; readonly bytes: number }>;
}

interface Output {
  /** What recorder.cjs wrote, and `["h", key, call]` for what hung, `["q", key, call]` for what ended the process. */
  readonly lines: readonly (readonly unknown[])[];
  readonly ended: 'done' | 'late' | 'restarts';
  readonly starts: number;
  readonly exitCode: number | null;
}

const DEFAULTS = { wallMs: 20_000, variantMs: 400, checkMs: 5000, restarts: 5, bytes: 8 << 20 };

async function run({ files, command, env = {}, skip = [], limits }: Input): Promise<Output> {
  const most = { ...DEFAULTS, ...limits };
  const started = performance.now();
  for (const { path, text } of files) await lay(path, text);
  const journal = await Journal.open(tmpdir());
  try {
    for (const each of skip) await journal.avoid(each);
    const fates: (readonly unknown[])[] = [];
    let killedBefore = false;
    for (let starts = 1; ; starts += 1) {
      const wallMs = most.wallMs - (performance.now() - started);
      const ending = await supervise(command, env, journal, { ...most, wallMs });
      const unfinished = ending.kind === 'late' ? [] : await journal.unfinished();
      // The machine may have killed it: only what happens a second time is held against the code.
      if (!killedBefore && endedEarly(ending, unfinished)) {
        killedBefore = true;
        starts -= 1;
        for (const begun of unfinished) await journal.forget(begun);
        continue;
      }
      for (const begun of unfinished) fates.push(...(await settle(journal, ending, begun)));
      if (unfinished.length > 0 && starts <= most.restarts) continue;
      const lines = [...(await journal.lines(most.bytes)), ...fates];
      return { lines, ended: endOf(ending, unfinished), starts, exitCode: codeOf(ending) };
    }
  } finally {
    await journal.remove();
  }
}

const codeOf = (ending: Ending): number | null => (ending.kind === 'exit' ? ending.code : null);

/** By a signal, or with a variant under way. */
const endedEarly = (ending: Ending, unfinished: readonly Begun[]): boolean =>
  ending.kind === 'exit' && (unfinished.length > 0 || ending.code === null || ending.code > 128);

function endOf(ending: Ending, unfinished: readonly Begun[]): Output['ended'] {
  if (ending.kind === 'late') return 'late';
  return unfinished.length === 0 ? 'done' : 'restarts';
}

/** What became of a variant that did not end. The next start leaves it out, or only the call that it was at. */
async function settle(
  journal: Journal,
  ending: Ending,
  begun: Begun,
): Promise<readonly (readonly unknown[])[]> {
  // What only ran beside one that hung runs again.
  if (ending.kind === 'hung' && ending.begun.key !== begun.key) {
    await journal.forget(begun);
    return [];
  }
  await journal.avoid(begun);
  await (begun.call ? journal.forget(begun) : journal.close(begun));
  return [[ending.kind === 'hung' ? 'h' : 'q', begun.key, begun.call ?? '']];
}

async function lay(path: string, content: string): Promise<void> {
  const target = resolve(path);
  if (!target.startsWith(resolve('.') + sep)) throw new Error(`${path} lies outside of the tree.`);
  await mkdir(dirname(target), { recursive: true });
  // A link in the tree must not lead the text elsewhere.
  await rm(target, { force: true });
  await writeFile(target, content);
}

process.stdout.write(JSON.stringify(await run(JSON.parse(await text(process.stdin)) as Input)));
