import { z } from 'zod';

/** Packages of a workspace that are looked at. */
const MAX_WORKSPACE_PACKAGES = 40;

const Workspaces = z.object({
  workspaces: z
    .union([
      z.array(z.string()),
      z.object({ packages: z.array(z.string()) }).transform((one) => one.packages),
    ])
    .catch([]),
});

/** Folders of the packages of an npm, yarn or pnpm workspace among these files, sorted. */
export function workspaceFolders(files: Readonly<Record<string, string>>): readonly string[] {
  const globs = [
    ...declaredIn(files['package.json'] ?? ''),
    ...pnpmGlobs(files['pnpm-workspace.yaml'] ?? ''),
  ];
  const wanted = globs.filter((glob) => !glob.startsWith('!')).map(patternOf);
  const refused = globs.filter((glob) => glob.startsWith('!')).map((glob) => patternOf(glob.slice(1)));
  return Object.keys(files)
    .flatMap((path) => (path.endsWith('/package.json') ? [path.slice(0, -'/package.json'.length)] : []))
    .filter((folder) => /^[\w@./-]+$/.test(folder) && wanted.some((one) => one.test(folder)))
    .filter((folder) => !refused.some((one) => one.test(folder)))
    .sort()
    .slice(0, MAX_WORKSPACE_PACKAGES);
}

/** Paths of the files of a repository that say what a test command runs; bounded. */
export function stepFiles(paths: readonly string[]): readonly string[] {
  const present = new Set(paths);
  const packages = paths.filter((path) =>
    /^(?!.*node_modules\/)[^/]+(?:\/[^/]+)?\/package\.json$/.test(path),
  );
  return [...TOP_FILES.filter((path) => present.has(path)), ...packages.slice(0, MAX_WORKSPACE_PACKAGES)];
}

const TOP_FILES = [
  ...['package.json', 'pnpm-workspace.yaml', 'GNUmakefile', 'makefile', 'Makefile', 'tox.ini', 'setup.cfg'],
  ...['noxfile.py'],
];

function declaredIn(text: string): readonly string[] {
  try {
    return Workspaces.safeParse(JSON.parse(text)).data?.workspaces ?? [];
  } catch {
    // A package.json that cannot be read declares nothing.
    return [];
  }
}

/** The list under `packages:`, which pnpm's own tools write one glob to a line. */
const pnpmGlobs = (text: string): readonly string[] =>
  [
    ...(/^packages:\s*\n((?:[ \t]*(?:-.*|#.*)?\n?)*)/m.exec(text)?.[1] ?? '').matchAll(
      /-\s*['"]?([^'"\s#]+)/g,
    ),
  ].map(([, glob]) => glob as string);

function patternOf(glob: string): RegExp {
  const text = glob
    .replace(/^\.\//, '')
    .replace(/\/$/, '')
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*?/g, (stars) => (stars === '**' ? '.*' : '[^/]*'));
  return new RegExp(`^${text}$`);
}
