import { z } from 'zod';

/** Files that define the commands which a script starts, or how its package manager starts it. */
const COMMAND_FILES =
  /(?:^|\/)(?:package\.json|(?:GNUm|[Mm])akefile|\.?[Jj]ustfile|Taskfile\.ya?ml|tox\.ini|noxfile\.py|bunfig\.toml|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.c?js)$/;

/** Whether a file defines commands that a script may start. */
export const definesCommands = (path: string): boolean => COMMAND_FILES.test(path);

const ScriptsFile = z.looseObject({ scripts: z.unknown() });

/**
 * A file that defines commands, with those of the base: a candidate's packages, for example, remain its own. `base` and
 * `own` are its text there and after the patch; null if it has none. Null: the file must not exist.
 */
export function withBaseScripts(path: string, base: string | null, own: string | null): string | null {
  if (!/(?:^|\/)package\.json$/.test(path)) return base;
  // A manifest of a new package: the base's commands do not name it.
  if (base === null) return own;
  const [before, after] = [scriptsFileOf(base), own === null ? null : scriptsFileOf(own)];
  return before && after ? `${JSON.stringify({ ...after, scripts: before.scripts }, null, 2)}\n` : base;
}

function scriptsFileOf(text: string): z.infer<typeof ScriptsFile> | null {
  try {
    return ScriptsFile.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // The package manager would not read it either.
    return null;
  }
}
