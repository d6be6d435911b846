import { z } from 'zod';

export const COMMAND_NAMES = ['setup', 'build', 'test'] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

const CommandLine = z.string().min(1).max(4_000);
const PerCommand = z
  .object({ setup: CommandLine.optional(), build: CommandLine.optional(), test: CommandLine.optional() })
  .transform(withoutUndefined);

/** How a repository is set up, built and tested. Plain JSON. */
export const Recipe = z
  .object({
    commands: PerCommand,
    /** The file that defines each command, or `SUGGESTED`. */
    from: PerCommand,
    /** Detected commands that failed, with their replacements if any. */
    instead: PerCommand.optional(),
  })
  .transform(withoutUndefined);
export type Recipe = z.infer<typeof Recipe>;

/** The origin of a command that a model suggested. */
export const SUGGESTED = 'suggested by a model';

/** Optional properties are absent where they have no value, as everywhere. */
export function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
