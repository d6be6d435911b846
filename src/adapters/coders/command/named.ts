import { createHash } from 'node:crypto';
import type { AgentCommand } from '../../../core/policy/index.ts';
import type { Coder } from '../../../ports/index.ts';
import { acpLaunch, readAcp } from '../acp/index.ts';
import { bindsOf, isThere, programEnvironment } from '../program.ts';
import { readAnything } from './coder.ts';

/** A program of the operator's, under the name that AGENT_COMMANDS gives it. */
export function namedCoder(name: string, command: AgentCommand): Coder {
  const acp = command.speaks === 'acp';
  return {
    name,
    protocols: command.protocols,
    wantsArgv: false,
    experimental: acp,
    launch: (input) => ({
      ...(acp ? acpLaunch(input, command.argv) : { argv: command.argv, stdin: input.prompt }),
      // Ours last: its way to the model is the gateway, whatever the operator's variables say.
      env: { ...command.env, ...programEnvironment(input) },
      binds: bindsOf(name, command),
    }),
    read: acp ? readAcp : readAnything,
    version: async () => ((await isThere(command)) ? `argv ${fingerprint(command.argv)}` : null),
    trial: () => null,
  };
}

/** It has no version that we could know; this changes when its command line does. */
const fingerprint = (argv: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(argv)).digest('hex').slice(0, 12);
