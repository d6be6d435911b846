import { MODEL_PROTOCOLS } from '../../../core/model/index.ts';
import type { Coder, CoderEvent } from '../../../ports/index.ts';
import { shown } from '../lines.ts';
import { programEnvironment, wordsOf } from '../program.ts';

/** Any program that the contestant names: the task comes on standard input, the patch is what it leaves in /repo. */
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

/** Nothing is known about its lines: each is worth a look, none says how it ended. */
export function readAnything(line: string): CoderEvent | null {
  const text = shown(line);
  return text === '' ? null : { kind: 'step', text };
}
