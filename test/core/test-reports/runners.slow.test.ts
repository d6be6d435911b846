import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshReports, reportPlan, type TestCommand } from '../../../src/core/settings/index.ts';
import { readTestReport } from '../../../src/core/test-reports/index.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'runoff-runners-'));
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(dir, 'node_modules'));
  const suite = (runner: string) =>
    `import { describe, it, test } from '${runner}';
     test('top', () => {});
     test('top', () => {});
     describe('parse', () => {
       it('works', () => {});
       it.skip('later', () => {});
       describe('inner', () => { it('fails', () => { throw new Error('<no> & "never"'); }); });
     });\n`;
  writeFileSync(join(dir, 'a.test.mjs'), suite('node:test'));
  writeFileSync(join(dir, 'b.test.mjs'), "import './nowhere.mjs';\n");
  writeFileSync(join(dir, 'first.mjs'), 'globalThis.isFirst = true;\n');
  writeFileSync(
    join(dir, 'o.test.mjs'),
    "import { test } from 'node:test';\ntest('comes second', (t) => t.assert.ok(globalThis.isFirst));\n",
  );
  writeFileSync(join(dir, 'c.spec.mjs'), suite('vitest'));
  writeFileSync(
    join(dir, 'dies.spec.mjs'),
    `import { expect, test } from 'vitest';
     test('before', () => {});
     test('aborts', () => process.abort());
     test('fails', () => expect(1).toBe(2));\n`,
  );
  writeFileSync(join(dir, 'package.json'), packageJson);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const packageJson = JSON.stringify({
  type: 'module',
  scripts: {
    test: 'node --test a.test.mjs b.test.mjs',
    optioned: "A=1 NODE_OPTIONS='--no-warnings --import=./first.mjs' node --test o.test.mjs b.test.mjs",
    spec: 'vitest run c.spec.mjs',
  },
});

function start(planned: TestCommand): { readonly stdout: string } {
  const path = `${join(dir, 'node_modules/.bin')}:${process.env.PATH}`;
  const ran = spawnSync('sh', ['-c', planned.command, 'sh', ...planned.args], {
    cwd: dir,
    encoding: 'utf8',
    env: { PATH: path, HOME: dir, CI: '1', npm_config_update_notifier: 'false', ...planned.env },
  });
  expect(ran.status, ran.stderr).toBe(1);
  return ran;
}

/** The command of the plan as `sh -c` runs it, in an environment without what our own runner sets. */
function run(planned: TestCommand): unknown {
  const { report } = planned;
  if (report?.source !== 'file') throw new Error(`no file is planned for ${planned.command}`);
  for (const file of [report.file, report.second]) if (file) rmSync(file, { force: true });
  start(planned);
  const files = [report.file, ...(report.second ? [report.second] : [])];
  const text = files
    .map((file) => readFileSync(file, 'utf8'))
    .join('')
    .replaceAll(`${dir}/`, '/repo/');
  const read = readTestReport(report.format, text);
  return read.kind === 'ok' ? read.tests : read.why;
}

const planOf = (command: string) => reportPlan(command, { 'package.json': packageJson }, dir);
const whole = (command: string): TestCommand => {
  const [first] = planOf(command).commands;
  if (!first) throw new Error(`no command is planned for ${command}`);
  return first;
};

/** Node 20 where it is the system's: its own reporter names no files. */
const SYSTEM_NODE = '/usr/bin/node';
const NODE_COMMANDS = [
  'node --test a.test.mjs b.test.mjs',
  'npm test',
  ...(existsSync(SYSTEM_NODE) ? [`${SYSTEM_NODE} --test a.test.mjs b.test.mjs`] : []),
];

test.each(NODE_COMMANDS)(
  'node:test by `%s` leaves the report that was planned, with the file of each test',
  (command) => {
    expect(run(whole(command))).toEqual({
      'a.test.mjs > top': 'passed',
      'a.test.mjs > top #2': 'passed',
      'a.test.mjs > parse > works': 'passed',
      'a.test.mjs > parse > later': 'skipped',
      'a.test.mjs > parse > inner > fails': 'failed',
      'b.test.mjs > b.test.mjs': 'failed',
    });
  },
  60_000,
);

test('node:test leaves it with the options of Node that its script sets, too', () => {
  expect(run(whole('npm run optioned'))).toEqual({
    'o.test.mjs > comes second': 'passed',
    'b.test.mjs > b.test.mjs': 'failed',
  });
}, 60_000);

test.each(['vitest run c.spec.mjs', 'npm run spec'])(
  'vitest by `%s` leaves the report that was planned',
  (command) => {
    expect(run(whole(command))).toEqual({
      'c.spec.mjs > top': 'passed',
      'c.spec.mjs > top #2': 'passed',
      'c.spec.mjs > parse > works': 'passed',
      'c.spec.mjs > parse > later': 'skipped',
      'c.spec.mjs > parse > inner > fails': 'failed',
    });
  },
  60_000,
);

test('vitest leaves a report in which tests of a worker that dies have failed', () => {
  expect(run(whole('vitest run c.spec.mjs dies.spec.mjs'))).toMatchObject({
    'c.spec.mjs > top': 'passed',
    'dies.spec.mjs > before': 'failed',
    'dies.spec.mjs > aborts': 'failed',
    'dies.spec.mjs > fails': 'failed',
  });
}, 60_000);

test('a script of the repository leaves the reports of all runners that it starts, and not of those that tests start', () => {
  const script = [
    '#!/bin/sh',
    'vitest run c.spec.mjs --reporter=junit --outputFile=own.xml',
    'vitest run nested.spec.mjs',
    'node --test a.test.mjs',
    'grep -q parse own.xml && exit 1',
  ];
  writeFileSync(join(dir, 'check.sh'), script.join('\n'), { mode: 0o755 });
  writeFileSync(
    join(dir, 'nested.spec.mjs'),
    `import { spawnSync } from 'node:child_process';
     import { expect, test } from 'vitest';
     test('starts a runner', () => {
       expect(spawnSync('vitest', ['run', 'c.spec.mjs'], { encoding: 'utf8' }).status).toBe(1);
     }, 60_000);\n`,
  );
  const planned = whole('./check.sh');
  const { report } = planned;
  if (report?.source !== 'folder') throw new Error('no folder is planned');
  const { stdout } = start({ ...planned, command: `${freshReports(report)}${planned.command}` });
  const files = readdirSync(report.folder).filter((name) => /\.(?:json|xml)$/.test(name));
  expect(files.map((name) => name.replace(/\d+/, 'PID')).sort()).toEqual([
    'vitest-PID.json',
    'vitest-PID.json',
  ]);
  const texts = files.map((name) => [name, readFileSync(join(report.folder, name), 'utf8')] as const);
  const lines = [['', stdout], ...texts].map((one) => JSON.stringify(one));
  const read = readTestReport(report.format, lines.join('\n').replaceAll(`${dir}/`, '/repo/'));
  expect(read).toMatchObject({
    tests: {
      'c.spec.mjs > top': 'passed',
      'c.spec.mjs > parse > later': 'skipped',
      'c.spec.mjs > parse > inner > fails': 'failed',
      'nested.spec.mjs > starts a runner': 'passed',
      'parse > works': 'passed',
      'parse > inner > fails': 'failed',
    },
  });
}, 60_000);

/** What a runner of that name is given in its place. */
const GIVEN = `#!${process.execPath}
console.log(process.argv.slice(2).join(' ').replace(/-\\d+\\.json/, '.json'));
console.log(process.env.NODE_OPTIONS);
process.exit(1);
`;

const JEST_JSON = '--bail=0 --ci --json --outputFile=OUT/jest.json';
const VITEST_JSON = '--reporter=json --outputFile.json=OUT/vitest.json';
test.each([
  ['jest src', `src --maxWorkers=2 ${JEST_JSON}`],
  ['jest -i -t list', `-i -t list ${JEST_JSON}`],
  ['jest --json --outputFile=own.json', '--json --outputFile=own.json'],
  ['jest --json', '--json'],
  ['jest -v', '-v'],
  ['vitest run -t list -- -v', `run -t list --reporter=default ${VITEST_JSON} -- -v`],
  ['vitest list', 'list'],
  ['vitest --reporter=junit --outputFile=a.xml', `--reporter=junit --outputFile.junit=a.xml ${VITEST_JSON}`],
  [
    'vitest --reporter dot --reporter junit --outputFile a.xml',
    `--reporter dot --reporter junit --outputFile.junit a.xml ${VITEST_JSON}`,
  ],
  ['vitest --outputFile.junit=a.xml', `--outputFile.junit=a.xml --reporter=default ${VITEST_JSON}`],
  ['vitest --reporter=json --outputFile=own.json', '--reporter=json --outputFile=own.json'],
  ['vitest --outputFile=own.txt', '--outputFile=own.txt'],
  ['ava src', 'src --tap'],
  ['ava --tap', '--tap'],
  ['../ava/entrypoints/cli.mjs src', 'src --tap'],
])(
  'a runner that a script starts as `%s` is asked once for a report, and its tests are not',
  (called, given) => {
    const bin = join(dir, 'stand-in/node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    for (const name of ['jest', 'vitest', 'ava']) writeFileSync(join(bin, name), GIVEN, { mode: 0o755 });
    // As pnpm starts it.
    const entry = join(bin, '../ava/entrypoints/cli.mjs');
    mkdirSync(dirname(entry), { recursive: true });
    writeFileSync(entry, GIVEN, { mode: 0o755 });
    const real = join(dir, 'real');
    const linked = join(dir, 'linked');
    mkdirSync(real, { recursive: true });
    if (!existsSync(linked)) symlinkSync(real, linked);
    writeFileSync(join(dir, 'called.sh'), `#!/bin/sh\nstand-in/node_modules/.bin/${called}\n`, {
      mode: 0o755,
    });
    const [planned] = reportPlan('./called.sh', {}, linked).commands;
    if (!planned) throw new Error('no command is planned');
    const { stdout } = start({ ...planned, command: `${freshReports(planned.report)}${planned.command}` });
    const [options = '', forTests = ''] = stdout.split('\n');
    expect(options.replaceAll(`${linked}/reports`, 'OUT')).toBe(given);
    expect(forTests).not.toContain('--require');
  },
);

test.each([
  ['node --test', 'a.test.mjs'],
  ['npm test', 'a.test.mjs'],
  ['vitest run', 'c.spec.mjs'],
  ['npm run spec', 'c.spec.mjs'],
])(
  '`%s` for one file gives the same ids as the whole suite',
  (command, file) => {
    const [focused, ...more] = planOf(command).focus([file]) ?? [];
    if (!focused) throw new Error('there is no plan for one file');
    expect(more).toEqual([]);
    expect(run(focused)).toEqual({
      [`${file} > top`]: 'passed',
      [`${file} > top #2`]: 'passed',
      [`${file} > parse > works`]: 'passed',
      [`${file} > parse > later`]: 'skipped',
      [`${file} > parse > inner > fails`]: 'failed',
    });
  },
  60_000,
);

/** The interfaces of packages of the repository, which say what they were told. */
const INTERFACES = {
  '@jest/core': `const runCLI = async (argv) => console.log('jest', JSON.stringify(argv));
Object.defineProperty(exports, 'runCLI', { enumerable: true, get: () => runCLI });
`,
  mocha: `module.exports = class Mocha {
  version = '11.0.0';
  reporter(...given) { this.given = given; }
  run() { console.log('mocha', JSON.stringify(this.given)); }
};
`,
  'own/mocha': 'exports.prototype = { run: () => console.log("own") };\n',
  jest: "exports.run = (words) => require('@jest/core').runCLI({ _: words });\n",
};

test.each([
  [
    'jest by its function',
    'require("jest").run(["src"]).then(() => require("jest").run([]))',
    [
      'jest {"_":["src"],"json":true,"outputFile":"OUT/jest-PID-1.json","ci":true,"bail":0}',
      'jest {"_":[],"json":true,"outputFile":"OUT/jest-PID-2.json","ci":true,"bail":0}',
    ],
  ],
  [
    'jest that writes a report of its own',
    'require("@jest/core").runCLI({ outputFile: "own.json" })',
    ['jest {"outputFile":"own.json"}'],
  ],
  [
    'mocha with a reporter of its own',
    'const m = new (require("mocha"))(); m.reporter("dot"); m.run();',
    ['mocha ["json",{"output":"OUT/mocha-PID-1.json"}]'],
  ],
  [
    'mocha in a module',
    'import("mocha").then(({ default: Mocha }) => new Mocha().run())',
    ['mocha ["json",{"output":"OUT/mocha-PID-1.json"}]'],
  ],
  ['a file that is named like mocha', 'require("./node_modules/own/mocha").prototype.run()', ['own']],
])(
  'a program that starts %s is asked for a report once, and only if it writes none',
  (_, program, expected) => {
    const folder = join(dir, 'interfaces');
    for (const [name, text] of Object.entries(INTERFACES)) {
      mkdirSync(join(folder, 'node_modules', name), { recursive: true });
      writeFileSync(join(folder, 'node_modules', name, 'index.js'), text);
    }
    const last =
      'process.on("exit", () => { console.log(process.env.NODE_OPTIONS); process.exitCode = 1; });';
    writeFileSync(join(folder, 'run.cjs'), `${program}\n${last}\n`);
    const [planned] = reportPlan('node interfaces/run.cjs', {}, folder).commands;
    if (!planned) throw new Error('no command is planned');
    const { stdout } = start({ ...planned, command: `${freshReports(planned.report)}${planned.command}` });
    const said = stdout.trimEnd().split('\n');
    const shown = said.map((line) => line.replaceAll(`${folder}/reports`, 'OUT').replace(/-\d+-/, '-PID-'));
    expect(shown.slice(0, -1)).toEqual(expected);
    const isAsked = expected.some((line) => line.includes('PID'));
    expect(shown.at(-1)?.includes('--require')).toBe(!isAsked);
  },
);
