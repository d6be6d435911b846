import { describe, expect, test } from 'vitest';
import { type TestRun, withFilesOfAva } from '../../../src/core/evidence/index.ts';

const FILES = [
  'source/abort.ts',
  'test/abort.ts',
  'test/test-timings.js',
  'test/helpers/create.test.js',
  'test/__tests__/nested/retry.spec.ts',
  'test/same.ts',
  'test/a/same.js',
];

const runOf = (ids: readonly string[], more: Partial<TestRun> = {}): TestRun => ({
  ...{ source: 'report', exitCode: 0, stopped: null, ms: 1, tail: '' },
  tests: Object.fromEntries(ids.map((id) => [id, 'passed'])),
  ...more,
});
const idsOf = (ids: readonly string[], files: readonly string[] = FILES): readonly string[] =>
  Object.keys(withFilesOfAva(runOf(ids), files).tests);

describe('tests that AVA names by a part of their file’s path', () => {
  test('are named by its path, as other runners do', () => {
    expect(
      idsOf([
        'abort › stops reading',
        'abort › a › b',
        'timings › none',
        'helpers › create › makes one',
        'nested › retry › respects its limit',
        'same › passes',
        'a › same › passes',
      ]),
    ).toEqual([
      'test/abort.ts > stops reading',
      'test/abort.ts > a › b',
      'test/test-timings.js > none',
      'test/helpers/create.test.js > makes one',
      'test/__tests__/nested/retry.spec.ts > respects its limit',
      'test/same.ts > passes',
      'test/a/same.js > passes',
    ]);
  });

  test('have the same names where a further file changes the folder that all files share', () => {
    const more = [...FILES, 'more/test/other.js'];
    expect(idsOf(['test › abort › stops reading', 'more › test › other › passes'], more)).toEqual([
      'test/abort.ts > stops reading',
      'more/test/other.js > passes',
    ]);
  });

  test('and where a further file has the same name as one that was there', () => {
    expect(idsOf(['abort › stops reading'], [...FILES, 'test/abort.js'])).toEqual([
      'test/abort.ts > stops reading',
    ]);
  });

  test('whichever tests ran', () => {
    const files = ['test/index.js', 'test/only.js', 'packages/x/test/index.js'];
    const base = withFilesOfAva(runOf(['index › a', 'only › b']), files);
    expect(Object.keys(base.tests)).toEqual(['test/index.js > a', 'test/only.js > b']);
    // With a candidate, `test/only.js` crashes.
    const run = withFilesOfAva(runOf(['index › a']), files, base);
    expect(Object.keys(run.tests)).toEqual(['test/index.js > a']);
    const below = { tests: { 'packages/x/test/index.js > a': 'passed' } } as const;
    expect(Object.keys(withFilesOfAva(runOf(['index › a']), files, below).tests)).toEqual(
      Object.keys(below.tests),
    );
  });

  test('also in a package of a workspace', () => {
    const files = ['packages/a/test/sum.js', 'packages/b/test/sum.js'];
    expect(idsOf(['packages/a > sum › adds', 'packages/b > sum › adds'], files)).toEqual([
      'packages/a > test/sum.js > adds',
      'packages/b > test/sum.js > adds',
    ]);
  });

  test('keep their names if no file is found, or are named by it already', () => {
    const ids = ['missing › passes', 'a title alone', 'test/abort.ts > a › b', 'exit code', 'lint: xo'];
    expect(idsOf(ids)).toEqual(ids);
    expect(idsOf(['missing › passes'], [])).toEqual(['missing › passes']);
    const once = withFilesOfAva(runOf(['abort › stops', 'abort › a › b']), FILES);
    expect(withFilesOfAva(once, FILES)).toEqual(once);
  });

  test('keep their names where another test has that name already', () => {
    const run = runOf(['abort › stops'], {
      tests: { 'abort › stops': 'failed', 'test/abort.ts > stops': 'passed' },
    });
    expect(withFilesOfAva(run, FILES).tests).toEqual(run.tests);
  });

  test('with their messages, and flaky ones', () => {
    const run = runOf(['abort › fails'], { messages: { 'abort › fails': 'no' }, flaky: ['timings › none'] });
    expect(withFilesOfAva(run, FILES)).toMatchObject({
      messages: { 'test/abort.ts > fails': 'no' },
      flaky: ['test/test-timings.js > none'],
    });
  });
});
