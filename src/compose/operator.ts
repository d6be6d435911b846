import { dirname, isAbsolute, resolve } from 'node:path';
import { overFile, readEnvFile, withPrivateKey } from '../adapters/config/index.ts';
import { Fault } from '../core/model/index.ts';
import { type Operator, parseEnvironment } from '../core/policy/index.ts';
import type { Log } from '../ports/index.ts';
import { defaultData } from './paths.ts';
import { findSettingsFile, foreignWorkTree, INSTALLATION, type SettingsFile } from './settings-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface SettingsFrom {
  readonly env: NodeJS.ProcessEnv;
  /** The folder that Runoff was started in, absolute. */
  readonly cwd: string;
  /** What `--env-file` names. */
  readonly envFile?: string | undefined;
  /** Default: the folder of this program. */
  readonly installation?: string;
}

/** The operator's settings, and where they come from. */
export interface OperatorSettings {
  readonly operator: Operator;
  readonly file: SettingsFile;
}

/** Variables that are paths. A relative one is relative to the file that sets it, or to the current folder. */
const PATHS = ['RUNOFF_DATA', 'RUNOFF_AGENTS', 'RUNOFF_PROMPTS', 'PRIVATE_KEY_PATH'] as const;

/** Reads the operator's settings from the environment and from one settings file; the environment wins. Faults: ENVIRONMENT_INVALID. */
export async function readSettings(from: SettingsFrom): Promise<OperatorSettings> {
  const { env, cwd, envFile, installation = INSTALLATION } = from;
  const given = await absolutePaths(env, cwd, (path) => foreignWorkTree(path, installation));
  const file =
    envFile === undefined
      ? await findSettingsFile({ cwd, data: given.RUNOFF_DATA ?? defaultData(env), installation })
      : namedFile(resolve(cwd, envFile));
  const set =
    file.path === null
      ? {}
      : await absolutePaths(await readEnvFile(file.path), dirname(file.path), async () => null);
  const all = overFile(set, given);
  const data = all.RUNOFF_DATA ?? defaultData(env);
  const parsed = parseEnvironment(await withPrivateKey({ ...all, RUNOFF_DATA: data }));
  if (parsed.kind === 'ok') return { operator: parsed.operator, file };
  const problems = parsed.problems.map((problem) => `${problem.name}: ${problem.message}`);
  throw new Fault('ENVIRONMENT_INVALID', `The environment cannot be used:\n  ${problems.join('\n  ')}`);
}

export const readOperator = async (from: SettingsFrom): Promise<Operator> =>
  (await readSettings(from)).operator;

/** The settings of one process, read anew by each call. */
export interface SettingsSource {
  /** What `--env-file` names; to be said before anything is read. */
  use(envFile: string): void;
  read(): Promise<OperatorSettings>;
  /** For commands at a terminal: says on `say` which files were not read and, unless `quietly`, which one was. */
  readAloud(say: (line: string) => void, quietly?: boolean): Promise<Operator>;
}

export function settingsSource(from: SettingsFrom): SettingsSource {
  let envFile = from.envFile;
  const read = () => readSettings({ ...from, envFile });
  return {
    use(named) {
      envFile = named;
    },
    read,
    async readAloud(say, quietly = false) {
      const { operator, file } = await read();
      for (const notice of file.notices) say(notice);
      if (file.path !== null && !quietly) say(`Settings: ${file.path}`);
      return operator;
    },
  };
}

/** For servers: the log tells where the settings come from, and which files were not read. */
export function logSettings(log: Log, { path, notices }: SettingsFile): void {
  const from = path === null ? 'the environment; there is no settings file' : `${path} and the environment`;
  log.info({ settingsFile: path }, `Operator settings come from ${from}.`);
  for (const notice of notices) log.warn({}, notice);
}

const namedFile = (path: string): SettingsFile => ({ path, writeTo: path, notices: [] });

/** `set` with absolute paths, and without paths that are empty. */
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
    if (tree !== null) throw strangersPath(name, absolute[name], tree);
  }
  return absolute;
}

const strangersPath = (name: string, path: string, tree: string): Fault =>
  new Fault(
    'ENVIRONMENT_INVALID',
    `${name} is a relative path, and from here it leads to ${path}, inside the git work tree ${tree}, whose files may come from somebody else. Write it as an absolute path.`,
  );
