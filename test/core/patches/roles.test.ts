import { expect, test } from 'vitest';
import { isSnapshot, roleOf } from '../../../src/core/patches/index.ts';

test.each([
  'src/parse.test.ts',
  'src/parse.spec.tsx',
  'src/__tests__/parse.js',
  'test/helpers.js',
  'tests/unit/a.py',
  'packages/core/test/fixtures/in.json',
  'test_parse.py',
  'pkg/parse_test.go',
  'crate/src/parse_test.rs',
  'crate/src/tests.rs',
  'src/test/java/org/x/Parse.java',
  'src/main/ParseTest.java',
  'spec/models/user_spec.rb',
  'packages/a/spec/x.js',
  'pkg/testdata/golden.txt',
  'Sources/AppTests/Parse.swift',
  'Foo.Tests/Parse.cs',
  'e2e/login.ts',
  'test.js',
  'app/tests.py',
])('%s is a test', (path) => expect(roleOf(path)).toBe('test'));

test.each([
  'vitest.config.ts',
  'packages/a/jest.config.cjs',
  'jest.setup.js',
  'playwright.config.ts',
  '.mocharc.yml',
  '.nycrc.json',
  'karma.conf.js',
  'pytest.ini',
  'tests/conftest.py',
  'tox.ini',
  '.coveragerc',
  'codecov.yml',
  '.codecov.yml',
  'tsconfig.test.json',
  'src/__snapshots__/a.test.ts.snap',
  'src/a.snap',
  '.github/dependabot.yml',
  '.github/workflows/ci.yml',
  '.gitlab-ci.yml',
  '.circleci/config.yml',
  'Jenkinsfile',
  'src/setupTests.ts',
])('%s belongs to the runner', (path) => expect(roleOf(path)).toBe('runner'));

test.each([
  'src/parse.ts',
  'package.json',
  'pyproject.toml',
  'setup.cfg',
  'Makefile',
  'tsconfig.json',
  'src/contest.ts',
  'src/latest.py',
  'src/testing/render.ts',
  'src/spec/openapi.ts',
  'api.spec.yaml',
  'lib/commands/test.js',
  'src/commands/test/index.ts',
  'src/protest/index.ts',
  'docs/tests.md',
  'jester.ts',
  'github/x.ts',
])('%s is production', (path) => expect(roleOf(path)).toBe('production'));

test('snapshots are known by name and by folder', () => {
  expect(isSnapshot('src/__snapshots__/x.txt')).toBe(true);
  expect(isSnapshot('snapshots/x.txt')).toBe(false);
});
