import { type RepositorySnapshot, SAMPLE_FOLDERS } from './repository-recipe.ts';

/** Needs no package. */
export const UNITTEST = 'python3 -m unittest discover';

/** Test files, those nearest to the top first. */
const testModules = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => /(?:^|\/)test_[^/]*\.py$/.test(path)).toSorted(nearestToTop);

/** Those whose texts show which runner they are for; few. */
export const testSamples = (paths: readonly string[]): readonly string[] => testModules(paths).slice(0, 3);

const nearestToTop = (a: string, b: string): number =>
  a.split('/').length - b.split('/').length || (a < b ? -1 : 1);

/** Whether tests are written for pytest: it is imported, or they are functions, which unittest does not find. */
export const isForPytest = (text = ''): boolean =>
  /^\s*(?:import pytest|from pytest)\b|^(?:async )?def test_/m.test(text);

const PLAIN_FOLDER = /^[\w.-]+(?:\/[\w.-]+)*$/;

/** Maximum folders of tests that are no packages. Default. */
const MAX_FOLDERS = 8;

/**
 * What finds the tests, those nearest to the top first: unittest enters no folder that is not a package, but may start
 * in one.
 */
export function unittestCommands(files: ReadonlySet<string>): readonly string[] {
  const modules = testModules([...files]);
  const own = modules.filter((path) => !SAMPLE_FOLDERS.test(path));
  const folders = (own.length > 0 ? own : modules).map((path) =>
    path.slice(0, Math.max(path.lastIndexOf('/'), 0)),
  );
  const starts = new Set([...new Set(folders)].map((folder) => unittestStart(folder, files)));
  const plain = [...starts].filter((start) => start === '' || PLAIN_FOLDER.test(start)).slice(0, MAX_FOLDERS);
  return plain.length === 0
    ? [UNITTEST]
    : plain.map((one) => (one === '' ? UNITTEST : `${UNITTEST} -s ${one}`));
}

/** Packages within packages; real ones are five deep. */
const MAX_PACKAGE_DEPTH = 20;

/** Where unittest has to start to find the tests of a folder: in the nearest one that is no package. */
function unittestStart(folder: string, files: ReadonlySet<string>): string {
  let start = folder;
  for (let depth = 0; depth < MAX_PACKAGE_DEPTH && files.has(`${start}/__init__.py`); depth++)
    start = start.slice(0, Math.max(start.lastIndexOf('/'), 0));
  return start;
}

/** The program that starts commands of Django, and may start those of another framework; nearest to the top. */
export const manageFile = (paths: readonly string[]): string | undefined =>
  paths
    .filter((path) => /(?:^|\/)manage\.py$/.test(path) && !SAMPLE_FOLDERS.test(path))
    .toSorted(nearestToTop)[0];

/** Tests of a Django project that none of its files says how to start; `startapp` writes them into `tests.py`. */
export function djangoTest({ files, read }: RepositorySnapshot): { command: string; file: string } | null {
  const file = manageFile([...files]);
  if (file === undefined || !/\bdjango\b/i.test(read[file] ?? '')) return null;
  if (![...files].some((path) => path.endsWith('.py') && /(?:^|\/)(?:tests?[./]|test_)/.test(path)))
    return null;
  const folder = file.split('/').slice(0, -1).join('/');
  if (folder === '') return { command: 'python3 manage.py test', file };
  // Without its folder, Django looks for tests from the top on, which is no place that they can be imported from.
  return PLAIN_FOLDER.test(folder) ? { command: `python3 ${file} test ${folder}/`, file } : null;
}
