import { checksOfProject, type DetectedChecks, filesOfProject } from './checks.ts';
import { isNodeTest, NODE_TEST } from './ecosystems.ts';
import { folderParts, inFolder } from './folder-parts.ts';
import type { FoundCommand } from './last-resorts.ts';
import { type RemovablePackage, removablePackages } from './left-out-packages.ts';
import { readPackage } from './package-scripts.ts';
import {
  type CheckCommands,
  COMMAND_NAMES,
  type CommandName,
  type Recipe,
  type RepositorySnapshot,
  SAMPLE_FOLDERS,
  withoutUndefined,
} from './repository-recipe.ts';

/** Paths of the files whose text `detectChecks` needs; bounded. */
export const checkFiles = (paths: readonly string[]): readonly string[] => {
  const repository = { files: new Set(paths), read: {} };
  const below = projectFolders(repository).flatMap((folder) =>
    filesOfProject([...projectIn(folder, repository).files]).map((path) => `${folder}/${path}`),
  );
  return [...new Set([...filesOfProject(paths), ...below])];
};

/**
 * Detects how a repository is set up, built and tested, from its list of files and some of their texts (`checkFiles`):
 * as a project at its top, or, where no file there says how, as projects in folders, each in its own.
 */
export function detectChecks(repository: {
  readonly files: readonly string[];
  readonly read: Readonly<Record<string, string>>;
}): DetectedChecks {
  const snapshot = { files: new Set(repository.files), read: repository.read };
  const top = checksOfProject(snapshot);
  const projects = projectsBelow(snapshot);
  const [below, ...alone] = projects;
  if (below === undefined) return top;
  const { commands, from, services } = top;
  const removable = [...top.removable, ...removableBelow(snapshot)];
  const recipes = (found: readonly ProjectsBelow[]) => found.map(({ recipe }) => recipe);
  const own = commands.test === undefined ? [] : [{ commands, from }];
  if (commands.test === undefined || areTestsOf(projects, top, snapshot)) {
    const others = [...recipes(alone), ...below.others, ...own, ...top.others];
    return { ...below.recipe, services, types: below.types, removable, others };
  }
  const setup = setupOfStarted(from.test ?? '', snapshot, projects);
  if (commands.setup !== undefined || setup === null)
    return { ...top, removable, others: [...top.others, ...recipes(projects)] };
  return {
    ...top,
    removable,
    commands: { ...commands, setup: setup.command },
    from: { ...from, setup: setup.file },
    others: [...own, ...top.others, ...recipes(projects)],
  };
}

/** Those of the projects in folders, by their folders from the top. */
const removableBelow = (repository: RepositorySnapshot): readonly RemovablePackage[] =>
  projectFolders(repository).flatMap((folder) =>
    removablePackages(projectIn(folder, repository)).map((one) => ({
      ...one,
      folder: one.folder === '' ? folder : `${folder}/${one.folder}`,
    })),
  );

/** From the top, tests in the folders of projects are found by their names too, but not what they need. */
function areTestsOf(
  projects: readonly ProjectsBelow[],
  { commands, from }: DetectedChecks,
  { files }: RepositorySnapshot,
): boolean {
  const isInside = (path: string) =>
    projects.some(({ folders }) => folders.some((folder) => path.startsWith(`${folder}/`)));
  const { test: file = '' } = from;
  if (/\.(?:py|ini)$/.test(file)) return isInside(file);
  // No script of package.json: the runner of Node looks for its files.
  return (
    commands.test === NODE_TEST && file === 'package.json' && [...files].filter(isNodeTest).every(isInside)
  );
}

/**
 * A makefile or script at the top may start the tests of folders, and says nothing about their packages. A workflow does:
 * it names other folders for other jobs.
 */
function setupOfStarted(
  file: string,
  { read }: RepositorySnapshot,
  projects: readonly ProjectsBelow[],
): FoundCommand | null {
  const text = file.includes('/') ? '' : (read[file] ?? '');
  const names = (folder: string) => RegExp(`(?<![\\w@.-])${RegExp.escape(folder)}(?![\\w@.-])`).test(text);
  const started = projects.find(({ folders }) => folders.every(names));
  const { commands, from } = started?.recipe ?? {};
  return commands?.setup === undefined ? null : { command: commands.setup, file: from?.setup ?? '' };
}

/** What defines the packages of a project that is set up and tested in its own folder. */
const PROJECT_FILE =
  /^(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|requirements\.txt|Pipfile|go\.mod|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|Gemfile|composer\.json|CMakeLists\.txt)$/;

/** Sites and tools beside what a repository is for. */
const NOT_PROJECTS =
  /(?:^|\/)(?:docs?|documentation|website|site|scripts?|tools?|e2e|cypress|bench(?:marks?)?|tests?)\//i;

/** Maximum projects that are tested together; a repository with more is a collection. Our default. */
const MAX_PROJECTS = 6;

/**
 * Folders of the projects of a repository that has none at its top, such as `backend` and `frontend`; those with most
 * files first. Empty for a workspace and for a collection. A package.json at the top alone may be there for tools, such
 * as hooks of git.
 */
export function projectFolders({ files, read }: RepositorySnapshot): readonly string[] {
  const atTop = [...files].filter((path) => PROJECT_FILE.test(path) && path !== 'package.json');
  const isWorkspace =
    files.has('pnpm-workspace.yaml') || readPackage(read['package.json'] ?? '')?.hasWorkspaces === true;
  if (atTop.length > 0 || isWorkspace) return [];
  const folders = new Set([...files].flatMap((path) => projectFolder(path) ?? []));
  const outer = [...folders].filter(
    (folder) => !folder.includes('/') || !folders.has(folder.split('/')[0] ?? ''),
  );
  if (outer.length > MAX_PROJECTS) return [];
  const sizes = new Map(outer.map((folder) => [folder, projectIn(folder, { files, read: {} }).files.size]));
  return outer.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0) || (a < b ? -1 : 1));
}

/** The folder of a project's file, one or two levels below the top. */
function projectFolder(path: string): string | null {
  const [, folder, name = ''] = /^([\w@][\w@.-]*(?:\/[\w@][\w@.-]*)?)\/([^/]+)$/.exec(path) ?? [];
  const isProject = folder !== undefined && PROJECT_FILE.test(name);
  return isProject && !SAMPLE_FOLDERS.test(path) && !NOT_PROJECTS.test(path) ? folder : null;
}

/** A folder of a repository as if it were all of it. */
export function projectIn(folder: string, { files, read }: RepositorySnapshot): RepositorySnapshot {
  const inside = (path: string) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null);
  return {
    files: new Set([...files].flatMap((path) => inside(path) ?? [])),
    read: Object.fromEntries(
      Object.entries(read).flatMap(([path, text]) => {
        const name = inside(path);
        return name === null ? [] : [[name, text]];
      }),
    ),
  };
}

/** What was found in the folders of projects, for the top of their repository. */
interface ProjectsBelow extends Pick<DetectedChecks, 'types' | 'others'> {
  readonly folders: readonly string[];
  readonly recipe: Recipe;
}

/** The projects below the top that have tests: all together, then, if there are several, each alone. */
function projectsBelow(repository: RepositorySnapshot): readonly ProjectsBelow[] {
  const found = projectFolders(repository).flatMap((folder): readonly ProjectsBelow[] => {
    const { commands, from, types, others } = checksOfProject(projectIn(folder, repository));
    if (commands.test === undefined) return [];
    return [
      {
        folders: [folder],
        recipe: placed(folder, { commands, from }),
        types: types && { command: placedCommand(folder, types.command), file: `${folder}/${types.file}` },
        others: others.map((one) => placed(folder, one)),
      },
    ];
  });
  return found.length > 1 ? [allProjects(found), ...found] : found;
}

function placed(folder: string, { commands, from }: Pick<DetectedChecks, 'commands' | 'from'>): Recipe {
  const each = (texts: CheckCommands, of: (text: string) => string): Recipe['commands'] =>
    withoutUndefined(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, of(text)])));
  return {
    commands: each(commands, (command) => placedCommand(folder, command)),
    from: each(from, (file) => `${folder}/${file}`),
  };
}

const placedCommand = (folder: string, command: string): string =>
  folderParts(command)
    .map((part) => inFolder(part.folder === '' ? folder : `${folder}/${part.folder}`, part.line))
    .join(' && ');

/** All commands of a name one after the other, with the first file that defines one. */
function allProjects(found: readonly ProjectsBelow[]): ProjectsBelow {
  const of = (name: CommandName) =>
    found.flatMap(({ recipe }) => {
      const command = recipe.commands[name];
      return command === undefined ? [] : [{ command, file: recipe.from[name] ?? '' }];
    });
  const parts = COMMAND_NAMES.flatMap((name) => {
    const whole = chained(of(name));
    return whole === null ? [] : [{ name, ...whole }];
  });
  return {
    folders: found.flatMap(({ folders }) => folders),
    recipe: {
      commands: Object.fromEntries(parts.map(({ name, command }) => [name, command])),
      from: Object.fromEntries(parts.map(({ name, file }) => [name, file])),
    },
    types: chained(found.flatMap(({ types }) => types ?? [])),
    others: [],
  };
}

const chained = (commands: readonly FoundCommand[]): FoundCommand | null => {
  const [first] = commands;
  return first ? { command: commands.map(({ command }) => command).join(' && '), file: first.file } : null;
};
