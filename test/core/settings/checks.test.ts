import { describe, expect, test } from 'vitest';
import { checkFiles, detectChecks, reportPlan } from '../../../src/core/settings/index.ts';

const commandsOf = (repository: Parameters<typeof detectChecks>[0]) => detectChecks(repository).commands;
const manifest = (fields: object): string => JSON.stringify(fields);

const GO_CACHES = '{ timeout 600 go build -v ./... && timeout 600 go test -run RunoffNone ./... || true; }';
const PYTEST = {
  setup:
    'python3 -m venv --system-site-packages .venv && { .venv/bin/python -m pip install pytest || .venv/bin/python -m pytest --version; }',
  test: '.venv/bin/python -m pytest',
};
const MANAGE =
  'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "x.settings")\nfrom django.core import management\n';
const CARGO_CACHES = '{ timeout 600 cargo build && timeout 600 cargo test --no-run || true; }';

describe('a workspace without a test script at its top', () => {
  const core = { 'packages/core/package.json': '{"scripts": {"test": "vitest run"}}' };
  const detected = (files: Readonly<Record<string, string>>) => {
    const { setup, test } = commandsOf({ files: Object.keys(files), read: files });
    return [setup, test];
  };

  test.each<[string, Readonly<Record<string, string>>, string, string]>([
    ['npm', { 'package-lock.json': '' }, 'npm ci --no-audit --no-fund', 'npm test --workspaces --if-present'],
    ['yarn', { 'yarn.lock': '' }, 'yarn install --frozen-lockfile', 'yarn workspaces run test'],
    [
      'a later yarn',
      { 'yarn.lock': '', '.yarnrc.yml': '' },
      'yarn install --immutable',
      'yarn workspaces foreach -A run test',
    ],
    ['none', {}, 'npm install', 'npm test --workspaces --if-present'],
  ])('is tested by the scripts of its packages: %s', (_, files, setup, command) => {
    const read = { 'package.json': '{"workspaces": ["packages/*"]}', ...core, ...files };
    expect(checkFiles(Object.keys(read))).toContain('packages/core/package.json');
    expect(detected(read)).toEqual([setup, command]);
    const { commands } = reportPlan(command, read);
    expect(commands.map((one) => one.package)).toEqual(['packages/core']);
  });

  test('is set up for the links between its packages, without a lock file and other packages, too', () => {
    const top = { workspaces: ['packages/*'], scripts: { test: 'node --test' } };
    expect(detected({ 'package.json': JSON.stringify(top), ...core })).toEqual(['npm install', 'npm test']);
  });

  test.each([
    ['tsd', 'vitest.config.ts', 'npx vitest run'],
    ['tsd', 'packages/core/vitest.config.ts', 'npm test --workspaces --if-present'],
    ['tsd', 'jest.config.js', 'npm test --workspaces --if-present'],
    ['tsd && vitest run', 'vitest.config.ts', 'npm test --workspaces --if-present'],
  ])(
    'is tested by the runner that its top configures, if no package starts it: %s, %s',
    (script, file, command) => {
      const read = {
        'package.json': '{"workspaces": ["packages/*"], "devDependencies": {"vitest": "3"}}',
        'packages/core/package.json': manifest({ scripts: { test: script } }),
        [file]: '',
      };
      expect(detected(read)).toEqual(['npm install', command]);
    },
  );

  test('pnpm reads its list of packages elsewhere', () => {
    const read = {
      'package.json': '{}',
      'pnpm-workspace.yaml': 'packages: [packages/*]\n',
      'pnpm-lock.yaml': '',
    };
    expect(detected({ ...read, ...core })).toEqual(['pnpm install --frozen-lockfile', 'pnpm -r test']);
    expect(
      detected({ ...read, 'examples/a/package.json': core['packages/core/package.json'] })[1],
    ).toBeUndefined();
  });

  test('CI comes first, unless it only runs scripts for a part', () => {
    const ci = (command: string) => ({
      'package.json': '{"workspaces": ["packages/*"]}',
      '.github/workflows/ci.yml': `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps: [{ run: ${command} }]\n`,
      ...core,
    });
    expect(detected(ci('make test'))[1]).toBe('make test');
    const all = 'npm test --workspaces --if-present';
    expect(detected(ci('npm run test:kernel'))[1]).toBe(all);
    expect(detected(ci('npm test --workspace=@x/core'))[1]).toBe(all);
    expect(detected(ci('cd packages/core && npm test'))[1]).toBe(all);
    const both = 'npm test -w packages/core && npm test -w packages/web';
    expect(detected(ci(both))[1]).toBe(both);
  });
});

describe('commands are detected', () => {
  const node = (fields: object, ...files: readonly string[]) =>
    commandsOf({ files: ['package.json', ...files], read: { 'package.json': manifest(fields) } });

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
    expect(node(fields, 'yarn.lock', '.yarnrc.yml').setup).toBe('yarn install --immutable');
    expect(node(fields, 'yarn.lock')).toEqual({ setup: 'yarn install --frozen-lockfile', test: 'yarn test' });
    expect(node({ ...fields, packageManager: 'pnpm@9.0.0' })).toEqual({
      setup: 'pnpm install',
      test: 'pnpm test',
    });
    expect(node(fields, 'bun.lock')).toMatchObject({ test: 'bun run test' });
  });

  test('bun needs no script for its tests; another runner is used where it is installed', () => {
    const fields = { devDependencies: { typescript: '5' } };
    expect(node(fields, 'bun.lock', 'src/list.test.ts').test).toBe('bun test');
    expect(node(fields, 'bun.lock', 'list.test.js').test).toBe('bun test');
    expect(node(fields, 'bun.lock', 'src/latest.ts').test).toBeUndefined();
    expect(node(fields, 'package-lock.json', 'list.test.js').test).toBe('node --test');
    const vitest = { devDependencies: { vitest: '4' } };
    expect(node(vitest, 'bun.lock', 'list.test.ts').test).toBe('npx vitest run');
  });

  test('mui/base-ui: the tests without a browser are a next try', () => {
    const next = (scripts: Record<string, string>) =>
      detectChecks({
        files: ['package.json', 'pnpm-lock.yaml'],
        read: { 'package.json': manifest({ scripts, devDependencies: { vitest: '1' } }) },
      }).others.map(({ commands }) => commands.test);
    const test = 'pnpm test:chromium';
    expect(next({ test, 'test:jsdom': 'VITEST_ENV=jsdom vitest', 'test:unit': 'vitest' })).toEqual([
      'pnpm run test:jsdom',
    ]);
    expect(next({ test: 'pnpm run test:unit', 'test:unit': 'vitest' })).toEqual([]);
    expect(next({ test })).toEqual([]);
  });

  test('mde/ejs: the only runner among the packages is a next try for the task of another program', () => {
    const next = (script: string | Readonly<Record<string, string>>, ...packages: readonly string[]) =>
      detectChecks({
        files: ['package.json', 'package-lock.json', 'test/ejs.js'],
        read: {
          'package.json': manifest({
            scripts: typeof script === 'string' ? { test: script } : script,
            devDependencies: Object.fromEntries(packages.map((name) => [name, '1'])),
          }),
        },
      }).others.map(({ commands }) => commands.test);
    expect(next('jake test', 'jake', 'mocha')).toEqual(['npx --no-install mocha']);
    expect(next('eslint . && NODE_ENV=test npx gulp test', 'vitest')).toEqual([
      'npx --no-install vitest run',
    ]);
    // benjamn/recast: the script fetches samples from a code host.
    for (const mocha of ['test/run.sh', 'bash ./run.sh --all', 'npm run -s x && sh test/run.sh'])
      expect(next({ test: 'npm run lint && npm run -s mocha', mocha }, 'mocha')).toEqual([
        'npx --no-install mocha',
      ]);
    expect(next({ test: 'npm run unit && grunt e2e', unit: 'mocha' }, 'mocha')).toEqual([
      'npx --no-install mocha',
    ]);
    expect(next({ test: 'mocha && ./e2e.sh' }, 'mocha')).toEqual([]);
    expect(next({ test: 'npm run x', x: './run.sh && mocha' }, 'mocha')).toEqual([]);
    for (const script of ['node scripts/test.js', 'make build && jest', 'gulp-mocha'])
      expect(next(script, 'jest')).toEqual([]);
    expect(next('grunt test', 'grunt', 'mocha', 'tap')).toEqual([]);
  });

  test('the placeholder that npm writes is no test', () => {
    const scripts = { test: 'echo "Error: no test specified" && exit 1' };
    expect(node({ scripts })).toEqual({});
    expect(node({ scripts }, 'src/a.test.js')).toEqual({ test: 'node --test' });
    expect(node({ scripts, devDependencies: { vitest: '1' } })).toMatchObject({ test: 'npx vitest run' });
  });

  test('a build without tests is found, unless another ecosystem has tests', () => {
    const scripts = { build: 'tsc' };
    expect(node({ scripts, devDependencies: { typescript: '5' } }, 'package-lock.json')).toEqual({
      setup: 'npm ci --no-audit --no-fund',
      build: 'npm run build',
    });
    const read = { 'package.json': JSON.stringify({ scripts }) };
    expect(commandsOf({ files: ['package.json', 'go.mod'], read }).test).toBe('go test ./...');
    expect(commandsOf({ files: ['README.md'], read: {} })).toEqual({});
  });

  test('a package.json that is none does no harm', () => {
    for (const text of ['', '{', '[]', '"x"', '{"scripts": 3}', '{"scripts": {"test": 3}}']) {
      expect(commandsOf({ files: ['package.json', 'go.mod'], read: { 'package.json': text } }).test).toBe(
        'go test ./...',
      );
    }
  });

  test('Go code from before modules gets a path that is safe in a shell, and bindings beside another language are not meant', () => {
    const hostile = 'package list // import "example.org/$(touch /tmp/x)/list"\n';
    const files = ['list.go', 'list_test.go'];
    expect(commandsOf({ files, read: { 'list.go': hostile } }).setup).toMatch(
      /^\{ test -f go\.mod \|\| go mod init example\.com\/repository; \} && go mod tidy && /,
    );
    expect(commandsOf({ files: ['bindings/go/list.go', 'bindings/go/list_test.go'], read: {} })).toEqual({});
    expect(commandsOf({ files: [...files, 'vendor/example.org/a/a.go'], read: {} })).toEqual({});
  });

  test.each<[string, readonly string[], Record<string, string>, object]>([
    [
      'pytest',
      ['pyproject.toml', 'tests/test_a.py'],
      { 'pyproject.toml': '[tool.pytest.ini_options]' },
      PYTEST,
    ],
    ['pytest by conftest', ['tests/conftest.py'], {}, PYTEST],
    [
      'pytest that no file requires, by tests that are functions',
      ['tests/deep/test_b.py', 'tests/test_a.py'],
      { 'tests/test_a.py': 'import unittest\n', 'tests/deep/test_b.py': 'def test_sums():\n    assert 1\n' },
      PYTEST,
    ],
    ['unittest', ['tests/test_a.py', 'tests/__init__.py'], {}, { test: 'python3 -m unittest discover' }],
    [
      'unittest in a folder that is no package',
      ['tests/test_a.py'],
      {},
      { test: 'python3 -m unittest discover -s tests' },
    ],
    [
      'unittest in a package below a folder that is none',
      ['src/x/tests/test_a.py', 'src/x/__init__.py', 'src/x/tests/__init__.py'],
      {},
      { test: 'python3 -m unittest discover -s src' },
    ],
    [
      'unittest in several folders that are no packages, each with the variables of tox',
      [
        ...['x/__init__.py', 'x/tests/__init__.py', 'x/tests/test_c.py', 'tests/unit/test_a.py'],
        ...['tests/api/test_b.py', 'tests/api/test_c.py', 'examples/tests/test_d.py', 'tests/a b/test_e.py'],
      ],
      { 'tox.ini': '[testenv]\nsetenv =\n  MODE = fast\n' },
      {
        test: ['-s tests/api', '-s tests/unit', '']
          .map((start) => `MODE=fast python3 -m unittest discover ${start}`.trim())
          .join(' && '),
      },
    ],
    [
      'unittest, with nothing but samples',
      ['examples/a/test_a.py', 'examples/b/test_b.py'],
      {},
      {
        test: 'python3 -m unittest discover -s examples/a && python3 -m unittest discover -s examples/b',
      },
    ],
    [
      'Django',
      ['manage.py', 'app/tests.py', 'requirements.txt'],
      { 'manage.py': MANAGE },
      { setup: expect.stringContaining('-r requirements.txt'), test: '.venv/bin/python manage.py test' },
    ],
    [
      'Django in a folder',
      ['site/manage.py', 'site/app/tests.py', 'example/manage.py'],
      { 'site/manage.py': MANAGE },
      { test: 'python3 site/manage.py test site/' },
    ],
    ['Django with pytest', ['manage.py', 'app/tests.py', 'conftest.py'], { 'manage.py': MANAGE }, PYTEST],
    [
      'a list of projects of .NET before one of them',
      [
        'src/Foo.sln',
        'src/Foo.Tests/Foo.Tests.csproj',
        'src/Foo.Extra.Tests/Foo.Extra.Tests.csproj',
        'a/b/Bar.sln',
      ],
      {},
      {
        setup: 'dotnet restore src/Foo.sln',
        build: 'dotnet build src/Foo.sln --no-restore',
        test: 'dotnet test src/Foo.sln --no-build',
      },
    ],
    ['a manage.py of another framework', ['manage.py', 'app/tests.py'], { 'manage.py': 'import flask' }, {}],
    ['Go', ['go.mod'], {}, { setup: GO_CACHES, build: 'go build ./...', test: 'go test ./...' }],
    ['Cargo', ['Cargo.toml'], {}, { setup: CARGO_CACHES, build: 'cargo build', test: 'cargo test' }],
    [
      'Cargo with other crates beside the one at the top',
      ['Cargo.toml'],
      { 'Cargo.toml': '[package]\nname = "x"\n\n[workspace]\nmembers = ["y"]\n' },
      {
        setup:
          'cargo fetch && { timeout 600 cargo build --workspace && timeout 600 cargo test --workspace --no-run || true; }',
        build: 'cargo build --workspace',
        test: 'cargo test --workspace',
      },
    ],
    [
      'Cargo whose manifest selects the crates',
      ['Cargo.toml'],
      { 'Cargo.toml': '[package]\nname = "x"\n\n[workspace]\nmembers = ["y"]\ndefault-members = ["."]\n' },
      { setup: `cargo fetch && ${CARGO_CACHES}`, build: 'cargo build', test: 'cargo test' },
    ],
    [
      'Go code from before modules, named by its readme',
      ['README.md', 'list.go', 'list_test.go', 'cmd/list/main.go'],
      { 'README.md': '# list\n\n    go get -u example.org/lists/list/...\n', 'list.go': 'package list\n' },
      {
        setup: `{ test -f go.mod || go mod init example.org/lists/list; } && go mod tidy && ${GO_CACHES}`,
        build: 'go build ./...',
        test: 'go test ./...',
      },
    ],
    [
      'Go code from before modules, named by its package clause rather than its readme',
      ['README', 'list.go', 'list_test.go'],
      {
        README: 'go get example.org/other/list',
        'list.go': 'package list // import "example.org/lists/list"\n',
      },
      {
        setup: `{ test -f go.mod || go mod init example.org/lists/list; } && go mod tidy && ${GO_CACHES}`,
        build: 'go build ./...',
        test: 'go test ./...',
      },
    ],
    [
      'a workspace of Go without a module at the top',
      ['go.work', 'a/go.mod', 'b/go.mod'],
      { 'go.work': 'go 1.21\nuse (\n\t./a\n\t./b\n)\n' },
      {
        setup: `go mod download && ${GO_CACHES.replaceAll(' ./...', ' ./a/... ./b/...')}`,
        build: 'go build ./a/... ./b/...',
        test: 'go test ./...',
      },
    ],
    [
      'a workspace of Cargo without packages at the top',
      ['Cargo.toml', 'a/Cargo.toml'],
      { 'Cargo.toml': '[workspace]\nmembers = ["a"]\n' },
      { setup: `cargo fetch && ${CARGO_CACHES}`, build: 'cargo build', test: 'cargo test' },
    ],
    [
      'Maven',
      ['pom.xml', 'mvnw'],
      {},
      {
        setup:
          "sh ./mvnw -B '-Dtest=*#runoffNone' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -Dmaven.test.failure.ignore=true package",
        build: 'sh ./mvnw -q -B -o -DskipTests package',
        test: 'sh ./mvnw -q -B -o test',
      },
    ],
    [
      'Go with modules',
      ['go.mod'],
      { 'go.mod': 'module x\n\nrequire (\n\texample.org/y v1.0.0\n)\n' },
      { setup: `go mod download && ${GO_CACHES}`, build: 'go build ./...', test: 'go test ./...' },
    ],
    [
      'Go with modules below the one at the top, of which those with tests are tested',
      [
        ...['go.mod', 'exp/go.mod', 'exp/api/api_test.go', 'remote/go.mod', 'remote/remote.go'],
        ...['tutorials/a/go.mod', 'tutorials/a/a_test.go', 'a b/go.mod', 'a b/b_test.go'],
      ],
      {},
      {
        setup: `${GO_CACHES} && { timeout 600 sh -c 'for one in exp; do (cd $one && go mod download && go build -v ./... && go test -run RunoffNone ./...); done' || true; }`,
        build: 'go build ./...',
        test: 'go test ./...',
      },
    ],
    [
      'Cargo with packages and a lock file',
      ['Cargo.toml', 'Cargo.lock'],
      {},
      { setup: `cargo fetch --locked && ${CARGO_CACHES}`, build: 'cargo build', test: 'cargo test' },
    ],
    [
      'Cargo with packages',
      ['Cargo.toml'],
      { 'Cargo.toml': '[package]\nname = "x"\n[dev-dependencies]\ny = "1"\n' },
      { setup: `cargo fetch && ${CARGO_CACHES}`, build: 'cargo build', test: 'cargo test' },
    ],
    [
      'a Python package with extras, groups and lists for its tests',
      [
        'pyproject.toml',
        'requirements-dev.txt',
        'requirements/docs.txt',
        'src/x/__init__.py',
        'tests/test_a.py',
      ],
      {
        'pyproject.toml':
          '[project]\nname = "x"\n[project.optional-dependencies]\ntest = ["pytest"]\ndocs = ["sphinx"]\n[dependency-groups]\ndev = ["ruff"]\n',
      },
      {
        setup:
          "python3 -m venv --system-site-packages .venv && { .venv/bin/python -m pip install -e '.[test]' -r requirements-dev.txt 'ruff' pytest || .venv/bin/python -m pytest --version; }",
        test: '.venv/bin/python -m pytest',
      },
    ],
    [
      'a Python project that uv has locked',
      ['pyproject.toml', 'uv.lock', 'tests/conftest.py'],
      { 'pyproject.toml': '[project]\nname = "x"\n' },
      {
        setup:
          "{ command -v uv >/dev/null || { python3 -m venv ~/.local/lib/uv && ~/.local/lib/uv/bin/python -m pip install 'uv' && mkdir -p ~/.local/bin && ln -sf ~/.local/lib/uv/bin/uv ~/.local/bin; }; } && UV_PYTHON_DOWNLOADS=never uv sync --frozen --python python3 --all-extras --all-groups",
        test: '.venv/bin/python -m pytest',
      },
    ],
    [
      'Ruby',
      ['Gemfile', 'Rakefile', 'spec/a_spec.rb'],
      {},
      {
        setup: 'bundle config set --local path vendor/bundle && bundle install',
        test: 'bundle exec rspec',
      },
    ],
    [
      'Laravel',
      ['composer.json', 'phpunit.xml', 'artisan', '.env.example'],
      { 'composer.json': '{ "require-dev": { "phpunit/phpunit": "^11" } }' },
      {
        setup:
          'composer install --no-interaction --no-progress && { test -f .env || cp .env.example .env; } && php artisan key:generate --force',
        test: 'vendor/bin/phpunit',
      },
    ],
    [
      'a script of Composer',
      ['composer.json'],
      { 'composer.json': '{ "scripts": { "lint": ["x"], "test": ["@lint", "codecept run"] } }' },
      { setup: 'composer install --no-interaction --no-progress', test: 'composer test' },
    ],
    [
      'PHPUnit without a configuration',
      ['composer.json', 'tests/Unit/ListTest.php'],
      { 'composer.json': '{ "require-dev": { "phpunit/phpunit": "^11" } }' },
      { setup: 'composer install --no-interaction --no-progress', test: 'vendor/bin/phpunit tests' },
    ],
    [
      'Rails with packages of Node',
      ['Gemfile', 'Rakefile', 'config/application.rb', 'yarn.lock', 'test/models/user_test.rb'],
      {
        Gemfile: 'gem "rails"\ngem "jsbundling-rails"\n',
        Rakefile: 'Rails.application.load_tasks # test',
        'package.json': '{ "dependencies": { "esbuild": "1" } }',
      },
      {
        setup:
          'bundle config set --local path vendor/bundle && bundle install && yarn install --frozen-lockfile',
        test: 'bundle exec rake test',
      },
    ],
    [
      'PHP',
      ['composer.json', 'phpunit.dist.xml'],
      { 'composer.json': '{ "require-dev": { "phpunit/phpunit": "^11" } }' },
      { setup: 'composer install --no-interaction --no-progress', test: 'vendor/bin/phpunit' },
    ],
    [
      'PHPUnit that the bridge of Symfony downloads, in set-up',
      ['composer.json', 'phpunit.xml.dist'],
      {
        'composer.json':
          '{ "require-dev": { "symfony/phpunit-bridge": "^7.0", "phpstan/phpstan-phpunit": "^2.0" } }',
      },
      {
        setup:
          'composer install --no-interaction --no-progress && { vendor/bin/simple-phpunit --version || true; }',
        test: 'vendor/bin/simple-phpunit',
      },
    ],
    [
      'PHPUnit that a program of the repository starts',
      ['composer.json', 'phpunit.xml.dist', 'bin/phpunit'],
      { 'composer.json': '{ "require-dev": { "symfony/phpunit-bridge": "^7.0" } }' },
      {
        setup: 'composer install --no-interaction --no-progress && { php bin/phpunit --version || true; }',
        test: 'php bin/phpunit',
      },
    ],
    [
      'PHP whose tests need the PHPUnit of the machine',
      ['composer.json', 'phpunit.xml'],
      { 'composer.json': '{ "name": "x/phpunit-helper", "require": { "php": ">=5.4.0" } }' },
      { setup: 'composer install --no-interaction --no-progress', test: 'phpunit' },
    ],
    [
      'PHP with Pest, which PHPUnit cannot run',
      ['composer.json', 'phpunit.xml.dist', 'tests/Pest.php'],
      { 'composer.json': '{ "require-dev": { "pestphp/pest": "^2.34|^3.7", "phpunit/phpunit": "^11" } }' },
      { setup: 'composer install --no-interaction --no-progress', test: 'vendor/bin/pest' },
    ],
    [
      'Pest itself',
      ['composer.json', 'phpunit.xml', 'bin/pest', 'tests/Pest.php'],
      { 'composer.json': '{ "name": "pestphp/pest", "require": { "phpunit/phpunit": "^12" } }' },
      { setup: 'composer install --no-interaction --no-progress', test: 'php bin/pest' },
    ],
    [
      'a library in C with a solution of Visual Studio in a folder',
      ['Makefile', 'build/VS2022/lz4.sln', 'build/VS2022/lz4/lz4.vcxproj'],
      { Makefile: 'test:\n\t./t\n' },
      { test: 'make test' },
    ],
    [
      'a library in C with bindings for .NET',
      ['CMakeLists.txt', 'contrib/dotzlib/DotZLib.sln', 'contrib/dotzlib/DotZLib/DotZLib.csproj'],
      { 'CMakeLists.txt': 'project(zlib C)\nenable_testing()\n' },
      {
        setup: 'cmake -S . -B build -DBUILD_TESTING=ON && { timeout 600 cmake --build build || true; }',
        build: 'cmake --build build',
        test: 'ctest --test-dir build --output-on-failure',
      },
    ],
    [
      'Cargo whose tests need features',
      ['Cargo.toml'],
      {
        'Cargo.toml':
          '[package]\nname = "hyper"\n[[test]]\nname = "client"\nrequired-features = ["full"]\n[[test]]\nname = "gzip"\nrequired-features = ["full", "gzip", "x; rm -rf /"]\n[[bench]]\nname = "b"\nrequired-features = ["nightly"]\n',
      },
      {
        setup:
          '{ timeout 600 cargo build --features full,gzip && timeout 600 cargo test --features full,gzip --no-run || true; }',
        build: 'cargo build --features full,gzip',
        test: 'cargo test --features full,gzip',
      },
    ],
    [
      'a task of Deno',
      ['deno.jsonc', 'mod_test.ts'],
      { 'deno.jsonc': '{ // own\n "tasks": { "test": "deno test -A" }, }' },
      {
        setup: 'deno install && { timeout 600 deno test --no-run --allow-all || true; }',
        test: 'deno task test',
      },
    ],
    [
      'tests of Deno without a task',
      ['deno.json', 'src/mod.test.ts'],
      { 'deno.json': '{ "tasks": { "test": 4 } }' },
      {
        setup: 'deno install && { timeout 600 deno test --no-run --allow-all || true; }',
        test: 'deno test --allow-all',
      },
    ],
    [
      'deno.json beside the script of package.json that runs as many tests',
      ['deno.json', 'package.json', 'src/mod.test.ts'],
      {
        'deno.json': '{ "tasks": { "test": "deno test" } }',
        'package.json': '{ "scripts": { "test": "node --test" } }',
      },
      { test: 'npm test' },
    ],
    [
      'automake',
      ['configure.ac', 'Makefile.am', 'tests/Makefile.am'],
      {
        'configure.ac': '',
        'Makefile.am': 'SUBDIRS = src tests\n',
        'tests/Makefile.am': 'TESTS = one.test\n',
      },
      {
        setup: 'autoreconf -fi && sh ./configure && { timeout 600 make || true; }',
        build: 'make',
        test: 'make check',
      },
    ],
    [
      'automake with a target that is written by hand, before tests in Python below it',
      ['configure.ac', 'Makefile.am', 'tests/http/conftest.py', 'tests/http/test_a.py'],
      { 'configure.ac': '', 'Makefile.am': 'SUBDIRS = src tests\ntest:\n\t./tests/run\n' },
      {
        setup: 'autoreconf -fi && sh ./configure && { timeout 600 make || true; }',
        build: 'make',
        test: 'make test',
      },
    ],
    [
      'a configure script with a makefile of its own',
      ['configure', 'Makefile.in'],
      { 'Makefile.in': 'all: x\ntest: all\n\t./x\n' },
      { setup: 'sh ./configure && { timeout 600 make || true; }', build: 'make', test: 'make test' },
    ],
    ['automake without tests', ['configure.ac', 'Makefile.am'], { 'Makefile.am': 'bin_PROGRAMS = x\n' }, {}],
    [
      'meson with tests in a folder',
      ['meson.build', 'test/meson.build'],
      { 'meson.build': "project('x', 'c')\nsubdir('test')\n", 'test/meson.build': '' },
      {
        setup: 'meson setup build && { timeout 600 meson compile -C build || true; }',
        build: 'meson compile -C build',
        test: 'meson test -C build',
      },
    ],
    ['meson without tests', ['meson.build'], { 'meson.build': "executable('x', 'x.c')\n" }, {}],
    [
      'CMake with tests, before a makefile',
      ['CMakeLists.txt', 'Makefile', 'build/README'],
      { 'CMakeLists.txt': 'project(x C)\nenable_testing()\n', Makefile: 'test:\n\t./x\n' },
      {
        setup:
          'cmake -S . -B build-tests -DBUILD_TESTING=ON && { timeout 600 cmake --build build-tests || true; }',
        build: 'cmake --build build-tests',
        test: 'ctest --test-dir build-tests --output-on-failure',
      },
    ],
    ...(
      [
        [
          'option(X_BUILD_TESTS "Build tests" OFF)\noption(X_BUILD_BENCH "Build benchmarks" OFF)',
          'X_BUILD_TESTS',
        ],
        [
          'option(X_DEVELOPMENT "For developers" OFF)\ncmake_dependent_option(X_BUILD_TESTING\n  "Tests" ON "X_DEVELOPMENT" OFF)',
          'X_DEVELOPMENT',
        ],
        ['option(UNIT_TESTS "Tests")\noption(X_BUILD_EXTRA_TESTS "More" OFF)', 'UNIT_TESTS'],
        [
          'option(X__DISABLE_TESTS "No tests" OFF)\noption(BUILD_TESTS "Tests" ON)\noption(NO_TESTS "None" OFF)',
          null,
        ],
        [
          'option(WITHOUT_TESTS "No tests" OFF)\noption(EXCLUDE_TESTS "No tests" OFF)\noption(NODE_TESTS "Tests" OFF)',
          'NODE_TESTS',
        ],
      ] as const
    ).map(([options, switched]): [string, readonly string[], Record<string, string>, object] => [
      `CMake whose tests an option switches on: ${options.split('"')[0]}`,
      ['CMakeLists.txt'],
      { 'CMakeLists.txt': `project(x C)\n${options}\nenable_testing()\n` },
      {
        setup: `cmake -S . -B build -DBUILD_TESTING=ON${switched === null ? '' : ` -D${switched}=ON`} && { timeout 600 cmake --build build || true; }`,
        build: 'cmake --build build',
        test: 'ctest --test-dir build --output-on-failure',
      },
    ]),
    [
      'CMake whose tests the workflow switches on',
      ['CMakeLists.txt', '.github/workflows/ci.yml'],
      {
        'CMakeLists.txt': 'include(cmake/options.cmake)\ninclude(CTest)\n',
        '.github/workflows/ci.yml':
          'on: push\njobs: {}\n# cmake -B out -DX_ENABLE_TESTING:BOOL=ON -D X_BUILD_BENCHMARKS=ON -DX_FUZZ_TEST=OFF\n',
      },
      {
        setup:
          'cmake -S . -B build -DBUILD_TESTING=ON -DX_ENABLE_TESTING=ON && { timeout 600 cmake --build build || true; }',
        build: 'cmake --build build',
        test: 'ctest --test-dir build --output-on-failure',
      },
    ],
    [
      '.NET whose tests are those of the testing platform, which refuses a project without the name of an option',
      ['global.json', 'src/X.slnx', 'src/X/X.csproj'],
      { 'global.json': '{ "test": { "runner": "Microsoft.Testing.Platform" } }' },
      {
        setup: 'dotnet restore src/X.slnx',
        build: 'dotnet build src/X.slnx --no-restore',
        test: 'dotnet test --solution src/X.slnx --no-build',
      },
    ],
    [
      '.NET',
      ['X.sln', 'src/X/X.csproj'],
      {},
      { setup: 'dotnet restore', build: 'dotnet build --no-restore', test: 'dotnet test --no-build' },
    ],
    [
      '.NET with several solutions, between which dotnet does not choose',
      ['X.Samples.sln', 'X.sln', 'src/X/X.csproj'],
      {},
      {
        setup: 'dotnet restore X.sln',
        build: 'dotnet build X.sln --no-restore',
        test: 'dotnet test X.sln --no-build',
      },
    ],
    [
      '.NET with the project that CI names beside a solution',
      ['X.sln', 'All.csproj', '.github/workflows/ci.yml'],
      {
        '.github/workflows/ci.yml': 'on: push\njobs: {}\n# dotnet pack X.sln.cache, dotnet test All.csproj\n',
      },
      {
        setup: 'dotnet restore All.csproj',
        build: 'dotnet build All.csproj --no-restore',
        test: 'dotnet test All.csproj --no-build',
      },
    ],
    [
      '.NET without a solution, by its project of tests',
      ['src/X/X.csproj', 'tests/X.Tests/X.Tests.csproj'],
      {},
      {
        setup: 'dotnet restore tests/X.Tests/X.Tests.csproj',
        build: 'dotnet build tests/X.Tests/X.Tests.csproj --no-restore',
        test: 'dotnet test tests/X.Tests/X.Tests.csproj --no-build',
      },
    ],
    [
      'Gradle',
      ['settings.gradle.kts', 'gradlew'],
      {},
      {
        setup:
          'sh ./gradlew --no-daemon assemble testClasses && { sh ./gradlew --no-daemon --continue test --tests runoff.None || true; }',
        build: 'sh ./gradlew --no-daemon --offline assemble',
        test: 'sh ./gradlew --no-daemon --offline test',
      },
    ],
    [
      'Gradle with Kotlin Multiplatform, whose modules have no task named test',
      ['build.gradle', 'src/commonTest/kotlin/app/FlowTest.kt', 'src/jvmTest/kotlin/app/FlowJvmTest.kt'],
      {},
      {
        setup:
          'gradle --no-daemon jvmJar jvmTestClasses && { gradle --no-daemon --continue jvmTest --tests runoff.None || true; }',
        build: 'gradle --no-daemon --offline jvmJar',
        test: 'gradle --no-daemon --offline jvmTest',
      },
    ],
    [
      'Gradle with Kotlin Multiplatform beside other modules',
      ['build.gradle', 'a/src/jvmMain/kotlin/A.kt', 'b/src/test/kotlin/BTest.kt'],
      {},
      {
        setup:
          'gradle --no-daemon jvmJar jvmTestClasses classes testClasses && { gradle --no-daemon --continue jvmTest --tests runoff.None test --tests runoff.None || true; }',
        build: 'gradle --no-daemon --offline jvmJar classes',
        test: 'gradle --no-daemon --offline jvmTest test',
      },
    ],
    [
      'Gradle whose tests read a project in Kotlin Multiplatform',
      [
        ...['build.gradle', 'api/src/test/kotlin/ATest.kt', 'samples/a/src/jvmMain/kotlin/A.kt'],
        'it/src/test/resources/playground/src/jvmMain/kotlin/Foo.kt',
        ...['tools/settings.gradle.kts', 'tools/src/jvmMain/kotlin/T.kt'],
      ],
      {},
      {
        setup:
          'gradle --no-daemon assemble testClasses && { gradle --no-daemon --continue test --tests runoff.None || true; }',
        build: 'gradle --no-daemon --offline assemble',
        test: 'gradle --no-daemon --offline test',
      },
    ],
    [
      'Gradle with Kotlin Multiplatform, whose build logic has tests',
      ['build.gradle', 'src/jvmTest/kotlin/app/FlowJvmTest.kt', 'buildSrc/src/test/kotlin/BTest.kt'],
      {},
      {
        setup:
          'gradle --no-daemon jvmJar jvmTestClasses && { gradle --no-daemon --continue jvmTest --tests runoff.None || true; }',
        build: 'gradle --no-daemon --offline jvmJar',
        test: 'gradle --no-daemon --offline jvmTest',
      },
    ],
    [
      'Ruby with an extension in C',
      ['Gemfile', 'Rakefile', 'rakelib/test.rake', 'ext/nokogiri/extconf.rb', 'test/test_a.rb'],
      { Rakefile: 'task default: [:compile]\n' },
      {
        setup:
          'bundle config set --local path vendor/bundle && bundle install && { timeout 600 bundle exec rake compile || true; }',
        build: 'bundle exec rake compile',
        test: 'bundle exec rake test',
      },
    ],
    [
      'Ruby whose Rakefile has no tests',
      ['Gemfile', 'Rakefile', 'rspec-core/spec/a_spec.rb'],
      { Rakefile: 'GEMS = %i[rspec rspec-core]\ntask :release_all do\nend\n' },
      {},
    ],
    [
      'Ruby whose Rakefile loads its tasks',
      ['Gemfile', 'Rakefile', 'test/a_test.rb'],
      { Rakefile: 'require_relative "config/application"\nRails.application.load_tasks\n' },
      {
        setup: 'bundle config set --local path vendor/bundle && bundle install',
        test: 'bundle exec rake test',
      },
    ],
    ['make', ['Makefile'], { Makefile: 'all:\n\tcc\ntest: all\n\t./t\n' }, { test: 'make test' }],
    ['make without tests', ['Makefile'], { Makefile: 'test := 1\nall:\n\tcc\n' }, {}],
    ['nothing', ['README.md'], {}, {}],
  ])('%s', (_, files, read, expected) => {
    expect(commandsOf({ files, read })).toEqual(expected);
  });
});

describe('Cargo with the features of the workflow', () => {
  const tested = (run: string, manifest = '[package]\nname = "x"\n') => {
    const workflow = `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    strategy:\n      matrix:\n        feature: [tls]\n    steps:\n      - run: ${run}\n`;
    const files = { 'Cargo.toml': manifest, '.github/workflows/ci.yml': workflow };
    const { build, test } = commandsOf({ files: Object.keys(files), read: files });
    return [build, test];
  };

  test.each([
    ['cargo test --all-features', '--all-features'],
    ['cargo test --workspace --all-features --all-targets', '--all-features --workspace'],
    ['cargo test --verbose --features "a b"', '--features a,b'],
    ['cargo test --all-features --manifest-path ./Cargo.toml', '--all-features'],
    ['cargo test --all -F a,b', '--features a,b --workspace'],
  ])('%s', (run, options) => {
    expect(tested(run)).toEqual([`cargo build ${options}`, `cargo test ${options}`]);
  });

  test('and those of the tests themselves', () => {
    const manifest = '[package]\nname = "x"\n[[test]]\nname = "y"\nrequired-features = ["b"]\n';
    expect(tested('cargo test --features a', manifest)[1]).toBe('cargo test --features b,a');
  });

  test.each([
    'cargo test -p core --features a',
    'cargo test --no-default-features',
    'cargo +nightly test --all-features',
    `cargo test --features $${'{{ matrix.feature }}'}`,
    'cargo test --features a\n        env: { RUSTFLAGS: --cfg x_unstable }',
    'cd core && cargo test --all-features',
  ])('none that other code or another compiler needs: %s', (run) => {
    expect(tested(run)[1]).toBe('cargo test');
  });
});

describe('Go with the build tags of the workflow', () => {
  const tested = (run: string) => {
    const workflow = `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    strategy:\n      matrix:\n        tags: [json]\n    steps:\n      - run: ${run}\n`;
    const files = { 'go.mod': 'module example.com/x\n', '.github/workflows/ci.yml': workflow };
    const { build, test } = commandsOf({ files: [...Object.keys(files), 'a_test.go'], read: files });
    return [build, test];
  };

  test.each([
    ['go test -race -short ./...', 'go test -short ./...'],
    ['go test ./... -short -cover', 'go test -short ./...'],
    ['go test -tags a -short ./...', 'go test -tags=a -short ./...'],
    ['go test -short ./client', 'go test ./...'],
  ])('long tests are left out if it does so: %s', (run, command) => {
    expect(tested(run)[1]).toBe(command);
  });

  test.each([
    ['go test -race -tags=integration ./...', '-tags=integration '],
    ['go test -tags "a b" -v ./...', '-tags=a,b '],
    ['go test ./...', ''],
    ['go test -tags integration ./client', ''],
    [`go test -tags $${'{{ matrix.tags }}'} ./...`, ''],
  ])('%s', (run, tags) => {
    expect(tested(run)).toEqual([`go build ${tags}./...`, `go test ${tags}./...`]);
  });
});

describe('of several languages, the one with most test files is tested', () => {
  const python = { 'tox.ini': '[testenv]\ncommands = python -m django test -v2 {posargs:tests}\n' };
  const node = {
    'package.json': manifest({ scripts: { test: 'vitest' }, devDependencies: { vitest: '4' } }),
  };
  const read = { ...python, ...node };

  test('a package.json for the assets of a project in Python does not hide its tests', () => {
    const files = [...Object.keys(read), 'js/toolbar.test.js', 'tests/test_a.py', 'tests/test_b.py'];
    const { commands, others } = detectChecks({ files, read });
    expect(commands.test).toBe('python -m django test -v2 tests');
    expect(others.at(0)?.commands).toEqual({ setup: 'npm install', test: 'npm test' });
  });

  test('the first one is the first alternative, also if it needs no set-up', () => {
    const alone = { ...python, 'package.json': manifest({ scripts: { test: 'node --test' } }) };
    const workflow =
      'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pip install django\n      - run: make test\n';
    const files = { ...alone, '.github/workflows/ci.yml': workflow };
    const { others } = detectChecks({ files: [...Object.keys(files), 'tests/test_a.py'], read: files });
    expect(others.map(({ commands }) => commands.test)).toEqual(['npm test', 'make test']);
  });

  test('one that is only defined below the top, such as a client in another language, hides none', () => {
    const many = (path: (at: number) => string) => Array.from({ length: 9 }, (_, at) => path(at));
    const own = [...Object.keys(node), 'tests/a.test.js'];
    for (const files of [
      [...own, 'sdk/python/tests/conftest.py', ...many((at) => `sdk/python/tests/test_${at}.py`)],
      [...own, 'sdk/dotnet/X.Tests/X.Tests.csproj', ...many((at) => `sdk/dotnet/X.Tests/T${at}.cs`)],
    ])
      expect(commandsOf({ files, read: node }).test).toBe('npm test');
    expect(
      commandsOf({
        files: [...own, 'setup.py', 'tests/conftest.py', ...many((at) => `tests/test_${at}.py`)],
        read: node,
      }).test,
    ).toBe('.venv/bin/python -m pytest');
  });

  test('a convention with ten times as many tests comes before a command, which is tried next', () => {
    const many = Array.from({ length: 21 }, (_, at) => `shop/part${at}/tests.py`);
    const files = [
      ...Object.keys(node),
      'tests/a.test.js',
      'tests/b.test.js',
      'manage.py',
      'requirements.txt',
    ];
    const texts = { ...node, 'manage.py': MANAGE };
    const { commands, others } = detectChecks({ files: [...files, ...many], read: texts });
    expect(commands.test).toBe('.venv/bin/python manage.py test');
    expect(others[0]?.commands.test).toBe('npm test');
    expect(commandsOf({ files: [...files, ...many.slice(2)], read: texts }).test).toBe('npm test');
  });

  test('tests of Node at the top count, whose names are test.js or start with test-', () => {
    const files = [
      ...Object.keys(node),
      'test.js',
      'test-more.mjs',
      'conftest.py',
      'scripts/test_release.py',
    ];
    expect(commandsOf({ files, read: node }).test).toBe('npm test');
  });

  test('deep paths that repeat what is looked for are read in linear time', () => {
    const deep = ['test/', 'src/jvmMain/', 'src/test/', 'Tests/'].flatMap((folder) =>
      Array.from({ length: 1_000 }, (_, at) => `${folder.repeat(4_000 / folder.length)}f${at}.txt`),
    );
    const files = [...Object.keys(read), 'build.gradle', 'X.sln', 'X.csproj', ...deep, 'tests/test_a.py'];
    expect(commandsOf({ files, read }).test).toBe('python -m django test -v2 tests');
  });

  test('samples do not count, and the first one stays where both have as many', () => {
    const samples = [
      'tests/a.test.js',
      'tests/fixtures/test_a.py',
      'examples/tests/test_b.py',
      'x/test_c.py',
    ];
    const { commands, others } = detectChecks({ files: [...Object.keys(read), ...samples], read });
    expect(commands.test).toBe('npm test');
    expect(others).toEqual([]);
  });
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['deno.json with quotes that are never closed', { 'deno.json': `{ ${'"\\'.repeat(32_000)}` }],
  ['meson.build with empty lines', { 'meson.build': '\n'.repeat(50_000) }],
  [
    'a noxfile with texts in a row',
    {
      'setup.py': '',
      'noxfile.py': `import nox\n\n@nox.session\ndef tests(session):\n    session.run("python", "run_tests.py", ${'"a" '.repeat(26)}x)\n`,
    },
  ],
  [
    'a variable of docker compose that is never closed',
    {
      'package.json': '{"scripts":{"test":"jest"}}',
      '.github/workflows/ci.yml':
        'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: docker compose up -d\n      - run: npm test\n',
      'compose.yml': `services:\n  db:\n    image: postgres\n    environment: { A: "\${${'a'.repeat(60_000)}" }\n`,
    },
  ],
])('%s is read in linear time', (_, read) => {
  const start = performance.now();
  detectChecks({ files: Object.keys(read), read });
  expect(performance.now() - start).toBeLessThan(3_000);
});
