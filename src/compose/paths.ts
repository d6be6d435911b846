import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../core/model/index.ts';
import type { Operator } from '../core/policy/index.ts';
import type { HostFolder } from '../core/reports/index.ts';

/** Folders below the data folder; one process or several may use them at the same time. */
export interface DataPaths {
  readonly database: string;
  readonly artifacts: string;
  readonly sockets: string;
  readonly toolchain: string;
  readonly scratch: string;
  readonly agents: string;
  readonly trusted: string;
}

export const dataPaths = (data: string): DataPaths => ({
  database: join(data, 'pg'),
  artifacts: join(data, 'artifacts'),
  sockets: join(data, 'gw'),
  toolchain: join(data, 'toolchain'),
  scratch: join(data, 'scratch'),
  agents: join(data, 'runoff-agents'),
  trusted: join(data, 'trusted-checks'),
});

/** Folders in which all that fills a data folder lies: ours, and those of the workspaces. */
export const ownFolders = (data: string): readonly string[] => [
  ...Object.values(dataPaths(data)),
  ...['mirrors', 'objects', 'bases', 'layers', 'areas'].map((name) => join(data, name)),
];

/** Where installed agents lie. */
export const agentsFolder = (operator: Operator): string =>
  operator.agentsFolder ?? dataPaths(operator.data).agents;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Files of our own that are not code of the app. */
export const OWN = {
  planner: here('../runs/brief/planner.md'),
  critic: here('../runs/brief/critic.md'),
  synthesiser: here('../runs/brief/synthesiser.md'),
  judge: here('../runs/judge/judge.md'),
  neutral: here('../runs/examine/neutral.md'),
  distinguish: here('../runs/examine/distinguish.md'),
  reviewer: here('../runs/examine/reviewer.md'),
  coderPrompts: here('../runs/code/prompts'),
  personas: here('../runs/personas'),
  appManifest: here('../../app.yml'),
  package: here('../../package.json'),
} as const;

/**
 * Where data is kept unless RUNOFF_DATA says otherwise. For root it is not in the home folder: the sandbox's and the
 * database's own users must be able to enter it. Fault ENVIRONMENT_INVALID where there is no home folder.
 */
export function defaultData(env: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/lib/runoff';
  // The XDG rules say that a path which is not absolute is ignored.
  if (env.XDG_DATA_HOME?.startsWith('/')) return join(env.XDG_DATA_HOME, 'runoff');
  if (env.HOME) return join(env.HOME, '.local', 'share', 'runoff');
  throw new Fault(
    'ENVIRONMENT_INVALID',
    'There is no place for data: neither HOME nor RUNOFF_DATA is set. Set RUNOFF_DATA to a folder for Runoff alone.',
  );
}

/**
 * Folders that texts for everybody must not name. `/tmp` and `/root` are left as they are: every machine has them, and
 * candidates write of their own.
 */
export const hostFolders = (data: string): readonly HostFolder[] => [
  { path: resolve(data), name: '(data folder)' },
  { path: resolve(import.meta.dirname, '../..'), name: '(installation)' },
  { path: homedir(), name: '(home)' },
  { path: tmpdir(), name: '(temporary folder)' },
];
