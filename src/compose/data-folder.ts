import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { access, chmod, chown, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openArtifacts, openS3Artifacts } from '../adapters/artifacts/index.ts';
import { readPrompts } from '../adapters/config/index.ts';
import { makeFolder } from '../adapters/folders/index.ts';
import { openRecipeFiles } from '../adapters/recipes/index.ts';
import { Fault } from '../core/model/index.ts';
import type { HostFolder } from '../core/reports/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { Artifacts, Recipes } from '../ports/index.ts';
import type { TrustedChecks } from '../shell.ts';

/** Folders in the data folder. Several processes may use them at the same time. */
interface DataPaths {
  readonly database: string;
  readonly artifacts: string;
  readonly sockets: string;
  readonly toolchain: string;
  readonly scratch: string;
  readonly agents: string;
  readonly trusted: string;
  readonly recipes: string;
  readonly contests: string;
  readonly templates: string;
}

export const dataPaths = (data: string): DataPaths => ({
  database: join(data, 'pg'),
  artifacts: join(data, 'artifacts'),
  sockets: join(data, 'gw'),
  toolchain: join(data, 'toolchain'),
  scratch: join(data, 'scratch'),
  agents: join(data, 'runoff-agents'),
  trusted: join(data, 'trusted-checks'),
  recipes: join(data, 'recipes'),
  contests: join(data, 'arena'),
  templates: join(data, 'templates'),
});

/** All folders that can fill a data folder, Runoff's own and those of the workspaces, by kind of content. */
export function foldersByKind(data: string): Readonly<Record<string, readonly string[]>> {
  const { database, artifacts, sockets, toolchain, scratch, agents, trusted, ...paths } = dataPaths(data);
  return {
    areas: [join(data, 'areas')],
    checkouts: [join(data, 'bases')],
    layers: [join(data, 'layers')],
    mirrors: [join(data, 'mirrors'), join(data, 'objects')],
    recipes: [paths.recipes],
    contests: [paths.contests, paths.templates],
    toolchain: [toolchain],
    artifacts: [artifacts],
    agents: [agents],
    database: [database],
    other: [sockets, scratch, trusted],
  };
}

export const ownFolders = (data: string): readonly string[] => Object.values(foldersByKind(data)).flat();

/** Where agents are installed. */
export const agentsFolder = (operator: Operator): string =>
  operator.agentsFolder ?? dataPaths(operator.data).agents;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Our own files that are not code. */
export const OWN = {
  planner: here('../runs/brief/planner.md'),
  setup: here('../runs/recipe/setup.md'),
  critic: here('../runs/brief/critic.md'),
  synthesiser: here('../runs/brief/synthesiser.md'),
  judge: here('../runs/judge/judge.md'),
  independentTests: here('../runs/examine/independent-tests.md'),
  distinguish: here('../runs/examine/distinguish.md'),
  reviewer: here('../runs/examine/reviewer.md'),
  coderPrompts: here('../runs/code/prompts'),
  personas: here('../runs/personas'),
  appManifest: here('../../app.yml'),
  package: here('../../package.json'),
} as const;

/**
 * The data folder if RUNOFF_DATA is not set. For root it is not in the home folder, because the users of the sandbox
 * and of the database must be able to enter it. Fault ENVIRONMENT_INVALID if there is no home folder.
 */
export function defaultData(env: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/lib/runoff';
  // The XDG specification says to ignore a path that is not absolute.
  if (env.XDG_DATA_HOME?.startsWith('/')) return join(env.XDG_DATA_HOME, 'runoff');
  if (env.HOME) return join(env.HOME, '.local', 'share', 'runoff');
  throw new Fault(
    'ENVIRONMENT_INVALID',
    'There is no data folder: neither HOME nor RUNOFF_DATA is set. Set RUNOFF_DATA to a folder that only Runoff uses.',
  );
}

/**
 * Folders that published texts must not name: those in the settings, Runoff's own, and the targets of their links.
 * `/tmp` and `/root` are not replaced: every machine has them, and candidates mention their own.
 */
export function hostFolders(
  operator: Pick<Operator, 'agentsFolder' | 'artifacts' | 'data' | 'privateKeyPath' | 'prompts'>,
): readonly HostFolder[] {
  const { artifacts, data, privateKeyPath } = operator;
  const named: readonly (readonly [string | undefined, string])[] = [
    [data, '(data folder)'],
    ...linksIn(data).map((name) => [join(data, name), `(data folder)/${name}`] as const),
    [artifacts?.kind === 'folder' ? artifacts.path : undefined, '(artifacts folder)'],
    [operator.agentsFolder, '(agents folder)'],
    [operator.prompts, '(prompts folder)'],
    [privateKeyPath, '(private key)'],
    [privateKeyPath && dirname(privateKeyPath), '(folder of the private key)'],
    [resolve(import.meta.dirname, '../..'), '(installation)'],
    [homedir(), '(home)'],
    [tmpdir(), '(temporary folder)'],
  ];
  const all = named.flatMap(([path, name]) =>
    path ? [...new Set([resolve(path), realPath(path)])].map((one) => ({ path: one, name })) : [],
  );
  // The first name of a folder counts.
  return all.filter(({ path }, at) => all.findIndex((other) => other.path === path) === at);
}

/** Links in a data folder, such as one to a larger disk; none if it does not exist yet. */
const linksIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isSymbolicLink())
        .map(({ name }) => name)
    : [];

/** Resolves links; a path that does not exist, or whose disk is not mounted, is returned as it is. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Other users may enter accessible subfolders, but not list the folder. */
const PASSABLE = 0o711;
const OTHERS_MAY_WRITE = 0o002;

/** Names that a folder may contain and still count as empty: what file systems create, and our own settings. */
const UNIMPORTANT: ReadonlySet<string> = new Set(['lost+found', '.env']);

const { agents, database, sockets, toolchain } = dataPaths('/');
/**
 * Entries that Runoff creates first in its data folder and that nothing else uses; `app.pem` is written when the App is
 * set up.
 */
const OURS: ReadonlySet<string> = new Set([
  ...[agents, database, sockets, toolchain].map((path) => basename(path)),
  'app.pem',
]);

/**
 * Opens the data folder, and creates it if it does not exist. Sets mode and owner only on what Runoff created: it never
 * takes over other folders. Fault ENVIRONMENT_INVALID if it contains other things, or is world-writable.
 */
export async function openDataFolder(path: string, owner: { readonly gid: number } | null): Promise<void> {
  const data = resolve(path);
  const first = await makeDataFolder(data);
  if (first === undefined) {
    // An unprivileged user is also the user of the sandbox, which may enter it whatever its mode.
    if (!(await isOurs(data)) || owner === null) return;
  }
  // Set the mode of newly created folders regardless of the umask.
  for (let made = data; made.length >= (first ?? data).length; made = dirname(made)) {
    await chmod(made, PASSABLE);
  }
  if (owner) await chown(data, 0, owner.gid);
}

async function makeDataFolder(data: string): Promise<string | undefined> {
  try {
    return await makeFolder(data, PASSABLE);
  } catch (thrown) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      `RUNOFF_DATA: the data folder ${data} cannot be created: ${(thrown as Error).message}.`,
      { cause: thrown },
    );
  }
}

/** False for an empty folder, which is used as it is. */
async function isOurs(data: string): Promise<boolean> {
  if (((await stat(data)).mode & OTHERS_MAY_WRITE) !== 0) {
    throw folderFault(data, 'everybody may write to it');
  }
  const entries = await readdir(data).catch((thrown: NodeJS.ErrnoException) => {
    // As it is after one start as root.
    if (thrown.code === 'EACCES') throw folderFault(data, 'it belongs to another user');
    throw thrown;
  });
  const names = entries.filter((name) => !UNIMPORTANT.has(name));
  if (names.length === 0) return false;
  if (names.some((name) => OURS.has(name))) return true;
  throw folderFault(data, 'it holds other things');
}

const folderFault = (data: string, why: string): Fault =>
  new Fault(
    'ENVIRONMENT_INVALID',
    `RUNOFF_DATA: ${data} cannot be the data folder: ${why}. Name a folder that only Runoff uses; it is created if it does not exist.`,
  );

/** The artifact store that the operator chose. Opening it sends no request; `checkArtifacts` does. */
export function artifactsOf({ artifacts: place, data }: Operator): Artifacts {
  if (place === undefined) return openArtifacts(dataPaths(data).artifacts);
  return place.kind === 'folder' ? openArtifacts(place.path) : openS3Artifacts(place);
}

/** Where artifacts are stored, for people, without secrets. */
export function artifactsText({ artifacts: place, data }: Operator): string {
  if (place === undefined) return dataPaths(data).artifacts;
  if (place.kind === 'folder') return place.path;
  const { bucket, prefix, endpoint, region } = place;
  return `s3://${[bucket, prefix].filter(Boolean).join('/')} at ${endpoint ?? `Amazon ${region}`}`;
}

/** A constant text, so that it is stored only once. */
const PROBE = 'Written by `runoff doctor` to see whether artifacts can be kept here. It may be removed.\n';

/** Writes a small text and reads it back. Rejects with the fault. */
export async function checkArtifacts(artifacts: Artifacts): Promise<void> {
  await artifacts.get(await artifacts.put(PROBE));
}

/** Stored consent to run checks without the full sandbox: a small file for each repository and set of checks. */
export function openTrustedChecks(data: string): TrustedChecks {
  const folder = dataPaths(data).trusted;
  const fileOf = (repository: string, digest: string): string =>
    join(folder, createHash('sha256').update(`${repository}\0${digest}`).digest('hex'));
  return {
    has: (repository, { digest }) =>
      access(fileOf(repository, digest)).then(
        () => true,
        () => false,
      ),
    async keep(repository, exposure) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(
        fileOf(repository, exposure.digest),
        `${JSON.stringify({ repository, ...exposure })}\n`,
      );
    },
  };
}

/**
 * The recipes of this machine. With a database, recipes found here by `runoff prepare` are copied to it, and `prepare`
 * also uses what runs found.
 */
export function recipesOf(operator: Operator, database?: Recipes): Recipes {
  const files = openRecipeFiles(dataPaths(operator.data).recipes);
  if (!database) return files;
  return {
    async recipe(repository, key, at) {
      const known = await database.recipe(repository, key, at);
      if (known) return known;
      const prepared = await files.recipe(repository, key, at);
      if (prepared) await database.keepRecipe(repository, key, prepared, at);
      return prepared;
    },
    async keepRecipe(...kept) {
      await database.keepRecipe(...kept);
      await files.keepRecipe(...kept);
    },
  };
}

/** The built-in prompts with the operator's replacements. */
export const promptsOf = (operator: Operator) =>
  readPrompts({
    planner: OWN.planner,
    setup: OWN.setup,
    critic: OWN.critic,
    synthesiser: OWN.synthesiser,
    judge: OWN.judge,
    independentTests: OWN.independentTests,
    distinguish: OWN.distinguish,
    reviewer: OWN.reviewer,
    coder: OWN.coderPrompts,
    personas: OWN.personas,
    overrides: operator.prompts,
  });
