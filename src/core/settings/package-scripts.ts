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

const PackageJson = z.object({
  name: z.string().catch(''),
  scripts: z.record(z.string(), z.unknown()).catch({}),
  dependencies: z.record(z.string(), z.unknown()).catch({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}),
  packageManager: z.string().optional().catch(undefined),
  workspaces: z.unknown().optional(),
});

/** The parts of package.json that define how a project is built and tested. */
export interface PackageFacts {
  /** Empty where the file gives none. */
  readonly name: string;
  readonly scripts: ReadonlyMap<string, string>;
  /** Names of packages that setup has to install. */
  readonly packages: ReadonlySet<string>;
  /** `npm`, `pnpm`, `yarn` or `bun`, if the file says so. */
  readonly manager: string | null;
  readonly hasWorkspaces: boolean;
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
  const { name, scripts, dependencies, devDependencies, packageManager, workspaces } = parsed.data;
  return {
    name,
    scripts: new Map(
      Object.entries(scripts).flatMap(([name, script]) =>
        typeof script === 'string' && script.trim() !== '' ? [[name, script] as const] : [],
      ),
    ),
    packages: new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]),
    manager: /^(npm|pnpm|yarn|bun)@/.exec(packageManager ?? '')?.[1] ?? null,
    hasWorkspaces: workspaces !== undefined,
  };
}

/** A command that runs one script in every package of a workspace. */
export interface RecursiveCommand {
  readonly script: string;
  /** A command that builds what a package's tests need, by the package's name; absent if nothing has to be built. */
  readonly before?: (name: string) => string;
}

/** Options that do not affect what is run. */
const HARMLESS_FLAG =
  /^(?:--if-present|--stream|--parallel|--sort|--no-bail|--bail|--no-sort|--silent|-s|--aggregate-output|--no-progress|--verbose|--ci|--all|-A|-a|-p|-t|-v|-i|-pt|-pv|-ptv|-At|-Ap|-Apt|-ap|-apt|--topological|--topological-dev|--interlaced|--continue|--no-cache|--force|--no-daemon|--nxBail|--skip-nx-cache|--include-dependencies|--(?:workspace-concurrency|concurrency|jobs|output-logs|log-order|log-prefix|cache-dir|ui|reporter|reporter-hide-prefix|outputStyle|loglevel)=[\w./-]+)$/;

const isHarmless = (words: readonly string[]): boolean => words.every((word) => HARMLESS_FLAG.test(word));

/** The script that a command runs in every package; null for another command, and for one that selects packages. */
export function recursiveCommand(
  words: readonly string[],
  files: Readonly<Record<string, string>>,
): RecursiveCommand | null {
  const [program = '', ...rest] = words[0] === 'npx' || words[0] === 'bunx' ? words.slice(1) : words;
  const within = rest[0] === 'exec' || rest[0] === 'run' ? rest.slice(1) : rest;
  if (/^(?:pnpm|yarn)$/.test(program) && RUNNERS.test(within[0] ?? ''))
    return recursiveCommand(within, files);
  switch (program) {
    case 'npm':
      return byFlag(rest, /^(?:--workspaces|-ws)$/);
    case 'pnpm':
      return byFlag(rest, /^(?:-r|--recursive)$/);
    case 'yarn':
      return yarnScript(rest);
    case 'lerna':
      return rest[0] === 'run' ? plain(rest[1], rest.slice(2)) : null;
    case 'turbo':
      return turboTask(rest[0] === 'run' ? rest.slice(1) : rest, files['turbo.json']);
    case 'nx':
      return nxTarget(rest, files);
    default:
      return null;
  }
}

const RUNNERS = /^(?:turbo|lerna|nx)$/;

function plain(script: string | undefined, options: readonly string[]): RecursiveCommand | null {
  return script !== undefined && /^[\w:-]+$/.test(script) && !script.startsWith('-') && isHarmless(options)
    ? { script }
    : null;
}

/** `npm run test --workspaces`, `pnpm -r run test`, in any order. */
function byFlag(words: readonly string[], flag: RegExp): RecursiveCommand | null {
  if (!words.some((word) => flag.test(word))) return null;
  const left = words.filter((word) => !flag.test(word) && !HARMLESS_FLAG.test(word));
  const [verb = '', ...more] = left;
  const named = verb === 'run' || verb === 'run-script' ? more : [verb === 't' ? 'test' : verb, ...more];
  return named.length === 1 && named[0] !== 'exec' ? plain(named[0], []) : null;
}

/** `yarn workspaces run test`, and `yarn workspaces foreach -A run test` of later versions. */
function yarnScript([what, ...words]: readonly string[]): RecursiveCommand | null {
  if (what !== 'workspaces') return null;
  const run = words.indexOf('run');
  const options = words.slice(0, run).filter((word) => word !== 'foreach');
  return run < 0 || words.length !== run + 2 || !isHarmless(options) ? null : plain(words[run + 1], []);
}

const TaskEntry = z.object({ dependsOn: z.array(z.string()).catch([]) });
const Turbo = z.object({
  tasks: z.record(z.string(), TaskEntry.catch({ dependsOn: [] })).catch({}),
  pipeline: z.record(z.string(), TaskEntry.catch({ dependsOn: [] })).catch({}),
});

/** `turbo run test`: dependencies of the task are built first, as by turbo. */
function turboTask(words: readonly string[], text: string | undefined): RecursiveCommand | null {
  const found = plain(words[0], words.slice(1));
  const config = found && parseConfig(Turbo, text);
  if (!found || !config) return null;
  const tasks = { ...config.pipeline, ...config.tasks };
  // A task of one package, or of the top: `web#test`, `//#test`.
  if (Object.keys(tasks).some((name) => name.endsWith(`#${found.script}`))) return null;
  const { dependsOn = [] } = tasks[found.script] ?? {};
  if (!dependsOn.every((one) => /^\^?[\w:-]+$/.test(one))) return null;
  const above = dependsOn.flatMap((one) => (one.startsWith('^') ? [one.slice(1)] : []));
  const same = dependsOn.filter((one) => !one.startsWith('^'));
  if (above.length + same.length === 0) return found;
  const needed = [...new Set([...above, ...same])].join(' ');
  // `name^...`: its dependencies without itself.
  const filter = (name: string) => (same.length > 0 ? `--filter=${name}...` : `--filter=${name}^...`);
  return { ...found, before: (name) => `npx --no-install turbo run ${needed} ${filter(name)}` };
}

const Nx = z.object({
  plugins: z.array(z.unknown()).catch([]),
  targetDefaults: z.record(z.string(), TaskEntry.catch({ dependsOn: [] })).catch({}),
});

/** `nx run-many -t test` with scripts as targets; targets of plugins and `project.json` may be anything. */
function nxTarget(
  [verb, ...words]: readonly string[],
  files: Readonly<Record<string, string>>,
): RecursiveCommand | null {
  const config = verb === 'run-many' ? parseConfig(Nx, files['nx.json']) : null;
  if (!config || config.plugins.length > 0) return null;
  if (Object.keys(files).some((path) => /(?:^|\/)project\.json$/.test(path))) return null;
  const line = words.join(' ');
  const script = /(?:^| )(?:-t|--targets?)[ =]([\w:-]+)(?= |$)/.exec(line)?.[1];
  const left = line.replace(/(?:^| )(?:-t|--targets?)[ =][\w:-]+(?= |$)/, '').trim();
  if (script === undefined || (left !== '' && !isHarmless(left.split(/\s+/)))) return null;
  const needs = config.targetDefaults[script]?.dependsOn ?? [];
  return needs.length === 0 ? plain(script, []) : null;
}

function parseConfig<T>(schema: z.ZodType<T>, text: string | undefined): T | null {
  if (text === undefined) return null;
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // The file may have comments, in which case the dependencies of its tasks are unknown.
    return null;
  }
}
