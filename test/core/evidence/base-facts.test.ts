import { describe, expect, test } from 'vitest';
import {
  type BaseTests,
  baseFacts,
  canRun,
  compareBase,
  type GateReport,
  ownTestsGate,
  silenceOf,
  type TestOutcome,
  type TestRun,
  testsRunGate,
  withPackagesNote,
} from '../../../src/core/evidence/index.ts';
import type { Patch } from '../../../src/core/patches/index.ts';

const run = (change: Partial<TestRun>): TestRun => ({
  source: 'exit-code',
  exitCode: 0,
  stopped: null,
  ms: 1_000,
  tests: {},
  tail: '',
  ...change,
});
const reported = (tests: Record<string, TestOutcome>, change: Partial<TestRun> = {}): TestRun =>
  run({ source: 'report', exitCode: Object.values(tests).includes('failed') ? 1 : 0, tests, ...change });

const GREEN = run({});
const RED = run({ exitCode: 1, errors: ['Error: no'] });

test.each<[string, TestRun, ReturnType<typeof silenceOf>, boolean]>([
  ['a report in which one of many passes', reported({ a: 'passed', b: 'failed', c: 'failed' }), null, true],
  ['a report in which none passes', reported({ a: 'failed', b: 'skipped' }), 'none-passes', true],
  ['a report without tests', reported({}), 'none-reported', true],
  ['exit code 0', GREEN, null, true],
  ['exit code 1', RED, 'exit-code', true],
  ['a signal', run({ exitCode: null }), 'exit-code', true],
  ['a command that is not there', run({ exitCode: 127 }), 'not-started', false],
  ['a command that is no program', run({ exitCode: 126 }), 'not-started', false],
  ['a time limit', run({ exitCode: null, stopped: 'wall' }), 'stopped', false],
  ['a time limit after some tests', reported({ a: 'passed' }, { stopped: 'wall' }), 'stopped', false],
  ['no command', run({ source: 'none', exitCode: null }), 'no-command', false],
])('%s on the base', (_what, base, silence, runs) => {
  expect([silenceOf(base), canRun(base)]).toEqual([silence, runs]);
});

describe('tests that say nothing on the base', () => {
  const notStarted = run({ exitCode: 127 });
  test.each<[string, TestRun, TestRun]>([
    ['red by exit code, there and here', RED, run({ exitCode: 2 })],
    ['red by exit code, and stopped here', RED, run({ exitCode: null, stopped: 'wall' })],
    ['never started', notStarted, run({ source: 'none', exitCode: null })],
  ])('fail no candidate: %s', (_what, base, here) => {
    expect(testsRunGate(base, here).passed).toBe(true);
    expect(ownTestsGate(base, here, base)).toBeNull();
  });

  test('are marked in what they gave on a candidate, which fixes them where they pass', () => {
    expect(compareBase(RED, RED)).toMatchObject({ silent: true, regressions: [], fixed: [] });
    expect(compareBase(RED, GREEN)).toMatchObject({ silent: true, regressions: [], fixed: ['exit code'] });
    expect(testsRunGate(RED, GREEN).because).toBe('The test command passes; it fails on the base commit.');
  });

  test('leave no mark where one of them passes', () => {
    const base = reported({ a: 'passed', b: 'failed' });
    expect(compareBase(base, base)).not.toHaveProperty('silent');
    expect(compareBase(GREEN, RED)).not.toHaveProperty('silent');
  });
});

describe('what people are told of the base', () => {
  test('groups failing tests by what their output says is missing', () => {
    const base = reported(
      {
        ok: 'passed',
        a: 'failed',
        b: 'failed',
        c: 'failed',
        d: 'failed',
        e: 'failed',
        f: 'failed',
        g: 'skipped',
      },
      {
        messages: {
          a: 'Error: getaddrinfo ENOTFOUND example.com',
          b: 'requests.exceptions.ConnectionError: Temporary failure in name resolution',
          c: 'dial tcp: lookup example.com: no such host',
          d: 'TypeError: fetch failed [cause]: Error: getaddrinfo EAI_AGAIN example.com',
          e: 'Error: connect ECONNREFUSED 127.0.0.1:5432',
        },
      },
    );
    expect(baseFacts(base)).toEqual({
      exitCode: 1,
      passed: 1,
      total: 7,
      excluded: [
        { because: 'network', count: 4, names: ['a', 'b', 'c'] },
        { because: 'database', count: 1, names: ['e'] },
        { because: 'failing', count: 1, names: ['f'] },
      ],
      lines: [],
    });
  });

  test('names what a silent command lacks, with the lines that say why', () => {
    const errors = [
      'psycopg.OperationalError: connection to server at "localhost", port 5432 failed: Connection refused',
    ];
    expect(baseFacts(run({ exitCode: 1, errors }))).toMatchObject({
      silence: 'exit-code',
      need: 'database',
      lines: errors,
    });
    expect(baseFacts(run({ exitCode: null, stopped: 'silence' }))).toMatchObject({
      stopped: 'silence',
      lines: [],
    });
  });

  test.each([
    ['redis', 'database', 'Error 111 connecting to localhost:6379. Connection refused.'],
    ['a compose service', 'database', 'Error: getaddrinfo ENOTFOUND postgres'],
    ['MySQL', 'database', "Can't connect to MySQL server on 'localhost' (111)"],
    [
      'playwright',
      'browser',
      "browserType.launch: Executable doesn't exist at /root/.cache/ms-playwright/chromium-1117/chrome-linux/chrome",
    ],
    ['puppeteer', 'browser', 'Error: Could not find Chrome (ver. 121.0.6167.85).'],
    ['testcontainers', 'docker', 'Could not find a valid Docker environment'],
    ['tkinter', 'display', '_tkinter.TclError: no display name and no $DISPLAY environment variable'],
    [
      'zoneinfo',
      'time-zone',
      "zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key Europe/Berlin'",
    ],
    ['date', 'clock', 'date: cannot set date: Operation not permitted'],
    ['clock_settime', 'clock', 'PermissionError: clock_settime() failed: Operation not permitted'],
    ['a certificate of the test', 'clock', 'Error: certificate has expired (CERT_HAS_EXPIRED)'],
    ['a token of the test', 'clock', 'TokenExpiredError: jwt expired'],
    ['a clock that is a value', 'failing', 'expected clock to be 12:00 but it was 12:01'],
    ['a web server of the test itself', 'failing', 'Error: connect ECONNREFUSED 127.0.0.1:8080'],
    ['a number that is a port elsewhere', 'failing', 'expected 5432 to be 3306'],
  ])('%s is recognised as %s', (_what, because, said) => {
    const base = reported({ ok: 'passed', t: 'failed' }, { messages: { t: said } });
    expect(baseFacts(base).excluded).toEqual([{ because, count: 1, names: ['t'] }]);
  });
});

const patchOf = (sections: Readonly<Record<string, string>>): Patch => {
  const files = Object.entries(sections).map(([path, section]) => ({
    path,
    change: 'modified' as const,
    oldMode: '100644',
    newMode: '100644',
    role: 'production' as const,
    additions: 1,
    deletions: 0,
    binary: false,
    hunks: [],
    section,
  }));
  return { text: '', files, production: files, tests: [] };
};
const ASKS = patchOf({
  'src/a.js': "+import leftPad from 'left-pad';",
  'package.json': '+    "left-pad": "^1.3.0",',
  'package-lock.json': '+  "node_modules/left-pad": {',
});
const builds = (passed: boolean): GateReport => ({
  gate: 'builds',
  passed,
  because: passed ? 'The build ends with exit code 0.' : 'The build ends with exit code 1.',
});
const tests = (regressions: readonly string[]): BaseTests => ({
  passed: 1,
  failed: regressions.length,
  total: 1 + regressions.length,
  regressions,
  fixed: [],
  notes: ['A note.'],
  source: 'report',
  exitCode: 1,
  ms: 1,
});

describe('a candidate that asks for another package', () => {
  test('and cannot be built: the gate names the files', () => {
    const { gates } = withPackagesNote('B', ASKS, { gates: [builds(false)] }, 'not-allowed');
    expect(gates[0]?.because).toBe(
      'The build ends with exit code 1. It changes package.json, package-lock.json, but is built and tested with the packages of the base commit: others may be missing. `checks.candidateSetup` installs them.',
    );
  });

  test('and breaks tests: the comparison names the files', () => {
    const found = { gates: [builds(true)], baseTests: tests(['a.test.js > adds']) };
    const told = withPackagesNote('B', ASKS, found, 'not-allowed');
    expect(told.gates).toEqual(found.gates);
    expect(told.baseTests?.notes).toEqual([
      'A note.',
      'B changes package.json, package-lock.json, but is built and tested with the packages of the base commit: others may be missing. `checks.candidateSetup` installs them.',
    ]);
  });

  test('and fails nothing: the comparison says that it was not installed anew', () => {
    const found = { gates: [builds(true)], baseTests: tests([]) };
    const told = withPackagesNote('B', ASKS, found, 'not-allowed');
    expect(told.gates).toEqual(found.gates);
    expect(told.baseTests?.notes?.[1]).toBe(
      'B changes package.json, package-lock.json, but is built and tested with the packages of the base commit. `checks.candidateSetup` installs its own.',
    );
  });

  test('and passes without a test of the base: its build says so', () => {
    const { gates } = withPackagesNote('B', ASKS, { gates: [builds(true)] }, 'not-allowed');
    expect(gates).toEqual([
      {
        ...builds(true),
        because:
          'The build ends with exit code 0. It changes package.json, package-lock.json, but is built and tested with the packages of the base commit. `checks.candidateSetup` installs its own.',
      },
    ]);
  });

  test.each([
    ['no-command', 'as there is no set-up command (`checks.setup`)'],
    ['eliminated', 'as it failed a gate before set-up'],
    ['only-tests', 'as only files among its tests name other packages'],
  ] as const)(
    'which the setting that is on did not install (%s): that setting is not advised',
    (why, said) => {
      for (const passed of [true, false]) {
        const { gates } = withPackagesNote('B', ASKS, { gates: [builds(passed)] }, why);
        expect(gates[0]?.because).toContain(`the packages of the base commit, ${said}`);
        expect(gates[0]?.because).not.toContain('candidateSetup');
      }
    },
  );
});

test('another change of a manifest is no reason for a failure', () => {
  const found = { gates: [builds(false)] };
  const patch = patchOf({ 'package.json': '+    "lint": "biome check",' });
  expect(withPackagesNote('B', patch, found, 'not-allowed')).toBe(found);
});
