import './blank-variables.ts';

import { readFileSync } from 'node:fs';
import { access, constants, readFile, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { systemRandom } from './adapters/system/index.ts';
import { runCli, type Screen, type Shell, type Surroundings, terminalText } from './cli/index.ts';
import {
  agentsOf,
  diagnose,
  moveAway,
  openRuntime,
  openSelecting,
  pruneByHand,
  readOperator,
  serve,
  work,
} from './compose/index.ts';
import type { Operator } from './core/policy/index.ts';

const outIsTerminal = process.stdout.isTTY === true;

const screen: Screen = {
  // A file or another program gets a patch as it is.
  out: (text) => process.stdout.write(outIsTerminal ? terminalText(text) : text),
  err: (text) => process.stderr.write(terminalText(text)),
  outIsTerminal,
  width: process.stderr.isTTY ? (process.stderr.columns ?? 80) : null,
  colour: process.stderr.isTTY === true && !process.env.NO_COLOR,
};

// Whoever reads our output may stop reading: `runoff select … | head` is no fault of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

function onInterrupt(handler: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, handler);
  return () => {
    for (const signal of signals) process.off(signal, handler);
  };
}

/** People at a terminal read sentences, not log lines, unless they ask for them. */
const onTerminal = (operator: Operator): Operator =>
  process.env.LOG_LEVEL ? operator : { ...operator, logLevel: 'silent' };

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const surroundings: Surroundings = { screen, onInterrupt, exit: (code) => process.exit(code) };

async function unwritable(path: string): Promise<string | null> {
  try {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory()) return 'it is a folder';
    await access(found ? path : dirname(path), constants.W_OK);
    return null;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'its folder is not there'
      : (thrown as Error).message;
  }
}

const shell: Shell = {
  ...surroundings,
  open: async (needs) => openRuntime(onTerminal(await readOperator(process.env, process.cwd())), needs),
  openSelecting: async (how) =>
    openSelecting(onTerminal(await readOperator(process.env, process.cwd())), how),
  lines: () => createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }),
  cores: availableParallelism(),
  serve: async () => serve(await readOperator(process.env, process.cwd()), surroundings),
  work: async () => work(await readOperator(process.env, process.cwd()), surroundings),
  // Loaded when it is wanted: the App does not carry a GitHub of its own around.
  demo: async (options) => (await import('./demo/index.ts')).runDemo(options, surroundings),
  doctor: () => diagnose(process.env, process.cwd()),
  prune: async (dryRun) => pruneByHand(onTerminal(await readOperator(process.env, process.cwd())), dryRun),
  moveDatabase: async (wish) => moveAway(onTerminal(await readOperator(process.env, process.cwd())), wish),
  agents: agentsOf(() => readOperator(process.env, process.cwd())),
  newRunId: () => systemRandom.runId(),
  readText: (path) => readFile(path, 'utf8'),
  writeText: (path, text) => writeFile(path, text),
  unwritable,
  version: manifest.version,
  cwd: process.cwd(),
};

process.exitCode = await runCli(shell, process.argv.slice(2));
