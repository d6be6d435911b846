import { Fault } from '../core/model/index.ts';
import { jsonText, shown } from './render/index.ts';
import { type AgentRow, EXIT, type InstallWish, type Shell } from './runtime.ts';

/** `runoff agents`: every coder that settings can name, and what is installed of it. */
export async function listAgents(shell: Pick<Shell, 'agents' | 'screen'>, json: boolean): Promise<number> {
  const rows = await shell.agents.list();
  shell.screen.out(json ? `${jsonText({ agents: rows })}\n` : table(rows));
  return EXIT.done;
}

function table(rows: readonly AgentRow[]): string {
  const cells = rows.map((row) => [row.name, stateOf(row), speaks(row)] as const);
  const width = (column: 0 | 1) => Math.max(...cells.map((cell) => cell[column].length));
  const [names, states] = [width(0), width(1)];
  const lines = cells.map(
    ([name, state, words]) => `${name.padEnd(names)}  ${state.padEnd(states)}  ${words}`,
  );
  return `${[...lines, '', nextStep(rows)].join('\n')}\n`;
}

function nextStep(rows: readonly AgentRow[]): string {
  const ready = rows.filter(({ from, installed }) => from !== 'runoff' && installed !== null);
  const missing = rows.find(({ from, installed }) => from === 'npm' && installed === null);
  if (ready.length === 0 && missing) return `Next: runoff agents install ${missing.name}`;
  const names = ['builtin', ...ready.map(({ name }) => name)].slice(0, 3);
  return `Name those that shall compete: \`coders:\` in .github/auto-dev.yml, or --coders ${names.join(',')}`;
}

function stateOf({ installed, tested, missingFolder }: AgentRow): string {
  if (missingFolder !== null) return `folder ${shown(missingFolder, 200)} is missing`;
  if (installed === null) return 'not installed';
  return tested !== null && installed !== tested
    ? `${shown(installed, 40)} (tried: ${tested})`
    : shown(installed, 40);
}

const speaks = ({ protocols, experimental }: AgentRow): string =>
  `speaks ${protocols.join(', ')}${experimental ? '; experimental' : ''}`;

/** Seconds between two signs of life: npm says nothing while it downloads. Our default. */
const SIGN_SECONDS = 10;

/** `runoff agents install NAME[@VERSION]…`: one after another; the first that fails ends it. A wrong word among them: none. */
export async function installAgents(
  shell: Pick<Shell, 'agents' | 'screen' | 'onInterrupt'>,
  texts: readonly string[],
  json: boolean,
): Promise<number> {
  const { screen, agents } = shell;
  const specs = texts.map(specOf);
  for (const spec of specs) agents.check(spec);
  const stop = new AbortController();
  const deaf = shell.onInterrupt(() => stop.abort());
  const done: { name: string; version: string; folder: string; bytes: number }[] = [];
  try {
    for (const spec of specs) {
      const { name } = spec;
      const say = (line: string) => screen.err(`${name}: ${line}\n`);
      say('is being installed …');
      const onLine = (line: string) => say(shown(line, 200));
      const wish = { ...spec, onLine, signal: stop.signal };
      const installed = await withSignsOfLife(say, () => agents.install(wish));
      done.push({ name, ...installed });
      if (!json)
        screen.out(
          `${name} ${installed.version} is installed in ${installed.folder}: ${megabytes(installed.bytes)}.\n`,
        );
    }
  } catch (thrown) {
    if (stop.signal.aborted) return EXIT.cancelled;
    throw thrown;
  } finally {
    deaf();
  }
  if (json) screen.out(`${jsonText({ installed: done })}\n`);
  else screen.out('Next: runoff doctor\n');
  return EXIT.done;
}

async function withSignsOfLife<T>(say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += SIGN_SECONDS;
    say(`still at it, ${seconds} s`);
  }, SIGN_SECONDS * 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const megabytes = (bytes: number): string => `${Math.max(1, Math.round(bytes / 1e6))} MB`;

function specOf(text: string): Pick<InstallWish, 'name' | 'version'> {
  const [name = '', version, ...rest] = text.split('@');
  if (name === '' || version === '' || rest.length > 0)
    throw new Fault('AGENT_UNKNOWN', `${JSON.stringify(text)} is no agent: write NAME or NAME@VERSION.`);
  return { name, ...(version ? { version } : {}) };
}
