import { Fault } from '../core/model/index.ts';
import { jsonText, shown } from './render/index.ts';
import { type AgentRow, EXIT, type Shell } from './runtime.ts';

/** `runoff agents`: every coder that settings can name, and what is installed of it. */
export async function listAgents(shell: Pick<Shell, 'agents' | 'screen'>, json: boolean): Promise<number> {
  const rows = await shell.agents.list();
  shell.screen.out(json ? `${jsonText({ agents: rows })}\n` : table(rows));
  return EXIT.done;
}

function table(rows: readonly AgentRow[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map((row) => `${row.name.padEnd(width)}  ${stateOf(row).padEnd(24)}  ${speaks(row)}`);
  const missing = rows.find(({ installed, tested }) => installed === null && tested !== null);
  const next = missing
    ? `Next: runoff agents install ${missing.name}`
    : 'Name them in `coders:` or with --coders.';
  return `${[...lines, '', next].join('\n')}\n`;
}

function stateOf({ installed, tested }: AgentRow): string {
  if (installed === null) return 'not installed';
  return tested !== null && installed !== tested
    ? `${shown(installed, 40)} (tried: ${tested})`
    : shown(installed, 40);
}

const speaks = ({ protocols, experimental }: AgentRow): string =>
  `speaks ${protocols.join(', ')}${experimental ? '; experimental' : ''}`;

/** `runoff agents install NAME[@VERSION]…`: one after another; the first that fails ends it. */
export async function installAgents(
  shell: Pick<Shell, 'agents' | 'screen' | 'onInterrupt'>,
  names: readonly string[],
  json: boolean,
): Promise<number> {
  const { screen } = shell;
  const stop = new AbortController();
  const deaf = shell.onInterrupt(() => stop.abort());
  const done: { name: string; version: string; folder: string }[] = [];
  try {
    for (const text of names) {
      const { name, version } = specOf(text);
      screen.err(`${name}: is being installed …\n`);
      const installed = await shell.agents.install({
        name,
        ...(version ? { version } : {}),
        onLine: (line) => screen.err(`${name}: ${shown(line, 200)}\n`),
        signal: stop.signal,
      });
      done.push({ name, ...installed });
      if (!json) screen.out(`${name} ${installed.version} is installed in ${installed.folder}.\n`);
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

function specOf(text: string): { readonly name: string; readonly version: string | undefined } {
  const [name = '', version, ...rest] = text.split('@');
  if (name === '' || version === '' || rest.length > 0)
    throw new Fault('AGENT_UNKNOWN', `${JSON.stringify(text)} is no agent: write NAME or NAME@VERSION.`);
  return { name, version };
}
