import { z } from 'zod';

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
