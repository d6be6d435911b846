import type { AgentCommand } from '../../core/policy/index.ts';
import type { Coder } from '../../ports/index.ts';
import { acpCoder } from './acp/index.ts';
import { builtinCoder } from './builtin/index.ts';
import { claudeCodeCoder } from './claude-code/index.ts';
import { codexCoder } from './codex/index.ts';
import { commandCoder, namedCoder } from './command/index.ts';
import { copilotCoder } from './copilot/index.ts';
import { geminiCoder } from './gemini/index.ts';
import { opencodeCoder } from './opencode/index.ts';
import { piCoder } from './pi/index.ts';
import { qwenCoder } from './qwen/index.ts';

export interface CoderOptions {
  /** Folder below which `installAgent` puts agents, each in one of its name. */
  readonly agentsFolder: string;
  /** The operator's own programs, by the name that settings give them; one of ours is replaced by its name. */
  readonly commands: Readonly<Record<string, AgentCommand>>;
}

/** Every coder that settings can name, by name, installed or not. */
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
