/** Maximum characters of a go.work that are read. */
const MAX_MANIFEST_CHARS = 200_000;

/** Such a name needs no quotes in a shell, and is no option. */
export const isPackageFolder = (folder: string): boolean =>
  /^[\w@.][\w@./-]*$/.test(folder) && !/(?:^|\/)(?:node_modules|\.\.?)(?:\/|$)/.test(folder);

/**
 * Folders below the top that a go.work uses, or without one, modules below the one at the top whose manifests are among
 * the files (`nestedGoModules`). The module at the top is not a separate package.
 */
export function goFolders(files: Readonly<Record<string, string>>): readonly string[] {
  if (files['go.work'] === undefined && files['go.mod'] !== undefined)
    return Object.keys(files)
      .flatMap((path) => /^(.+)\/go\.mod$/.exec(path)?.[1] ?? [])
      .filter(isPackageFolder);
  const text = (files['go.work'] ?? '').slice(0, MAX_MANIFEST_CHARS);
  const used: string[] = [];
  let inBlock = false;
  for (const line of text.split('\n')) {
    const [first = '', second = ''] = line
      .replace(/\/\/.*$/, '')
      .trim()
      .split(/\s+/);
    if (inBlock && first === ')') inBlock = false;
    else if (inBlock) used.push(first);
    else if (first === 'use' && second === '(') inBlock = true;
    else if (first === 'use') used.push(second);
  }
  return used.map((path) => path.replace(/^\.\//, '').replace(/\/$/, '')).filter(isPackageFolder);
}

/** Folders whose modules are for people and tools. */
const NOT_TESTED = /(?:^|\/)(?:testdata|examples?|tools?|tutorials?|vendor|_[^/]*|\.[^/]*)(?:\/|$)/;

/**
 * Folders of the modules with tests below the module at the top, which `go test ./...` leaves out. None beside a
 * go.work, which says what belongs together, or a vendor folder.
 */
export function nestedGoModules(paths: readonly string[]): readonly string[] {
  const present = new Set(paths);
  if (!present.has('go.mod') || present.has('go.work') || present.has('vendor/modules.txt')) return [];
  const folders = new Set(paths.flatMap((path) => /^(.+)\/go\.mod$/.exec(path)?.[1] ?? []));
  const tested = new Set(
    paths.flatMap((path) => (path.endsWith('_test.go') ? (moduleOf(path, folders) ?? []) : [])),
  );
  return [...tested].filter((folder) => isPackageFolder(folder) && !NOT_TESTED.test(folder)).sort();
}

/** The innermost of these folders that a file is in; null for none. */
function moduleOf(path: string, folders: ReadonlySet<string>): string | null {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    if (folders.has(path.slice(0, at))) return path.slice(0, at);
  return null;
}
