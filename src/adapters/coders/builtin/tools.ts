import { tool } from 'ai';
import { z } from 'zod';
import { editRepoFile, writeRepoFile } from './files.ts';
import { runShell } from './shell.ts';

/** Characters of a command's output that the model sees. Our default, tune on dev data. */
const OUTPUT_CHARACTERS = 12_000;
/** Seconds; our defaults. */
const TIMEOUT = { usual: 120, most: 900 } as const;

export interface ToolContext {
  readonly root: string;
  readonly signal: AbortSignal;
  /** Called while a command prints, so that long work does not look like silence. */
  readonly onOutput: () => void;
}

/** All that the model can do. */
export function toolsFor({ root, signal, onOutput }: ToolContext) {
  return {
    bash: tool({
      description:
        'Runs a shell command in the repository: to read, search, build and test. Each call is a new shell in the repository. Long output is cut in the middle.',
      inputSchema: z.object({
        command: z.string().min(1),
        timeoutSeconds: z
          .number()
          .int()
          .min(1)
          .max(TIMEOUT.most)
          .optional()
          .describe(`Default ${TIMEOUT.usual}.`),
      }),
      execute: ({ command, timeoutSeconds = TIMEOUT.usual }) =>
        runShell(command, {
          cwd: root,
          timeoutSeconds,
          outputCharacters: OUTPUT_CHARACTERS,
          signal,
          onOutput,
        }),
    }),
    write: tool({
      description: 'Creates a file, or overwrites it as a whole. Folders are made as needed.',
      inputSchema: z.object({ path: z.string().min(1), content: z.string() }),
      execute: ({ path, content }) => writeRepoFile(root, path, content),
    }),
    edit: tool({
      description:
        'Replaces a text in a file. `old` must be exactly as in the file, whitespace included, and occur once.',
      inputSchema: z.object({ path: z.string().min(1), old: z.string(), new: z.string() }),
      execute: ({ path, old, new: fresh }) => editRepoFile(root, path, old, fresh),
    }),
  };
}
