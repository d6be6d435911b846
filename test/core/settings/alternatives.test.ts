import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  detectChecks,
  type FailedTry,
  failureOfPip,
  MAX_ALTERNATIVES,
  morePackages,
  nextRecipe,
  type Recipe,
  recipeFiles,
  settingsOfRecipe,
} from '../../../src/core/settings/index.ts';

const recipe = (commands: Recipe['commands']): Recipe => ({
  commands,
  from: Object.fromEntries(Object.keys(commands).map((name) => [name, 'package.json'])),
});
const failed = (commands: Recipe['commands'], step: FailedTry['step'], output: string): FailedTry => ({
  recipe: recipe(commands),
  step,
  output,
});
const nothingElse = { others: [], named: [], removable: [] };
const removablePackage = (name: string, folder = '', isFromElsewhere = false) => ({
  name,
  key: `devDependencies[${name}]`,
  folder,
  isFromElsewhere,
});
const next = (tries: readonly FailedTry[], known: Partial<Parameters<typeof nextRecipe>[0]> = {}) =>
  nextRecipe({ ...nothingElse, ...known }, tries);

const MISMATCH =
  'npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync.';
const MAKE_VENV = 'python3 -m venv --system-site-packages .venv';
const PIP = `${MAKE_VENV} && { .venv/bin/python -m pip install`;

describe('crates of a workspace', () => {
  const all = { setup: 'cargo fetch', build: 'cargo build --workspace', test: 'cargo test --workspace' };
  const alone = { setup: 'cargo fetch', build: 'cargo build', test: 'cargo test' };

  test.each([
    ['build', 'error: could not compile `bindings`'],
    ['tests', 'error: could not compile `bindings` (lib test)'],
  ] as const)('that fail in the %s are left out', (step, output) => {
    expect(next([failed(all, step, output)])?.commands).toEqual(alone);
    expect(next([failed(alone, 'tests', output)])).toBeNull();
  });

  test('and features that tests need, if they cannot be built', () => {
    const commands = {
      setup: 'cargo fetch',
      build: 'cargo build --features full',
      test: 'cargo test --features full',
    };
    expect(next([failed(commands, 'build', 'error: failed to run custom build command')])?.commands).toEqual(
      alone,
    );
  });
});

test('packages that could be installed with other options are installed with them for other commands, too', () => {
  const setup = 'npm ci --no-audit';
  const others = [recipe({ setup: 'npm install && npm run build:wasm', test: 'npm run test:unit' })];
  const script = 'npm error code 1\nnpm error command failed\nnpm error command sh -c node-gyp rebuild';
  const first = failed({ setup, test: 'npm test' }, 'set-up', script);
  const working = { setup: `${setup} --ignore-scripts`, test: 'npm test' };
  expect(next([first], { others })?.commands).toEqual(working);

  const silent = failed(working, 'tests', 'no test passed');
  expect(next([first, silent], { others })).toMatchObject({
    commands: { setup: `${setup} --ignore-scripts && npm run build:wasm`, test: 'npm run test:unit' },
    instead: { setup, test: 'npm test' },
  });
  // Nothing failed before, or packages of another manager did.
  expect(next([silent], { others })?.commands).toEqual(others[0]?.commands);
  for (const own of [
    'npm run bootstrap',
    'npm install --prefix client && npm ci',
    'npm install; npm run gen',
  ])
    expect(
      next([first, silent], { others: [recipe({ setup: own, test: 'npm run unit' })] })?.commands.setup,
    ).toBe(own);
  const yarn = [recipe({ setup: 'yarn install', test: 'yarn test' })];
  expect(next([first, silent], { others: yarn })?.commands).toEqual(yarn[0]?.commands);
});

test('files of Go behind a build tag are left out if they do not run here', () => {
  const go = (tags: string) => ({ build: `go build ${tags}./...`, test: `go test ${tags}./...` });
  expect(next([failed(go('-tags=integration '), 'tests', 'undefined: docker.Pool')])?.commands).toEqual(
    go(''),
  );
});

test('all crates of a workspace without features are tried before the crate at the top alone', () => {
  const of = (options: string) => ({ build: `cargo build${options}`, test: `cargo test${options}` });
  const first = failed(of(' --features nightly --workspace'), 'build', 'error[E0554]');
  expect(next([first])?.commands).toEqual(of(' --workspace'));
  expect(next([first, failed(of(' --workspace'), 'build', 'error')])?.commands).toEqual(of(''));
});

test('tests in another language that need no set-up are tried after a set-up or build that failed', () => {
  const python = { setup: 'pip install x', build: 'make', test: 'pytest' };
  const others = [{ commands: { test: 'npm test' }, from: {} }];
  expect(next([failed(python, 'set-up', 'ERROR')], { others })?.commands).toEqual({ test: 'npm test' });
  const tries = [
    failed(python, 'build', 'x'),
    failed({ setup: 'pip install x', test: 'pytest' }, 'tests', 'x'),
  ];
  expect(next(tries, { others })?.commands).toEqual({ test: 'npm test' });
});

describe('after a set-up that failed', () => {
  test('of pytest alone, the tests that need none are run by unittest', () => {
    const setup = `${PIP} pytest || .venv/bin/python -m pytest --version; }`;
    const before = failed(
      { setup, test: '.venv/bin/python -m pytest' },
      'set-up',
      'No matching distribution found',
    );
    expect(next([before])?.commands).toEqual({ test: 'python3 -m unittest discover' });
  });

  test.each([
    ['npm ci --no-audit --no-fund', MISMATCH, 'npm install --no-audit --no-fund'],
    [
      'npm ci',
      'npm error code E404\nnpm error 404 Not Found - GET https://registry.example.com/a/-/a-1.1.2.tgz',
      'npm install --no-package-lock',
    ],
    [
      'pnpm install --frozen-lockfile',
      ' ERR_PNPM_FETCH_404  GET https://registry.example.com/a/-/a-1.1.2.tgz: Not Found - 404',
      'pnpm install --no-lockfile',
    ],
    [
      'pnpm install --frozen-lockfile',
      '[ERR_PNPM_MINIMUM_RELEASE_AGE_VIOLATION] 1 lockfile entries failed verification: a@0.8.4 could not be checked',
      'pnpm install --no-lockfile',
    ],
    [
      'pnpm install --no-lockfile',
      '[ERR_PNPM_NO_MATCHING_VERSION] No matching version found for a@^0.8.4 while fetching it',
      "npm pkg delete --force 'devDependencies[a]' && pnpm install --no-lockfile",
    ],
    [
      "npm pkg delete --force 'devDependencies[a]' && pnpm install --no-lockfile",
      '[ERR_PNPM_NO_MATCHING_VERSION] No matching version found for @b/c@^2 while fetching it',
      "npm pkg delete --force 'devDependencies[@b/c]' && npm pkg delete --force 'devDependencies[a]' && pnpm install --no-lockfile",
    ],
    [
      'yarn install --no-lockfile',
      'error Couldn\'t find any versions for "a" that matches "^9.0.0"',
      "npm pkg delete --force 'devDependencies[a]' && yarn install --no-lockfile",
    ],
    [
      'yarn install --immutable',
      '➤ YN0082: │ @b/c@npm:^99.0.0: No candidates found',
      "npm pkg delete --force 'devDependencies[@b/c]' && yarn install --no-immutable",
    ],
    [
      'npm install --no-audit && npm run fixtures',
      "npm error 404  '@b/c@^1.0.0' is not in this registry.",
      "npm pkg delete --force 'devDependencies[@b/c]' && npm install --no-audit && npm run fixtures",
    ],
    [
      'pnpm install --no-lockfile',
      'This error happened: @b/c is not in the npm registry, or you have no permission to fetch it.',
      "npm pkg delete --force 'devDependencies[@b/c]' && pnpm install --no-lockfile",
    ],
    [
      'yarn install --frozen-lockfile',
      'error Error: https://registry.example.com/a/-/a-1.1.2.tgz: Request failed "404 Not Found"',
      'yarn install --no-lockfile',
    ],
    [
      'npm ci',
      'npm error The `npm ci` command can only install with an existing package-lock.json',
      'npm install',
    ],
    [
      'npm install',
      'npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree',
      'npm install --legacy-peer-deps',
    ],
    [
      'npm ci',
      'npm error command failed\nnpm error command sh -c node install.js',
      'npm ci --ignore-scripts',
    ],
    [
      'pnpm install --frozen-lockfile',
      ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"',
      'pnpm install --no-frozen-lockfile',
    ],
    [
      'pnpm install --frozen-lockfile',
      '[ERR_PNPM_IGNORED_BUILDS] Ignored build scripts: esbuild@0.21.5',
      'pnpm install --frozen-lockfile --config.strict-dep-builds=false',
    ],
    [
      'yarn install --frozen-lockfile',
      'error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.',
      'yarn install',
    ],
    [
      'yarn install --immutable',
      '➤ YN0028: │ The lockfile would have been modified by this install',
      'yarn install --no-immutable',
    ],
    [
      'yarn install --immutable',
      "➤ YN0009: │ esbuild@npm:0.1 couldn't be built successfully",
      'yarn install --immutable --mode=skip-build',
    ],
    ['bun install --frozen-lockfile', 'error: lockfile had changes, but lockfile is frozen', 'bun install'],
    [
      'cargo fetch --locked',
      'error: the lock file Cargo.lock needs to be updated but --locked was passed',
      'cargo fetch',
    ],
    ['uv sync --frozen --all-extras', 'error: Failed to parse lockfile `uv.lock`', 'uv sync --all-extras'],
    ['cp a b && npm ci', MISMATCH, 'cp a b && npm install'],
    [
      `${PIP} -e '.[test,dev]' pytest; }`,
      'ERROR: Could not find a version that satisfies the requirement y; extra == "test" (from x[test]) (from versions: none)',
      `${PIP} -e '.' pytest; }`,
    ],
    [
      `${PIP} -e '.[test,dev]' pytest; }`,
      'ERROR: Could not find a version that satisfies the requirement sphinx>=9.1; extra == "dev" (from x[dev])',
      `${PIP} -e '.[test]' pytest; }`,
    ],
    [
      `${PIP} -e '.[test]' -r requirements.txt; }`,
      'error: subprocess-exited-with-error',
      `${PIP} -r requirements.txt; }`,
    ],
  ])('%s is followed by another way', (setup, output, wanted) => {
    const removable = ['a', '@b/c'].map((name) => removablePackage(name));
    const first = failed({ setup, test: 'npm test' }, 'set-up', output);
    expect(next([first], { removable })?.commands.setup).toBe(wanted);
  });

  test('the project itself is tested where it lies when only its lists can be installed', () => {
    const tried = failed(
      { setup: `${PIP} -e . -r dev.txt; }`, test: '.venv/bin/python -m pytest' },
      'set-up',
      'error: metadata-generation-failed',
    );
    expect(next([tried])?.commands.test).toBe('PYTHONPATH=.:src .venv/bin/python -m pytest');
    const alone = failed(
      { setup: `${PIP} -e '.'; }`, test: '.venv/bin/python -m pytest' },
      'set-up',
      'error: metadata-generation-failed\nTemporary failure in name resolution',
    );
    expect(next([alone])?.commands).toEqual({
      setup: MAKE_VENV,
      test: 'PYTHONPATH=.:src .venv/bin/python -m pytest',
    });
    const withPytest =
      ' && { .venv/bin/python -m pytest --version || .venv/bin/python -m pip install pytest; }';
    const both = failed(
      { setup: `${PIP} -e '.'; }${withPytest}`, test: '.venv/bin/python -m pytest' },
      'set-up',
      'Temporary failure in name resolution',
    );
    expect(next([both])?.commands.setup).toBe(`${MAKE_VENV}${withPytest}`);
  });

  test('the project itself is installed last where other packages require another version of it', () => {
    const output =
      'ERROR: Cannot install x 0.1.dev7+g0123abc (from /repo), pytest==8.4.2 and pytest==9.1.1 because these package versions have conflicting dependencies.';
    const tried = failed({ setup: `${PIP} -e '.' 'pytest' || true; }`, test: 'pytest' }, 'set-up', output);
    const install = '.venv/bin/python -m pip install';
    expect(next([tried])?.commands).toEqual({
      setup: `${MAKE_VENV} && ${install} -e '.' && { ${install} 'pytest' || true; } && ${install} --no-deps -e '.'`,
      test: 'pytest',
    });
    const others = output.replace('(from /repo)', '(from y)');
    expect(next([{ ...tried, output: others }])?.commands.test).toBe('PYTHONPATH=.:src pytest');
  });

  test('a registry that is away is not asked in another way', () => {
    const tried = failed({ setup: 'npm ci', test: 'npm test' }, 'set-up', 'npm error code ETIMEDOUT');
    expect(next([tried])).toBeNull();
  });

  test('what was refused a host is tried without scripts, which download what tests seldom need', () => {
    const tried = { ...failed({ setup: 'npm ci' }, 'set-up', 'stuck'), refusedHosts: ['cdn.example:443'] };
    expect(next([tried])?.commands.setup).toBe('npm ci --ignore-scripts');
  });

  test('variables in front of a command stay in front of all that becomes of it', () => {
    const setup = 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install';
    const tried = failed({ setup }, 'set-up', 'pyproject.toml changed significantly since poetry.lock');
    expect(next([tried])?.commands.setup).toBe(
      'POETRY_VIRTUALENVS_IN_PROJECT=true poetry lock && POETRY_VIRTUALENVS_IN_PROJECT=true poetry install',
    );
  });

  test.each([
    [
      'npm ci',
      'npm error code E403\nnpm error 403 403 Forbidden - GET https://api.example.com/repos/a/b/tarball/1',
    ],
    [
      'npm install',
      'npm error code 128\nnpm error An unknown git error occurred\nnpm error command git --no-replace-objects ls-remote ssh://git@api.example.com/a/b.git',
    ],
    [
      'pnpm install --frozen-lockfile',
      'Command failed with exit code 128: git ls-remote git+ssh://git@api.example.com/a/b.git HEAD',
    ],
    ['pnpm install', ' ERR_PNPM_FETCH_403  GET https://api.example.com/a/b/tar.gz/1: Forbidden - 403'],
    [
      'yarn install',
      'yarn install v1.22.22\nerror Error: https://api.example.com/a/b.tar.gz: tunneling socket could not be established, statusCode=403\n    at ClientRequest.onConnect',
    ],
    [
      'yarn install --immutable',
      "➤ YN0001: │   Fatal Error: unable to access 'https://api.example.com/a/b.git/': CONNECT tunnel failed, response 403",
    ],
  ])('a package that %s itself may not fetch is not tried without scripts', (setup, output) => {
    const tried = { ...failed({ setup }, 'set-up', output), refusedHosts: ['api.example.com:443'] };
    expect(next([tried])).toBeNull();
  });

  const FROM_HOSTS = JSON.stringify({
    scripts: { test: 'mocha', 'test:ci': 'mocha --ci' },
    dependencies: { needed: 'acme/needed' },
    devDependencies: {
      'tool.js': 'github:acme/tool#v1',
      '@acme/main': 'acme/main#main',
      archive: 'https://files.example.com/archive.tgz',
      local: 'file:./local',
      linked: '../linked/a',
      own: 'workspace:*',
      ranged: '^1.0.0',
      packed: 'https://registry.example.com/packed/-/packed-1.0.0.tgz',
      'bad$(name)': 'acme/bad',
      bad: { toString: 1 },
    },
    optionalDependencies: {
      fast: 'git+ssh://git@code.example.com/acme/fast.git',
      copied: 'git@code.example.com:acme/b',
    },
  });
  const REMOVAL =
    "npm pkg delete --force 'devDependencies[tool.js]' 'devDependencies[@acme/main]' 'devDependencies[archive]' 'optionalDependencies[fast]' 'optionalDependencies[copied]'";

  test.each([
    ['package-lock.json', {}, 'npm install --no-audit --no-fund'],
    ['pnpm-lock.yaml', {}, 'pnpm install --no-frozen-lockfile'],
    ['yarn.lock', {}, 'yarn install'],
    ['yarn.lock', { '.yarnrc.yml': 'nodeLinker: node-modules' }, 'yarn install --no-immutable'],
  ])(
    'what only development needs, and comes from a code host, is left out where that is refused: %s %j',
    (lock, files, install) => {
      const read = { 'package.json': FROM_HOSTS, ...files };
      const steps = ['npm install --foreground-scripts', 'npm run test:ci'].map(
        (one) => `      - run: ${one}`,
      );
      const ci = ['on: push', 'jobs:', '  test:', '    runs-on: ubuntu-latest', '    steps:', ...steps].join(
        '\n',
      );
      const all = { ...read, '.github/workflows/ci.yml': ci };
      const { commands, others, removable } = detectChecks({ files: [lock, ...Object.keys(all)], read: all });
      const git = 'npm error code 128\nnpm error An unknown git error occurred';
      const first = { ...failed(commands, 'set-up', git), refusedHosts: ['code.example.com:443'] };
      expect(next([first], { others, removable })).toMatchObject({
        commands: { setup: `${REMOVAL} && ${install}`, test: commands.test },
        instead: { setup: commands.setup },
      });
      // A script may have been refused before the package.
      const script = failed({ ...commands, setup: 'npm ci --verbose' }, 'set-up', 'npm error command failed');
      expect(next([script, first], { others, removable })?.commands.setup).toBe(`${REMOVAL} && ${install}`);
      const full = next([{ ...first, output: 'no space left', refusedHosts: [] }], { others, removable });
      expect(full?.commands.setup).toBe('npm install --foreground-scripts');
    },
  );

  const YARN_REFUSED =
    'error Error: https://api.example.com/a/b.tar.gz: tunneling socket could not be established, statusCode=403';
  const OWN_YARN = (command: string) =>
    `sh -uc 'sed -i.before "s#https://yarn[.]example/#\${YARN_NPM_REGISTRY_SERVER%/}/#" yarn.lock && { ${command}; ended=$?; mv yarn.lock.before yarn.lock; exit $ended; }'`;

  test.each([
    ['yarn install --frozen-lockfile', 'yarn install'],
    [OWN_YARN('yarn install --frozen-lockfile'), OWN_YARN('yarn install')],
    [
      'PUPPETEER_SKIP_DOWNLOAD=1 npm ci && npm run link',
      'PUPPETEER_SKIP_DOWNLOAD=1 npm install && npm run link',
    ],
  ])('what a package of a workspace has from a code host is left out there: %s', (setup, install) => {
    const manifest = (uglify: string) => JSON.stringify({ devDependencies: { uglify, ranged: '^1.0.0' } });
    const read = {
      'package.json': JSON.stringify({ workspaces: ['packages/*'], scripts: { test: 'jest' } }),
      'packages/pug/package.json': manifest('github:mishoo/UglifyJS2#1c15'),
      'packages/pug-lexer/package.json': manifest('^3.0.0'),
    };
    const { removable } = detectChecks({ files: ['yarn.lock', ...Object.keys(read)], read });
    const removal = "npm pkg delete --force --prefix=packages/pug 'devDependencies[uglify]' && ";
    const others = [recipe({ setup: 'make', test: 'npm test' })];
    const first = { ...failed({ setup }, 'set-up', YARN_REFUSED), refusedHosts: ['api.example.com:443'] };
    expect(next([first], { removable, others })?.commands.setup).toBe(`${removal}${install}`);
    const again = { ...first, recipe: recipe({ setup: `${removal}${install}` }) };
    expect(next([first, again], { removable, others })?.commands.setup).toBe('make');
  });

  test('a package that the registry lacks is left out of each package of a workspace that has it for development', () => {
    const output = "npm error 404  'auto-scaffold@^1.0.0' is not in this registry.";
    const files = {
      'package.json': JSON.stringify({ workspaces: ['packages/*'] }),
      'packages/a/package.json': JSON.stringify({ devDependencies: { 'auto-scaffold': '^1.0.0' } }),
      'packages/b/package.json': JSON.stringify({ optionalDependencies: { 'auto-scaffold': '^1.0.0' } }),
    };
    const { removable } = detectChecks({ files: Object.keys(files), read: files });
    const first = failed({ setup: 'npm install' }, 'set-up', output);
    expect(next([first], { removable })?.commands.setup).toBe(
      "npm pkg delete --force --prefix=packages/a 'devDependencies[auto-scaffold]' && npm pkg delete --force --prefix=packages/b 'optionalDependencies[auto-scaffold]' && npm install",
    );
    // No workspace: the folder has packages of its own, which the top does not install.
    const alone = { ...files, 'package.json': '{}' };
    expect(detectChecks({ files: Object.keys(alone), read: alone }).removable).toEqual([]);
    // Users of the repository need it: without it, set-up would fail in the same way.
    const needed = { 'package.json': JSON.stringify({ dependencies: { 'auto-scaffold': '^1.0.0' } }) };
    const none = detectChecks({ files: Object.keys(needed), read: needed });
    expect(next([first], { removable: none.removable })).toBeNull();
  });

  test('packages of a project in a folder are left out there', () => {
    const read = {
      'frontend/package.json': JSON.stringify({
        scripts: { test: 'jest' },
        devDependencies: { a: 'github:x/a' },
      }),
    };
    const detected = detectChecks({ files: ['frontend/package-lock.json', ...Object.keys(read)], read });
    const first = failed(detected.commands, 'set-up', 'npm error code E403');
    const refused = { ...first, refusedHosts: ['api.example.com:443'] };
    expect(next([refused], detected)?.commands.setup).toBe(
      "npm pkg delete --force --prefix=frontend 'devDependencies[a]' && (cd frontend && npm install --no-audit --no-fund)",
    );
  });

  test.each([
    ['npm ci && (cd web && npm ci)', 'npm install && (cd web && npm ci)'],
    ['npm ci && npm run x || true', 'npm install && npm run x || true'],
    ['npm ci && echo "$(date)"', 'npm install && echo "$(date)"'],
    ['pnpm i --frozen-lockfile', 'pnpm i --no-frozen-lockfile'],
    ['corepack enable && pnpm i', 'corepack enable && pnpm i --no-frozen-lockfile'],
  ])('a package is left out whatever follows the install: %s', (setup, rest) => {
    const output = 'No matching version found for a@^9';
    const removable = [removablePackage('a')];
    expect(next([failed({ setup }, 'set-up', output)], { removable })?.commands.setup).toBe(
      `npm pkg delete --force 'devDependencies[a]' && ${rest}`,
    );
  });

  test('more packages than a command can name are not left out', () => {
    const removable = Array.from({ length: 400 }, (_, at) => removablePackage(`p${at}`, '', true));
    const first = failed({ setup: 'npm install' }, 'set-up', 'npm error code E403');
    expect(next([{ ...first, refusedHosts: ['api.example.com:443'] }], { removable })).toBeNull();
  });

  test('what was left out is left out for other tests as well', () => {
    const commands = { setup: 'npm install', test: 'npm test' };
    const removal = "npm pkg delete --force 'devDependencies[a]' && npm install";
    const refused = failed(commands, 'set-up', 'npm error code 128');
    const silent = failed({ ...commands, setup: removal }, 'tests', 'nyc: no');
    const others = [recipe({ ...commands, test: 'npx --no-install mocha' })];
    expect(next([refused, silent], { others })?.commands).toEqual({ ...others[0]?.commands, setup: removal });
  });

  test('packages of projects in folders are installed in other forms in their folders', () => {
    const tried = (setup: string, output: string, refusedHosts: readonly string[] = []) =>
      next([{ ...failed({ setup }, 'set-up', output), refusedHosts }])?.commands.setup;
    const two = '(cd apps/web && yarn install) && (cd apps/docs && npm ci)';
    expect(tried(two, MISMATCH)).toBe('(cd apps/web && yarn install) && (cd apps/docs && npm install)');
    const yarn = tried(two, 'error Error: https://yarn.example/a/-/a-1.0.0.tgz: 403', ['yarn.example:443']);
    expect(yarn).toMatch(
      /^\(cd apps\/web && sh -uc 'sed -i\.before "s#https:\/\/yarn\[\.\]example.* exit \$ended; \}'\) && \(cd apps\/docs && npm ci --replace-registry-host=yarn\.example\)$/,
    );
    const script = tried(yarn ?? '', 'error Command failed.\nExit code: 1\nCommand: node install.js');
    expect(script?.match(/ --ignore-scripts/g)).toHaveLength(2);
  });

  test('what downloads a browser is told not to, before all scripts are left out', () => {
    const output =
      'npm http fetch GET 200 https://r.example/electron 3ms\nnpm error code 1\nnpm error command failed';
    const tried = (setup: string, host: string, more = '') => ({
      ...failed({ setup }, 'set-up', `${output}\n${more}`),
      refusedHosts: [host],
    });
    const one = tried('npm ci', 'download.cypress.io:443');
    const setup = 'CYPRESS_INSTALL_BINARY=0 npm ci';
    expect(next([one])?.commands.setup).toBe(setup);
    expect(next([one, tried(setup, 'download.cypress.io:443')])?.commands.setup).toBe(
      'CYPRESS_INSTALL_BINARY=0 npm ci --ignore-scripts',
    );
    const two = tried('npm ci', 'github.com:443', 'npm error path /repo/node_modules/electron');
    const warned = 'npm warn deprecated puppeteer@20.0.0: no longer supported';
    expect(next([{ ...two, output: `${two.output}\n${warned}` }])?.commands.setup).toBe(
      'ELECTRON_SKIP_BINARY_DOWNLOAD=1 npm ci',
    );
    expect(next([tried('cd web && yarn', 'playwright.azureedge.net:443')])?.commands.setup).toBe(
      'cd web && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 yarn',
    );
    expect(next([tried('make', 'download.cypress.io:443')])).toBeNull();
  });

  describe('packages of refused hosts that a lock file names are taken from this machine’s registry', () => {
    const refusedHosts = ['registry.example.org:443', 'mirror.example:8443', 'cdn.example:443'];
    const asked = (host: string) =>
      `error Error: https://${host}/@a/b/-/b-7.1.0.tgz: tunneling socket, statusCode=403`;
    const refused = (setup: string, output: string, recipeOf = recipe({ setup })) =>
      next([{ recipe: recipeOf, step: 'set-up', output, refusedHosts }]);
    const own = (rules: string, command: string) =>
      `sh -uc 'sed -i.before "${rules}" yarn.lock && { ${command}; ended=$?; mv yarn.lock.before yarn.lock; exit $ended; }'`;
    const rule = (host: string) => `s#https://${host}/#\${YARN_NPM_REGISTRY_SERVER%/}/#`;
    const first = rule('registry[.]example[.]org');

    test('with Yarn 1, whose lock file is restored whatever comes of it', () => {
      const command = 'yarn install --frozen-lockfile';
      const one = refused(`cd web && ${command}`, asked('registry.example.org'));
      expect(one?.commands.setup).toBe(`cd web && ${own(first, command)}`);
      const two = refused('', asked('mirror.example:8443'), one as Recipe);
      expect(two?.commands.setup).toBe(
        `cd web && ${own(`${first};${rule('mirror[.]example:8443')}`, command)}`,
      );
      const three = refused('', 'cdn.example is away', one as Recipe);
      expect(three?.commands.setup).toBe(`cd web && ${own(first, `${command} --ignore-scripts`)}`);
    });

    test('with npm, which is told the host', () => {
      const named = 'npm ci --replace-registry-host=registry.example.org';
      expect(refused('npm ci', asked('registry.example.org'))?.commands.setup).toBe(named);
      const options = `${named} --legacy-peer-deps`;
      expect(refused(options, asked('registry.example.org'))?.commands.setup).toBe(
        `${options} --ignore-scripts`,
      );
      expect(refused(named, asked('mirror.example:8443'))?.commands.setup).toBe(
        'npm ci --replace-registry-host=always',
      );
    });

    test.each([
      ['yarn install --immutable', 'yarn install --immutable --mode=skip-build'],
      ['yarn install --no-immutable', 'yarn install --no-immutable --mode=skip-build'],
      ['yarn --cwd=web install', undefined],
      ['yarn --cwd web install', undefined],
      ['yarn install # once', 'yarn install # once --ignore-scripts'],
      ['pnpm install', 'pnpm install --ignore-scripts'],
    ])('but not with %j', (setup, becomes) => {
      expect(refused(setup, asked('registry.example.org'))?.commands.setup).toBe(becomes);
    });

    test('and an output of a program of the repository cannot make this take long', () => {
      const hostile = 'https://registry.example.org/'.repeat(100_000) + '/-/'.repeat(500_000);
      expect(refused('npm ci', hostile)?.commands.setup).toBe('npm ci --ignore-scripts');
      const blanks = `Exit code: 1${' '.repeat(4_000_000)}`;
      expect(refused('npm ci', blanks)?.commands.setup).toBe('npm ci --ignore-scripts');
      for (const word of ['a', '-.', '@a/'])
        expect(refused('npm ci', word.repeat(1_000_000))?.commands.setup).toBe('npm ci --ignore-scripts');
    });
  });

  test('other files of the repository come after it, and only where they say something else', () => {
    const first = failed({ setup: 'make deps', test: 'make test' }, 'set-up', 'no');
    const same: Recipe = {
      commands: { setup: 'make deps', test: 'make unit' },
      from: { setup: 'ci.yml', test: 'ci.yml' },
    };
    const ci: Recipe = {
      commands: { setup: 'npm i', test: 'npm t' },
      from: { setup: 'ci.yml', test: 'ci.yml' },
    };
    expect(next([first], { others: [same, ci] })).toEqual({ ...ci, instead: first.recipe.commands });
  });

  test('commands of other files that install the same packages are not tried', () => {
    const git = 'npm error code 128\nnpm error An unknown git error occurred';
    const first = failed({ setup: 'npm ci --no-audit --no-fund', test: 'npm test' }, 'set-up', git);
    const same = recipe({ setup: 'npm ci', test: 'npm run test:unit' });
    const different = recipe({ setup: 'npm ci && npm run build:wasm', test: 'npm test' });
    expect(next([first], { others: [same] })).toBeNull();
    expect(next([first], { others: [same, different] })?.commands).toEqual(different.commands);
  });

  test('a set-up command of the settings is not tried again with other commands', () => {
    const first = failed({ setup: './prepare.sh', test: 'npm test' }, 'set-up', 'no');
    const others = [recipe({ setup: 'npm ci', build: 'npm run build', test: 'npm test' })];
    expect(next([first], { others, named: ['setup'] })).toBeNull();
  });

  test('a time limit is not tried again, but less may be installed within others', () => {
    const tried = failed({ setup: 'npm ci' }, 'set-up', MISMATCH);
    expect(next([{ ...tried, stopped: 'wall' }])).toBeNull();
    for (const stopped of ['memory', 'disk', 'silence'] as const)
      expect(next([{ ...tried, stopped }])?.commands.setup).toBe('npm install');
  });
});

describe('after a build that failed', () => {
  test('there is none, and it says so', () => {
    const tried = failed({ setup: 'npm ci', build: 'npm run build', test: 'npm test' }, 'build', 'error TS1');
    expect(next([tried])).toEqual({
      commands: { setup: 'npm ci', test: 'npm test' },
      from: { setup: 'package.json', test: 'package.json' },
      instead: { build: 'npm run build' },
    });
  });

  test('one for an older OpenSSL is given its switch first', () => {
    const tried = failed(
      { build: 'npm run build', test: 'npm test' },
      'build',
      'error:0308010C:digital envelope routines::unsupported',
    );
    const second = next([tried]);
    expect(second?.commands.build).toBe('NODE_OPTIONS=--openssl-legacy-provider npm run build');
    expect(next([tried, { ...tried, recipe: second as Recipe }])?.commands).toEqual({ test: 'npm test' });
  });

  test('mrmlnc/fast-glob: errors of types, or of another package, do not keep a build from writing what tests need', () => {
    const commands = { setup: 'npm install', build: 'npm run build', test: 'npm test' };
    const { build: _, ...without } = commands;
    const types = failed(commands, 'build', "a.d.cts(3,8): error TS1259: Module 'a' can only be …");
    const silent = failed(without, 'tests', 'Error: No test files found: "out/**/*.spec.js"');
    expect(next([types])?.commands).toEqual(without);
    expect(next([types, silent])).toMatchObject({
      commands: { ...commands, build: 'npm run build || true' },
      instead: { build: 'npm run build' },
    });
    for (const other of [
      { output: 'Error: out of disk' },
      { output: `${types.output}\n[!] Error: ENOSPC` },
      { output: "tsconfig.json(3,5): error TS5023: Unknown compiler option 'a'." },
      { stopped: 'memory' as const },
    ])
      expect(next([{ ...types, ...other }, silent])).toBeNull();
    const lerna =
      ' Lerna (powered by Nx)   Running target build for 3 projects failed\n\nFailed tasks:\n\n- @m/a:build';
    const turbo = ' Tasks:    0 successful, 3 total\n  Time:    1.055s \nFailed:    @m/a#build\n';
    for (const [build, output, partly] of [
      ['npm run build', lerna, 'npm run build -- --no-bail || true'],
      ['yarn run build', lerna, 'yarn run build --no-bail || true'],
      ['pnpm build', turbo, 'pnpm build --continue || true'],
      ['npm run build && npm run link', turbo, undefined],
      ['npm run build', '\nFailed tasks:\n\n- a:build', 'npm run build || true'],
      ['pnpm run build', 'Summary: 1 fails, 4 passes\n\npackages/a: build failed', 'pnpm run build || true'],
    ] as const)
      expect(
        next([{ ...types, recipe: recipe({ ...commands, build }), output }, silent])?.commands.build,
      ).toBe(partly);
    // pnpm ends the builds of all others at the first failure.
    const bail = 'ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  @m/a@1.0.0 build: `x`';
    expect(next([{ ...types, output: bail }, silent])).toBeNull();
    const two = { ...commands, build: 'tsc -p a; node gen.js' };
    const chain = next([{ ...types, recipe: recipe(two) }, silent]);
    expect(chain?.commands.build).toBe('{ tsc -p a; node gen.js; } || true');
  });
});

describe('after tests that say nothing', () => {
  const commands = { setup: `${PIP} -e '.'; }`, test: '.venv/bin/python -m pytest' };

  test.each([
    ["ModuleNotFoundError: No module named 'yaml'", 'pyyaml'],
    ['error: unrecognized arguments: --cov=x --cov-report=term', 'pytest-cov'],
    ["E       fixture 'mocker' not found", 'pytest-mock'],
    ["ModuleNotFoundError: No module named 'hypothesis.strategies'", 'hypothesis'],
  ])('%s: what is missing is installed', (output, name) => {
    expect(next([failed(commands, 'tests', output)])?.commands.setup).toBe(
      `${commands.setup} && .venv/bin/python -m pip install ${name}`,
    );
  });

  test('a name that only the output knows is never installed', () => {
    const output = "No module named 'evil_package; rm -rf /'\nNo module named 'acme'";
    // The project may not have been installed, so it is tested where it lies.
    expect(next([failed(commands, 'tests', output)])?.commands.setup).toBe(MAKE_VENV);
  });
});

describe('a package that pip does not find for the chosen Python', () => {
  const NONE = 'ERROR: No matching distribution found for tomli>=1';
  const PYTEST = '.venv/bin/python -m pytest --version';
  const own = (setup: string) => `PATH=/usr/local/bin:/usr/bin:/bin ${setup}`;
  const ofPytest = { setup: `${PIP} -e '.' pytest || ${PYTEST}; }`, test: '.venv/bin/python -m pytest' };

  test('is looked for with the Python of the machine, then the project is left out', () => {
    const commands = { setup: `${PIP} -e '.'; }`, test: '.venv/bin/python -m unittest' };
    const first = { ...failed(commands, 'set-up', NONE), otherPython: true };
    const second = failed({ ...commands, setup: own(commands.setup) }, 'set-up', NONE);
    expect(next([first])?.commands).toEqual(second.recipe.commands);
    expect(next([first, second])?.commands.setup).toBe(MAKE_VENV);
  });

  test('also where the pytest of the machine took the place of what pip did not install', () => {
    const output = `${NONE}\nModuleNotFoundError: No module named 'x'`;
    const tried = failed(ofPytest, 'tests', output);
    expect(next([{ ...tried, otherPython: true }])?.commands.setup).toBe(own(ofPytest.setup));
    // It is the Python of the machine.
    expect(next([tried])?.commands.setup).not.toContain('PATH=');
  });

  test('is told, although the set-up succeeded', () => {
    expect(failureOfPip(ofPytest.setup, `Collecting x\n${NONE}\npytest 9.0.3`)).toContain(NONE);
    expect(failureOfPip(ofPytest.setup, 'Successfully installed x')).toBeNull();
    expect(failureOfPip('npm ci', NONE)).toBeNull();
  });

  test('is not what pip says of packages of the machine that conflict with installed ones', () => {
    const output = [
      "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.",
      'machinetool 1.0 requires lowdep==1.0, but you have lowdep 2.0 which is incompatible.',
      'Successfully installed lowdep-2.0 pytest-9.0.3',
    ];
    expect(failureOfPip(ofPytest.setup, output.join('\n'))).toBeNull();
  });
});

describe('after tests of which some files cannot be imported', () => {
  const commands = { setup: `${PIP} -e '.'; }`, test: '.venv/bin/python -m pytest' };
  const output = [
    'ImportError while importing test module tests/test_opt.py',
    "E   ModuleNotFoundError: No module named 'trio'",
  ];
  const more = (text: string, named: readonly (keyof Recipe['commands'])[] = []) =>
    morePackages({ recipe: recipe(commands), named }, recipe(commands), text);

  test('the package that they lack is installed', () => {
    const found = more(output.join('\n'));
    expect(found?.commands.setup).toBe(`${commands.setup} && .venv/bin/python -m pip install trio`);
    expect(found?.instead).toEqual({ setup: commands.setup });
  });

  test.each([
    ['a test fails by itself', output[1] ?? ''],
    ['nobody knows the package', `${output[0] ?? ''}\nNo module named 'acme'`],
  ])('nothing else is tried if %s', (_, text) => {
    expect(more(text)).toBeNull();
  });

  test('a set-up command of the settings stays', () => {
    expect(more(output.join('\n'), ['setup'])).toBeNull();
  });
});

describe('in any case', () => {
  const output = fc.constantFrom(MISMATCH, 'ERESOLVE', 'gyp ERR!', 'error', '');
  const command = fc.constantFrom('npm ci', 'pnpm install --frozen-lockfile', 'make', 'npm test');

  test('what the settings name stays, also what they switch off', () => {
    fc.assert(
      fc.property(output, command, command, (text, setup, other) => {
        const tried = failed({ setup, test: 'npm test' }, 'set-up', text);
        const others = [recipe({ setup: other, build: 'make', test: 'make test' })];
        const found = next([tried], { others, named: ['build', 'test'] });
        expect(found?.commands.build).toBeUndefined();
        expect(found?.commands.test ?? 'npm test').toBe('npm test');
        expect(next([tried], { others, named: ['setup', 'build', 'test'] })).toBeNull();
      }),
    );
  });

  test('it ends, and never tries the same twice', () => {
    fc.assert(
      fc.property(fc.array(output, { minLength: 10, maxLength: 10 }), command, (outputs, setup) => {
        const others = ['a', 'b', 'c', 'd', 'e'].map((one) => recipe({ setup: one, test: 'x' }));
        const tries = [failed({ setup, build: 'b', test: 't' }, 'set-up', outputs[0] ?? '')];
        for (const text of outputs) {
          const found = next(tries, { others });
          if (found === null) break;
          tries.push({ recipe: found, step: 'set-up', output: text });
        }
        expect(tries.length).toBeLessThanOrEqual(MAX_ALTERNATIVES + 1);
        const seen = new Set(tries.map((one) => JSON.stringify(one.recipe.commands)));
        expect(seen.size).toBe(tries.length);
      }),
    );
  });
});

describe('a settings file for a recipe', () => {
  const found = {
    commands: { setup: 'npm install', test: 'npm test: "a"' },
    instead: { build: 'make', setup: 'npm ci' },
  };

  test('names its commands, and switches off what failed', () => {
    expect(settingsOfRecipe(null, found, [])).toBe(
      'checks:\n  setup: "npm install"\n  build: ""\n  test: "npm test: \\"a\\""\n',
    );
  });

  test('keeps what is there, comments included', () => {
    const before = '# ours\ncandidates: 2 # enough\nchecks:\n  # slow\n  test: make test\n';
    expect(settingsOfRecipe(before, found, ['test'])).toBe(
      '# ours\ncandidates: 2 # enough\nchecks:\n  # slow\n  test: make test\n  setup: "npm install"\n  build: ""\n',
    );
    expect(settingsOfRecipe('# only words\n', { commands: { test: 'x' } }, [])).toBe(
      '# only words\n\nchecks:\n  test: "x"\n',
    );
    expect(settingsOfRecipe(before, { commands: { test: 'make test' } }, ['test'])).toBeNull();
  });

  test('shows the line that would allow the hosts that set-up was refused, and does not allow them', () => {
    const refusedHosts = ['cdn.example.org:443', 'b.example.org:8443', 'x\nnetwork: { checks: true }'];
    const text = settingsOfRecipe(null, { commands: { setup: 'npm ci' }, refusedHosts }, []) ?? '';
    expect(text).toMatch(
      /^checks:\n {2}setup: "npm ci"\n\n?# .*NETWORK_ALLOW.*\n# network: \{ allow: \["cdn\.example\.org", "b\.example\.org:8443"\] \}\n$/,
    );
    expect(parse(text)).toEqual({ checks: { setup: 'npm ci' } });
    const before = 'network:\n  allow: [a.example.org]\n# end\n';
    const merged = settingsOfRecipe(before, { commands: { setup: 'npm ci' }, refusedHosts }, []) ?? '';
    expect(merged).toContain('# end\n');
    expect(merged).toContain(
      '# network: { allow: ["a.example.org", "cdn.example.org", "b.example.org:8443"] }',
    );
    expect(parse(merged).network).toEqual({ allow: ['a.example.org'] });
  });
});

test('the files of a recipe are manifests and locks at any depth, workflows and containers', () => {
  const paths = [
    'src/a.ts',
    'packages/a/package.json',
    'package-lock.json',
    '.github/workflows/ci.yml',
    'requirements/dev.txt',
    'Dockerfile',
    'README.md',
  ];
  expect(recipeFiles(paths)).toEqual(paths.filter((path) => !/^src|README/.test(path)));
  // The readme and .travis.yml may name the import path of Go code without modules, which set-up uses.
  const old = ['.travis.yml', 'README.md', 'a.go', 'a_test.go'];
  expect(recipeFiles(old)).toEqual(['.travis.yml', 'README.md']);
});
