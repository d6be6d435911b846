import { AGENTS, coders, installAgent } from '../adapters/coders/index.ts';
import type { AgentRow, Agents, Finding } from '../cli/index.ts';
import type { Operator } from '../core/policy/index.ts';
import type { Coder, Sandbox } from '../ports/index.ts';
import { openDataFolder } from './data-folder.ts';
import { agentsFolder } from './paths.ts';
import { ownerOf, tryInSandbox } from './sandbox.ts';

/** Every coder that settings can name on this machine. */
export const codersOf = (operator: Operator): ReadonlyMap<string, Coder> =>
  coders({ agentsFolder: agentsFolder(operator), commands: operator.agentCommands });

/** For `runoff agents`. The operator's settings are read when a command asks. */
export function agentsOf(read: () => Promise<Operator>): Agents {
  return {
    async list() {
      const operator = await read();
      return Promise.all([...codersOf(operator).values()].map(rowOf));
    },
    async install(wish) {
      const operator = await read();
      await openDataFolder(operator.data, ownerOf(operator));
      const folder = agentsFolder(operator);
      return { ...(await installAgent({ folder, ...wish })), folder };
    },
  };
}

async function rowOf(coder: Coder): Promise<AgentRow> {
  const { name, protocols, experimental } = coder;
  const tested = AGENTS.find((agent) => agent.name === name)?.tested ?? null;
  return { name, installed: await coder.version(), tested, protocols, experimental };
}

/** Longest start of an agent that counts as working: the slowest takes five seconds on a busy machine. Our default. */
const TRIAL_MS = 60_000;

/** Which agents are installed, and whether each starts in a sandbox. `sandbox` null: it cannot be tried. */
export async function agentFindings(
  operator: Operator,
  sandbox: Sandbox | null,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const missing: string[] = [];
  for (const coder of codersOf(operator).values()) {
    const version = await coder.version();
    if (version === null) missing.push(coder.name);
    else findings.push(await agentFinding(operator, sandbox, coder, version));
  }
  return missing.length === 0 ? findings : [...findings, notInstalled(missing, operator)];
}

function notInstalled(names: readonly string[], operator: Operator): Finding {
  const own = names.find((name) => Object.hasOwn(operator.agentCommands, name));
  return {
    name: 'other coders',
    state: 'warning',
    detail: `not installed: ${names.join(', ')}`,
    remedy:
      own === undefined
        ? `Only for those you want to use: runoff agents install ${names[0] ?? ''}`
        : `Look at the folder of ${own} in AGENT_COMMANDS; ours are installed by: runoff agents install NAME`,
  };
}

async function agentFinding(
  operator: Operator,
  sandbox: Sandbox | null,
  coder: Coder,
  version: string,
): Promise<Finding> {
  const name = `coder ${coder.name}`;
  const speaks = `${version}, speaks ${coder.protocols.join(', ')}${coder.experimental ? ' (experimental)' : ''}`;
  const trial = coder.trial();
  if (!trial || !sandbox) return { name, state: 'ok', detail: speaks };
  const result = await tryInSandbox(operator, sandbox, { ...trial, wallMs: TRIAL_MS });
  if (result.exitCode === 0) return { name, state: 'ok', detail: `${speaks}; starts in a sandbox` };
  const said = (result.stderr || result.stdout).trim().split('\n').at(-1)?.slice(0, 200) ?? '';
  return {
    name,
    state: 'fault',
    detail:
      `${version} does not start in a sandbox: ${result.stopped ?? `exit code ${result.exitCode ?? 'none'}`} ${said}`.trim(),
    remedy: AGENTS.some((agent) => agent.name === coder.name)
      ? `runoff agents install ${coder.name}`
      : 'It is part of Runoff: `npm run setup` installs what it needs.',
  };
}
