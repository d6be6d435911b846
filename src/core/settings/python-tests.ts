import { type RepositorySnapshot, SAMPLE_FOLDERS } from './repository-recipe.ts';

/** Needs no package. */
export const UNITTEST = 'python3 -m unittest discover';

/** Test files whose texts show which runner they are for; few, those nearest to the top first. */
export const testSamples = (paths: readonly string[]): readonly string[] =>
  paths
    .filter((path) => /(?:^|\/)test_[^/]*\.py$/.test(path))
    .toSorted(nearestToTop)
    .slice(0, 3);

const nearestToTop = (a: string, b: string): number =>
  a.split('/').length - b.split('/').length || (a < b ? -1 : 1);

/** Whether tests are written for pytest: it is imported, or they are functions, which unittest does not find. */
export const isForPytest = (text = ''): boolean =>
  /^\s*(?:import pytest|from pytest)\b|^(?:async )?def test_/m.test(text);

const PLAIN_FOLDER = /^[\w.-]+(?:\/[\w.-]+)*$/;

/** What finds the tests nearest to the top: unittest enters no folder that is not a package, but may start in one. */
export function unittestCommand(files: ReadonlySet<string>): string {
  const [sample = ''] = testSamples([...files]);
  let folder = sample.split('/').slice(0, -1);
  while (folder.length > 0 && files.has([...folder, '__init__.py'].join('/'))) folder = folder.slice(0, -1);
  const start = folder.join('/');
  return PLAIN_FOLDER.test(start) ? `${UNITTEST} -s ${start}` : UNITTEST;
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
