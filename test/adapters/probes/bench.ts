import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { installProbes } from '../../../src/adapters/probes/index.ts';
import { DerivedTests, ProbeOutput, type ProbeRun, readProbeRun } from '../../../src/core/evidence/index.ts';

export type Files = Readonly<Record<string, string>>;

export const GRAMMARS = join(
  dirname(createRequire(import.meta.url).resolve('@vscode/tree-sitter-wasm/package.json')),
  'wasm',
);

export interface Ask {
  readonly issue?: string;
  readonly tests: readonly string[];
  readonly added?: readonly { readonly path: string; readonly text: string; readonly by: string }[];
  /** Of each candidate. */
  readonly changed?: readonly string[];
  readonly limits?: Readonly<Record<string, number>>;
}

/** The programs as they are installed, and trees of our own to run them on: these need no sandbox. */
export async function openProbeBench() {
  const root = mkdtempSync(join(tmpdir(), 'runoff-probes-'));
  await installProbes(root);
  const programs = join(root, 'checks', 'probes');
  let trees = 0;

  function tree(files: Files): string {
    trees += 1;
    const folder = join(root, `tree-${trees}`);
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    return folder;
  }

  async function start(cwd: string, argv: readonly string[], input: unknown): Promise<unknown> {
    const child = spawn(process.execPath, ['--no-warnings', ...argv], { cwd });
    child.stdin.end(JSON.stringify(input));
    const closed = new Promise<number | null>((done) => {
      child.on('close', done);
    });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if ((await closed) !== 0) throw new Error(`${argv[0]} failed: ${err}`);
    return JSON.parse(out);
  }

  return {
    programs,
    tree,
    async derive(files: Files, ask: Ask): Promise<DerivedTests> {
      const folder = tree(files);
      const input = { issue: '', root: '.', helper: join(programs, 'observe.cjs'), ...ask };
      return DerivedTests.parse(await start(folder, [join(programs, 'derive.mjs'), GRAMMARS], input));
    },
    /** Lays the derived files over a tree and runs them, each in the one process. */
    async run(files: Files, { files: derived, values }: DerivedTests, more: object = {}): Promise<Ran> {
      const command = derived.map(({ path }) => `'${process.execPath}' '${path}'`).join('; ');
      const laid = derived.map(({ path, text: content }) => ({ path, text: content }));
      const input = { files: laid, values, command, ...more };
      const output = ProbeOutput.parse(await start(tree(files), [join(programs, 'run.mjs')], input));
      return { ...readProbeRun(output, { files: derived }), output };
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

export type Ran = ProbeRun & { readonly output: ProbeOutput };
export type ProbeBench = Awaited<ReturnType<typeof openProbeBench>>;

/** Outcomes of the cases that came from the issue, in order. */
export const outcomesOf = ({ files }: DerivedTests, { cases }: ProbeRun, origin = 'issue') =>
  files.flatMap(({ file, cases: all }) =>
    all.flatMap((each) => (each.origin === origin ? [cases.get(`${file}.${each.id}`)] : [])),
  );

/** What was seen for a call, by its text. */
export const seenFor = ({ observations }: ProbeRun, input: string): string | undefined =>
  [...observations.values()].find((each) => each.input === input)?.text;
