import { roleOf } from '../patches/index.ts';
import { withNames } from './changing-names.ts';
import type { TestRun } from './evidence.ts';

/** Between the parts of a name: those of the file, and the title. */
const SEPARATOR = ' › ';
/** Between the parts of an id. */
const BEHIND = ' > ';
const UNNAMED_FOLDER = '__tests__';
/** Names from which the folder is found that files have in common. Our default. */
const MAX_SAMPLED = 1_000;

/**
 * A run in which tests of AVA are named by their files, as those of other runners are: AVA names them by a part of the
 * path only, without the folder that all files share. `files` are those of the repository; where two of them have the
 * same name, the first one counts. Tests of other runners, and of files that are not found, keep their names.
 */
export function withFilesOfAva(run: TestRun, files: readonly string[]): TestRun {
  const ids = [...Object.keys(run.tests), ...(run.flaky ?? [])].filter((id) => id.includes(SEPARATOR));
  if (ids.length === 0) return run;
  const known = new Set(files);
  const names = new Map<string, string>();
  for (const [folder, own] of Map.groupBy(ids, packageFolderOf)) {
    if (known.has(folder)) continue;
    const fileOf = fileFinder(folder, own, files);
    for (const id of own) {
      const found = fileOf(nameInPackage(folder, id));
      if (found) names.set(id, [...(folder === '' ? [] : [folder]), found.file, found.title].join(BEHIND));
    }
  }
  return names.size === 0 ? run : withNames(run, (id) => names.get(id) ?? id);
}

/** The folder of a workspace's package in front of an id; empty for none. */
const packageFolderOf = (id: string): string =>
  id.slice(0, Math.max(0, id.lastIndexOf(BEHIND, id.indexOf(SEPARATOR))));

const nameInPackage = (folder: string, id: string): string =>
  folder === '' ? id : id.slice(folder.length + BEHIND.length);

interface AvaTest {
  /** From the folder of the package. */
  readonly file: string;
  readonly title: string;
}

type FindFile = (name: string) => AvaTest | null;

/** Finds the files of tests, below the shared folder that explains most of their names. */
function fileFinder(folder: string, ids: readonly string[], files: readonly string[]): FindFile {
  const inFolder = files.flatMap((path) => {
    if (roleOf(path) !== 'test') return [];
    if (folder === '') return [path];
    return path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [];
  });
  const byStem = Map.groupBy(inFolder, (path) => avaFileName(path.split('/').at(-1) ?? ''));
  const votes = new Map<string, number>();
  for (const id of ids.slice(0, MAX_SAMPLED)) {
    const parts = nameInPackage(folder, id).split(SEPARATOR).slice(0, -1);
    const shared = parts.flatMap((stem, at) =>
      (byStem.get(stem) ?? []).flatMap((file) => sharedFolder(file, parts.slice(0, at)) ?? []),
    );
    for (const one of new Set(shared)) votes.set(one, (votes.get(one) ?? 0) + 1);
  }
  const [best] = [...votes].toSorted(([a, most], [b, more]) => more - most || b.length - a.length);
  return best ? filesBelow(best[0], inFolder) : () => null;
}

/** The folder above a file, without those that AVA names; null if it has others. Ends with a slash, or is empty. */
function sharedFolder(file: string, named: readonly string[]): string | null {
  const folders = file.split('/').slice(0, -1);
  for (const name of named.toReversed()) {
    while (folders.at(-1) === UNNAMED_FOLDER) folders.pop();
    if (folders.pop() !== name) return null;
  }
  return folders.map((one) => `${one}/`).join('');
}

/** As `lib/reporters/prefix-title.js` of AVA 1 to 7 does it. */
function filesBelow(shared: string, files: readonly string[]): FindFile {
  const byName = new Map<string, string>();
  for (const file of files) {
    if (!file.startsWith(shared)) continue;
    const name = avaName(file.slice(shared.length));
    if (!byName.has(name)) byName.set(name, file);
  }
  return (name) => {
    const parts = name.split(SEPARATOR);
    // A title may contain the separator too, so the longest name of a file counts.
    for (let length = parts.length - 1; length > 0; length--) {
      const file = byName.get(parts.slice(0, length).join(SEPARATOR));
      if (file !== undefined) return { file, title: parts.slice(length).join(SEPARATOR) };
    }
    return null;
  };
}

function avaName(file: string): string {
  const parts = file.split('/').filter((part) => part !== UNNAMED_FOLDER);
  return [...parts.slice(0, -1), avaFileName(parts.at(-1) ?? '')].join(SEPARATOR);
}

const avaFileName = (file: string): string =>
  file
    .replace(/\.spec\./, '.')
    .replace(/\.test\./, '.')
    .replace(/test-/, '')
    .replace(/\.\w+$/, '');
