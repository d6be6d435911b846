import './process-start.ts';

import { readFileSync } from 'node:fs';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { pagerOf, showInPager, systemRandom, systemUser, writeOutput } from './adapters/system/index.ts';
import {
  endUnwritten,
  exitHandler,
  openScreen,
  openTerminalFilter,
  runCli,
  terminalText,
} from './cli/index.ts';
import {
  agentsOf,
  createBelow,
  diagnose,
  moveAway,
  openArena,
  openContestFolders,
  openMining,
  openPreparing,
  openRunPage,
  openRuntime,
  openSelecting,
  ownCommand,
  ownCommit,
  pruneByHand,
  replaceBelow,
  serve,
  settingsSource,
  showLocalPages,
  work,
} from './compose/index.ts';
import { visibleCode } from './core/reports/index.ts';
import type { Operator } from './core/settings/index.ts';
import { startFolder } from './process-start.ts';
import type { ShellTerminal } from './runs/index.ts';
import type { Shell } from './shell.ts';

// A run does not end because nobody can be told how it goes on: the disk of a file is full, or a terminal is gone.
process.stderr.on('error', () => {});

const { stdout, stderr, env } = process;
const commandExit = exitHandler({
  screen: openScreen({ stdout, stderr, env }),
  onInterrupt(handler) {
    // A terminal that is closed sends SIGHUP.
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, handler);
    return () => {
      for (const signal of signals) process.off(signal, handler);
    };
  },
  exit: (code) => process.exit(code),
});
const { terminal, follow } = commandExit;
const { screen, onInterrupt } = terminal;
process.stdout.on('error', (error) => endUnwritten({ screen, exit: commandExit.end }, error));

/** People at a terminal see messages instead of log lines, unless they ask for the log. */
const onTerminal = (operator: Operator): Operator =>
  process.env.LOG_LEVEL ? operator : { ...operator, logLevel: 'silent' };

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const settings = settingsSource({ env: process.env, cwd: startFolder });
const say = (line: string): void => screen.err(visibleCode(`${line}\n`));
const atTerminal = async (quietly = false): Promise<Operator> =>
  onTerminal(await settings.readAndReport(say, quietly));

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

/** Asks on standard error. End of input and Ctrl-C mean no. */
function confirm(question: string): Promise<boolean> {
  const reader = createInterface({ input: process.stdin });
  const release = onInterrupt(() => reader.close());
  screen.err(question);
  return new Promise<boolean>((resolve) => {
    reader.once('line', (line) => {
      resolve(/^\s*y(es)?\s*$/i.test(line));
      reader.close();
    });
    reader.once('close', () => resolve(false));
  }).finally(release);
}

/** Loaded on demand: few commands ask. Escape and Ctrl-C leave. */
const choose: NonNullable<Shell['choose']> = async (question, from) => {
  const { autocompleteMultiselect } = await import('@clack/prompts');
  const chosen = await autocompleteMultiselect({
    message: question,
    placeholder: 'Type to search',
    options: [...from],
    maxItems: CHOICES_SHOWN,
    output: sized(process.stderr),
  });
  return Array.isArray(chosen) ? chosen : null;
};

/** Loaded on demand, as above. */
const chooseOne: NonNullable<Shell['chooseOne']> = async (question, from) => {
  const { select } = await import('@clack/prompts');
  const chosen = await select({
    message: question,
    options: [...from],
    maxItems: CHOICES_SHOWN,
    output: sized(process.stderr),
  });
  return typeof chosen === 'string' ? chosen : null;
};

const pager = screen.outIsTerminal ? pagerOf(process.env) : null;

/** Ctrl-C is meant for the pager while it is shown. */
async function page(command: string, text: string): Promise<void> {
  const release = onInterrupt(() => {});
  const shown = await showInPager(command, terminalText(text), process.env).finally(release);
  if (!shown) screen.out(text);
}

/** A terminal that does not know its size, as in some containers, says 0 columns. */
const sized = (stream: NodeJS.WriteStream): NodeJS.WriteStream =>
  stream.columns > 0 ? stream : Object.create(stream, { columns: { value: 80 }, rows: { value: 24 } });

/** Lines of a list that somebody chooses from; the others are reached by searching or scrolling. */
const CHOICES_SHOWN = 12;

/** Keys reach the shell as they are, Ctrl-C too, until it ends. */
function typing(): ShellTerminal {
  const { stdin, stdout } = process;
  const shown = openTerminalFilter();
  return {
    term: /^[\w.+-]{1,60}$/.test(process.env.TERM ?? '') ? (process.env.TERM ?? '') : 'dumb',
    rows: stdout.rows || 24,
    columns: stdout.columns || 80,
    input(write) {
      stdin.setRawMode(true);
      stdin.on('data', write);
      stdin.resume();
      return () => {
        stdin.off('data', write);
        stdin.setRawMode(false);
        stdin.pause();
      };
    },
    onOutput: (bytes) => void stdout.write(shown(bytes)),
  };
}

const shell: Shell = {
  ...terminal,
  useEnvFile: settings.use,
  // Commands that only read records need no keys, limits or sandboxes.
  open: (needs) =>
    follow(atTerminal(needs.role === 'reader').then((operator) => openRuntime(operator, needs))),
  openContests: async () => openContestFolders(await atTerminal(true)),
  openArena: (executes) => follow(atTerminal().then((operator) => openArena(operator, executes))),
  openMining: async () => openMining(await atTerminal()),
  openPreparing: async () => openPreparing(await atTerminal()),
  openSelecting: (how) => follow(atTerminal().then((operator) => openSelecting(operator, how))),
  choose: process.stdin.isTTY && process.stderr.isTTY ? choose : null,
  chooseOne: process.stdin.isTTY && process.stderr.isTTY ? chooseOne : null,
  page: pager === null ? null : (text) => page(pager, text),
  confirm: process.stdin.isTTY && process.stderr.isTTY ? confirm : null,
  typing: process.stdin.isTTY && screen.outIsTerminal ? typing : null,
  lines: (signal) =>
    createInterface({
      input: process.stdin,
      crlfDelay: Number.POSITIVE_INFINITY,
      ...(signal ? { signal } : {}),
    }),
  cores: availableParallelism(),
  ui: async (request) => showLocalPages(await atTerminal(true), request, terminal, follow),
  openRunPage: async (world, run) => openRunPage(await atTerminal(true), { world, run }, terminal),
  serve: async () => serve(await settings.read(), terminal),
  work: async () => work(await settings.read(), terminal),
  // Loaded on demand, so that the App does not load the demo's GitHub.
  demo: async (options) =>
    (await import('./demo/index.ts')).runDemo({ ...options, command: ownCommand }, terminal),
  doctor: (repository) => diagnose(settings.read, repository, follow),
  prune: async (dryRun) => pruneByHand(await atTerminal(), dryRun, follow),
  moveDatabase: async (request) => moveAway(await atTerminal(), request, follow),
  agents: agentsOf(() => atTerminal()),
  newRunId: () => systemRandom.runId(),
  userName: systemUser,
  readText: (path) => readFile(path, 'utf8'),
  writeText: writeOutput,
  createBelow,
  replaceBelow,
  unwritable,
  version: manifest.version,
  commit: () => ownCommit(),
  cwd: startFolder,
};

process.exitCode = await runCli(shell, process.argv.slice(2));
