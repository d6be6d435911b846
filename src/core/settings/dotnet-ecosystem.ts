import { type Ecosystem, type RepositorySnapshot, SAMPLE_FOLDERS } from './repository-recipe.ts';

const DOTNET_FILE = /\.(?:slnx?|(?:cs|fs|vb)proj)$/;

/** Below the top: a list of projects, which has all tests, or a project of tests. Their paths need no quotes. */
const DOTNET_BELOW: readonly RegExp[] = [
  /^[\w.-]+(?:\/[\w.-]+)*\/[\w.-]+\.slnx?$/,
  /^[\w.-]+(?:\/[\w.-]+)*\/[\w.-]*Tests?\.(?:cs|fs|vb)proj$/,
];

/** What builds a program in C or C++, whose project files for Visual Studio lie in a folder. */
const C_BUILDS = ['CMakeLists.txt', 'GNUmakefile', 'makefile', 'Makefile', 'configure.ac', 'meson.build'];

const DOTNET_TOP: readonly RegExp[] = [/^[^/]+\.slnx?$/, /^[^/]+\.(?:cs|fs|vb)proj$/];

/** Of several files at the top, between which dotnet does not choose: the one that CI names, or the shortest name. */
function mainOfTop(top: readonly string[], read: RepositorySnapshot['read']): string | undefined {
  const plain = top.filter((path) => /^[\w.-]+$/.test(path));
  const workflows = Object.entries(read).flatMap(([path, text]) =>
    path.startsWith('.github/workflows/') ? [text] : [],
  );
  const isNamed = (path: string): boolean =>
    workflows.some((text) => RegExp(`(?<![\\w.-])${RegExp.escape(path)}(?![\\w.-])`).test(text));
  const first = DOTNET_TOP.map((sign) => plain.filter((path) => sign.test(path))).find(
    (all) => all.length > 0,
  );
  return plain.find(isNamed) ?? first?.toSorted((a, b) => a.length - b.length)[0];
}

/**
 * `dotnet test` is another program then, with other options, and refuses those of the usual one
 * (learn.microsoft.com/dotnet/core/tools/dotnet-test-mtp).
 */
export const isOfTestingPlatform = (read: RepositorySnapshot['read']): boolean =>
  /"runner"\s*:\s*"Microsoft\.Testing\.Platform"/i.test(read['global.json'] ?? '');

export function dotnet({ files, read }: RepositorySnapshot): Ecosystem | null {
  const all = [...files].filter((path) => DOTNET_FILE.test(path));
  // Visual Studio has such files for programs in C and C++, too.
  if (all.every((path) => /\.slnx?$/.test(path))) return null;
  const near = all
    .filter((path) => !SAMPLE_FOLDERS.test(path))
    .map((path) => ({ path, depth: path.split('/').length }))
    .toSorted((a, b) => a.depth - b.depth || (a.path < b.path ? -1 : 1));
  const top = near.filter(({ depth }) => depth === 1).map(({ path }) => path);
  const main = top.length > 1 ? mainOfTop(top, read) : undefined;
  const file =
    main ??
    [...DOTNET_TOP, ...DOTNET_BELOW]
      .map((sign) => near.find(({ path }) => sign.test(path))?.path)
      .find((one) => one !== undefined);
  if (file === undefined) return null;
  const isTop = !file.includes('/');
  // If nothing stands at the top, or several files do, dotnet must be told which project it is.
  const of = isTop && main === undefined ? '' : ` ${file}`;
  const kind = /\.slnx?$/.test(file) ? '--solution' : '--project';
  const tested = of === '' || !isOfTestingPlatform(read) ? of : ` ${kind}${of}`;
  return {
    file,
    setup: `dotnet restore${of}`,
    build: `dotnet build${of} --no-restore`,
    test: `dotnet test${tested} --no-build`,
    ...(!isTop && C_BUILDS.some((name) => files.has(name)) ? { guessed: true } : {}),
  };
}
