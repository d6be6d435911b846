import { z } from 'zod';
import { configuresTests } from './chosen-tests.ts';
import { goFolders, isPackageFolder, nestedGoModules } from './go-modules.ts';
import { mavenModules, pomFiles } from './maven-modules.ts';
import { SAMPLE_FOLDERS } from './repository-recipe.ts';

/** A package of a workspace. */
export interface WorkspacePackage {
  readonly kind: 'node' | 'go' | 'maven';
  /** From the top of the repository. */
  readonly folder: string;
  /** Folders of the packages of the workspace that it depends on. */
  readonly dependsOn: readonly string[];
}

type RepositoryFiles = Readonly<Record<string, string>>;

/** Maximum packages of a kind; a larger workspace is not analysed. Default. */
const MAX_PACKAGES = 200;
/** Maximum characters of a manifest that are read. */
const MAX_MANIFEST_CHARS = 200_000;

/**
 * The packages of an npm, pnpm or yarn workspace, and the modules of a go.work or a Maven build, with their
 * dependencies by the names in their manifests; sorted by folder. Empty without a workspace, and for one that cannot be
 * read or is too large.
 */
export function workspaceGraph(files: RepositoryFiles): readonly WorkspacePackage[] {
  const maven = mavenModules(files).map((one): WorkspacePackage => ({ kind: 'maven', ...one }));
  const found = [nodePackages(files), goModules(files), maven].filter(({ length }) => length <= MAX_PACKAGES);
  return found.flat().toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
}

/**
 * Folders in which `go test ./...` has to run: those of the modules of a go.work, or of the module at the top (empty)
 * and the modules below it. Empty for one module alone.
 */
export function goTestFolders(files: RepositoryFiles): readonly string[] {
  const folders = workspaceGraph(files).flatMap(({ kind, folder }) => (kind === 'go' ? [folder] : []));
  if (files['go.mod'] === undefined || folders.length === 0) return folders;
  return files['go.work'] === undefined ? ['', ...folders] : [];
}

/** Files at the top that define what a test command runs. */
const TOP_FILES: readonly string[] = [
  ...['package.json', 'pnpm-workspace.yaml', 'GNUmakefile', 'makefile', 'Makefile', 'tox.ini', 'setup.cfg'],
  ...['deno.json', 'deno.jsonc', 'composer.json'],
  ...[
    'noxfile.py',
    'turbo.json',
    'nx.json',
    'lerna.json',
    'go.work',
    'go.mod',
    'pom.xml',
    '.mvn/maven.config',
    'global.json',
  ],
];

/** Maximum packages below the top that belong to no workspace, such as `frontend`. Default. */
const MAX_OTHER_PACKAGES = 8;

/** Those of them that a repository has, and each package.json one or two folders down, the nearest first. */
export function stepFiles(paths: readonly string[]): readonly string[] {
  const present = new Set(paths);
  const below = paths
    .filter((path) => /^(?:[\w@.-]+\/){1,2}package\.json$/.test(path) && !SAMPLE_FOLDERS.test(path))
    .toSorted((a, b) => a.split('/').length - b.split('/').length);
  const top = [...TOP_FILES.filter((path) => present.has(path)), ...paths.filter(configuresTests)];
  return [...new Set([...top, ...below.slice(0, MAX_OTHER_PACKAGES)])];
}

/**
 * Paths of the manifests of a workspace, by the texts of `stepFiles`; if there are too many, one more than the limit.
 * With nx, also one of its `project.json`.
 */
export function packageFiles(paths: readonly string[], files: RepositoryFiles): readonly string[] {
  const globs = nodeGlobs(files);
  const nested = files['go.mod'] === undefined ? [] : nestedGoModules(paths);
  const modules = new Set([...goFolders(files), ...nested].map((folder) => `${folder}/go.mod`));
  const manifests = paths.filter((path) => {
    if (modules.has(path)) return true;
    const folder = path.endsWith('/package.json') ? path.slice(0, -'/package.json'.length) : null;
    return folder !== null && isPackageFolder(folder) && matchesAnyGlob(globs, folder);
  });
  // Indicates that nx targets may be more than scripts.
  const project =
    files['nx.json'] === undefined ? undefined : paths.find((path) => /(?:^|\/)project\.json$/.test(path));
  const poms = pomFiles(paths, files);
  return [...manifests.slice(0, MAX_PACKAGES + 1), ...poms, ...(project === undefined ? [] : [project])];
}

const names = z.record(z.string(), z.unknown()).catch({});
const WorkspaceManifest = z.object({
  name: z.string().catch(''),
  workspaces: z
    .union([
      z.array(z.string()),
      z.object({ packages: z.array(z.string()) }).transform((one) => one.packages),
    ])
    .catch([]),
  dependencies: names,
  devDependencies: names,
  peerDependencies: names,
  optionalDependencies: names,
});

function manifestOf(text: string | undefined): z.infer<typeof WorkspaceManifest> | null {
  if (text === undefined || text.length > MAX_MANIFEST_CHARS) return null;
  try {
    return WorkspaceManifest.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // An unreadable manifest is treated as empty.
    return null;
  }
}

const nodeGlobs = (files: RepositoryFiles): readonly string[] => [
  ...(manifestOf(files['package.json'])?.workspaces ?? []),
  ...pnpmGlobs(files['pnpm-workspace.yaml'] ?? ''),
];

/** The list under `packages:`, one glob to a line or all in brackets. */
function pnpmGlobs(text: string): readonly string[] {
  const lines = text.slice(0, MAX_MANIFEST_CHARS).split('\n');
  const at = lines.findIndex((line) => /^packages:/.test(line));
  if (at < 0) return [];
  const inline = /^packages:[ \t]*\[(.*)\]/.exec(lines[at] ?? '')?.[1];
  if (inline !== undefined) return inline.split(',').map(unquoted);
  const more = lines.slice(at + 1);
  const end = more.findIndex((line) => /^[^\s#-]/.test(line));
  return more
    .slice(0, end < 0 ? more.length : end)
    .flatMap((line) => /^\s*-\s*(.*)$/.exec(line)?.[1] ?? [])
    .map(unquoted);
}

const unquoted = (word: string): string => /^['"]?([^'"\s#]*)/.exec(word.trim())?.[1] ?? '';

function nodePackages(files: RepositoryFiles): readonly WorkspacePackage[] {
  const globs = nodeGlobs(files);
  const folders = Object.keys(files)
    .flatMap((path) => (path.endsWith('/package.json') ? [path.slice(0, -'/package.json'.length)] : []))
    .filter((folder) => isPackageFolder(folder) && matchesAnyGlob(globs, folder));
  const known = folders.map((folder) => ({ folder, manifest: manifestOf(files[`${folder}/package.json`]) }));
  const byName = new Map(known.map(({ folder, manifest }) => [manifest?.name ?? '', folder]));
  byName.delete('');
  return known.map(({ folder, manifest }) => {
    const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest ?? {};
    const wanted = [dependencies, devDependencies, peerDependencies, optionalDependencies];
    const dependsOn = wanted
      .flatMap((some) => Object.keys(some ?? {}))
      .flatMap((name) => byName.get(name) ?? []);
    return { kind: 'node', folder, dependsOn: [...new Set(dependsOn)].sort() };
  });
}

function goModules(files: RepositoryFiles): readonly WorkspacePackage[] {
  const known = goFolders(files).flatMap((folder) => {
    const text = files[`${folder}/go.mod`];
    return text === undefined
      ? []
      : [{ folder, words: new Set(text.slice(0, MAX_MANIFEST_CHARS).split(/[\s"]+/)), text }];
  });
  const modules = known.map(({ folder, text }) => ({ folder, name: /^module\s+(\S+)/m.exec(text)?.[1] }));
  return known.map(({ folder, words }) => ({
    kind: 'go',
    folder,
    dependsOn: modules.flatMap((other) =>
      other.folder !== folder && other.name !== undefined && words.has(other.name) ? [other.folder] : [],
    ),
  }));
}

/** Documentation files, and files for the repository's host. */
const BESIDE =
  /(?:^|\/)(?:[^/]+\.(?:md|mdx|markdown|rst)|LICEN[CS]E[^/]*|CODEOWNERS|\.gitignore)$|^(?:docs?|\.github|\.changeset)\//i;

/**
 * Folders of the packages that these changes can affect: those with a changed file, and their direct and indirect
 * dependents. A changed file outside all packages of a kind affects every package of this kind, unless it is
 * documentation: no manifest says what the packages of one kind need of another.
 */
export function affectedPackages(
  graph: readonly WorkspacePackage[],
  changed: readonly string[],
): ReadonlySet<string> {
  const kinds = new Set(graph.map(({ kind }) => kind));
  return new Set(
    [...kinds].flatMap((kind) => [
      ...affectedOfKind(
        graph.filter((one) => one.kind === kind),
        changed,
      ),
    ]),
  );
}

function affectedOfKind(graph: readonly WorkspacePackage[], changed: readonly string[]): ReadonlySet<string> {
  const folders = new Set(graph.map(({ folder }) => folder));
  const affected = new Set<string>();
  for (const path of changed) {
    const owner = ownerOf(path, folders);
    if (owner !== null) affected.add(owner);
    else if (!BESIDE.test(path)) return folders;
  }
  // The set grows during the loop; each package occurs once, even in a cycle.
  for (const folder of affected)
    for (const one of graph) if (one.dependsOn.includes(folder)) affected.add(one.folder);
  return affected;
}

/** The innermost package that a file belongs to; null for none. */
function ownerOf(path: string, folders: ReadonlySet<string>): string | null {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const folder = path.slice(0, at);
    if (folders.has(folder)) return folder;
  }
  return null;
}

/** Maximum globs of a workspace that are used, and maximum characters of one. */
const MAX_GLOBS = 200;
const MAX_GLOB_CHARS = 200;

/**
 * Whether a folder matches one of these globs, and none with a `!`. `*` matches anything within one name, `**` any
 * number of names. Takes time proportional to the product of both lengths at most. A glob with another special
 * character matches nothing, because its meaning is unknown.
 */
export function matchesAnyGlob(globs: readonly string[], folder: string): boolean {
  if (
    globs.length > MAX_GLOBS ||
    globs.some((glob) => glob.length > MAX_GLOB_CHARS || /[?[\]{}()|\\]/.test(glob))
  )
    return false;
  const names = folder.split('/');
  const wanted = globs.filter((glob) => !glob.startsWith('!'));
  const refused = globs.flatMap((glob) => (glob.startsWith('!') ? [glob.slice(1)] : []));
  return wanted.some((glob) => matchesGlob(glob, names)) && !refused.some((glob) => matchesGlob(glob, names));
}

function matchesGlob(glob: string, names: readonly string[]): boolean {
  const parts = glob.replace(/^\.\//, '').replace(/\/$/, '').split('/');
  // Positions in the glob that the names so far may have reached.
  let places = beyondStars(parts, new Set([0]));
  for (const name of names) {
    const next = new Set<number>();
    for (const place of places) {
      const part = parts[place];
      if (part === '**') next.add(place);
      else if (part !== undefined && matchesName(part, name)) next.add(place + 1);
    }
    places = beyondStars(parts, next);
  }
  return places.has(parts.length);
}

/** `**` may match no name at all. */
function beyondStars(parts: readonly string[], places: Set<number>): Set<number> {
  for (const place of places) if (parts[place] === '**') places.add(place + 1);
  return places;
}

/** `*` in the pattern is any text: on a mismatch only the last star is extended by one character. */
export function matchesName(pattern: string, name: string): boolean {
  let [at, from] = [0, 0];
  let star: { readonly at: number; from: number } | null = null;
  while (from < name.length) {
    if (pattern[at] === '*') {
      star = { at, from };
      at += 1;
    } else if (pattern[at] === name[from]) {
      at += 1;
      from += 1;
    } else if (star) {
      star.from += 1;
      at = star.at + 1;
      from = star.from;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}
