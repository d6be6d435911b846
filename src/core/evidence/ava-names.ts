import { roleOf } from '../patches/index.ts';
import { withNames } from './changing-names.ts';
import type { TestRun } from './evidence.ts';

/** Between the parts of a name: those of the file, and the title. */
const SEPARATOR = ' › ';
/** Between the parts of an id. */
const BEHIND = ' > ';
const UNNAMED_FOLDER = '__tests__';
/** Parts of a name that are searched for its file. Our default: files of tests are seldom as deep below that folder. */
const MAX_FILE_PARTS = 12;
/** Names from which the folder is found that files have in common. Our default. */
const MAX_SAMPLED = 1_000;

/**
 * A run in which tests of AVA are named by their files, as those of other runners are: AVA names them by a part of the
 * path only, without the folder that all files share. `files` are those of the repository; where two of them have the
 * same name, the first one counts. A test has the name that it has in another run (`like`, of the base commit), whichever
 * tests ran. Tests of other runners, and of files that are not found, keep their names.
 */
export function withFilesOfAva(
  run: TestRun,
  files: readonly string[],
  like: Pick<TestRun, 'tests'> = { tests: {} },
): TestRun {
  const ids = [...Object.keys(run.tests), ...(run.flaky ?? [])].filter((id) => id.includes(SEPARATOR));
  if (ids.length === 0) return run;
  const known = new Set(files);
  const names = new Map<string, string>();
  for (const [folder, own] of Map.groupBy(ids, packageFolderOf)) {
    if (known.has(folder)) continue;
    const idOf = ({ file, title }: AvaTest) => [...(folder === '' ? [] : [folder]), file, title].join(BEHIND);
    const isKnown = (test: AvaTest) => Object.hasOwn(like.tests, idOf(test));
    const ofPackage = own.map((id) => nameInPackage(folder, id));
    const find = fileFinder(ofPackage, testFilesIn(folder, files), isKnown);
    for (const [at, name] of ofPackage.entries()) {
      const found = find(name);
      // Two tests would become one, and the result of one of them would be lost.
      if (found && !Object.hasOwn(run.tests, idOf(found))) names.set(own[at] ?? '', idOf(found));
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

/** Test files below a folder, from there. */
const testFilesIn = (folder: string, files: readonly string[]): readonly string[] =>
  files.flatMap((path) => {
    if (roleOf(path) !== 'test') return [];
    if (folder === '') return [path];
    return path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [];
  });

/** Finds the files of tests, below the shared folder that explains most names, first of all those of known tests. */
function fileFinder(
  names: readonly string[],
  files: readonly string[],
  isKnown: (test: AvaTest) => boolean,
): FindFile {
  const byStem = Map.groupBy(files, (path) => avaFileName(path.split('/').at(-1) ?? ''));
  const votes = new Map<string, number>();
  for (const name of names.slice(0, MAX_SAMPLED)) {
    const parts = name.split(SEPARATOR);
    const own = new Map<string, number>();
    for (const [at, stem] of parts.slice(0, Math.min(MAX_FILE_PARTS, parts.length - 1)).entries()) {
      const title = parts.slice(at + 1).join(SEPARATOR);
      for (const file of byStem.get(stem) ?? []) {
        const shared = sharedFolder(file, parts.slice(0, at));
        if (shared !== null) own.set(shared, isKnown({ file, title }) ? MAX_SAMPLED : 1);
      }
    }
    for (const [shared, weight] of own) votes.set(shared, (votes.get(shared) ?? 0) + weight);
  }
  const [best] = [...votes].toSorted(([a, most], [b, more]) => more - most || a.length - b.length);
  return best ? filesBelow(best[0], files) : () => null;
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

/** As `lib/reporters/prefix-title.js` of AVA 7 does it; AVA 6 names tests in the same way. */
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
    for (let length = Math.min(MAX_FILE_PARTS, parts.length - 1); length > 0; length--) {
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
