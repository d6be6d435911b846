import { expect, test } from 'vitest';
import { avaTests } from '../../../src/core/test-reports/index.ts';

const FILES = [
  'test/abort.ts',
  'test/test-timings.js',
  'test/helpers/create.test.js',
  'test/__tests__/nested/retry.spec.ts',
  'test/a/same.js',
  'test/b/same.js',
  'test/b/other/same.js',
];

test.each([
  ['abort › stops reading', 'test/abort.ts', 'stops reading'],
  ['abort › a › b', 'test/abort.ts', 'a › b'],
  ['timings › none', 'test/test-timings.js', 'none'],
  ['helpers › create › makes one', 'test/helpers/create.test.js', 'makes one'],
  ['nested › retry › respects its limit', 'test/__tests__/nested/retry.spec.ts', 'respects its limit'],
  ['a › same › passes', 'test/a/same.js', 'passes'],
  ['other › same › passes', 'test/b/other/same.js', 'passes'],
])('AVA’s %s is in %s', (id, file, title) => {
  expect(avaTests(FILES)(id)).toEqual({ file, title });
});

test.each(['same › passes', 'b › missing › passes', 'a title alone', 'src/a.js > works', ''])(
  '%j names no file, or several',
  (id) => {
    expect(avaTests(FILES)(id)).toBeNull();
  },
);
