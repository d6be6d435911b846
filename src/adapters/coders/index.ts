import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AgentCommand } from '../../core/settings/index.ts';
import type { Coder } from '../../ports/index.ts';
import { acpCoder, acpLaunch, bundleAcpCoder, readAcp } from './acp/index.ts';
import { builtinCoder, bundleBuiltinCoder } from './builtin/index.ts';
import { claudeCodeCoder } from './claude-code.ts';
import { codexCoder } from './codex.ts';
import { bindsOf, commandCoder, isThere, programEnvironment, readAnything } from './command.ts';
import { copilotCoder } from './copilot.ts';
import { geminiCoder } from './gemini.ts';
import { opencodeCoder } from './opencode.ts';
import { piCoder } from './pi.ts';
import { qwenCoder } from './qwen.ts';

export { BUILTIN_PATH, builtinCoder, bundleBuiltinCoder } from './builtin/index.ts';
export { AGENTS, type InstallableAgent } from './catalogue.ts';
export { installAgent, installable, npmInstall } from './install.ts';

interface CoderOptions {
  /** Folder in which `installAgent` creates one folder per agent. */
  readonly agentsFolder: string;
  /** The operator's own programs, by their name in settings; one with a built-in coder's name replaces it. */
  readonly commands: Readonly<Record<string, AgentCommand>>;
}

/** All coders that settings can name, by name, installed or not. */
export function coders({ agentsFolder, commands }: CoderOptions): ReadonlyMap<string, Coder> {
  const own = [
    builtinCoder(),
    claudeCodeCoder(agentsFolder),
    codexCoder(agentsFolder),
    opencodeCoder(agentsFolder),
    piCoder(agentsFolder),
    geminiCoder(agentsFolder),
    copilotCoder(agentsFolder),
    qwenCoder(agentsFolder),
    commandCoder(),
    acpCoder(),
  ];
  const named = Object.entries(commands).map(([name, command]) => namedCoder(name, command));
  return new Map([...own, ...named].map((coder) => [coder.name, coder]));
}

/** A coder that runs an operator's program under its name from AGENT_COMMANDS. */
export function namedCoder(name: string, command: AgentCommand): Coder {
  const acp = command.speaks === 'acp';
  return {
    name,
    protocols: command.protocols,
    wantsArgv: false,
    experimental: acp,
    launch: (input) => ({
      ...(acp ? acpLaunch(input, command.argv) : { argv: command.argv, stdin: input.prompt }),
      // Runoff's variables come last, so that its access to models is always the gateway.
      env: { ...command.env, ...programEnvironment(input) },
      binds: bindsOf(name, command),
    }),
    read: acp ? readAcp : readAnything,
    version: async () => ((await isThere(command)) ? `argv ${fingerprint(command.argv)}` : null),
    trial: () => null,
  };
}

/** Stands in for the unknown version of a program: changes with its command line. */
const fingerprint = (argv: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(argv)).digest('hex').slice(0, 12);

/** Writes Runoff's own sandbox programs to the toolchain's folder of coders; fast if they exist. */
export async function installCoderPrograms(folder: string): Promise<void> {
  await bundleBuiltinCoder(join(folder, 'builtin.mjs'));
  await bundleAcpCoder(join(folder, 'acp.mjs'));
}

export { commandCoder } from './command.ts';
