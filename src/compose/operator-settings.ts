import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { overFile, readEnvFile, variablesNamedIn, withPrivateKey } from '../adapters/config/index.ts';
import { Fault } from '../core/model/index.ts';
import { Environment, type Operator, parseEnvironment, suggest } from '../core/settings/index.ts';
import type { Log } from '../ports/index.ts';
import { defaultData } from './data-folder.ts';

type Env = Readonly<Record<string, string | undefined>>;

interface SettingsFrom {
  readonly env: NodeJS.ProcessEnv;
  /** The current folder, absolute. */
  readonly cwd: string;
  /** The value of `--env-file`. */
  readonly envFile?: string | undefined;
  /** Default: the folder of this program. */
  readonly installation?: string;
}

/** The operator's settings and their source. */
export interface OperatorSettings {
  readonly operator: Operator;
  readonly file: SettingsFile;
}

/** Variables that contain a path. A relative one is relative to the file that sets it, or to the current folder. */
const PATHS = ['RUNOFF_DATA', 'RUNOFF_AGENTS', 'RUNOFF_PROMPTS', 'PRIVATE_KEY_PATH', 'TRACE_FOLDER'] as const;

/**
 * Reads the operator's settings from the environment and from one settings file; the environment takes precedence.
 * Faults: ENVIRONMENT_INVALID, and COMMAND_LINE_INVALID if the file that `--env-file` names cannot be read.
 */
export async function readSettings(from: SettingsFrom): Promise<OperatorSettings> {
  const { env, cwd, envFile, installation = INSTALLATION } = from;
  const given = await absolutePaths(env, cwd, (path) => foreignWorkTree(path, installation));
  const file =
    envFile === undefined
      ? await findSettingsFile({ cwd, data: given.RUNOFF_DATA ?? defaultData(env), installation })
      : namedFile(resolve(cwd, envFile));
  const unread = envFile === undefined ? 'ENVIRONMENT_INVALID' : 'COMMAND_LINE_INVALID';
  const written = file.path === null ? {} : await readEnvFile(file.path, unread);
  const set = await absolutePaths(written, dirname(file.writeTo), async () => null);
  const all = overFile(set, given);
  const data = all.RUNOFF_DATA ?? defaultData(env);
  const parsed = parseEnvironment(await withPrivateKey({ ...all, RUNOFF_DATA: data }));
  if (parsed.kind === 'ok') {
    const notices = [...file.notices, ...misspelt(Object.keys(written), file.writeTo)];
    return { operator: parsed.operator, file: { ...file, notices } };
  }
  const problems = parsed.problems.map((problem) => `${problem.name}: ${problem.message}`);
  throw new Fault('ENVIRONMENT_INVALID', `The environment cannot be used:\n  ${problems.join('\n  ')}`);
}

export const readOperator = async (from: SettingsFrom): Promise<Operator> =>
  (await readSettings(from)).operator;

/** The settings of one process. Each call reads them again. */
export interface SettingsSource {
  /** Sets the value of `--env-file`. Must be called before anything is read. */
  use(envFile: string): void;
  read(): Promise<OperatorSettings>;
  /**
   * For commands in a terminal: `say` receives the notices about settings files and, unless `quietly`, the name of the
   * one that was read.
   */
  readAndReport(say: (line: string) => void, quietly?: boolean): Promise<Operator>;
}

export function settingsSource(from: SettingsFrom): SettingsSource {
  let envFile = from.envFile;
  const read = () => readSettings({ ...from, envFile });
  return {
    use(named) {
      envFile = named;
    },
    read,
    async readAndReport(say, quietly = false) {
      const { operator, file } = await read();
      for (const notice of file.notices) say(notice);
      if (file.path !== null && !quietly) say(`Settings: ${file.path}`);
      return operator;
    },
  };
}

/** For servers: logs where the settings come from, and the notices about settings files. */
export function logSettings(log: Log, { path, notices }: SettingsFile): void {
  const from = path === null ? 'the environment; there is no settings file' : `${path} and the environment`;
  log.info({ settingsFile: path }, `Operator settings come from ${from}.`);
  for (const notice of notices) log.warn({}, notice);
}

/** Shorter names resemble those of other programs: HOST resembles PGHOST. */
const MIN_MISSPELT = 6;

/** A sentence for each variable that looks like one of Runoff's. Others belong to programs that share the file. */
function misspelt(names: readonly string[], path: string): readonly string[] {
  const known = Object.keys(Environment.shape).filter((name) => name.length >= MIN_MISSPELT);
  return names.flatMap((name) => {
    const meant = Object.hasOwn(Environment.shape, name) ? null : suggest(name, known);
    return meant === null
      ? []
      : [`${path}: there is no variable ${name}, so it has no effect. Did you mean ${meant}?`];
  });
}

const namedFile = (path: string): SettingsFile => ({ path, writeTo: path, notices: [] });

/** `set` with absolute paths; empty paths are dropped. */
async function absolutePaths(
  set: Env,
  folder: string,
  foreign: (path: string) => Promise<string | null>,
): Promise<Readonly<Record<string, string>>> {
  const defined = Object.entries(set).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const absolute: Record<string, string> = Object.fromEntries(defined);
  for (const name of PATHS) {
    const path = set[name]?.trim();
    delete absolute[name];
    if (!path) continue;
    absolute[name] = resolve(folder, path);
    const tree = isAbsolute(path) ? null : await foreign(absolute[name]);
    if (tree !== null) throw foreignPath(name, absolute[name], tree);
  }
  return absolute;
}

const foreignPath = (name: string, path: string, tree: string): Fault =>
  new Fault(
    'ENVIRONMENT_INVALID',
    `${name} is a relative path, which resolves to ${path}, inside the git working tree ${tree}, whose files may come from somebody else. Use an absolute path.`,
  );

/** Runoff's own checkout or folder. */
const INSTALLATION = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

interface SettingsFolders {
  /** The current folder. */
  readonly cwd: string;
  /** The data folder, absolute, as far as it is known without a settings file. */
  readonly data: string;
  /** Runoff's own folder, absolute. */
  readonly installation: string;
}

export interface SettingsFile {
  /** The one file that operator settings are read from, absolute; null if there is none. */
  readonly path: string | null;
  /** Where new settings are written, absolute: the file that is read, else the one in the data folder. */
  readonly writeTo: string;
  /** A sentence for each file that exists and is not read, and for each variable of this one that looks misspelt. */
  readonly notices: readonly string[];
}

/**
 * Finds the settings file if none is named: `.env` in the data folder, else `.env` in the installation. Never the one
 * in the current folder, and never one inside a git working tree other than Runoff's own: the user may be in a stranger's
 * repository (docs/decisions/0046).
 */
async function findSettingsFile(places: SettingsFolders): Promise<SettingsFile> {
  const { cwd, data, installation } = places;
  const notices: string[] = [];
  const found: string[] = [];
  for (const folder of new Set([data, installation])) {
    const path = join(folder, '.env');
    if (!(await isThere(path))) continue;
    const tree = await foreignWorkTree(folder, installation);
    if (tree === null) found.push(path);
    else notices.push(inWorkTree(path, tree));
  }
  const [path = null, ...others] = found;
  for (const other of others) {
    notices.push(`Settings in ${other} were not read: one file is read, and ${path} comes first.`);
  }
  const here = join(cwd, '.env');
  const known = await Promise.all([data, installation].map((folder) => realOf(join(folder, '.env'))));
  if (!known.includes(await realOf(here))) notices.push(...(await inWorkFolder(here, data)));
  return { path, writeTo: path ?? join(data, '.env'), notices };
}

const inWorkTree = (path: string, tree: string): string =>
  `Settings in ${path} were not read: it lies in the git working tree ${tree}, whose files may come from somebody else. If it is yours, name it: --env-file ${path}`;

/** A notice that `.env` in the current folder was not read, if it sets a variable that Runoff knows. */
async function inWorkFolder(path: string, data: string): Promise<readonly string[]> {
  const named = await variablesNamedIn(path);
  const known = named.filter((name) => Object.hasOwn(Environment.shape, name)).sort();
  if (known.length === 0) return [];
  const names = known.length > 3 ? `${known.slice(0, 3).join(', ')} and others` : known.join(', ');
  return [
    `Settings in ${path} (${names}) were not read: the folder that Runoff is started in may be somebody else's repository. If they are yours, name the file, --env-file ${path}, or move it to ${join(data, '.env')}`,
  ];
}

/**
 * The top folder of a git working tree around `path`, unless it is Runoff's own; null if there is none. Checks both the
 * path as written and the one that links lead to. `path` need not exist.
 */
async function foreignWorkTree(path: string, installation: string): Promise<string | null> {
  const own = new Set([installation, await realOf(installation)]);
  for (const way of new Set([path, await realOf(path)])) {
    const tree = await workTreeAround(way);
    if (tree !== null && !own.has(tree)) return tree;
  }
  return null;
}

async function workTreeAround(path: string): Promise<string | null> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Resolves the links in the part of the path that exists. */
async function realOf(path: string): Promise<string> {
  const found = await realpath(path).catch(() => null);
  if (found !== null || path === dirname(path)) return found ?? path;
  return join(await realOf(dirname(path)), basename(path));
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
