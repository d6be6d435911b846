import { describe, expect, test } from 'vitest';
import { type ReportPlan, reportPlan, stepFiles, testSteps } from '../../../src/core/settings/index.ts';

const scripts = (all: Record<string, string>) => ({ 'package.json': JSON.stringify({ scripts: all }) });
const steps = (command: string, files: Record<string, string> = {}) =>
  testSteps(command, files)?.map(({ kind, command: text, folder }) =>
    folder === '' ? [kind, text] : [kind, text, folder],
  ) ?? null;

describe('the test command of a public repository is taken apart', () => {
  test('sindresorhus/p-map and slugify: linter, tests and types', () => {
    expect(steps('npm test', scripts({ test: 'xo && ava && tsd' }))).toEqual([
      ['lint', 'xo'],
      ['tests', 'ava'],
      ['types', 'tsd'],
    ]);
  });

  test('scripts of Composer, with programs of packages where Composer finds them', () => {
    const read = (all: object) => ({ 'composer.json': JSON.stringify({ scripts: all }) });
    const files = read({
      test: [
        'Composer\\Config::disableProcessTimeout',
        '@lint',
        '@php vendor/bin/phpstan',
        'phpunit --colors',
      ],
      lint: 'php-cs-fixer fix --dry-run',
    });
    expect(stepFiles(['composer.json'])).toEqual(['composer.json']);
    const expected = [
      ['lint', 'php-cs-fixer fix --dry-run'],
      ['types', 'php vendor/bin/phpstan'],
      ['tests', 'phpunit --colors'],
    ];
    expect(steps('composer test', files)).toEqual(expected);
    expect(steps('composer run-script test', files)).toEqual(expected);
    for (const test of ['@putenv A=1', 'App\\Tests::run', 'phpunit @additional_args'])
      expect(steps('composer test', read({ test: [test, 'phpunit'] }))).toEqual([['tests', 'composer test']]);
    const elsewhere = JSON.stringify({
      scripts: { test: ['phpcs', 'phpunit'] },
      config: { 'bin-dir': 'bin' },
    });
    expect(steps('composer test', { 'composer.json': elsewhere })).toEqual([['tests', 'composer test']]);
    // Also behind a variable or another command, and those that no list knows.
    const { commands } = reportPlan('composer test', read({ test: ['phpcs && A=1 phpunit', 'kahlan'] }));
    expect(commands.map(({ command }) => command)).toEqual([
      'export PATH="$PWD/vendor/bin:$PATH"; phpcs',
      expect.stringMatching(/^export PATH="\$PWD\/vendor\/bin:\$PATH"; A=1 phpunit /),
      'export PATH="$PWD/vendor/bin:$PATH"; kahlan',
    ]);
  });

  test('tasks of Deno, with those that they depend on', () => {
    const tasks = {
      test: { command: 'deno test -A', dependencies: ['lint'] },
      lint: 'deno lint && deno check mod.ts',
    };
    const files = { 'deno.json': JSON.stringify({ tasks }) };
    expect(steps('deno task test -- --filter sum', files)?.at(-1)).toEqual([
      'tests',
      'deno test -A --filter sum',
    ]);
    expect(reportPlan('deno task test', files).commands.at(-1)?.command).toMatch(
      /deno test -A --junit-path=\/out\/report\.xml$/,
    );
  });

  test('tj/commander.js: tests, then compilers and linters behind scripts', () => {
    const files = scripts({
      test: 'jest && npm run check:type:js && npm run test-esm',
      'check:type:js': 'tsc -p tsconfig.js.json',
      'test-esm': 'node ./tests/esm-imports-test.mjs',
      lint: 'npm run lint:javascript && npm run lint:typescript',
    });
    expect(steps('npm test', files)).toEqual([
      ['tests', 'jest'],
      ['types', 'npm run check:type:js'],
      ['tests', 'node ./tests/esm-imports-test.mjs'],
    ]);
  });

  test('fastify/fastify: a linter, borp behind c8, and types', () => {
    const files = scripts({
      lint: 'npm run lint:eslint',
      'lint:eslint': 'eslint',
      unit: 'borp',
      'test:typescript': 'tsc test/types/import.ts --target es2022 --noEmit && tsd',
      test: 'npm run lint && npm run unit && npm run test:typescript',
    });
    expect(steps('npm test', files)).toEqual([
      ['lint', 'npm run lint'],
      ['tests', 'borp'],
      ['types', 'npm run test:typescript'],
    ]);
  });

  test('fastify/fastify of old: a linter with a pipe in its script', () => {
    const files = scripts({
      lint: 'standard | snazzy && npm run lint:typescript',
      'lint:typescript': 'standard --parser typescript-eslint-parser test/types/*.ts fastify.d.ts',
      unit: 'tap -j4 test/*.test.js test/*/*.test.js',
      typescript: 'tsc --project ./test/types/tsconfig.json',
      test: 'npm run lint && npm run unit && npm run typescript',
    });
    expect(steps('npm test', files)).toEqual([
      ['lint', 'npm run lint'],
      ['tests', 'tap -j4 test/*.test.js test/*/*.test.js'],
      ['types', 'npm run typescript'],
    ]);
  });

  test('ai/nanoid: all scripts whose name matches, in pnpm', () => {
    const files = scripts({
      'test:coverage': "bnt --coverage 100 --coverage-exclude 'test/*'",
      'test:lint': 'oxlint',
      'test:size': 'rm -rf coverage && size-limit',
      test: 'pnpm run /^test:/',
    });
    expect(steps('pnpm test', files)).toEqual([
      ['tests', "bnt --coverage 100 --coverage-exclude 'test/*'"],
      ['lint', 'pnpm run test:lint'],
      ['other', 'rm -rf coverage'],
      ['other', 'size-limit'],
    ]);
  });

  test.each([
    ["'/^(test:unit|build)$/'", ['vitest run', 'make']],
    ['"/unit$/"', ['vitest run', 'jest']],
    ["'/^(test:u|b)/'", ['vitest run', 'make']],
  ])('vuejs/router: scripts that pnpm finds by several names: %s', (pattern, commands) => {
    const all = { 'test:unit': 'vitest run', 'test:types': 'tsc -p .', build: 'make', unit: 'jest' };
    const found = steps('pnpm test', scripts({ ...all, test: `pnpm run ${pattern}` }));
    expect(found?.map(([, command]) => command)).toEqual(commands);
  });

  test('pinojs/pino: a program that writes files for the tests is no test, wherever it lies', () => {
    const of = (script: string) => steps('npm test', scripts({ test: `node ${script} && mocha` }))?.[0]?.[0];
    for (const script of ['test/fixtures/ts/transpile.cjs', 'test/types/autogen.js', 'tests/generate-pem.js'])
      expect(of(script)).toBe('other');
    for (const script of ['test/compile.js', 'test/generate.test.js']) expect(of(script)).toBe('tests');
  });

  test('iamkun/dayjs: a script of tests with other variables each time', () => {
    const files = scripts({
      test: 'cross-env TZ=Europe/London npm run test-tz && npm run test-tz && jest',
      'test-tz': 'date && jest test/timezone.test',
    });
    expect(steps('npm test', files)).toEqual([
      ['other', 'TZ=Europe/London date'],
      ['tests', 'TZ=Europe/London jest test/timezone.test'],
      ['other', 'date'],
      ['tests', 'jest test/timezone.test'],
      ['tests', 'jest'],
    ]);
  });

  test('axios/axios: the tests after those in a browser do not wait for them', () => {
    const files = scripts({ test: 'mocha test/unit && karma start --single-run && mocha test/module' });
    const commands = reportPlan('npm test', files).commands.map(({ check, command }) => [
      check,
      /mocha \S+|karma start/.exec(command)?.[0],
    ]);
    expect(commands).toEqual([
      [undefined, 'mocha test/unit'],
      ['step: karma start --single-run', 'karma start'],
      [undefined, 'mocha test/module'],
    ]);
  });

  test('jprichardson/node-fs-extra: a program named test that starts a runner itself', () => {
    const files = scripts({
      test: 'npm run lint && npm run unit && node test.mjs',
      unit: 'nyc node test.js',
      lint: 'standard',
    });
    const commands = reportPlan('npm test', files).commands.map(({ check, command, report }) => [
      check ?? report?.source,
      command.replace(/^export PATH=[^;]*; /, ''),
    ]);
    expect(commands).toEqual([
      ['lint: npm run lint', 'npm run lint'],
      ['folder', 'nyc node test.js'],
      ['folder', 'node test.mjs'],
    ]);
  });

  test('micromark/micromark: the build of all packages is a step before the tests', () => {
    const files = {
      ...scripts({
        build: 'tsc && npm run build --workspaces',
        test: 'npm run build && c8 npm run test-api',
      }),
      'packages/a/package.json': JSON.stringify({ name: 'a', scripts: { build: 'micromark-build' } }),
    };
    const manifest = { workspaces: ['packages/*'], ...JSON.parse(files['package.json']) };
    expect(steps('npm test', { ...files, 'package.json': JSON.stringify(manifest) })).toEqual([
      ['other', 'tsc'],
      ['other', 'npm run build --workspaces'],
      ['tests', 'c8 npm run test-api'],
    ]);
  });

  test('mochajs/mocha: a file that is named like a runner is none', () => {
    expect(steps('rimraf mocha.js && mocha test')).toEqual([
      ['other', 'rimraf mocha.js'],
      ['tests', 'mocha test'],
    ]);
  });

  test('yargs/yargs: hooks before and after, of which the first one compiles', () => {
    const files = scripts({
      check: "standardx './*.ts' && standardx '**/*.ts'",
      posttest: 'npm run check',
      test: 'c8 mocha ./test/*.cjs --require ./test/before.cjs --timeout=12000 --check-leaks',
      pretest: 'npm run compile -- -p tsconfig.test.json && cross-env NODE_ENV=test npm run build:cjs',
      compile: 'rimraf build && tsc',
      postcompile: 'npm run build:cjs',
      'build:cjs': 'rollup -c rollup.config.cjs',
      'postbuild:cjs': 'rimraf ./build/index.cjs.d.ts',
    });
    expect(steps('npm test', files)).toEqual([
      ['other', 'rimraf build'],
      ['other', 'tsc -p tsconfig.test.json'],
      ['other', 'rollup -c rollup.config.cjs'],
      ['other', 'rimraf ./build/index.cjs.d.ts'],
      ['other', 'cross-env NODE_ENV=test npm run build:cjs'],
      ['tests', 'c8 mocha ./test/*.cjs --require ./test/before.cjs --timeout=12000 --check-leaks'],
      ['lint', "standardx './*.ts'"],
      ['lint', "standardx '**/*.ts'"],
    ]);
  });

  test('ljharb/qs: linters before, an audit after, a linter whose script no one can take apart', () => {
    const files = scripts({
      pretest: 'npm run --silent readme && npm run --silent lint',
      test: 'npm run tests-only',
      'tests-only': "nyc tape 'test/**/*.js'",
      posttest: "npx npm@'>=10.2' audit --production",
      readme: 'evalmd README.md',
      postlint: 'eclint check $(git ls-files | xargs find 2> /dev/null | grep -vE "node_modules")',
      lint: 'eslint .',
    });
    expect(steps('npm test', files)).toEqual([
      ['lint', 'evalmd README.md'],
      ['lint', 'npm run --silent lint'],
      ['tests', "nyc tape 'test/**/*.js'"],
      ['lint', "npx npm@'>=10.2' audit --production"],
    ]);
  });

  test('postcss/postcss and ajv: what a program that measures coverage starts, with variables before it', () => {
    const files = scripts({
      'test:lint': 'eslint .',
      'test:version': 'node ./test/version.js',
      'test:coverage': 'c8 pnpm unit',
      'test:size': 'size-limit',
      test: 'FORCE_COLOR=1 pnpm run /^test:/',
      unit: 'uvu -r ts-node/register/transpile-only test "\\\\.test\\\\.(ts|js)$"',
    });
    expect(steps('pnpm test', files)).toEqual([
      ['lint', 'FORCE_COLOR=1 pnpm run test:lint'],
      ['tests', 'FORCE_COLOR=1 node ./test/version.js'],
      ['tests', 'FORCE_COLOR=1 c8 uvu -r ts-node/register/transpile-only test "\\\\.test\\\\.(ts|js)$"'],
      ['other', 'FORCE_COLOR=1 size-limit'],
    ]);
    const ajv = scripts({
      'test-spec': 'cross-env TS_NODE_PROJECT=spec/tsconfig.json mocha "spec/**/*.spec.{ts,js}" -R dot',
      'test-cov': 'nyc --reporter=lcov npm run test-spec',
    });
    expect(steps('npm run test-cov', ajv)).toEqual([
      [
        'tests',
        'nyc --reporter=lcov cross-env TS_NODE_PROJECT=spec/tsconfig.json mocha "spec/**/*.spec.{ts,js}" -R dot',
      ],
    ]);
    // A program that starts another one cannot start an assignment.
    const assigned = scripts({ test: 'c8 --100 -- npm run unit', pretest: 'tsc', unit: 'TZ=UTC jest' });
    expect(steps('npm test', assigned)).toEqual([
      ['other', 'tsc'],
      ['tests', 'TZ=UTC c8 --100 -- jest'],
    ]);
  });

  test('less/less.js: the tests of the package that `cd` leads to', () => {
    const files = {
      ...scripts({ test: 'cd packages/less && npm test' }),
      'packages/less/package.json': JSON.stringify({ scripts: { pretest: 'eslint .', test: 'mocha' } }),
    };
    expect(steps('npm test', files)).toEqual([
      ['lint', 'eslint .', 'packages/less'],
      ['tests', 'mocha', 'packages/less'],
    ]);
    for (const command of ['cd .. && mocha', 'cd packages/less', 'cd a b && mocha', 'cd -P a && mocha'])
      expect(steps(command, files)).toBeNull();
    expect(steps('cd packages/less && npm test && cd ../.. && mocha', files)).toBeNull();
  });

  test('parts of a chain in folders of their own', () => {
    const files = {
      'frontend/package.json': JSON.stringify({ scripts: { test: 'eslint . && vitest run' } }),
    };
    expect(
      steps('(cd frontend && npm test) && (cd backend && ../.venv/bin/python -m pytest) && make x', files),
    ).toEqual([
      ['lint', 'eslint .', 'frontend'],
      ['tests', 'vitest run', 'frontend'],
      ['tests', '../.venv/bin/python -m pytest', 'backend'],
      ['other', 'make x'],
    ]);
    expect(steps('cd a && eslint "(b)" && jest', {})).toEqual([
      ['lint', 'eslint "(b)"', 'a'],
      ['tests', 'jest', 'a'],
    ]);
    const manifests = ['a/b/package.json', 'frontend/package.json', 'a/b/c/package.json'];
    expect(stepFiles([...manifests, 'examples/package.json'])).toEqual([
      'frontend/package.json',
      'a/b/package.json',
    ]);
  });

  test('vueuse/vueuse: scripts that `nr` starts', () => {
    const files = scripts({ test: 'nr test:unit --project=server', 'test:unit': 'vitest --project unit' });
    expect(steps('pnpm test', files)).toEqual([['tests', 'vitest --project unit --project=server']]);
  });

  test('jquery/jquery: different steps count, not those that a hook repeats', () => {
    const parts = Array.from({ length: 12 }, (_, at) => `npm run pretest && mocha test/${at}`);
    const files = scripts({
      test: parts.join(' && '),
      pretest: 'node fixture.js && babel data && node copy.js',
    });
    const found = steps('npm test', files);
    expect(found).toHaveLength(51);
    expect(found?.filter(([kind]) => kind === 'tests')).toHaveLength(12);
  });

  test('request/request and knex/knex: a script of tests is no preparation of others', () => {
    const files = scripts({
      test: 'npm run lint && npm run test-ci && npm run test:bundle && npm run test-browser',
      'test-ci': 'taper tests/test-*.js',
      'test:bundle': 'node make.js',
      'test-browser': 'node tests/browser/start.js',
      lint: 'standard',
    });
    const found = reportPlan('npm test', files).commands.map(({ check, command }) => [
      check,
      command.replace(/^export PATH=[^;]*; /, ''),
    ]);
    expect(found).toEqual([
      ['lint: npm run lint', 'npm run lint'],
      ['step: taper tests/test-*.js', 'taper tests/test-*.js'],
      [undefined, 'node make.js && node tests/browser/start.js'],
    ]);
  });

  test('mochajs/mocha: a runner behind eight scripts', () => {
    const files = scripts({
      test: 'run-s test-node',
      'test-node': 'run-s test-node:*',
      'test-node:only': 'run-s test-node:only:*',
      'test-node:only:bdd': 'npm run -s run-only -- --ui bdd test/only/bdd.spec',
      'run-only': 'cross-env NODE_OPTIONS=--enable-source-maps nyc node bin/mocha.js --no-forbid-only',
    });
    expect(steps('npm test', files)).toEqual([
      [
        'tests',
        'cross-env NODE_OPTIONS=--enable-source-maps nyc node bin/mocha.js --no-forbid-only --ui bdd test/only/bdd.spec',
      ],
    ]);
  });

  test('scripts that start others many times over are not taken apart', () => {
    const levels = [0, 1, 2, 3].map((at) => [`s${at}`, `run-s ${`s${at + 1} `.repeat(100)}`]);
    const files = scripts({ ...Object.fromEntries(levels), s4: 'mocha', test: 'npm run s0' });
    expect(steps('npm test', files)).toBeNull();
  });

  test('a large package.json is read once, however many commands its scripts start', () => {
    const names = Array.from({ length: 30_000 }, (_, at) => [`dependency-${at}`, '1.0.0']);
    const test = `${Array(300).fill('a').join(' && ')} && mocha`;
    const text = JSON.stringify({ scripts: { test }, dependencies: Object.fromEntries(names) });
    expect(testSteps('npm test', { 'package.json': text })).toHaveLength(301);
  });

  test.each([
    ['a pattern', { test: `run-s "${'*a'.repeat(40)}*b"`, ['a'.repeat(180)]: 'mocha' }],
    ['parts of a pattern', { test: `run-s "${'**:a*:'.repeat(20)}b"`, [`${'a:'.repeat(90)}c`]: 'mocha' }],
    [
      'a pattern for concurrently',
      { test: `concurrently "npm:${'*a'.repeat(40)}*b"`, ['a'.repeat(180)]: 'x' },
    ],
  ])('names of scripts are compared with %s that has many stars', (_, all) => {
    expect(steps('npm test', scripts(all))).toEqual([['other', all.test]].map(([, one]) => ['tests', one]));
  });

  test('scripts that a pattern names, at every depth with two stars', () => {
    const files = scripts({ test: 'ava', 'test:a': 'mocha a', 'test:a:b': 'mocha b', 'x:test': 'mocha x' });
    const named = (pattern: string) => steps(`run-s '${pattern}'`, files)?.map(([, command]) => command);
    expect(named('test:*')).toEqual(['mocha a']);
    expect(named('test:**')).toEqual(['mocha a', 'mocha b']);
    expect(named('**:test')).toEqual(['ava', 'mocha x']);
    expect(named('t*t')).toEqual(['ava']);
    expect(named('test:a')).toEqual(['mocha a']);
  });

  test.each([
    ['tsc -p test'],
    ['webpack --config test/webpack.config.js'],
    ['knex migrate:latest --env test'],
    ['tsc -p test; node copy.js'],
  ])('a script of tests that prepares others runs before them: %s', (prepares) => {
    const files = scripts({ test: 'eslint . && npm run test:ts && mocha out', 'test:ts': prepares });
    const command = prepares.includes(';') ? 'npm run test:ts' : prepares;
    const plan = reportPlan('npm test', files);
    expect(plan.commands[1]?.command).toContain(`${command} && mocha out`);
    expect(plan.focus(['out/a.js'])?.[0]?.command).toContain(`${command} && mocha`);
  });

  test('mozilla/nunjucks: a build in a script of tests is a preparation', () => {
    const files = scripts({
      test: 'npm run test:instrument && npm run test:runner',
      'test:instrument': 'cross-env NODE_ENV=test scripts/bundle.js',
      'test:runner': 'mocha',
    });
    expect(reportPlan('npm test', files).commands.map(({ command }) => command)).toEqual([
      expect.stringContaining('NODE_ENV=test scripts/bundle.js && mocha'),
    ]);
  });
});

describe('steps are followed', () => {
  test('through concurrently, by pattern and by command', () => {
    const files = scripts({ 'test:lint': 'eslint .', 'test:unit': 'vitest run', types: 'tsc --noEmit' });
    expect(steps('concurrently -n a,b "npm:test:*" "tsd && mocha"', files)).toEqual([
      ['lint', 'npm run test:lint'],
      ['tests', 'vitest run'],
      ['types', 'tsd'],
      ['tests', 'mocha'],
    ]);
    expect(
      steps(
        'concurrently -r -n=a --prefix-colors "blue,red" "mocha -r ts-node/register \\"test/**/*.js\\"" "tsc -p test/x.json --noEmit" --group',
      ),
    ).toEqual([
      ['tests', 'mocha -r ts-node/register "test/**/*.js"'],
      ['types', 'tsc -p test/x.json --noEmit'],
    ]);
    const deep = scripts({ 'test:unit:a': 'mocha a', test: 'mocha' });
    expect(steps('concurrently npm:test:*', deep)).toEqual([['tests', 'mocha a']]);
    const partly = 'concurrently mocha\\ test "eslint ."';
    expect(steps(partly)).toEqual([['tests', partly]]);
    const whole = 'concurrently --success first --kill-others "npm:test:*" "npm:server"';
    expect(steps(whole, files)).toEqual([['tests', whole]]);
  });

  test('through run-s, run-p and npm-run-all, by pattern', () => {
    const files = scripts({
      test: 'run-s build test:*',
      build: 'tsc',
      'test:lint': 'eslint .',
      'test:unit': 'vitest run',
      'test:deep:down': 'false',
    });
    expect(steps('npm t', files)).toEqual([
      ['other', 'tsc'],
      ['lint', 'npm run -s test:lint'],
      ['tests', 'vitest run'],
    ]);
    expect(
      steps('npm test', scripts({ test: "npm-run-all -s 'lint' unit", unit: 'jest', lint: 'xo' })),
    ).toEqual([
      ['lint', 'npm run -s lint'],
      ['tests', 'jest'],
    ]);
  });

  test.each(['npm test --workspaces --if-present', 'pnpm -r test', 'yarn workspaces run test'])(
    'into the packages of a workspace: %s',
    (command) => {
      const files = {
        'package.json': JSON.stringify({ workspaces: ['packages/*'] }),
        'packages/b/package.json': JSON.stringify({ scripts: { test: 'eslint . && mocha' } }),
        'packages/a/package.json': JSON.stringify({ scripts: { test: 'vitest run' } }),
        'packages/a/test/package.json': JSON.stringify({ scripts: { test: 'false' } }),
        'packages/c/package.json': '{}',
      };
      expect(steps(command, files)).toEqual([
        ['tests', 'vitest run', 'packages/a'],
        ['lint', 'eslint .', 'packages/b'],
        ['tests', 'mocha', 'packages/b'],
      ]);
    },
  );

  test('into a makefile whose recipe is a plain chain', () => {
    const Makefile = [
      'PYTHON ?= python3',
      '.PHONY: test lint',
      'test: lint build',
      '\t@$(PYTHON) -m pytest -q && mypy src',
      '',
      'lint:',
      '\tflake8 src | tee log',
    ].join('\n');
    expect(steps('make test', { Makefile })).toEqual([
      ['lint', 'make lint'],
      ['other', 'make build'],
      ['tests', 'python3 -m pytest -q'],
      ['types', 'mypy src'],
    ]);
    for (const recipe of ['-pytest', 'pytest $(shell ls)', 'for x in a; do $$x; done'])
      expect(steps('make test', { Makefile: `test:\n\t${recipe}\n` })).toEqual([['tests', 'make test']]);
  });

  test('into environments of tox and sessions of nox', () => {
    const ini = `[tox]
envlist = lint, py311,types
[testenv]
commands =
    pytest {posargs}
[testenv:lint]
commands = flake8 src
[testenv:types]
commands = mypy src
`;
    expect(steps('tox', { 'tox.ini': ini })).toEqual([
      ['lint', 'tox -e lint'],
      ['tests', 'tox -e py311'],
      ['types', 'tox -e types'],
    ]);
    const noxfile = `import nox
nox.options.sessions = ["lint", "tests"]
@nox.session
def lint(session):
    session.install("ruff")
    session.run("ruff", "check", "src")

@nox.session(python=["3.11"])
def tests(session):
    session.run("pytest", "-q", *session.posargs)

@nox.session
def docs(session):
    session.run("sphinx-build")
`;
    expect(steps('nox', { 'noxfile.py': noxfile })).toEqual([
      ['lint', 'nox -s lint'],
      ['tests', 'nox -s tests'],
    ]);
  });
});

test.each([
  ['eslint . ; jest', {}],
  ['eslint . || true && jest', {}],
  ['cd /a && eslint . && jest', {}],
  ['(cd a && eslint .; jest)', {}],
  ['(cd a && eslint . && (cd b && jest))', {}],
  ['(cd a && eslint . && cd b && jest)', {}],
  ['(cd a && eslint $(ls) && jest)', {}],
  ['(cd a && eslint .) & (cd b && jest)', {}],
  ['(cd a && eslint .) || jest', {}],
  ['export CI=1 && eslint . && jest', {}],
  ['(eslint . && jest)', {}],
  ['eslint $(git ls-files) && jest', {}],
  ['eslint . & jest', {}],
  ['eslint .\njest', {}],
  ['xo && tsd', {}],
])('a line that cannot be taken apart safely, or has no tests, is left alone: %j', (command, files) => {
  expect(steps(command, files)).toBeNull();
});

test.each([
  ['lint', 'npx prettier --check .'],
  ['lint', 'node_modules/.bin/eslint --max-warnings 0 .'],
  ['lint', 'biome ci .'],
  ['lint', 'python3 -m black --check src'],
  ['lint', 'poetry run ruff check'],
  ['lint', 'cargo clippy -- -D warnings'],
  ['lint', 'golangci-lint run'],
  ['lint', 'bundle exec rubocop'],
  ['lint', 'node scripts/lint.js'],
  ['types', 'tsc -p . --noEmit'],
  ['types', 'python -m mypy src'],
  ['types', 'uv run pyright'],
  ['types', 'go vet ./...'],
  ['types', 'node types.js'],
  ['tests', 'cross-env NODE_ENV=test jest'],
  ['tests', 'c8 node --test'],
  ['tests', 'c8 --100 borp'],
  ['tests', 'bundle exec rspec'],
  ['tests', 'vendor/bin/phpunit'],
  ['other', 'tsc -p .'],
  ['other', 'prettier --write .'],
  ['other', 'npm run build'],
  ['tests', 'node --no-warnings node_modules/.bin/lab'],
  ['tests', 'npx lab'],
  ['other', 'tsc -p lab'],
  ['other', 'babel src/lab --out-dir build/lab'],
])('%s: %s', (kind, command) => {
  expect(steps(`${command} && node --test`)?.[0]).toEqual([kind, command]);
});

describe('options that choose tests by what changed in git, or a part of them, are taken off', () => {
  test.each([
    ['npx jest -o', 'npx jest'],
    ['jest --changedSince=origin/main --ci', 'jest --ci'],
    ['jest --changedSince origin/main --onlyChanged src', 'jest src'],
    ['vitest run --changed origin/main --coverage', 'vitest run --coverage'],
    ['vitest --changed', 'vitest'],
    ['vitest run --shard=1/4', 'vitest run'],
    ['node --test --test-shard=1/3', 'node --test'],
    ['pytest -o xfail_strict=true --picked=branch --splits 4 --group 1', 'pytest -o xfail_strict=true'],
    ['cargo nextest run --partition count:1/2', 'cargo nextest run'],
    ['playwright test --only-changed=main', 'playwright test'],
    ['turbo run test --affected', 'turbo run test'],
    ['npx lerna run test --since origin/main', 'npx lerna run test'],
    ['npx nx affected -t test --base=origin/main --head=HEAD', 'npx nx run-many -t test'],
    ['nx affected:test --parallel=3', 'nx run-many -t test --parallel=3'],
  ])('%s', (command, whole) => {
    expect(testSteps(command)?.map((step) => step.command)).toEqual([whole]);
    const { commands, notes = [], otherwise } = reportPlan(command);
    expect(commands[0]?.command).toContain(whole);
    expect(notes).toEqual([
      expect.stringMatching(
        /^The test command chooses tests .* \(.+\)\. A candidate is tested with all of them\.$/,
      ),
    ]);
    expect(commands[0]?.otherwise).toContainEqual(expect.objectContaining({ command: whole, form: 'plain' }));
    expect(otherwise).toBeNull();
  });

  test('in scripts of package.json and of packages, too', () => {
    const files = scripts({ test: 'npm run unit -- --coverage', unit: 'jest --onlyChanged' });
    expect(reportPlan('npm test', files)).toMatchObject({
      commands: [{ command: expect.stringMatching(/; jest --coverage --maxWorkers=2 .*--json/) }],
      notes: [expect.stringContaining('(--onlyChanged)')],
    });
  });

  test.each([
    'jest -o=x',
    'mocha -o',
    'uv run --group dev pytest',
    'npm run changed',
    'vitest run src/since',
    'tsc --since',
  ])('but not other options: %s', (command) => {
    expect(testSteps(command)?.map((step) => step.command)).toEqual([command]);
    expect(reportPlan(command).notes).toBeUndefined();
  });
});

describe('a run goes on behind a failing test, so that those after it are not missing', () => {
  test.each([
    ['mocha -b test', 'mocha test'],
    ['npx mocha --bail', 'npx mocha'],
    ['pytest -x', 'pytest'],
    ['pytest -xvs tests', 'pytest -vs tests'],
    ['pytest -xk foo', 'pytest -k foo'],
    ['mocha --bail --grep "a -b  c" \'--bail x\'', 'mocha --grep "a -b  c" \'--bail x\''],
    ['pytest -x -k "stops -x or --maxfail=1 first"', 'pytest -k "stops -x or --maxfail=1 first"'],
    ['python3 -m pytest --maxfail=2 -q', 'python3 -m pytest -q'],
    ['vitest run --bail 1', 'vitest run'],
    ['npx ava --fail-fast', 'npx ava'],
    ['go test -failfast ./...', 'go test ./...'],
    ['python3 -m unittest -f', 'python3 -m unittest'],
    ['vendor/bin/phpunit --stop-on-failure', 'vendor/bin/phpunit'],
    ['bun test --bail=3', 'bun test'],
  ])('%s', (command, whole) => {
    expect(testSteps(command)?.map((step) => step.command)).toEqual([whole]);
    expect(reportPlan(command).notes).toEqual([]);
  });

  test.each([
    'mocha -f pattern',
    'mocha -g "a --bail b"',
    'pytest -k "fails -x  first"',
    'pytest -k box',
    'pytest --exitfirstly',
    'tsc -b',
    'cargo test --no-fail-fast',
    'rm -f x',
  ])('but no other option is taken off: %s', (command) => {
    expect(testSteps(command)?.map((step) => step.command)).toEqual([command]);
  });

  test.each([
    ['mocha', '.mocharc.yml', 'spec: test\nbail: true\n', 'mocha --no-bail --reporter json'],
    ['mocha', 'package.json', '{"mocha": {"bail": true}}', 'mocha --no-bail --reporter json'],
    [
      'vitest run',
      'vitest.config.ts',
      'export default { test: { bail: 1 } };',
      'vitest run --bail=0 --reporter=default',
    ],
    ['ava', 'ava.config.js', 'export default {\n  failFast: true,\n};', 'ava --no-fail-fast --tap'],
    ['mocha', '.mocharc.json', '{"bail": false}', 'mocha --reporter json'],
    ['vitest run', 'vite.config.ts', '// the bail: 1 of others', 'vitest run --bail=0 --reporter=default'],
    ['vitest run', 'package.json', '{"jest": {"bail": 1}}', 'vitest run --reporter=default'],
  ])('where the configuration ends it: %s with %s', (command, file, text, expected) => {
    expect(stepFiles([file])).toEqual([file]);
    expect(reportPlan(command, { [file]: text }).commands[0]?.command).toContain(expected);
  });
});

test.each(['jest || true', 'jest || exit 0', 'jest; exit 0', 'jest || :'])(
  'a script that succeeds whatever its tests do counts by its tests: %s',
  (script) => {
    const { commands, otherwise } = reportPlan('npm test', scripts({ test: script, pretest: 'tsc' }));
    expect(commands.map(({ command }) => command.replace(/^export .*?; /, ''))).toEqual([
      expect.stringMatching(/^tsc && jest --maxWorkers=2 .*--json/),
    ]);
    expect(commands[0]?.otherwise?.map(({ command, form }) => [form, command])).toEqual([
      ['environment', expect.stringMatching(/ tsc && jest$/)],
      ['plain', expect.stringMatching(/ tsc && jest$/)],
    ]);
    expect(otherwise).toBeNull();
  },
);

describe('the plan of a command with several steps', () => {
  const PATH = 'export PATH="$PWD/node_modules/.bin:$PATH"; ';
  const commands = ({ commands: all }: ReportPlan) =>
    all.map(({ command, check }) => (check === undefined ? command : { check, command }));

  test('runs each on its own: tests with their report, linters by exit code as tests of their name', () => {
    const plan = reportPlan('npm test', scripts({ test: 'xo && ava && tsd' }));
    expect(commands(plan)).toEqual([
      { check: 'lint: xo', command: `${PATH}xo` },
      `${PATH}ava --tap`,
      { check: 'types: tsd', command: `${PATH}tsd` },
    ]);
    expect(plan.focus(['test.js'])).toMatchObject([{ command: `${PATH}ava --tap "$@"`, args: ['test.js'] }]);
    expect(plan.commands.map(({ otherwise = [] }) => otherwise)).toEqual([
      [],
      [
        expect.objectContaining({ form: 'environment', command: `${PATH}ava` }),
        expect.objectContaining({ form: 'plain', command: `${PATH}ava`, env: {}, report: null }),
      ],
      [],
    ]);
    expect(plan.otherwise?.commands).toMatchObject([{ command: 'npm test', report: null }]);
  });

  test('puts before the tests what they may need, and behind them what stood between', () => {
    const plan = reportPlan(
      'npm run build && eslint . && mocha a && node setup.js && mocha b && node size.js',
    );
    expect(commands(plan)).toEqual([
      expect.stringMatching(/^npm run build && mocha a --reporter json/),
      { check: 'lint: eslint .', command: 'eslint .' },
      expect.stringMatching(/^node setup\.js && mocha b --reporter json/),
      { check: 'step: node size.js', command: 'node size.js' },
    ]);
    expect(plan.focus(['test/a.js'])?.[0]?.command).toMatch(
      /^npm run build && node setup\.js && mocha --rep/,
    );
  });

  test('names a step that comes twice', () => {
    expect(commands(reportPlan('eslint . && ava && eslint .'))).toMatchObject([
      { check: 'lint: eslint .' },
      'ava --tap',
      { check: 'lint: eslint . #2' },
    ]);
  });

  test('reads TAP where the project sends it through a formatter', () => {
    expect(commands(reportPlan('standard && tape test/*.js | tap-spec'))[1]).toBe('tape test/*.js');
    expect(commands(reportPlan('standard && tape test/*.js | tee log'))[1]).toBe('tape test/*.js | tee log');
  });

  test.each(['node test.js', 'node test/tape/index.js', 'tape test/*.js'])(
    'reads it also where nothing else is tested: %s',
    (program) => {
      const plan = reportPlan('npm test', scripts({ test: `${program} | npx tap-spec` }));
      expect(commands(plan)).toEqual([`${PATH}${program}`]);
      expect([plan.hint, plan.commands[0]?.report?.source]).toEqual([
        undefined,
        program.startsWith('tape') ? 'stdout' : 'folder',
      ]);
      expect(plan.otherwise?.commands[0]?.command).toBe('npm test');
    },
  );

  test.each([
    ['NODE_OPTIONS=--a node --test', '--a" node --test'],
    ["X=1 NODE_OPTIONS='--a --b' node t.js", '--a --b" node t.js'],
    ['cross-env X="a b" NODE_OPTIONS="--a" node --test t.js', '--a" node --test t.js'],
    ["NODE_OPTIONS='--a --test-reporter=spec --b' node --test", '--a --b" node --test'],
    ['NODE_OPTIONS="--test-reporter spec" node --test', '" node --test'],
  ])('puts the options of Node that a script sets behind those that are set: %s', (script, joined) => {
    const [before] = script.split(/(?<=NODE_OPTIONS=)/);
    for (const test of [script, `${script} && tsd`]) {
      const [first] = commands(reportPlan('npm test', scripts({ test })));
      expect(first).toBe(`${PATH}${before}"\${NODE_OPTIONS:+$NODE_OPTIONS }${joined}`);
    }
  });

  test.each([
    'NODE_OPTIONS=$MORE node --test',
    'NODE_OPTIONS="$NODE_OPTIONS --a" node --test',
    'NODE_OPTIONS= node --test',
    "NODE_OPTIONS='' node --test",
    'node --test NODE_OPTIONS=--a',
    'NODE_OPTIONS=--a karma start',
  ])('leaves a script as it is that may take them off on purpose, or adds to them: %s', (test) => {
    expect(commands(reportPlan('npm test', scripts({ test })))).toEqual(['npm test']);
  });

  test('leaves the options of Node to a script whose runner is told by arguments', () => {
    const files = scripts({ test: 'NODE_OPTIONS=--experimental-vm-modules jest' });
    expect(commands(reportPlan('npm test', files))).toEqual([
      expect.stringMatching(/^npm test -- --maxWorkers=2 /),
    ]);
  });

  test.each(['karma start', './run-tests.sh'])(
    'says which report would help: NODE_OPTIONS=--a %s',
    (test) => {
      const hint = (script: string) => reportPlan('npm test', scripts({ test: script })).hint;
      expect([hint(`NODE_OPTIONS=--a ${test}`), hint(test)]).toEqual([expect.any(String), hint(test)]);
    },
  );

  test('does not change the options of Node of a linter', () => {
    const test = 'NODE_OPTIONS=--a eslint . && NODE_OPTIONS=--b tsc --noEmit && jest';
    expect(commands(reportPlan('npm test', scripts({ test })))).toMatchObject([
      { command: `${PATH}NODE_OPTIONS=--a eslint .` },
      { command: `${PATH}NODE_OPTIONS=--b tsc --noEmit` },
      expect.any(String),
    ]);
  });

  test('does not fetch what git can only fetch with a network', () => {
    const files = scripts({ pretest: 'node a.js && git submodule update --init', test: 'mocha' });
    expect(commands(reportPlan('npm test', files))).toEqual([
      expect.stringMatching(/; node a\.js && mocha --reporter json/),
    ]);
  });

  test('in a package of a workspace goes into its folder, and names it', () => {
    const files = {
      'package.json': JSON.stringify({ workspaces: ['packages/*'] }),
      'packages/a/package.json': JSON.stringify({ scripts: { test: 'ava' } }),
    };
    expect(reportPlan('npm test --workspaces', files).commands).toMatchObject([
      {
        command:
          'export PATH="$PWD/packages/a/node_modules/.bin:$PWD/node_modules/.bin:$PATH"; (cd packages/a && ava --tap)',
        prefix: 'packages/a',
      },
    ]);
  });

  test('hands the options of pytest through tox', () => {
    const files = {
      'tox.ini':
        '[tox]\nenvlist = lint,py\n[testenv]\ncommands = pytest\n[testenv:lint]\ncommands = flake8\n',
    };
    expect(reportPlan('tox', files).commands).toMatchObject([
      { command: 'tox -e lint', check: 'lint: tox -e lint' },
      {
        command: 'tox -e py',
        report: { format: 'junit' },
        env: { PYTEST_ADDOPTS: expect.any(String), TOX_OVERRIDE: 'testenv.pass_env+=PYTEST_ADDOPTS' },
      },
    ]);
  });

  test('says which report would help where none is read', () => {
    expect(reportPlan('xo && karma start').hint).toContain('Runoff reads no report of karma');
    expect(reportPlan('npm test', scripts({ test: 'wtr' })).hint).toContain('web-test-runner');
    expect(reportPlan('./run.sh').hint).toContain('prints TAP');
    expect(reportPlan('xo && ava')).not.toHaveProperty('hint');
  });
});

test('reports of coverage after the tests are left out: the tests of the base cannot cover what is new', () => {
  const files = scripts({
    test: 'eslint . && nyc --silent mocha && nyc report --reporter=lcov && nyc check-coverage --lines 100',
  });
  const plan = reportPlan('npm test', files);
  expect(plan.commands.map(({ check }) => check ?? 'tests')).toEqual(['lint: eslint .', 'tests']);
});
