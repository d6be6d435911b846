import { describe, expect, test } from 'vitest';
import { detectChecks, reportPlan } from '../../../src/core/policy/index.ts';

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

describe('the report', () => {
  const plan = (command: string, test?: string, folder?: string) =>
    reportPlan(command, test === undefined ? undefined : manifest({ scripts: { test, unit: test } }), folder);
  const JUNIT = '--reporter=default --reporter=junit --outputFile.junit=/out/report.xml';

  test('of node:test comes by the environment, from anywhere in a line', () => {
    const env = {
      NODE_OPTIONS:
        '--test-reporter=junit --test-reporter-destination=/out/report.xml --test-reporter=tap --test-reporter-destination=stdout',
    };
    const report = { file: '/out/report.xml', format: 'junit' };
    for (const command of [
      'node --test',
      'node --import tsx --test test/*.ts',
      'tsx --test',
      'npm run build && node --test',
    ]) {
      expect(plan(command)).toEqual({ command, env, report });
    }
    for (const script of ['node --test', 'c8 node --test --experimental-x', 'tsc && node --test']) {
      expect(plan('npm test', script)).toEqual({ command: 'npm test', env, report });
    }
    expect(plan('node --test', undefined, '/home/agent').report?.file).toBe('/home/agent/report.xml');
  });

  test('of pytest too', () => {
    for (const command of ['pytest', 'python3 -m pytest -q', 'poetry run pytest | cat']) {
      expect(plan(command)).toEqual({
        command,
        env: { PYTEST_ADDOPTS: '--junitxml=/out/report.xml -o junit_family=xunit1' },
        report: { file: '/out/report.xml', format: 'junit' },
      });
    }
  });

  test.each([
    ['npx vitest run', undefined, `npx vitest run ${JUNIT}`],
    ['npm test', 'vitest run', `npm test -- ${JUNIT}`],
    ['npm t', 'tsc --noEmit && vitest run', `npm t -- ${JUNIT}`],
    ['npm run -s unit', 'vitest', `npm run -s unit -- ${JUNIT}`],
    ['pnpm test', 'vitest', `pnpm test ${JUNIT}`],
    ['yarn unit', 'vitest', `yarn unit ${JUNIT}`],
    ['node --run test', 'vitest run', `node --run test -- ${JUNIT}`],
    ['npm run build && npm test', 'vitest run', `npm run build && npm test -- ${JUNIT}`],
    ['npm test', 'NODE_ENV=test jest', 'npm test -- --ci --json --outputFile=/out/report.json'],
    [
      'npm test',
      'node --experimental-vm-modules node_modules/jest/bin/jest.js',
      'npm test -- --ci --json --outputFile=/out/report.json',
    ],
    ['npx mocha', undefined, 'npx mocha --reporter json --reporter-option output=/out/report.json'],
    [
      'npm test',
      'nyc mocha --recursive',
      'npm test -- --reporter json --reporter-option output=/out/report.json',
    ],
  ])('%s (%s): %s', (command, test, expected) => {
    const planned = plan(command, test);
    expect(planned.command).toBe(expected);
    expect(planned.report).not.toBeNull();
  });

  test.each([
    ['make test', undefined],
    ['go test ./...', undefined],
    ['npm test', undefined],
    ['npm test', 'ava'],
    ['npm test', 'vitest run && eslint .'],
    ['npm test', 'vitest run | tee log'],
    ['npm test | cat', 'vitest run'],
    ['npm test -- --bail', 'vitest run'],
    ['cd packages/a && npm test', 'vitest run'],
    ['npm test', 'node --test --test-reporter=spec'],
    ['npm test', 'eslint jest.config.js'],
    ['node test.js', undefined],
  ])('%s (%s) has its exit code only', (command, test) => {
    expect(plan(command, test)).toEqual({ command, env: {}, report: null });
  });
});
