import { describe, expect, test } from 'vitest';
import { detectChecks } from '../../../src/core/settings/index.ts';

const manifest = (fields: object): string => JSON.stringify(fields);

describe('commands are detected', () => {
  const node = (fields: object, ...files: readonly string[]) =>
    detectChecks({ files: ['package.json', ...files], read: { 'package.json': manifest(fields) } });

  test('from the scripts of package.json', () => {
    expect(
      node(
        { scripts: { test: 'vitest run', build: 'tsc' }, devDependencies: { vitest: '1' } },
        'package-lock.json',
      ),
    ).toEqual({
      setup: 'npm ci --no-audit --no-fund',
      build: 'npm run build',
      test: 'npm test',
    });
    expect(node({ scripts: { test: 'node --test' } })).toEqual({ test: 'npm test' });
  });

  test('with the package manager that the repository uses', () => {
    const fields = { scripts: { test: 'jest' }, devDependencies: { jest: '1' } };
    expect(node(fields, 'pnpm-lock.yaml')).toEqual({
      setup: 'pnpm install --frozen-lockfile',
      test: 'pnpm test',
    });
    expect(node(fields, 'yarn.lock')).toEqual({ setup: 'yarn install --frozen-lockfile', test: 'yarn test' });
    expect(node({ ...fields, packageManager: 'pnpm@9.0.0' })).toEqual({
      setup: 'pnpm install',
      test: 'pnpm test',
    });
    expect(node(fields, 'bun.lock')).toMatchObject({ test: 'bun run test' });
  });

  test('the placeholder that npm writes is no test', () => {
    const scripts = { test: 'echo "Error: no test specified" && exit 1' };
    expect(node({ scripts })).toEqual({});
    expect(node({ scripts }, 'src/a.test.js')).toEqual({ test: 'node --test' });
    expect(node({ scripts, devDependencies: { vitest: '1' } })).toMatchObject({ test: 'npx vitest run' });
  });

  test('a package.json that is none does no harm', () => {
    for (const text of ['', '{', '[]', '"x"', '{"scripts": 3}', '{"scripts": {"test": 3}}']) {
      expect(detectChecks({ files: ['package.json', 'go.mod'], read: { 'package.json': text } }).test).toBe(
        'go test ./...',
      );
    }
  });

  test.each<[string, readonly string[], Record<string, string>, object]>([
    [
      'pytest',
      ['pyproject.toml', 'tests/test_a.py'],
      { 'pyproject.toml': '[tool.pytest.ini_options]' },
      { test: 'python3 -m pytest' },
    ],
    ['pytest by conftest', ['tests/conftest.py'], {}, { test: 'python3 -m pytest' }],
    ['unittest', ['tests/test_a.py'], {}, { test: 'python3 -m unittest discover' }],
    ['Go', ['go.mod'], {}, { build: 'go build ./...', test: 'go test ./...' }],
    ['Cargo', ['Cargo.toml'], {}, { build: 'cargo build', test: 'cargo test' }],
    [
      'Maven',
      ['pom.xml', 'mvnw'],
      {},
      { build: 'sh ./mvnw -q -B -DskipTests package', test: 'sh ./mvnw -q -B test' },
    ],
    ['Gradle', ['build.gradle.kts'], {}, { build: 'gradle assemble', test: 'gradle test' }],
    ['make', ['Makefile'], { Makefile: 'all:\n\tcc\ntest: all\n\t./t\n' }, { test: 'make test' }],
    ['make without tests', ['Makefile'], { Makefile: 'test := 1\nall:\n\tcc\n' }, {}],
    ['nothing', ['README.md'], {}, {}],
  ])('%s', (_, files, read, expected) => {
    expect(detectChecks({ files, read })).toEqual(expected);
  });
});
