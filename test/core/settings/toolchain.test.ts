import { describe, expect, test } from 'vitest';
import {
  detectChecks,
  isVersionRange,
  languagesOf,
  nextRecipe,
  parseVersion,
  satisfies,
  wantedTools,
} from '../../../src/core/settings/index.ts';
import { cpuMsSince } from '../../world/cpu-time.ts';

const wanted = (files: Readonly<Record<string, string>>) =>
  wantedTools(Object.keys(files), new Map(Object.entries(files)));
const json = (value: object): string => JSON.stringify(value);

describe('the languages of a repository without manifests at the top', () => {
  const CI = '.github/workflows/ci.yml';
  const job = (id: string, language: string, version: string, commands: readonly string[]) =>
    `  ${id}:\n    runs-on: ubuntu-latest\n    defaults: { run: { working-directory: ${id} } }\n    steps:\n      - uses: actions/setup-${language}@v5\n        with: { ${language}-version: "${version}" }\n${commands.map((one) => `      - run: ${one}\n`).join('')}`;
  const files = {
    [CI]: `on: push\njobs:\n${job('frontend', 'node', '22', ['pnpm install', 'pnpm test'])}${job('backend', 'python', '3.12', ['pip install -r requirements.txt', 'pytest'])}`,
    'frontend/package.json': '{"scripts": {"test": "vitest run"}}',
    'frontend/pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    'backend/requirements.txt': 'pytest\n',
  };

  test('are those of the folders that its CI enters, with their versions; all of them are tested', () => {
    const { versions, manager } = wanted(files);
    expect(versions.get('node')).toEqual({ range: '22', file: CI });
    expect(versions.get('python')).toEqual({ range: '3.12', file: CI });
    expect(manager).toMatchObject({ name: 'pnpm', file: 'frontend/pnpm-lock.yaml' });
    expect(detectChecks({ files: Object.keys(files), read: files }).commands).toEqual({
      setup:
        'python3 -m venv --system-site-packages .venv && (cd frontend && pnpm install) && (cd backend && ../.venv/bin/python -m pip install -r requirements.txt)',
      test: '(cd frontend && pnpm test) && (cd backend && ../.venv/bin/python -m pytest)',
    });
  });

  test('are tested without the others’ folders, if all of them together cannot be set up', () => {
    const { commands, from, others } = detectChecks({ files: Object.keys(files), read: files });
    expect(others[0]?.commands).toEqual({
      setup: '(cd frontend && pnpm install)',
      test: '(cd frontend && pnpm test)',
    });
    const failed = { recipe: { commands, from }, step: 'set-up', output: 'ERROR' } as const;
    const next = nextRecipe({ others, named: [], removable: [] }, [failed]);
    expect(next).toMatchObject({ commands: others[0]?.commands, instead: { test: commands.test } });
  });

  test('are all that a job sets up', () => {
    const read = { [CI]: `on: push\njobs:\n${job('.', 'java', '21', ['./run-tests'])}` };
    expect(wanted(read).versions.get('java')).toEqual({ range: '21', file: CI });
  });

  test('are found in the folder of a folder, too', () => {
    const paths = ['apps/web/package.json', 'apps/web/yarn.lock', 'apps/webs/pyproject.toml'];
    const found = wantedTools(paths, new Map(), '(cd apps/web && yarn install)');
    expect([...found.languages]).toEqual([['node', 'apps/web/package.json']]);
    expect(found.manager).toMatchObject({ name: 'yarn', file: 'apps/web/yarn.lock' });
  });

  test('folders that commands enter cost no time for each file', () => {
    const paths = Array.from({ length: 20_000 }, (_, at) => `src/part${at % 100}/a/b/file${at}.ts`);
    const entering = (count: number) =>
      Array.from({ length: count }, (_, at) => `(cd f${at} && make)`).join(' && ');
    const msWith = (setup: string) =>
      Math.min(
        ...[1, 2, 3].map(() => {
          const start = process.cpuUsage();
          wantedTools(paths, new Map(), setup);
          return cpuMsSince(start);
        }),
      );
    expect(msWith(entering(150))).toBeLessThan(5 * msWith(entering(1)));
  });

  test('are not those of test data and of corners', () => {
    const of = (path: string) => [
      ...wanted({ [path]: '' }).languages.keys(),
      ...wanted({ [path]: '' }).programs.keys(),
    ];
    for (const path of [
      'cli/testdata/x/Cargo.toml',
      'maven-tests/pom.xml',
      'a/b/c/Cargo.toml',
      'a/_wasm/Cargo.toml',
    ])
      expect(of(path)).toEqual([]);
    expect(of('rust/Cargo.toml')).toEqual(['rust']);
    expect(of('bindings/python/Cargo.toml')).toEqual(['rust']);
  });

  test('are for registries those of every manifest down to two folders', () => {
    const maturin = ['pyproject.toml', 'Cargo.toml', 'web/package.json'];
    expect(languagesOf(maturin, ['pip install .'])).toEqual(['node', 'rust', 'python']);
    expect(languagesOf(['pom.xml', 'frontend/package.json'], ['mvn -B package'])).toEqual(['node', 'java']);
    expect(languagesOf(['package.json', 'a/python/pyproject.toml'], ['npm ci'])).toEqual(['node', 'python']);
    expect(wanted({ 'pom.xml': '', 'frontend/package.json': '{}' }).languages.has('node')).toBe(false);
    const corners = ['src/main/webapp/package.json', 'testdata/package.json', 'examples/a/Gemfile'];
    expect(languagesOf(['pom.xml', ...corners], ['mvn -B package'])).toEqual(['java']);
    expect(languagesOf(['pom.xml', ...corners], ['(cd src/main/webapp && npm ci)'])).toContain('node');
  });
});

describe('the Node that a repository asks for', () => {
  const nodeOf = (files: Readonly<Record<string, string>>) =>
    wanted({ 'package.json': '{}', ...files }).versions.get('node');

  test.each<[string, Readonly<Record<string, string>>, string | undefined]>([
    ['.nvmrc', { '.nvmrc': 'v22.11.0\n' }, '^22.11.0'],
    ['.nvmrc with a major version only', { '.nvmrc': '20' }, '20'],
    ['.nvmrc with a comment before it', { '.nvmrc': '# ours\n18\n' }, '18'],
    ['a name of a long-term release', { '.nvmrc': 'lts/iron' }, '20'],
    ['any long-term release', { '.nvmrc': 'lts/*' }, '24'],
    ['whatever is newest', { '.nvmrc': 'node' }, undefined],
    ['.node-version', { '.node-version': '24.1.0' }, '^24.1.0'],
    ['asdf', { '.tool-versions': 'python 3.12\nnodejs 20.9.0 # x\n' }, '^20.9.0'],
    ['mise', { 'mise.toml': '[env]\nnode = "1"\n\n[tools]\nnode = "22"\n"npm:x" = "1"\n[tasks]\n' }, '22'],
    ['mise with a table', { '.mise.toml': '[tools]\nnode = { version = "22.1", x = 1 }\n' }, '^22.1'],
    ['Volta', { 'package.json': json({ volta: { node: '20.1.0' }, engines: { node: '>=10' } }) }, '^20.1.0'],
    ['engines', { 'package.json': json({ engines: { node: '^20.9 || >=22' } }) }, '^20.9 || >=22'],
    ['engines that allow all', { 'package.json': json({ engines: { node: '*' } }) }, undefined],
    ['a manifest that is none', { 'package.json': '[' }, undefined],
    ['engines that are no texts', { 'package.json': json({ engines: { node: { a: 1 } } }) }, undefined],
  ])('is read from %s', (_, files, range) => {
    expect(nodeOf(files)?.range).toBe(range);
  });

  test('is that of a version manager before that of engines, by its file', () => {
    const files = { 'package.json': json({ engines: { node: '>=18' } }), '.nvmrc': '22' };
    expect(nodeOf(files)).toEqual({ range: '22', file: '.nvmrc' });
  });

  test('is nothing where there are no Node packages', () => {
    expect(wanted({ '.nvmrc': '22', 'go.mod': 'module x\n' }).versions.has('node')).toBe(false);
  });
});

describe('the package manager that a repository asks for', () => {
  const managerOf = (files: Readonly<Record<string, string>>) => {
    const manager = wanted({ 'package.json': '{}', ...files }).manager;
    return manager && `${manager.name}@${manager.range}`;
  };

  test.each<[string, Readonly<Record<string, string>>, string | null]>([
    [
      'packageManager with a hash',
      { 'package.json': json({ packageManager: 'pnpm@9.1.0+sha512.ab' }) },
      'pnpm@9.1.0',
    ],
    [
      'packageManager that is nothing of the kind',
      { 'package.json': json({ packageManager: 'rm -rf@1.0.0' }) },
      null,
    ],
    ['a lock file of pnpm', { 'pnpm-lock.yaml': "lockfileVersion: '6.0'\n" }, 'pnpm@8'],
    ['a lock file of pnpm that is too big to be read', {}, null],
    [
      'engines beside a lock file',
      { 'package.json': json({ engines: { pnpm: '10' } }), 'pnpm-lock.yaml': 'lockfileVersion: 9.0' },
      'pnpm@10 >=9 <11',
    ],
    [
      'engines of pnpm 11',
      { 'package.json': json({ engines: { pnpm: '>=11' } }), 'pnpm-lock.yaml': 'lockfileVersion: 9.0' },
      'pnpm@>=11 >=9 <12',
    ],
    [
      'a lock file and the settings of pnpm 11',
      { 'pnpm-lock.yaml': 'lockfileVersion: 9.0', 'pnpm-workspace.yaml': 'allowBuilds:\n  esbuild: true\n' },
      'pnpm@>=9 <12',
    ],
    [
      'the workflow',
      {
        'pnpm-lock.yaml': 'lockfileVersion: 9.0',
        '.github/workflows/ci.yml':
          'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: pnpm/action-setup@v4\n        with:\n          version: 11\n      - run: pnpm test\n',
      },
      'pnpm@11',
    ],
    ['a lock file of yarn 1', { 'yarn.lock': '# yarn lockfile v1\n' }, 'yarn@1'],
    ['a lock file of yarn 4', { 'yarn.lock': '# x\n\n__metadata:\n  version: 8\n' }, 'yarn@4'],
    ['a lock file of bun', { 'bun.lock': '{}' }, 'bun@'],
    ['a lock file of npm', { 'package-lock.json': '{}', 'yarn.lock': '' }, null],
  ])('is read from %s', (_, files, manager) => {
    expect(managerOf(files)).toBe(manager);
  });

  test('is the yarn of the repository where it has one', () => {
    const release = '.yarn/releases/yarn-4.1.0.cjs';
    const files = {
      'package.json': json({ packageManager: 'yarn@4.1.0' }),
      '.yarnrc.yml': `yarnPath: ${release}\n`,
    };
    expect(wanted({ ...files, [release]: '' }).manager?.release).toBe(release);
    expect(wanted(files).manager?.release).toBeUndefined();
    const outside = { ...files, '.yarnrc.yml': 'yarnPath: .yarn/releases/../../x.cjs\n' };
    expect(wanted({ ...outside, [release]: '' }).manager?.release).toBeUndefined();
  });
});

describe('languages and their versions', () => {
  test('are told by the files that each of them has', () => {
    const { languages, programs } = wanted({
      'pom.xml': '',
      'crates/a/Cargo.toml': '',
      'tox.ini': '',
      'uv.lock': '',
    });
    expect(Object.fromEntries(languages)).toEqual({
      python: 'tox.ini',
      rust: 'crates/a/Cargo.toml',
      java: 'pom.xml',
    });
    expect(Object.fromEntries(programs)).toEqual({ mvn: 'pom.xml', uv: 'uv.lock' });
  });

  test('are not told by a single file of Go, but by Go code that is tested without modules', () => {
    expect(wanted({ 'package.json': '{}', 'tool.go': '' }).languages.has('go')).toBe(false);
    const tested = { 'tool.go': '', 'tool_test.go': '' };
    expect(wanted({ ...tested, 'vendor/a/a.go': '' }).languages.has('go')).toBe(false);
    expect(wanted(tested).languages.get('go')).toBe('tool.go');
    expect(wanted({ 'a/go.mod': '' }).languages.get('go')).toBe('a/go.mod');
  });

  test('of .NET below the top count if they are set up', () => {
    const files = { Makefile: '', 'bindings/X.csproj': '' };
    expect(wanted(files).languages.has('dotnet')).toBe(false);
    const found = wantedTools(Object.keys(files), new Map(), 'dotnet restore bindings/X.csproj');
    expect(found.languages.get('dotnet')).toBe('bindings/X.csproj');
  });

  const sdk = (text: string) => ({ 'global.json': `{ "sdk": { "version": "8.0.417", ${text} } }` });
  const poetry = '[tool.poetry.dependencies]\nrequests = "*"\npython = ">=3.9,<3.12"\n[x]\npython = "9"\n';
  const steps =
    '      - uses: ruby/setup-ruby@v1\n        with: { ruby-version: "3.3" }\n      - run: bundle exec rspec\n';
  const ruby = {
    '.github/workflows/ci.yml': `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n${steps}`,
  };
  test.each([
    ['python', { 'pyproject.toml': poetry }, '>=3.9,<3.12'],
    ['python', { Pipfile: '[requires]\npython_version = "3.9"\n' }, '3.9'],
    ['python', { 'setup.py': "setup(python_requires='>=3.8')" }, '>=3.8'],
    ['python', { 'setup.py': '', 'setup.cfg': '[options]\npython_requires = >=3.7, <4\n' }, '>=3.7, <4'],
    [
      'python',
      { 'requirements.txt': '', Dockerfile: 'FROM docker.io/library/python:3.11-slim AS a\n' },
      '3.11',
    ],
    ['node', { 'package.json': '{}', Dockerfile: 'FROM --platform=x node:20.9.0-alpine\n' }, '^20.9.0'],
    ['node', { 'package.json': '{}', Dockerfile: 'FROM nodejs:20\nFROM x-node:20\n' }, undefined],
    ['ruby', { Gemfile: 'source "x"\nruby "3.1.4"\n', ...ruby }, '3.1.4'],
    ['ruby', { Gemfile: 'ruby ">= 3.1", "< 3.4"\n' }, '>= 3.1, < 3.4'],
    ['ruby', { Gemfile: 'ruby "~> 3.1"\n', ...ruby }, '3.3'],
    ['php', { 'composer.json': '{"require":{"a/b":"*","php":"^7.4|^8.0"}}' }, '^7.4 || ^8.0'],
    [
      'php',
      { 'composer.json': '{"require":{"php":">=7"},"config":{"sort":true,"platform":{"php":"8.1.2"}}}' },
      '^8.1',
    ],
    ['dotnet', sdk('"rollForward": "latestFeature"'), '~8.0.417'],
    ['dotnet', sdk('"rollForward": "latestMajor"'), '>=8.0.417'],
    ['dotnet', sdk('"allowPrerelease": false'), '>=8.0.417 <8.0.500'],
  ] as const)('of %s stand in %j', (language, files: Readonly<Record<string, string>>, range) => {
    expect(wanted(files).versions.get(language)?.range).toBe(range);
  });

  test.each<[string, Readonly<Record<string, string>>, string, readonly string[]]>([
    ['deno', { 'deno.json': '{}' }, 'deno install', ['deno']],
    ['meson', { 'meson.build': '' }, 'meson setup build', ['meson']],
    ['a file of meson for a package of Python', { 'meson.build': '' }, 'pip install -e .', []],
  ])('need programs beside languages: %s', (_, files, setup, expected) => {
    expect([...wantedTools(Object.keys(files), new Map(), setup).programs.keys()]).toEqual(expected);
  });

  test('need no program that the repository brings as a wrapper', () => {
    expect([...wanted({ 'pom.xml': '', mvnw: '' }).programs.keys()]).toEqual([]);
  });

  test.each<['python' | 'rust' | 'go' | 'java', Readonly<Record<string, string>>, string]>([
    ['python', { 'pyproject.toml': '[project]\nrequires-python = ">=3.8,<3.13"\n' }, '>=3.8,<3.13'],
    ['python', { 'setup.py': '', '.python-version': '3.12.1\n' }, '3.12'],
    ['rust', { 'Cargo.toml': '', 'rust-toolchain.toml': '[toolchain]\nchannel = "1.75.0"\n' }, '1.75.0'],
    ['rust', { 'Cargo.toml': '', 'rust-toolchain': 'nightly-2024-01-01\n' }, 'nightly-2024-01-01'],
    ['go', { 'go.mod': 'module x\n\ngo 1.22.1\n' }, '>=1.22.1'],
    ['java', { 'pom.xml': '', '.java-version': 'temurin-17.0.2\n' }, '17'],
  ])('of %s are read from %j', (language, files, range) => {
    expect(wanted(files).versions.get(language)?.range).toBe(range);
  });
});

describe('a range of versions', () => {
  const holds = (range: string, text: string): boolean => satisfies(parseVersion(text) ?? [0, 0, 0], range);

  test.each<[range: string, inside: readonly string[], outside: readonly string[]]>([
    ['20', ['20.0.0', 'v20.19.2'], ['21.0.0', '19.9.9']],
    ['^20.9 || >=22', ['20.9.0', '22.0.0', '30.1.1'], ['20.8.9', '21.5.0']],
    ['>=3.8,<3.13', ['3.8.0', 'Python 3.12.9'], ['3.13.0', '3.7.9']],
    ['~=3.8', ['3.8', '3.20'], ['4.0', '3.7']],
    ['~=3.8.1', ['3.8.9'], ['3.9.0', '3.8.0']],
    ['~1.2.3', ['1.2.9'], ['1.3.0', '1.2.2']],
    ['18.x', ['18.4.4'], ['19.0.0']],
    ['3.*', ['3.1.0'], ['2.7.18']],
    ['16 - 18', ['16.0.0', '18.9.0'], ['19.0.0', '15.9.0']],
    ['>18', ['19.0.0'], ['18.9.9']],
    ['<=18', ['18.9.9'], ['19.0.0']],
    ['>=3.6, !=3.7.0', ['3.6.1', '3.8.0'], ['3.5.9']],
    ['^0.2.3', ['0.2.9'], ['0.3.0']],
    ['>= 18.0.0 <20', ['18.1.0'], ['20.0.0']],
    ['', ['1.0.0'], []],
    ['whatever', ['1.0.0'], []],
  ])('%s', (range, inside, outside) => {
    for (const version of inside) expect([version, holds(range, version)]).toEqual([version, true]);
    for (const version of outside) expect([version, holds(range, version)]).toEqual([version, false]);
  });

  test.each([
    ...[
      '',
      '*',
      'x',
      '20',
      'v20.1',
      '18.x',
      '18.*',
      '18.x.x',
      '>=18',
      '>= 18',
      '=18.0.0',
      '>=18.0.0 <21 || >=22',
    ],
    ...[
      '^20.11.0 || >=22',
      '>=18||<16',
      '~18.1',
      '~>18',
      '16 - 18',
      'v16.0.0 - v18.1',
      '22-alpine',
      '>=18 ||',
    ],
    ...['>=18.0.0-rc.1', '1.22.19+sha.5114f85', '10 >=9 <12', '9.0.0-alpha.7'],
  ])('%j is one in the syntax of npm', (range) => {
    expect(isVersionRange(range)).toBe(true);
  });

  test.each([
    ...[
      'npm:evil@99.0.0',
      'https://evil.example/99.tgz',
      'git+ssh://git@evil.example/99',
      'file:/tmp/99.tgz',
    ],
    ...['evil/99', '../99', './99', '~/99', '/99', '99.0.0-x.tgz', '99.0.0-x.tar', '99-x.tar.gz', 'C:99'],
    ...[
      '18 evil@99',
      '--registry=https://evil.example 18',
      '-18',
      'workspace:18',
      'link:18',
      'latest',
      '18\n19',
    ],
    ...['$(id)18', '18;id', '18`id`', '18\u0000', '>=18 (LTS)', '1'.repeat(501)],
  ])('%j is none in the syntax of npm', (range) => {
    expect(isVersionRange(range)).toBe(false);
  });

  test('of hostile length takes no time', () => {
    const started = process.cpuUsage();
    isVersionRange('>=1.'.repeat(50_000));
    isVersionRange(`1.1.1-${'a.'.repeat(240)}`);
    holds('>=1.'.repeat(50_000), '1.0.0');
    holds(`${'1'.repeat(100_000)}`, '1.0.0');
    expect(cpuMsSince(started)).toBeLessThan(1_000);
  });
});
