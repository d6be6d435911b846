import { describe, expect, test } from 'vitest';
import {
  checkFiles,
  detectChecks,
  recipeFiles,
  reportPlan,
  toolchainFiles,
  wantedTools,
} from '../../../src/core/settings/index.ts';

type Files = Readonly<Record<string, string>>;

/** As for a commit: only the files that are asked for are read. */
function detected(files: Files) {
  const paths = Object.keys(files);
  const read = Object.fromEntries(checkFiles(paths).map((path) => [path, files[path] ?? '']));
  const checks = detectChecks({ files: paths, read });
  const texts = new Map(toolchainFiles(paths).map((path) => [path, files[path] ?? '']));
  return { ...checks, tools: wantedTools(paths, texts, checks.commands.setup) };
}

const node = (test?: string, fields: object = {}): string =>
  JSON.stringify({ ...(test ? { scripts: { test } } : {}), devDependencies: { vitest: '4' }, ...fields });

const BACKEND: Files = {
  'backend/requirements.txt': 'flask\n',
  'backend/shop/app.py': '',
  'backend/tests/conftest.py': '',
  'backend/tests/test_app.py': 'def test_app():\n    pass\n',
};
const FRONTEND: Files = {
  'frontend/package.json': node('vitest run'),
  'frontend/pnpm-lock.yaml': '',
  'frontend/src/cart.test.ts': '',
};
const VENV =
  'python3 -m venv --system-site-packages .venv && { .venv/bin/python -m pip install -r requirements.txt pytest || .venv/bin/python -m pytest --version; }';

describe('a repository without a project at its top', () => {
  test('is set up and tested in the folder of its only project', () => {
    const { commands, from, tools } = detected({ ...BACKEND, 'README.md': '' });
    expect(commands).toEqual({
      setup: `(cd backend && ${VENV})`,
      test: '(cd backend && .venv/bin/python -m pytest)',
    });
    expect(from).toEqual({ setup: 'backend/tests/conftest.py', test: 'backend/tests/conftest.py' });
    expect([...tools.languages.keys()]).toEqual(['python']);
  });

  test('is tested in the folders of all of them, and in one alone if they cannot be set up together', () => {
    const { commands, from, others, tools } = detected({ ...FRONTEND, ...BACKEND });
    expect(commands).toEqual({
      setup: `(cd backend && ${VENV}) && (cd frontend && pnpm install --frozen-lockfile)`,
      test: '(cd backend && .venv/bin/python -m pytest) && (cd frontend && pnpm test)',
    });
    expect(from.test).toBe('backend/tests/conftest.py');
    expect(others.slice(0, 2).map((one) => one.commands.test)).toEqual([
      '(cd backend && .venv/bin/python -m pytest)',
      '(cd frontend && pnpm test)',
    ]);
    expect(tools.manager).toMatchObject({ name: 'pnpm', file: 'frontend/pnpm-lock.yaml' });
    const { commands: steps } = reportPlan(commands.test ?? '', { ...FRONTEND, ...BACKEND });
    expect(steps.map(({ command }) => command)).toHaveLength(2);
  });

  test('has type checks of its projects', () => {
    const checked = node('vitest run', { scripts: { test: 'vitest run', typecheck: 'tsc --noEmit' } });
    const { types } = detected({ ...BACKEND, ...FRONTEND, 'frontend/package.json': checked });
    expect(types).toEqual({
      command: '(cd frontend && pnpm run typecheck)',
      file: 'frontend/package.json',
    });
  });

  test('has the versions that a project requires in its folder', () => {
    const { tools } = detected({ ...FRONTEND, 'frontend/.nvmrc': '18\n' });
    expect(tools.versions.get('node')).toEqual({ range: '18', file: 'frontend/.nvmrc' });
  });

  test('may have a package.json for tools at its top, with or without a lock file', () => {
    const top = { 'package.json': node(undefined, { devDependencies: { husky: '9' } }) };
    const { commands, tools } = detected({ ...FRONTEND, ...top });
    expect(commands.test).toBe('(cd frontend && pnpm test)');
    expect(tools.manager).toMatchObject({ name: 'pnpm' });
    const locked = detected({ ...FRONTEND, ...top, 'package-lock.json': '{}' });
    expect(locked.commands.test).toBe('(cd frontend && pnpm test)');
  });

  test.each<[string, Files]>([
    ['a makefile', { Makefile: 'test:\n\tcd frontend && pnpm test\n' }],
    ['a script', { 'package.json': JSON.stringify({ scripts: { test: 'pnpm --dir frontend test' } }) }],
  ])(
    'keeps the test command of %s that enters the folder, with the packages that are needed there',
    (_, top) => {
      const { commands, from } = detected({ ...FRONTEND, ...top });
      expect(commands.setup).toBe('(cd frontend && pnpm install --frozen-lockfile)');
      expect(commands.test).toMatch(/^(?:make|npm) test$/);
      expect(from.setup).toBe('frontend/package.json');
    },
  );

  test('keeps the tests of its own beside a project, and tries that one next', () => {
    const own = { 'tests/conftest.py': '', 'tests/test_core.py': '', 'lib/core.py': '' };
    const { commands, others } = detected({ ...own, ...FRONTEND });
    expect(commands.test).toBe('.venv/bin/python -m pytest');
    expect(others.map((one) => one.commands.test)).toContain('(cd frontend && pnpm test)');
  });

  test('leaves it to a project how its tests run, whose names Node knows from the top', () => {
    const top = { 'package.json': node(undefined, { devDependencies: { husky: '9' } }) };
    const inside = { ...FRONTEND, 'frontend/src/cart.test.js': '' };
    expect(detected({ ...top, ...inside }).commands.test).toBe('(cd frontend && pnpm test)');
    expect(detected({ ...top, ...inside, 'test/top.js': '' }).commands.test).toBe('node --test');
  });

  test('is not started by a makefile that has its name in another word', () => {
    const { commands } = detected({
      'ui/package.json': node('vitest run'),
      Makefile: 'test: build\n\t./check\n',
    });
    expect(commands).toEqual({ test: 'make test' });
  });

  test('keeps its recipe when tests of a project change', () => {
    const files = recipeFiles(Object.keys({ ...BACKEND, ...FRONTEND }));
    expect(files).toEqual(['backend/requirements.txt', 'frontend/package.json', 'frontend/pnpm-lock.yaml']);
  });

  test('keeps a test command that enters no project, without their packages', () => {
    const top = { 'package.json': JSON.stringify({ scripts: { test: 'node --test' } }) };
    expect(detected({ ...FRONTEND, ...top }).commands).toEqual({ test: 'npm test' });
  });
});

test('the tests of a workflow are set up as it says, whatever folders its other jobs name', () => {
  const workflow =
    'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: deno test\n';
  const other = '  site:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ls frontend\n';
  const { commands } = detected({ ...FRONTEND, '.github/workflows/ci.yml': `${workflow}${other}` });
  expect(commands).toEqual({ test: 'deno test' });
});

test.each<[string, Files]>([
  ['a project of the same language', { 'pyproject.toml': '[project]\nname = "x"\n' }],
  ['a workspace', { 'package.json': node(undefined, { workspaces: ['frontend'] }) }],
])('folders stay what they are below %s at the top', (_, top) => {
  expect(detected({ ...FRONTEND, ...top }).commands.test ?? '').not.toContain('cd frontend');
});

test('examples, sites and tools are no projects of the repository', () => {
  const found = (folder: string) => detected({ [`${folder}/package.json`]: node('vitest run') }).commands;
  for (const folder of ['examples/shop', 'docs', 'website', 'scripts', 'tests/app', '.github', 'a/b/c'])
    expect(found(folder)).toEqual({});
  expect(found('packages/shop')).toMatchObject({ test: '(cd packages/shop && npm test)' });
});

test('a collection of many projects is not tested as one', () => {
  const lessons = Array.from({ length: 9 }, (_, at) => [`lesson-${at}/package.json`, node('vitest run')]);
  expect(detected(Object.fromEntries(lessons)).commands).toEqual({});
});
