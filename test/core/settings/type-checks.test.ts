import { describe, expect, test } from 'vitest';
import {
  detectChecks,
  isRunByCi,
  isTypeCheckStep,
  reportPlan,
  typeChecks,
  withBaseScripts,
} from '../../../src/core/settings/index.ts';

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
      'a compiler of Yarn without node_modules',
      { 'package.json': manifest({}), 'yarn.lock': '', '.yarnrc.yml': '', 'tsconfig.json': '{}' },
      'yarn tsc --noEmit',
    ],
    [
      'a compiler of Yarn with node_modules',
      {
        ...{ 'package.json': manifest({}), 'tsconfig.json': '{}' },
        ...{ 'yarn.lock': '', '.yarnrc.yml': 'enableScripts: false\nnodeLinker: node-modules\n' },
      },
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
    ['uv.lock', '.venv/bin/python -m mypy .'],
    ['poetry.lock', '.venv/bin/python -m mypy .'],
    ['pdm.lock', '.venv/bin/python -m mypy .'],
    ['Pipfile.lock', '.venv/bin/python -m mypy .'],
  ])('in the environment that %s fills', (lock, command) => {
    const toml =
      '[project]\nname = "a"\n[dependency-groups]\ndev = ["pytest", "mypy"]\n[tool.mypy]\nstrict = true\n';
    expect(detected({ 'pyproject.toml': toml, [lock]: '' })?.command).toBe(command);
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
    [
      'an extension in Rust, whose crates nothing fetches',
      {
        'pyproject.toml': '[project]\nname = "a"\n[tool.pytest]\n',
        'Cargo.toml': '',
        Makefile: 'test:\n\tpytest\n',
      },
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

  test('are one for each step, because an exit code says nothing about the steps before the last one', () => {
    const scripts = { 'package.json': manifest({ typecheck: 'tsc --noEmit -p a && tsc --noEmit -p b' }) };
    const path = 'export PATH="$PWD/node_modules/.bin:$PATH"; ';
    expect(typeChecks({ types: 'npm run typecheck' }, scripts)).toEqual([
      { name: 'tsc --noEmit -p a', command: `${path}tsc --noEmit -p a` },
      { name: 'tsc --noEmit -p b', command: `${path}tsc --noEmit -p b` },
    ]);
    expect(typeChecks({ types: 'tsc -p a; tsc -p b' }, {})).toMatchObject([{ unsplit: true }]);
    const long = `tsc --noEmit -p ${'x'.repeat(80)}`;
    const [a, b] = typeChecks({ types: `${long}/a && ${long}/b` }, {});
    expect(a?.name).not.toBe(b?.name);
  });

  test('start Python modules without the current folder in the search path', () => {
    const [check] = typeChecks({ types: 'A=1 .venv/bin/python -m mypy src' }, {});
    expect(check?.name).toBe('A=1 .venv/bin/python -m mypy src');
    expect(check?.command).toMatch(/^A=1 \.venv\/bin\/python -c '.*run_module\("mypy".*' src$/);
    expect(typeChecks({ types: 'python3 -m compileall .' }, {})[0]?.command).toBe('python3 -m compileall .');
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

test('a candidate keeps its packages, but not its scripts', () => {
  const base = '{ "scripts": { "typecheck": "tsc" }, "dependencies": {} }';
  const own = '{ "scripts": { "typecheck": "true" }, "dependencies": { "a": "1" } }';
  expect(JSON.parse(withBaseScripts('package.json', base, own) ?? '')).toEqual({
    scripts: { typecheck: 'tsc' },
    dependencies: { a: '1' },
  });
  expect(withBaseScripts('package.json', base, 'no JSON')).toBe(base);
  expect(withBaseScripts('package.json', base, null)).toBe(base);
  expect(withBaseScripts('new/package.json', null, own)).toBe(own);
  expect(withBaseScripts('Makefile', 'types:\n\ttsc\n', 'types:\n\ttrue\n')).toBe('types:\n\ttsc\n');
  expect(withBaseScripts('.npmrc', null, 'script-shell=/bin/true\n')).toBeNull();
});

describe('a detected type check', () => {
  const files = {
    'package.json': manifest({ typecheck: 'tsc -b', ci: 'npm run lint && tsc --noEmit -p .', lint: 'xo' }),
  };
  const workflow = (line: string) => [`jobs:\n  test:\n    steps:\n      - run: ${line}\n`];

  test('is advisory unless CI runs the same checker or script', () => {
    expect(typeChecks({ types: 'mypy .' }, {}, true)).toMatchObject([{ advisory: true }]);
    expect(isRunByCi('npm run typecheck', workflow('pnpm typecheck'), files)).toBe(true);
    expect(isRunByCi('node_modules/.bin/tsc --noEmit', workflow('npm run ci'), files)).toBe(true);
    expect(isRunByCi('.venv/bin/python -m mypy .', workflow('mypy --strict src'), {})).toBe(true);
    expect(isRunByCi('go vet ./...', workflow('go test ./...'), {})).toBe(false);
    expect(isRunByCi('npm run typecheck', workflow('npm run lint'), files)).toBe(false);
    expect(isRunByCi('npm run typecheck', [], files)).toBe(false);
  });

  test('that the test command contains is never advisory', () => {
    expect(typeChecks({ test: 'tsc --noEmit && ava' }, {}, true)).not.toMatchObject([{ advisory: true }]);
  });
});
