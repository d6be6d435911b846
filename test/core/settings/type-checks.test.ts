import { describe, expect, test } from 'vitest';
import { detectChecks, isTypeCheckStep, reportPlan, typeChecks } from '../../../src/core/settings/index.ts';

const manifest = (scripts: Record<string, string>, more: object = {}) =>
  JSON.stringify({
    scripts: { test: 'vitest run', ...scripts },
    devDependencies: { typescript: '5' },
    ...more,
  });

const detected = (read: Readonly<Record<string, string>>, ...others: readonly string[]) =>
  detectChecks({ files: [...Object.keys(read), ...others], read }).types;

describe('the type check is detected from', () => {
  test.each([
    ['a script', { 'package.json': manifest({ typecheck: 'tsc -b' }) }, 'npm run typecheck'],
    [
      'a script of pnpm',
      { 'package.json': manifest({ 'type-check': 'vue-tsc' }, { packageManager: 'pnpm@9.0.0' }) },
      'pnpm run type-check',
    ],
    ['a script that only checks', { 'package.json': manifest({ types: 'tsc --noEmit' }) }, 'npm run types'],
    [
      'a compiler and its configuration',
      { 'package.json': manifest({}), 'tsconfig.json': '{}' },
      'node_modules/.bin/tsc --noEmit',
    ],
    [
      'mypy.ini',
      { 'pyproject.toml': '[project]\nname = "a"\n[tool.pytest]\n', 'mypy.ini': '[mypy]\nfiles = src\n' },
      'python3 -m mypy',
    ],
    ['pyproject.toml', { 'pyproject.toml': '[tool.mypy]\nstrict = true\n' }, 'python3 -m mypy .'],
    ['pyright', { 'pyproject.toml': '[tool.pyright]\nstrict = ["src"]\n' }, 'python3 -m pyright'],
    ['go.mod', { 'go.mod': 'module a\n' }, 'go vet ./...'],
    ['Cargo.toml', { 'Cargo.toml': '[package]\n' }, 'cargo check'],
  ] as const)('%s', (_, read, command) => {
    expect(detected(read)?.command.replace('.venv/bin/python', 'python3')).toBe(command);
  });

  test.each([
    ['a script that writes files', { 'package.json': manifest({ types: 'tsc --emitDeclarationOnly' }) }],
    ['a script that does not end', { 'package.json': manifest({ typecheck: 'tsc --noEmit --watch' }) }],
    [
      'a configuration that names no files',
      { 'package.json': manifest({}), 'tsconfig.json': '{ "files": [], "references": [{ "path": "a" }] }' },
    ],
    [
      'a test command that checks types',
      { 'package.json': manifest({ test: 'tsc --noEmit && vitest run', typecheck: 'tsc' }) },
    ],
    ['JavaScript alone', { 'package.json': '{ "scripts": { "test": "mocha" } }' }],
  ] as const)('not from %s', (_, read) => {
    expect(detected(read)).toBeNull();
  });
});

describe('the type checks of a run', () => {
  const files = {
    'package.json': manifest({
      test: 'xo && npm run types && ava',
      types: 'tsc --noEmit',
      check: 'tsc --noEmit',
    }),
  };
  const names = (all: ReturnType<typeof typeChecks>) => all.map(({ name }) => name);

  test('are those of the test command, which then runs without them', () => {
    expect(typeChecks({ test: 'npm test' }, files)).toEqual([
      { name: 'tsc --noEmit', command: 'export PATH="$PWD/node_modules/.bin:$PATH"; tsc --noEmit' },
    ]);
    const { commands } = reportPlan('npm test', files, '/out', isTypeCheckStep);
    expect(commands.map(({ check }) => check ?? 'tests')).toEqual(['lint: xo', 'tests']);
  });

  test('include `checks.types`, once, written out as on the base', () => {
    expect(typeChecks({ test: 'npm test', types: 'npm run check' }, files)).toEqual([
      { name: 'npm run check', command: 'export PATH="$PWD/node_modules/.bin:$PATH"; tsc --noEmit' },
    ]);
    expect(names(typeChecks({ test: 'npm test', types: 'mypy .' }, files))).toEqual([
      'mypy .',
      'tsc --noEmit',
    ]);
  });

  test('are none if the settings disable them; then they remain a step', () => {
    expect(typeChecks({ test: 'npm test', types: '' }, files)).toEqual([]);
    const { commands } = reportPlan('npm test', files);
    expect(commands.map(({ check }) => check ?? 'tests')).toEqual([
      'lint: xo',
      'types: tsc --noEmit',
      'tests',
    ]);
  });
});
