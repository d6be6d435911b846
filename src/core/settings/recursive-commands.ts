import { z } from 'zod';
import { type NamedPackage, selection, withoutFilters } from './package-selection.ts';

/** A command that runs one script in packages of a workspace. */
export interface RecursiveCommand {
  readonly script: string;
  /** A command that builds what a package's tests need, by its name and those of its dependencies; null for none. */
  readonly before?: (name: string, dependencies: readonly string[]) => string | null;
  /** The packages that the command selects; absent if it selects all. */
  readonly select?: (all: readonly NamedPackage[]) => readonly NamedPackage[];
}

/** Options that do not affect what is run. */
const HARMLESS_FLAG =
  /^(?:--if-present|--stream|--parallel|--sort|--no-bail|--bail|--no-sort|--silent|-s|--aggregate-output|--no-progress|--verbose|--ci|--all|-[Aaiptv]+|--color|--no-color|--topological|--topological-dev|--interlaced|--continue|--no-cache|--force|--no-daemon|--nxBail|--skip-nx-cache|--include-dependencies|--(?:workspace-concurrency|concurrency|jobs|output-logs|log-order|log-prefix|cache-dir|ui|reporter|reporter-hide-prefix|outputStyle|loglevel)=[\w./-]+)$/;

const isHarmless = (words: readonly string[]): boolean => words.every((word) => HARMLESS_FLAG.test(word));

/**
 * The script that a command runs in packages of a workspace; null for another command, and for one that selects packages
 * in an unknown way.
 */
export function recursiveCommand(words: readonly string[], tasks: TaskFiles): RecursiveCommand | null {
  const [program = '', ...rest] = words[0] === 'npx' || words[0] === 'bunx' ? words.slice(1) : words;
  const within = rest[0] === 'exec' || rest[0] === 'run' ? rest.slice(1) : rest;
  if (/^(?:pnpm|yarn)$/.test(program) && RUNNERS.test(within[0] ?? ''))
    return recursiveCommand(within, tasks);
  const { left, filters } = withoutFilters(program, rest);
  const selects = filters.length > 0;
  const select = selects && !left.includes('--include-dependencies') ? selection(filters) : null;
  const found = selects && !select ? null : commandOf(program, left, { tasks, selects });
  return found && select ? { ...found, select } : found;
}

interface CommandFacts {
  readonly tasks: TaskFiles;
  /** Options of the command selected packages. */
  readonly selects: boolean;
}

function commandOf(
  program: string,
  rest: readonly string[],
  { tasks, selects }: CommandFacts,
): RecursiveCommand | null {
  switch (program) {
    case 'npm':
      return byFlag(rest, /^(?:--workspaces|-ws)$/, selects);
    case 'pnpm':
      return byFlag(rest, /^(?:-r|--recursive)$/, selects);
    case 'yarn':
      return yarnScript(rest);
    case 'lerna':
      return rest[0] === 'run' ? plain(rest[1], rest.slice(2)) : null;
    case 'turbo':
      return turboTask(rest[0] === 'run' ? rest.slice(1) : rest, tasks.turbo);
    case 'nx':
      return nxTarget(rest, tasks.nx);
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
function byFlag(words: readonly string[], flag: RegExp, selects: boolean): RecursiveCommand | null {
  if (!selects && !words.some((word) => flag.test(word))) return null;
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

/** Entries of `dependsOn` are names of tasks, or in nx also objects. */
const TaskEntry = z.object({ dependsOn: z.array(z.unknown()).catch([]) });
const Turbo = z.object({
  tasks: z.record(z.string(), TaskEntry.catch({ dependsOn: [] })).catch({}),
  pipeline: z.record(z.string(), TaskEntry.catch({ dependsOn: [] })).catch({}),
});

/** `turbo run test`: dependencies of the task are built first, as by turbo. */
function turboTask(words: readonly string[], config: TaskFiles['turbo']): RecursiveCommand | null {
  const found = plain(words[0], words.slice(1));
  if (!found || !config) return null;
  const tasks: Tasks = { ...config.pipeline, ...config.tasks };
  // A task of the top is no package's.
  if (tasks[`//#${found.script}`] !== undefined) return null;
  const entries = Object.keys(tasks).filter(
    (name) => name === found.script || name.endsWith(`#${found.script}`),
  );
  const needs = entries.flatMap((name) => tasks[name]?.dependsOn ?? []);
  if (!needs.every(isTurboTask)) return null;
  return needs.length === 0 ? found : { ...found, before: (name) => turboBuild(found.script, name, tasks) };
}

type Tasks = Readonly<Record<string, z.infer<typeof TaskEntry>>>;

const isTaskName = (one: unknown): one is string => typeof one === 'string' && /^\^?[\w:-]+$/.test(one);

/** `web#build`: the task of one package. */
const OF_PACKAGE = /^([\w@./-]+)#([\w:-]+)$/;
const isTurboTask = (one: unknown): one is string =>
  isTaskName(one) || (typeof one === 'string' && OF_PACKAGE.test(one));

/** What the task of a package needs; its own entry (`web#test`) replaces the common one. */
function turboBuild(script: string, name: string, tasks: Tasks): string | null {
  const all = (tasks[`${name}#${script}`] ?? tasks[script])?.dependsOn.filter(isTurboTask) ?? [];
  const named = all.flatMap((one) => {
    const [, of, task] = OF_PACKAGE.exec(one) ?? [];
    return of === undefined ? [] : [`npx --no-install turbo run ${task} --filter=${of}`];
  });
  const own = turboTasks(all.filter(isTaskName), name);
  const commands = [...named, ...(own === null ? [] : [own])];
  return commands.length === 0 ? null : commands.join(' && ');
}

function turboTasks(needs: readonly string[], name: string): string | null {
  if (needs.length === 0) return null;
  const above = needs.flatMap((one) => (one.startsWith('^') ? [one.slice(1)] : []));
  const same = needs.filter((one) => !one.startsWith('^'));
  const needed = [...new Set([...above, ...same])].join(' ');
  // `name^...`: its dependencies without itself.
  const filter = same.length > 0 ? `${name}...` : `${name}^...`;
  return `npx --no-install turbo run ${needed} --filter=${filter}`;
}

const Nx = z.object({
  plugins: z.array(z.unknown()).catch([]),
  targetDefaults: z.record(z.string(), TaskEntry.catch({ dependsOn: [] })).catch({}),
});

/** What turbo.json and nx.json say of tasks; null without such a file, and where targets may be more than scripts. */
export interface TaskFiles {
  readonly turbo: z.infer<typeof Turbo> | null;
  readonly nx: z.infer<typeof Nx> | null;
}

/** Targets of plugins of nx, and of `project.json`, may be anything. */
export function taskFiles(files: Readonly<Record<string, string>>): TaskFiles {
  const nx = parseConfig(Nx, files['nx.json']);
  const onlyScripts =
    nx?.plugins.length === 0 && !Object.keys(files).some((path) => /(?:^|\/)project\.json$/.test(path));
  return { turbo: parseConfig(Turbo, files['turbo.json']), nx: onlyScripts ? nx : null };
}

/** `nx run-many -t test` with scripts as targets. What the tests depend on is built first. */
function nxTarget([verb, ...words]: readonly string[], config: TaskFiles['nx']): RecursiveCommand | null {
  if (verb !== 'run-many' || !config) return null;
  const line = words.join(' ');
  const script = /(?:^| )(?:-t|--targets?)[ =]([\w:-]+)(?= |$)/.exec(line)?.[1];
  const left = line.replace(/(?:^| )(?:-t|--targets?)[ =][\w:-]+(?= |$)/, '').trim();
  if (script === undefined || (left !== '' && !isHarmless(left.split(/\s+/)))) return null;
  const found = plain(script, []);
  const needs = config.targetDefaults[script]?.dependsOn ?? [];
  if (!found || !needs.every(isTaskName)) return null;
  if (needs.length === 0) return found;
  const above = needs.flatMap((one) => (one.startsWith('^') ? [one.slice(1)] : []));
  const same = needs.filter((one) => !one.startsWith('^'));
  const targets = [...new Set([...above, ...same])].join(' ');
  const before = (name: string, dependencies: readonly string[]): string | null => {
    const names = [...(above.length > 0 ? dependencies : []), ...(same.length > 0 ? [name] : [])];
    return names.length === 0 ? null : `npx --no-install nx run-many -t ${targets} -p ${names.join(',')}`;
  };
  return { ...found, before };
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
