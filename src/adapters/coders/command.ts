import { stat } from 'node:fs/promises';
import { posix } from 'node:path';
import type { CoderEvent } from '../../core/model/index.ts';
import type { AgentCommand } from '../../core/settings/index.ts';
import { MODEL_PROTOCOLS } from '../../core/settings/index.ts';
import type { Coder, CoderInput, CoderLaunch } from '../../ports/index.ts';
import { excerpt, shortLine } from './events.ts';

/**
 * Runs any program that the contestant names: it gets the task on standard input, and its patch is what it leaves in
 * /repo.
 */
export function commandCoder(): Coder {
  return {
    name: 'command',
    protocols: MODEL_PROTOCOLS,
    wantsArgv: true,
    experimental: false,
    launch: (input) => ({ argv: wordsOf(input), env: programEnvironment(input), stdin: input.prompt }),
    read: readAnything,
    version: async () => 'as the settings name it',
    trial: () => null,
  };
}

/** The format of its lines is unknown: each is shown as progress, none as the end. */
export function readAnything(line: string): readonly CoderEvent[] {
  const text = shortLine(line);
  return text === '' ? [] : [{ kind: 'output', text, detail: excerpt(line), piece: true }];
}

/**
 * Environment for an arbitrary program: access to the model under the names that most programs read, and the
 * circumstances of its task. The supervisor sets GW_URL and GW_KEY for every coder.
 */
export const programEnvironment = (input: CoderInput): Readonly<Record<string, string>> => ({
  ...providerEnvironment(input),
  RUNOFF_MODEL: input.model,
  RUNOFF_PROTOCOL: input.protocol,
  RUNOFF_WALL_SECONDS: String(input.wallSeconds),
  RUNOFF_SEED: String(input.seed),
});

function providerEnvironment({ protocol, gateway: { url, key } }: CoderInput): Record<string, string> {
  switch (protocol) {
    case 'anthropic':
      return { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key };
    case 'openai-chat':
    case 'openai-responses':
      // The second is the older name, which LiteLLM and programs based on it still read.
      return { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_BASE: `${url}/v1`, OPENAI_API_KEY: key };
    case 'gemini':
      return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key };
  }
}

/** The contestant's command. `runs/contestants.ts` refuses a contestant without one. */
export function wordsOf(input: CoderInput): readonly [string, ...string[]] {
  if (!input.argv) throw new Error('A coder that runs any program was started without one.');
  return input.argv;
}

/** Our own things lie there inside the sandbox. */
const TAKEN = /^\/opt\/(toolchain|tools|agents)(\/|$)/;

/** Where an operator's folder is mounted: at its own path if that is below /opt, else at /opt/agents/NAME. */
export function bindsOf(name: string, { folder }: AgentCommand): NonNullable<CoderLaunch['binds']> {
  if (folder === undefined) return [];
  const from = posix.resolve(folder);
  const to = from.startsWith('/opt/') && !TAKEN.test(from) ? from : `/opt/agents/${name}`;
  return [{ from, to }];
}

/** Whether the operator's folder exists; a program without one is part of the system. */
export async function isThere({ folder }: AgentCommand): Promise<boolean> {
  if (folder === undefined) return true;
  return stat(folder).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );
}
