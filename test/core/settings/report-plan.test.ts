import { describe, expect, test } from 'vitest';
import { type ReportPlan, reportPlan } from '../../../src/core/settings/index.ts';

const manifest = (scripts: Record<string, string>) => ({ 'package.json': JSON.stringify({ scripts }) });
const plan = (command: string, test?: string, folder?: string): ReportPlan =>
  reportPlan(command, test === undefined ? undefined : manifest({ test, unit: test }), folder);
/** The whole suite, where one command runs it. */
const only = ({ commands }: ReportPlan) => {
  const [first] = commands;
  if (!first || commands.length > 1) throw new Error(`${commands.length} commands`);
  return first;
};
const told = (one: ReportPlan) => {
  const { command, env, report } = only(one);
  return { command, env, report };
};

const JUNIT =
  '--reporter=default --reporter=junit --outputFile.junit=/out/report.xml --reporter=json --outputFile.json=/out/report.json';
const JEST = '--maxWorkers=2 --bail=0 --ci --json --outputFile=/out/report.json';
const MOCHA = '--reporter json -O output=/out/report.json';
const XML = { source: 'file', file: '/out/report.xml', format: 'junit' };
const VITEST = { ...XML, format: 'vitest', second: '/out/report.json' };
const RUBY = {
  TESTOPTS: '-v',
  MINITEST_REPORTER: 'DefaultReporter',
  MT_CPU: '1',
  PARALLEL_WORKERS: '1',
};
const RUBY_TEXT = { source: 'stdout', format: 'minitest-text' } as const;
const TAP = { source: 'stdout', format: 'tap' };
/** How runners write their reports, whatever starts them. */
const BY_ALL = {
  PYTEST_ADDOPTS:
    '--junitxml=/out/reports/pytest.xml -o junit_family=xunit1 -o junit_suite_name=pytest --continue-on-collection-errors --maxfail=0',
  TOX_TESTENV_PASSENV: 'PYTEST_ADDOPTS',
  TOX_OVERRIDE: 'testenv.pass_env+=PYTEST_ADDOPTS',
  SPEC_OPTS: '--no-fail-fast --format progress --format json --out /out/reports/rspec.json',
  ...RUBY,
  NODE_OPTIONS: '--test-reporter=tap --test-reporter-destination=stdout --require=/out/reports/options.cjs',
};
/** Of programs that may start any of them, or print what other runners print. */
const ANY = { source: 'folder', folder: '/out/reports', format: 'any-reports' };

describe('the report', () => {
  test('of node:test is requested by the environment, anywhere in a command line', () => {
    const env = {
      NODE_OPTIONS: expect.stringMatching(
        /^--test-reporter=data:\S+ --test-reporter-destination=\/out\/report\.xml --test-reporter=tap --test-reporter-destination=stdout$/,
      ),
    };
    for (const command of [
      'node --test',
      '/opt/bin/node --test',
      'node --import tsx --test test/*.ts',
      'tsx --test',
      'npm run build && node --test',
      'node --test | cat',
    ]) {
      expect(told(plan(command))).toEqual({ command, env, report: XML });
    }
    for (const script of ['node --test', 'c8 node --test --experimental-x', 'tsc && node --test']) {
      expect(told(plan('npm test', script))).toEqual({ command: 'npm test', env, report: XML });
    }
    expect(only(plan('node --test', undefined, '/home/agent')).report).toMatchObject({
      file: '/home/agent/report.xml',
    });
  });

  test('of pytest is requested by the environment, too', () => {
    for (const command of ['pytest', 'python3 -m pytest -q', 'poetry run pytest | cat']) {
      expect(told(plan(command))).toEqual({
        command,
        env: {
          PYTEST_ADDOPTS:
            '--junitxml=/out/report.xml -o junit_family=xunit1 -o junit_suite_name=pytest --continue-on-collection-errors --maxfail=0',
        },
        report: XML,
      });
    }
  });

  test.each([
    ['npx vitest run', undefined, `npx vitest run ${JUNIT}`],
    ['npm test', 'vitest run', `npm test -- ${JUNIT}`],
    ['npm t', 'tsc && vitest run', `npm t -- ${JUNIT}`],
    ['npm run -s unit', 'vitest', `npm run -s unit -- ${JUNIT}`],
    ['pnpm test', 'vitest', `pnpm test ${JUNIT}`],
    ['yarn unit', 'vitest', `yarn unit ${JUNIT}`],
    ['node --run test', 'vitest run', `node --run test -- ${JUNIT}`],
    ['npm run build && npm test', 'vitest run', `npm run build && npm test -- ${JUNIT}`],
    ['npm test', 'NODE_ENV=test jest', `npm test -- ${JEST}`],
    ['npm test', 'react-app-rewired test', `npm test -- ${JEST}`],
    ['npm test', 'kcd-scripts test', `npm test -- ${JEST}`],
    ['npx tsdx test --env=jsdom', undefined, `npx tsdx test --env=jsdom ${JEST}`],
    ['npx wp-scripts test-unit-js', undefined, `npx wp-scripts test-unit-js ${JEST}`],
    ['npm test', 'node --experimental-vm-modules node_modules/jest/bin/jest.js', `npm test -- ${JEST}`],
    ['npm test', 'node --expose-gc ./node_modules/vitest/dist/cli-wrapper.js run', `npm test -- ${JUNIT}`],
    ['npx mocha', undefined, `npx mocha ${MOCHA}`],
    ['npm test', 'nyc mocha --recursive', `npm test -- ${MOCHA}`],
    ['deno test -A', undefined, 'deno test -A --junit-path=/out/report.xml'],
    ['bun test', undefined, 'bun test --reporter=junit --reporter-outfile=/out/report.xml'],
  ])('%s (%s): %s', (command, test, expected) => {
    expect(told(plan(command, test))).toMatchObject({ command: expected, report: { source: 'file' } });
  });

  test.each([
    ["node_modules/.bin/mocha --reporter dot 'test/a.js'", MOCHA],
    ['mocha --require @babel/register --reporter tap test/a.js', MOCHA],
  ])('overrides a reporter that the project chose if the last one counts: %s', (command, added) => {
    expect(only(plan(command)).command).toBe(`${command} ${added}`);
  });

  test.each([
    ['tape test/*.js', undefined, 'tape test/*.js'],
    ['npm test', "nyc tape 'test/**/*.js'", 'npm test'],
    ['npx ava', undefined, 'npx ava --tap'],
    ['npm test', 'ava', 'npm test -- --tap'],
  ])('is TAP from standard output: %s (%s)', (command, test, expected) => {
    expect(told(plan(command, test))).toEqual({ command: expected, env: {}, report: TAP });
  });

  test.each([
    ['npx tap', 'npx tap --reporter=tap'],
    ['npx tap --reporter=tap test', 'npx tap --reporter=tap test'],
  ])('of %s is TAP, without a threshold of coverage', (command, expected) => {
    const env = { TAP_DISABLE_COVERAGE: '1' };
    expect(told(plan(command))).toEqual({ command: expected, env, report: TAP });
  });

  test.each([
    ['node --test --test-reporter=tap', undefined, 'node --test'],
    [
      'npm test',
      'node --test --test-reporter spec --test-reporter-destination=stdout test/*.js',
      'node --test test/*.js',
    ],
  ])('of tests of Node replaces a reporter that the project chose: %s (%s)', (command, test, expected) => {
    const planned = only(plan(command, test));
    expect(planned.command.replace(/^export PATH=.*?; /, '')).toBe(expected);
    expect(planned).toMatchObject({ report: { source: 'file', format: 'junit' } });
    expect(planned.env.NODE_OPTIONS).toContain('--test-reporter-destination=/out/report.xml');
  });

  test('of tests of Node leaves standard output to the reporter that bnt adds, because each needs a destination', () => {
    expect(only(plan('npm test', "bnt --coverage 100 'test/*'")).env).toEqual({
      NODE_OPTIONS: expect.stringMatching(
        /^--test-reporter=data:\S+ --test-reporter-destination=\/out\/report\.xml --test-reporter-destination=stdout$/,
      ),
    });
  });

  test.each([
    ['go test ./...', 'go test -json ./...', { source: 'stdout', format: 'go-json' }],
    ['go test -json -race ./...', 'go test -json -race ./...', { source: 'stdout', format: 'go-json' }],
    ['cargo test', 'cargo test --no-fail-fast 2>&1', { source: 'stdout', format: 'cargo-text' }],
    [
      'cargo build && cargo test -- --nocapture',
      'cargo build && cargo test --no-fail-fast -- --nocapture 2>&1',
      { source: 'stdout', format: 'cargo-text' },
    ],
    [
      'python3 -m unittest discover tests',
      'python3 -m unittest discover tests -v',
      { source: 'stderr', format: 'unittest-text' },
    ],
  ])('exists for other languages: %s', (command, expected, report) => {
    expect(told(plan(command))).toEqual({ command: expected, env: {}, report });
  });

  test.each([
    ['make test', undefined],
    ['npm test', undefined],
    ['npm test', 'vitest run | tee log'],
    ['npm test | cat', 'vitest run'],
    ['(cd packages/a && npm test)', 'vitest run'],
    ['npm test', 'eslint jest.config.js'],
    ['npm test', 'npm run inner'],
    ['node test.js', undefined],
    ['./scripts/test.sh', undefined],
  ])(
    'of %s (%s) is whatever the runners that it starts write or print, or its exit code',
    (command, test) => {
      expect(told(plan(command, test))).toEqual({ command, env: BY_ALL, report: ANY });
      expect(plan(command, test).focus(['test/a.test.js'])).toBeNull();
    },
  );

  test('of a command in a folder is asked for inside of the brackets', () => {
    const commands = (command: string) => plan(command).commands.map((one) => [one.command, one.prefix]);
    const vitest = `(cd library && npx vitest run ${JUNIT})`;
    expect(commands('(cd library && npx vitest run)')).toEqual([[vitest, 'library']]);
    expect(commands('cd library && npx vitest run')).toEqual([[vitest, 'library']]);
    expect(commands('(cd a && pytest) && (cd b && go test ./...)')).toEqual([
      ['(cd a && pytest)', 'a'],
      ['(cd b && go test -json ./...)', 'b'],
    ]);
    expect(plan('(cd library && npx vitest run)').focus(['library/a.test.ts'])).toBeNull();
  });

  test('is found through nested scripts, whose inner one is written out', () => {
    const files = manifest({
      test: 'npm run unit',
      unit: 'vitest run',
      deep: 'npm run tape',
      tape: 'tape a.js',
    });
    const command = `export PATH="$PWD/node_modules/.bin:$PATH"; vitest run ${JUNIT}`;
    expect(told(reportPlan('npm test', files))).toEqual({ command, env: {}, report: VITEST });
    expect(reportPlan('npm run deep', files).focus(['test/b.js'])).not.toBeNull();
    expect(told(reportPlan('npm test', manifest({ test: 'npm test' })))).toMatchObject({ report: ANY });
  });

  test('of lab is a file with the names of tests alone, without its checks of coverage, style and types', () => {
    const LAB = '-r junit -o /out/report.xml';
    const path = 'export PATH="$PWD/node_modules/.bin:$PATH"; ';
    // hapijs/hapi, hapijs/joi and older packages of theirs
    for (const [script, command] of [
      ['lab -a @hapi/code -t 100 -L -m 5000 -Y', `lab -a @hapi/code -m 5000 ${LAB}`],
      ['lab -r html -o coverage.html -a @hapi/code', `lab -a @hapi/code ${LAB}`],
      ['lab -vLt 100 --threshold=90 --lint --types test/a.js', `lab -v test/a.js ${LAB}`],
      [
        'node -r ts-node/register node_modules/.bin/lab -t 100',
        `node -r ts-node/register node_modules/.bin/lab ${LAB}`,
      ],
    ] as const) {
      const found = plan('npm test', script);
      expect(told(found)).toEqual({ command: `${path}${command}`, env: {}, report: XML });
    }
    expect(plan('npm test', 'lab -a @hapi/code -t 100 -L').focus(['test/b.js'])).toMatchObject([
      { command: `${path}lab -a @hapi/code ${LAB} "$@"`, args: ['test/b.js'] },
    ]);
  });

  test.each([
    ['jest --watchAll', '--watch=false --watchAll=false --maxWorkers=2 --bail=0 --ci --json'],
    ['jest --watch', '--watch=false --watchAll=false --maxWorkers=2 --bail=0 --ci --json'],
    ['vitest watch', '--run --reporter=default'],
    ['vitest --watch', '--run --reporter=default'],
    ['vitest dev', '--run --reporter=default'],
  ])('tells a runner that waits for changes to end: %s', (script, options) => {
    const files = { 'package.json': JSON.stringify({ scripts: { test: script } }) };
    const [command] = reportPlan('npm test', files).commands;
    expect(command?.command).toContain(`npm test -- ${options}`);
    expect(reportPlan(script).focus(['a.test.js'])?.[0]?.command).toContain(`${script} ${options}`);
  });

  test.each([
    ['ng test', 'npm test -- --watch=false'],
    ['ng test --watch=true', 'npm test'],
    ['ng build', 'npm test'],
  ])('of Angular as well: %s', (script, command) => {
    const files = { 'package.json': JSON.stringify({ scripts: { test: script } }) };
    expect(reportPlan('npm test', files).commands[0]?.command).toBe(command);
    expect(
      reportPlan(`eslint . && ${script} && mocha`).commands.some((one) => / ng test$/.test(one.command)),
    ).toBe(false);
  });

  test.each([
    'python3 manage.py test',
    './manage.py test app',
    'python3 tests/runtests.py',
    'python3 -W always -m coverage run -m django test tests',
    'django-admin test --settings=tests.settings',
  ])('reads what Django prints with more words: %s', (command) => {
    expect(reportPlan(command).commands[0]).toMatchObject({
      command: `${command} -v 2`,
      report: { source: 'stderr', format: 'unittest-text' },
    });
  });

  test('leaves the number of workers of jest as the project sets it', () => {
    for (const command of ['jest -i', 'jest --runInBand', 'jest -w 4', 'jest --maxWorkers=50%'])
      expect(only(plan(command)).command).toBe(
        `${command} --bail=0 --ci --json --outputFile=/out/report.json`,
      );
  });

  test.each([
    ['borp --coverage', `borp --coverage --reporter=spec --reporter=junit:/out/report.xml`, {}, XML],
    ['vendor/bin/phpunit', 'vendor/bin/phpunit --log-junit /out/report.xml', {}, XML],
    ['ctest --test-dir build', 'ctest --test-dir build --output-junit /out/report.xml', {}, XML],
    ['vendor/bin/simple-phpunit', 'vendor/bin/simple-phpunit --log-junit /out/report.xml', {}, XML],
    ['qunit test', 'qunit test', {}, TAP],
    [
      'bundle exec rspec',
      'bundle exec rspec',
      { SPEC_OPTS: '--no-fail-fast --format progress --format json --out /out/report.json' },
      { source: 'file', file: '/out/report.json', format: 'rspec-json' },
    ],
    ['rake test', 'rake test', RUBY, RUBY_TEXT],
    ['bin/rails test', 'bin/rails test -v', RUBY, RUBY_TEXT],
    ['bundle exec rails test:models', 'bundle exec rails test:models -v', RUBY, RUBY_TEXT],
    ['bin/rails db:test:prepare test', 'bin/rails db:test:prepare test', RUBY, RUBY_TEXT],
    [
      'dotnet test',
      'dotnet test --logger "console;verbosity=normal"',
      { DOTNET_CLI_UI_LANGUAGE: 'en' },
      { source: 'stdout', format: 'dotnet-text' },
    ],
  ])('is asked of further runners: %s', (command, expected, env, report) => {
    expect(told(plan(command))).toEqual({ command: expected, env, report });
  });
});

test('the testing platform of .NET is told to name each test by an option of its own', () => {
  const files = { 'global.json': '{ "test": { "runner": "Microsoft.Testing.Platform" } }' };
  const [planned] = reportPlan('dotnet test --solution X.slnx --no-build', files).commands;
  expect(planned?.command).toBe('dotnet test --solution X.slnx --no-build --output Detailed --no-progress');
  expect(planned?.report).toEqual({ source: 'stdout', format: 'dotnet-text' });
});

describe('a command for some test files', () => {
  const focus = (command: string, files: readonly string[], scripts?: Record<string, string>) =>
    reportPlan(command, scripts && manifest(scripts)).focus(files);
  const A = 'test/a.test.js';
  const B = 'test/b.test.js';
  const PATH = 'export PATH="$PWD/node_modules/.bin:$PATH"; ';

  test.each([
    ['node --test', 'node --test "$@"'],
    ['node --test test/', 'node --test "$@"'],
    ["node --import tsx --test 'test/**/*.js'", 'node --import tsx --test "$@"'],
    ['npx vitest run', `npx vitest run ${JUNIT} "$@"`],
    ['npx vitest run src/x.test.ts --coverage', `npx vitest run --coverage ${JUNIT} "$@"`],
    ['jest -c jest.unit.js src', `jest -c jest.unit.js ${JEST} --runTestsByPath "$@"`],
    ['npm run build && node --test', 'npm run build && node --test "$@"'],
    ['npx tap --no-coverage test/*.js', 'npx tap --no-coverage --reporter=tap "$@"'],
  ])('%s', (command, expected) => {
    expect(focus(command, [A, B])).toMatchObject([{ command: expected, args: [A, B], prefix: '' }]);
  });

  test.each([
    ['node --test', 'node --test --test-isolation=none "$@"'],
    ['npm test', `${PATH}node --test --test-isolation=none "$@"`],
    ['node --test --test-isolation=process', undefined],
    ['node --test --experimental-test-isolation=none', undefined],
    ['npm run build && node --test', undefined],
    ['npx vitest run', undefined],
  ])('of Node is known with all files in one process, if nothing says otherwise: %s', (command, expected) => {
    const [focused] = focus(command, [A, B], { test: 'node --test' }) ?? [];
    expect(focused?.inOneProcess).toBe(expected);
  });

  test('can make mocha and jest exit, as the whole suite can', () => {
    const exits = (command: string) =>
      [...reportPlan(command).commands, ...(focus(command, [A]) ?? [])].map((one) =>
        one.exit?.replace(one.command, ''),
      );
    expect(exits('npx mocha')).toEqual([' --exit', ' --exit']);
    expect(exits('npx jest')).toEqual([' --forceExit', ' --forceExit']);
    expect(exits('npx vitest run')).toEqual([undefined, undefined]);
  });

  test('can end idle files of Node’s tests, also behind a script', () => {
    for (const command of ['node --test', 'npm test']) {
      const { exit = '', command: planned } = only(
        plan(command, 'node --test $(find test -name "*.test.js")'),
      );
      expect(exit).toMatch(/^export NODE_OPTIONS="\$NODE_OPTIONS --import=data:\S+"; /);
      expect(exit.endsWith(`"; ${planned}`)).toBe(true);
    }
    expect(focus('node --test', [A])).toMatchObject([
      { exit: expect.stringMatching(/; node --test "\$@"$/) },
    ]);
    for (const command of [
      'node --test --test-isolation=none',
      'node -r ./hook.cjs --test',
      'node a.test.js',
    ])
      expect(only(plan(command)).exit).toBeUndefined();
  });

  test('has one file at a time for runners that share one process', () => {
    expect(focus('mocha -r x test/*.js', [A, B])).toMatchObject([
      { command: `mocha -r x ${MOCHA} "$@"`, args: [A], prefix: '' },
      { command: `mocha -r x ${MOCHA} "$@"`, args: [B], prefix: '' },
    ]);
    expect(focus("tape -r esm 'test/*.js'", [A, B])).toMatchObject([
      { command: 'tape -r esm "$@"', args: [A], prefix: A },
      { command: 'tape -r esm "$@"', args: [B], prefix: B },
    ]);
    expect(focus("node --no-warnings 'test/x.js'", [A])).toMatchObject([
      { command: 'node --no-warnings "$@"', args: [A], prefix: A },
    ]);
  });

  test('of borp and mocha leaves out the files that their configuration names, which would run as well', () => {
    const focused = (command: string, files: Record<string, string>) =>
      reportPlan(command, files, '/out')
        .focus([A])
        ?.map((one) => one.command);
    expect(focused('borp', { '.borp.yaml': 'files:\n  - test/**\n' })).toEqual([
      `export BORP_CONF_FILE=/out/no-borp.yaml && borp --reporter=spec --reporter=junit:/out/report.xml "$@"`,
    ]);
    const own = (options: string) =>
      `printf %s '${options}' > /out/mocharc.json && npx mocha --no-package --config /out/mocharc.json ${MOCHA} "$@"`;
    const written = '{"require":"ts-node/register","timeout":"5000"}';
    const spec = { spec: ['test/**/*.ts'], require: 'ts-node/register', timeout: 5000 };
    expect(focused('npx mocha', { '.mocharc.json': JSON.stringify(spec) })).toEqual([own(written)]);
    const yaml = 'spec: "test/**"\nrequire: ts-node/register\ntimeout: 5000 # ms\n';
    expect(focused('npx mocha', { '.mocharc.yml': yaml })).toEqual([own(written)]);
    expect(focused('npx mocha', { 'package.json': JSON.stringify({ mocha: spec }) })).toEqual([own(written)]);
    const quoted = { '.mocharc.json': JSON.stringify({ spec: 'a', grep: "it's" }) };
    expect(focused('npx mocha', quoted)).toEqual([own(`{"grep":"it'\\''s"}`)]);

    const ofNode = { '.mocharc.json': JSON.stringify({ spec: 'a', 'expose-gc': true, bail: false }) };
    expect(focused('npx mocha', ofNode)).toEqual([own('{"expose-gc":true,"bail":false}')]);

    // Those without files are read as they are; programs cannot be written without them.
    const program = { '.mocharc.js': 'module.exports = { recursive: true };\n' };
    expect(focused('npx mocha', program)).toEqual([`npx mocha ${MOCHA} "$@"`]);
    expect(
      focused('npx mocha', { '.mocharc.cjs': "module.exports = { spec: ['test'] };\n" }),
    ).toBeUndefined();
    const both = { '.mocharc.json': JSON.stringify(spec), 'package.json': JSON.stringify({ mocha: {} }) };
    expect(focused('npx mocha', both)).toBeUndefined();
    expect(focused('npx mocha', { '.mocharc.yml': '{ spec: [' })).toBeUndefined();
    // What the command names itself may name files, and its configuration is read instead of the usual one.
    for (const option of ['--config test/unit.json', '--config=unit.yml', '--spec test/a.js', '--no-config'])
      expect(focused(`npx mocha ${option}`, { '.mocharc.json': JSON.stringify(spec) })).toBeUndefined();
    expect(focused('npx mocha --config unit.json', {})).toBeUndefined();
  });

  test('names packages for Go, and modules for Python', () => {
    expect(focus('go test -race ./...', ['a/x_test.go', 'a/y_test.go', 'z_test.go', 'a/x.go'])).toMatchObject(
      [{ command: 'go test -race -json "$@"', args: ['./a', './'] }],
    );
    expect(focus('python3 -m pytest -q', ['tests/test_a.py', 'tests/data.json'])).toMatchObject([
      { command: 'python3 -m pytest -q "$@"', args: ['tests/test_a.py'] },
    ]);
  });

  test('contains the scripts of package.json directly, without the package manager', () => {
    expect(focus('npm test', [A], { test: 'c8 vitest run' })).toMatchObject([
      { command: `${PATH}c8 vitest run ${JUNIT} "$@"` },
    ]);
    expect(focus('npm test', [A], { test: 'npm run -s unit', unit: 'tsc && tape test/*.js' })).toMatchObject([
      { command: `${PATH}tsc && tape "$@"` },
    ]);
  });

  test('includes a hook before the script, but not a linter', () => {
    expect(focus('npm test', [A], { pretest: 'npm run build', test: 'node --test' })).toBeNull();
    expect(focus('npm test', [A], { pretest: 'npm run lint', test: 'node --test' })).not.toBeNull();
    expect(focus('node --run test', [A], { pretest: 'tsc', test: 'node --test' })).not.toBeNull();
  });

  test('is missing without test files, or with too many to run one by one', () => {
    expect(focus('node --test', [])).toBeNull();
    expect(focus('node --test', ['test/data.json'])).toBeNull();
    expect(
      focus(
        'tape x.js',
        Array.from({ length: 9 }, (_, i) => `test/${i}.js`),
      ),
    ).toBeNull();
    expect(focus('cargo test', ['tests/a.rs'])).toBeNull();
    expect(focus('node --test | cat', [A])).toBeNull();
  });

  test.each(['--import=evil.js', 'test/*.js', 'test/[a].js', 'a\nb.js', 'test/$(x).js', 'test/a\u0000.js'])(
    'never treats a file as an option or pattern: %j',
    (file) => {
      expect(focus('node --test', [A, file])).toBeNull();
    },
  );

  test('never treats a file name as a word of the command', () => {
    const file = "test/'; touch owned; '.test.js";
    const [command] = focus('node --test', [file]) ?? [];
    expect(command).toMatchObject({ command: 'node --test "$@"', args: [file] });
  });
});

test('postcss/autoprefixer: uvu is recognised by its file', () => {
  const [command] = reportPlan("c8 node node_modules/uvu/bin.js . '\\.test\\.js$'").commands;
  expect(command?.report?.format).toBe('uvu-text');
});
