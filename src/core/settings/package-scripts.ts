import { z } from 'zod';

/** A test command, followed through the scripts of package.json to the innermost command. */
export interface TestCommandLine {
  /** The innermost script, or the command itself if it starts none; truncated to `LONGEST`. */
  readonly inner: string;
  /** The last command of `inner`; null if it is not a plain chain of commands. */
  readonly last: string | null;
  /** The separator between the command and an argument meant for `last`; null if arguments do not reach it. */
  readonly joint: ' ' | ' -- ' | null;
  /** The command itself, not a script of package.json. */
  readonly direct: boolean;
  /**
   * The expanded commands before `last`, each with its `&&` or `;`. Null if scripts cannot be expanded: a hook may
   * produce something that the tests need.
   */
  readonly before: string | null;
}

/** Maximum characters of a command that are read. */
const MAX_SCRIPT_LENGTH = 4_000;
/** `npm test` that runs `npm run unit` that runs …: deeper nesting is a cycle. */
const MAX_SCRIPT_DEPTH = 4;

/** `packageJson` is the text of the base commit's file, which defines `npm test`. */
export function testCommandLine(command: string, packageJson?: string): TestCommandLine {
  let line: TestCommandLine = {
    inner: command.slice(0, MAX_SCRIPT_LENGTH),
    last: lastOf(command),
    joint: ' ',
    direct: true,
    before: chainBefore(command),
  };
  const facts = readPackage(packageJson ?? '');
  for (let depth = 0; depth < MAX_SCRIPT_DEPTH; depth++) {
    // After `cd`, another package.json applies.
    if (!facts || /(?:^|\s)cd\s/.test(line.inner)) return line;
    const script = scriptOf(line.last ?? line.inner, facts);
    if (!script) return line;
    const above = line;
    const written = above.before !== null && !script.hooked ? chainBefore(script.text) : null;
    line = {
      inner: script.text.slice(0, MAX_SCRIPT_LENGTH),
      last: lastOf(script.text),
      // npm itself reads options after the name of an inner script.
      joint: above.direct && above.last !== null ? script.joint : null,
      direct: false,
      before: written === null ? null : `${above.before}${written}`,
    };
  }
  return line;
}

/** The last command of a chain by `&&` or `;`; null for a line with pipes, redirections or substitutions. */
function lastOf(command: string): string | null {
  const parts = command.split(/&&|;/);
  return parts.some((part) => /[&|\n<>`]|\$\(/.test(part)) ? null : (parts.at(-1) as string).trim();
}

/** The text before the last command of a chain; null if `lastOf` is. */
function chainBefore(command: string): string | null {
  const last = lastOf(command);
  return last === null ? null : command.trimEnd().slice(0, command.trimEnd().length - last.length);
}

interface Script {
  readonly text: string;
  readonly joint: ' ' | ' -- ';
  /** Another script runs before it, and may produce what the tests need. */
  readonly hooked: boolean;
}

/** The script started by `npm test`, `pnpm run x`, `node --run x` …; null for any other command. */
function scriptOf(command: string, facts: PackageFacts): Script | null {
  const words = command.trim().split(/\s+/);
  const manager = words[0] ?? '';
  if (!['npm', 'pnpm', 'yarn', 'bun', 'node'].includes(manager)) return null;
  const rest = words.slice(1).filter((word) => !/^(?:-s|--silent)$/.test(word));
  const name = scriptName(manager, rest);
  const text = name ? facts.scripts.get(name) : undefined;
  if (text === undefined) return null;
  const hook = facts.scripts.get(`pre${name}`);
  return {
    text,
    joint: manager === 'npm' || manager === 'node' ? ' -- ' : ' ',
    // `node --run` runs no hooks.
    hooked: manager !== 'node' && hook !== undefined && !isLintOnly(hook),
  };
}

function scriptName(manager: string, words: readonly string[]): string | null {
  const [verb, name, ...more] = words;
  if (manager === 'node') return verb === '--run' && name && more.length === 0 ? name : null;
  if ((verb === 'run' || verb === 'run-script') && name && more.length === 0) return name;
  if (name !== undefined) return null;
  if (verb === 'test' || (verb === 't' && manager === 'npm')) return manager === 'bun' ? null : 'test';
  return manager === 'yarn' || manager === 'pnpm' ? (verb ?? null) : null;
}

/** A chain of linters and audits: tests cannot depend on its output. */
const isLintOnly = (script: string): boolean =>
  script.split(/&&|;/).every((part) => /\b(?:lint|eslint|standard|prettier|xo|biome|audit)\b/.test(part));

/** A git repository, an archive behind an address, or `owner/name` of a code host; not an archive of a registry. */
export const FROM_ELSEWHERE =
  /^(?:(?:github|gitlab|bitbucket|gist|ssh|git(?:\+\w+)?|https?(?!.*\/-\/[^/]+\.tgz$)):|[\w.-]+@[\w.-]+:|[\w-][\w.-]*\/[\w.-]+(?:#|$))/;

/** A name of a package that may be in a command. */
export const QUOTABLE_NAME = /^[@\w./-]+$/;

const PackageJson = z.object({
  name: z.string().catch(''),
  scripts: z.record(z.string(), z.unknown()).catch({}),
  dependencies: z.record(z.string(), z.unknown()).catch({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}),
  optionalDependencies: z.record(z.string(), z.unknown()).catch({}),
  packageManager: z.string().optional().catch(undefined),
  workspaces: z.unknown().optional(),
  overrides: z.record(z.string(), z.unknown()).catch({}),
});

/** A package without which those of a repository's users can be installed. */
export interface RemovableDependency {
  readonly name: string;
  /** As `npm pkg` names it. */
  readonly key: string;
  /** From a code host or an address, not from a registry. */
  readonly isFromElsewhere: boolean;
  /** It is not the repository's own dependency but that of a package for development, which is installed without it. */
  readonly isOfPackage?: true;
}

/** The parts of package.json that define how a project is built and tested. */
export interface PackageFacts {
  /** Empty where the file gives none. */
  readonly name: string;
  readonly scripts: ReadonlyMap<string, string>;
  /** Names of packages that setup has to install. */
  readonly packages: ReadonlySet<string>;
  /** Packages for development and optional ones. */
  readonly removable: readonly RemovableDependency[];
  /** `npm`, `pnpm`, `yarn` or `bun`, if the file says so. */
  readonly manager: string | null;
  readonly hasWorkspaces: boolean;
  /** Packages for which npm takes other versions of them, or of what they need. */
  readonly overridden: ReadonlySet<string>;
}

/** Null when the text is not a JSON object. */
export function readPackage(text: string): PackageFacts | null {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // An unreadable package.json is treated as empty; the project's own tools will report it.
    return null;
  }
  const parsed = PackageJson.safeParse(value);
  if (!parsed.success) return null;
  const { name, scripts, dependencies, packageManager, workspaces, overrides, ...others } = parsed.data;
  return {
    name,
    scripts: new Map(
      Object.entries(scripts).flatMap(([name, script]) =>
        typeof script === 'string' && script.trim() !== '' ? [[name, script] as const] : [],
      ),
    ),
    packages: new Set([...Object.keys(dependencies), ...Object.keys(others.devDependencies)]),
    removable: Object.entries(others).flatMap(([field, packages]) =>
      Object.entries(packages).flatMap(([name, from]) =>
        QUOTABLE_NAME.test(name) && typeof from === 'string'
          ? [{ name, key: `${field}[${name}]`, isFromElsewhere: FROM_ELSEWHERE.test(from) }]
          : [],
      ),
    ),
    manager: /^(npm|pnpm|yarn|bun)@/.exec(packageManager ?? '')?.[1] ?? null,
    hasWorkspaces: workspaces !== undefined,
    overridden: new Set(Object.keys(overrides)),
  };
}
