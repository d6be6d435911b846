import { Document, isMap, isScalar, isSeq, parseDocument } from 'yaml';
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

/** Shell commands; absent if the repository defines none. */
export interface CheckCommands {
  readonly setup?: string;
  readonly build?: string;
  readonly test?: string;
}

export interface RepositorySnapshot {
  readonly files: ReadonlySet<string>;
  readonly read: Readonly<Record<string, string>>;
}

/** Files that tests read, or people. */
export const SAMPLE_FOLDERS =
  /(?:^|\/)(?:fixtures?|examples?|samples?|templates?|vendor|third[-_]party|node_modules)\//i;

/** Commands detected from one ecosystem's files. */
export interface Ecosystem extends CheckCommands {
  readonly file: string;
  /** The test command is a convention of such repositories, not defined by this one. */
  readonly guessed?: boolean;
  /** The test command runs those of all packages of a workspace, which has none at its top. */
  readonly ofPackages?: boolean;
  /** Whether a path is one of its test files. */
  readonly tests?: (path: string) => boolean;
  /** Needs no set-up command. */
  readonly complete?: boolean;
}

/** The origin of a command that a model suggested. */
export const SUGGESTED = 'suggested by a model';

/** Optional properties are absent where they have no value, as everywhere. */
export function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

interface FoundCommands extends Pick<Recipe, 'instead'> {
  readonly commands: Recipe['commands'] & { readonly types?: string };
  readonly refusedHosts?: readonly string[];
}

/** Maximum hosts: as many as a person can judge. Default. */
const MAX_REFUSED = 10;

/**
 * A settings file with a recipe's commands, and `""` for those that it omits because they failed. `before`: the
 * current file, whose other settings and comments are kept; null for none. Commands in `named` are kept as written.
 * Null if nothing is to be added. `before` is text that `readSettingsText` accepts. Hosts that were blocked during
 * set-up, `host` or `host:port`, are listed in a comment with the line that would allow them: a person decides that,
 * not `--write`.
 */
export function settingsOfRecipe(
  before: string | null,
  { commands, instead = {}, refusedHosts = [] }: FoundCommands,
  named: readonly CommandName[],
): string | null {
  const added = COMMAND_NAMES.flatMap((name): readonly (readonly [CommandName, string])[] => {
    const command = commands[name] ?? (instead[name] === undefined ? undefined : '');
    return named.includes(name) || command === undefined ? [] : [[name, command]];
  });
  const { types } = commands;
  if (added.length === 0 && types === undefined) return null;
  const parsed = before === null ? null : parseDocument(before);
  const document: Document = parsed !== null && isMap(parsed.contents) ? parsed : new Document({});
  // A file of comments alone keeps them at its top.
  if (parsed !== null && document !== parsed) document.commentBefore = parsed.commentBefore ?? parsed.comment;
  for (const [name, command] of added) document.setIn(['checks', name], command);
  if (types !== undefined) document.setIn(['checks', 'types'], types);
  const refused = refusedComment(document, refusedHosts);
  if (refused !== null) document.comment = [document.comment ?? [], refused].flat().join('\n');
  return document.toString({ lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' });
}

function refusedComment(document: Document, refusedHosts: readonly string[]): string | null {
  const refused = refusedHosts
    .map((host) => host.replace(/:443$/, ''))
    .filter((host) => /^[a-z0-9.-]{1,253}(:\d{1,5})?$/.test(host));
  if (refused.length === 0) return null;
  const allowed = document.getIn(['network', 'allow']);
  const before = isSeq(allowed) ? allowed.items.map((one) => (isScalar(one) ? one.value : one)) : [];
  const hosts = [...before, ...refused.slice(0, MAX_REFUSED)].map((host) => JSON.stringify(host));
  return (
    ' A set-up command that failed was refused hosts. To allow them, and by NETWORK_ALLOW in the settings of Runoff:\n' +
    ` network: { allow: [${hosts.join(', ')}] }`
  );
}
