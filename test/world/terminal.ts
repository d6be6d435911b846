import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, lchown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simpleGit } from 'simple-git';
import { makeSampleRepository, SCRIPTED_PRICES, SCRIPTS } from '../../src/demo/sample/index.ts';
import { type Scripts, type SeenRequest, startScriptedModels } from '../../src/demo/scripted-models/index.ts';
import { furnish } from './data-folder.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A person at a shell: a home of their own, the sample repository, and scripted models behind provider keys. */
export interface Terminal {
  readonly home: string;
  readonly repository: string;
  /** What has reached the models so far, oldest first. */
  readonly asked: readonly SeenRequest[];
  runoff(...argv: readonly string[]): Promise<Ended>;
  /** The same, with a text as standard input. */
  pipe(text: string, ...argv: readonly string[]): Promise<Ended>;
  /** Starts a command and does not wait. */
  start(...argv: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> };
  /** The same with a terminal of its own for all three streams; what stands on it comes on `child.stdout`. */
  startAtTerminal(...argv: readonly string[]): {
    readonly child: ChildProcess;
    readonly ended: Promise<Ended>;
  };
  git(...argv: readonly string[]): Promise<string>;
}

/** What every candidate is probed with comes from the tests: a story that is not about them is short with a third of them. */
export async function withFewerTests(folder: string): Promise<void> {
  for (const name of ['cli', 'expenses', 'money', 'totals'])
    await rm(join(folder, 'test', `${name}.test.js`));
}

export async function atTerminal(
  options: {
    readonly settings?: string;
    /** True: Runoff never ran here, and its data folder is not there. */
    readonly firstTime?: boolean;
    readonly env?: Readonly<Record<string, string>>;
    readonly scripts?: Scripts;
    /** The words that start Runoff; absent: its sources, with the Node of the tests. */
    readonly program?: readonly string[];
    /** Who uses Runoff and owns this home; absent: whoever runs the tests. */
    readonly user?: { readonly uid: number; readonly gid: number };
    /** Text of the settings file that `--env-file` names. Null: none is named, and Runoff looks for its own. */
    readonly envFile?: string | null;
  },
  work: (terminal: Terminal) => Promise<void>,
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'runoff-cli-'));
  await chmod(home, 0o711);
  if (!options.firstTime) await furnish(join(home, 'data'));
  const models = await startScriptedModels({ scripts: options.scripts ?? SCRIPTS });
  const repository = join(home, 'tally');
  await makeSampleRepository(repository, options.settings, withFewerTests);
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    RUNOFF_DATA: join(home, 'data'),
    ANTHROPIC_API_KEY: 'scripted-key-for-anthropic',
    ANTHROPIC_BASE_URL: models.url,
    OPENAI_API_KEY: 'scripted-key-for-openai',
    OPENAI_BASE_URL: `${models.url}/v1`,
    MODEL_PRICES: JSON.stringify(SCRIPTED_PRICES),
    ...options.env,
  };
  // Named, so that no test reads the settings of whoever develops here.
  const envFile = join(home, 'runoff.env');
  const named = options.envFile === null ? [] : ['--env-file', envFile];
  await writeFile(envFile, options.envFile ?? '');
  if (options.user) await chownAll(home, options.user);
  const open = (file: string, argv: readonly string[], input: 'ignore' | 'pipe') => {
    const child = spawn(file, argv, {
      cwd: repository,
      env,
      stdio: [input, 'pipe', 'pipe'],
      ...options.user,
    });
    return { child, ended: output(child) };
  };
  const [file = '', ...first] = options.program ?? [process.execPath, '--', MAIN];
  const begin = (argv: readonly string[], input: 'ignore' | 'pipe') =>
    open(file, [...first, ...named, ...argv], input);
  const start = (...argv: readonly string[]) => begin(argv, 'ignore');
  const git = simpleGit(repository);
  try {
    await work({
      home,
      repository,
      asked: models.requests,
      start,
      startAtTerminal: (...argv) => {
        const words = [file, ...first, ...named, ...argv].map(quoted).join(' ');
        return open('script', ['--quiet', '--return', '--command', words, '/dev/null'], 'pipe');
      },
      runoff: (...argv) => start(...argv).ended,
      pipe(text, ...argv) {
        const { child, ended } = begin(argv, 'pipe');
        child.stdin?.end(text);
        return ended;
      },
      git: async (...argv) => (await git.raw([...argv])).trim(),
    });
  } finally {
    await models.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A folder with a program that stands in for the one that opens browsers on a desktop. */
export async function withXdgOpen(script: string, story: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-xdg-open-'));
  try {
    await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await story(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function chownAll(folder: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  await lchown(folder, uid, gid);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await lchown(join(entry.parentPath, entry.name), uid, gid);
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

function output(child: ChildProcess): Promise<Ended> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (data: Buffer) => {
    out += data.toString();
  });
  child.stderr?.on('data', (data: Buffer) => {
    err += data.toString();
  });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, out, err }));
  });
}
