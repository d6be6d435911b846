import { describe, expect, test } from 'vitest';
import { commandFailure, failureLines, howEnded, registryOutage } from '../../../src/core/reports/index.ts';

/** As the tools print them; where one is long, its start. */
const OUTPUTS = {
  'npm without a network': `npm warn Unknown user config "nodedir".
npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error errno ENOTFOUND
npm error network request to https://registry.example.com/is-odd failed, reason: getaddrinfo ENOTFOUND registry.example.com
npm error network This is a problem related to network connectivity.
npm error network In most cases you are behind a proxy or have bad network settings.
npm error network
npm error network If you are behind a proxy, please make sure that the 'proxy' config is set properly.  See: 'npm help config'
npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-23T20_46_51_797Z-debug-0.log
`,
  'npm behind a proxy that refuses': `npm ERR! code E403
npm ERR! 403 403 Forbidden - GET https://registry.example.com/is-odd
npm ERR! 403 In most cases, you or one of your dependencies are requesting
npm ERR! 403 a package version that is forbidden by your security policy, or
npm ERR! 403 on a server you do not have access to.

npm ERR! A complete log of this run can be found in: /root/.npm/_logs/debug-0.log
`,
  'npm ci without a lock file': `npm error code EUSAGE
npm error
npm error The \`npm ci\` command can only install with an existing package-lock.json or
npm error npm-shrinkwrap.json with lockfileVersion >= 1. Run an install with npm@5 or
npm error later to generate a package-lock.json file, then try again.
npm error
npm error Clean install a project
npm error
npm error Usage:
npm error npm ci
npm error
npm error Options:
npm error [--install-strategy <hoisted|nested|shallow|linked>] [--legacy-bundling]
npm error   --strict-peer-deps
npm error     If set to \`true\`, and \`--legacy-peer-deps\` is not set, then _any_
npm error aliases: clean-install, ic, install-clean, isntall-clean
npm error
npm error Run "npm help ci" for more info
npm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log
`,
  'pytest without a package': `============================= test session starts ==============================
platform linux -- Python 3.11.7, pytest-9.0.3, pluggy-1.6.0
rootdir: /work
collected 0 items / 1 error

==================================== ERRORS ====================================
__________________________ ERROR collecting test_a.py __________________________
ImportError while importing test module '/work/test_a.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
test_a.py:1: in <module>
    import requests
E   ModuleNotFoundError: No module named 'requests'
=========================== short test summary info ============================
ERROR test_a.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 4.08s ===============================
`,
  'a shell without cargo': 'sh: 1: cargo: not found\n',
  'Maven without a network': `[INFO] Scanning for projects...
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal on project gson: Could not resolve dependencies for project com.google.code.gson:gson:jar:2.11.1: The following artifacts could not be resolved: junit:junit:jar:4.13.2: Could not transfer artifact junit:junit:jar:4.13.2 from/to central (https://repo.example.com/maven2): repo.example.com: Temporary failure in name resolution -> [Help 1]
[ERROR] 
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
[ERROR] Re-run Maven using the -X switch to enable full debug logging.
[ERROR] 
[ERROR] For more information about the errors and possible solutions, please read the following articles:
[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/DependencyResolutionException
`,
  'tsc through npm': `
> a@1.0.0 build
> tsc

src/a.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.
src/a.ts(2,18): error TS2304: Cannot find name 'c'.
src/a.ts(3,19): error TS2307: Cannot find module './missing' or its corresponding type declarations.
src/a.ts(4,7): error TS2322: Type 'number' is not assignable to type 'string'.
npm error Lifecycle script \`build\` failed with error:
npm error code 2
npm error path /work
`,
  'node, with a stack': `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module 'left-pad'
Require stack:
- /work/x.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at Module._load (node:internal/modules/cjs/loader:1038:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/work/x.js' ]
}

Node.js v20.20.2
`,
  'git in a set-up command': `Cloning into 'ref'...
fatal: unable to access 'https://github.com/x/y.git/': Could not resolve host: github.com
`,
  'cargo that does not compile': `   Compiling heck v0.5.0 (/work)
error[E0425]: cannot find value \`x\` in this scope
 --> src/lib.rs:3:5
  |
3 |     x
  |     ^ not found in this scope

error: could not compile \`heck\` (lib) due to 1 previous error
`,
};

test('of the output of a failed command, the lines that name the cause are shown', () => {
  const lines = Object.entries(OUTPUTS).map(([what, output]) => [what, ...failureLines(output)].join('\n  '));
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "npm without a network
      npm error code ENOTFOUND
      npm error network request to https://registry.example.com/is-odd failed, reason: getaddrinfo ENOTFOUND registry.example.com
    npm behind a proxy that refuses
      npm ERR! code E403
      npm ERR! 403 403 Forbidden - GET https://registry.example.com/is-odd
    npm ci without a lock file
      npm error The \`npm ci\` command can only install with an existing package-lock.json or
      npm error npm-shrinkwrap.json with lockfileVersion >= 1. Run an install with npm@5 or
      npm error later to generate a package-lock.json file, then try again.
    pytest without a package
      E   ModuleNotFoundError: No module named 'requests'
    a shell without cargo
      sh: 1: cargo: not found
    Maven without a network
      [ERROR] Failed to execute goal on project gson: Could not resolve dependencies for project com.google.code.gson:gson:jar:2.11.1: The following artifacts could not be resolved: junit:junit:jar:4.13.2: Could not transfer artifact junit:junit…
    tsc through npm
      src/a.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.
      src/a.ts(2,18): error TS2304: Cannot find name 'c'.
      src/a.ts(3,19): error TS2307: Cannot find module './missing' or its corresponding type declarations.
    node, with a stack
      Error: Cannot find module 'left-pad'
    git in a set-up command
      fatal: unable to access 'https://github.com/x/y.git/': Could not resolve host: github.com
    cargo that does not compile
      error[E0425]: cannot find value \`x\` in this scope"
  `);
});

describe('a failed command is told in one sentence, with what would help', () => {
  test.each([
    [
      'set-up',
      'npm without a network',
      "Name the host in `network.allow`, within the operator's NETWORK_ALLOW.",
    ],
    [
      'set-up',
      'npm behind a proxy that refuses',
      'The registry or a proxy refused the request: name the registry in `network.allow` (within NETWORK_ALLOW), or use one that this machine may reach.',
    ],
    ['set-up', 'npm ci without a lock file', 'Commit the lock file, or set `checks.setup: npm install`.'],
    [
      'tests',
      'pytest without a package',
      '`requests` is not installed: set `checks.setup` to the command that installs the packages.',
    ],
    [
      'build',
      'a shell without cargo',
      '`cargo` is missing: install it on the machine that runs Runoff, or use an image that has it (`RUNOFF_SANDBOX=container`, `RUNOFF_SANDBOX_IMAGE`).',
    ],
    [
      'build',
      'Maven without a network',
      'Builds have no network: let `checks.setup` fetch what they need, or set `network.checks: true` with the hosts in `network.allow`.',
    ],
    ['build', 'tsc through npm', ''],
    [
      'tests',
      'node, with a stack',
      '`left-pad` is not installed: set `checks.setup` to the command that installs the packages.',
    ],
  ] as const)('%s: %s', (step, what, help) => {
    const lines = failureLines(OUTPUTS[what]);
    const name = { 'set-up': 'set-up command', build: 'build', tests: 'test command' }[step];
    const quotes = lines.map((line) => `\`${line.replaceAll('`', "'")}\``).join(', ');
    expect(commandFailure({ step, command: 'make it', how: 'exit code 1', lines })).toBe(
      `The ${name} \`make it\` failed on the base commit (exit code 1): ${quotes}. ${help}`.trim(),
    );
  });

  test('backticks of the output do not end the code in which it stands', () => {
    const lines = ['error: no `x` here'];
    expect(commandFailure({ step: 'build', command: 'make', how: 'exit code 2', lines })).toBe(
      "The build `make` failed on the base commit (exit code 2): `error: no 'x' here`.",
    );
  });
});

test('output without a cause is shown by what looks like a failure, or by its end', () => {
  expect(failureLines('TAP version 13\nok 1 - adds\nnot ok 2 - divides\n1..2\n')).toEqual([
    'not ok 2 - divides',
  ]);
  expect(failureLines('one\ntwo\nthree\nfour\n')).toEqual(['two', 'three', 'four']);
  // What ends with a colon says little without the line below it.
  const announced =
    '[ERR_PNPM_AGE] 1 lockfile entries failed verification:\n  a@1.0.0 is not in the registry\n\nmore\n';
  expect(failureLines(announced)).toEqual([
    '[ERR_PNPM_AGE] 1 lockfile entries failed verification: a@1.0.0 is not in the registry',
  ]);
  expect(failureLines('\u001b[31mError: red\u001b[0m\n')).toEqual(['Error: red']);
  expect(failureLines('')).toEqual([]);
});

test('what runners and package managers print around the output does not stand for it', () => {
  expect(failureLines('> x@1.0.0 test\n> node t.js\n\n1 passed\n')).toEqual(['1 passed']);
  const node =
    '/repo/build.js:1\nthrow new Error("Could not resolve entry");\n      ^\n\nError: Could not resolve entry\n    at a (/repo/build.js:1:2)\n';
  expect(failureLines(node)).toEqual(['Error: Could not resolve entry']);
  const tap =
    "TAP version 13\n# Error: Cannot find module 'left-pad'\nnot ok 1 - a.test.js\n  ---\n  error: 'test failed'\n  ...\n";
  expect(failureLines(tap)).toEqual(["Error: Cannot find module 'left-pad'"]);
  expect(failureLines('not ok 1 - a\n  error: |-\n    Two lines\n')).toEqual(['not ok 1 - a']);
});

test('a limit is named with what to do about it, whatever the output says', () => {
  const failed = (stopped: 'wall' | 'silence' | 'memory' | 'disk', step: 'set-up' | 'tests') =>
    commandFailure({
      step,
      command: 'make',
      how: howEnded({ exitCode: null, stopped }),
      stopped,
      lines: ['npm: not found'],
    });
  expect([
    failed('wall', 'set-up'),
    failed('silence', 'set-up'),
    failed('memory', 'tests'),
    failed('disk', 'set-up'),
  ]).toMatchInlineSnapshot(`
    [
      "The set-up command \`make\` failed on the base commit (stopped at its time limit): \`npm: not found\`. Raise \`timeout.check\`, or let it do less.",
      "The set-up command \`make\` failed on the base commit (stopped after too long without output): \`npm: not found\`. It may wait for input, for a server that does not answer, or for a process that could not be started (docs/sandbox.md, Limits). If it was still working, make it print progress.",
      "The test command \`make\` failed on the base commit (stopped at its memory limit): \`npm: not found\`. It needs more memory than a sandbox has: start fewer processes at a time, set \`checks.test\` to a smaller part of the tests, or give sandboxes more by RUNOFF_SANDBOX_MEMORY in Runoff's own settings.",
      "The set-up command \`make\` failed on the base commit (stopped at its disk limit): \`npm: not found\`. It writes more than a sandbox may hold: let it do less.",
    ]
  `);
});

test.each([
  ['make: zig: No such file or directory', '`zig` is missing: let `checks.setup` install it'],
  ['make[1]: cmake: No such file or directory', '`cmake` is missing: install it on the machine'],
  ['sh: 1: meson: not found', '`meson` is missing: install it on the machine'],
  ['sh: 1: jest: not found', '`jest` is missing: let `checks.setup` install it'],
])('a program that is not there is named: %s', (line, help) => {
  expect(
    commandFailure({ step: 'tests', command: 'make test', how: 'exit code 2', lines: [line] }),
  ).toContain(help);
});

test.each([
  'Error: spawn node EAGAIN',
  'node[31404]: pthread_create: Resource temporarily unavailable',
  'bash: fork: Resource temporarily unavailable',
  'make: vfork: Resource temporarily unavailable',
  'runtime: failed to create new OS thread (have 8 already; errno=11)',
  "RuntimeError: can't start new thread",
  'sh: 1: Cannot fork',
  'java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or process limits reached',
])('a command that cannot start a process is told of the limit: %s', (line) => {
  const failed = { step: 'tests', command: 'npm test', how: 'exit code 1', lines: [line] } as const;
  expect(commandFailure(failed)).toContain('It reached the number of processes that a sandbox may have');
  const missing = { ...failed, lines: [line, 'sh: 1: jest: not found'] };
  expect(commandFailure(missing)).toContain('`jest` is missing');
});

test('a shell that tries again to start a process says nothing about the failure', () => {
  const lines = ['bash: fork: retry: Resource temporarily unavailable'];
  expect(commandFailure({ step: 'tests', command: 'npm test', how: 'exit code 1', lines })).not.toContain(
    'processes',
  );
});

test('the code of a bundle in a stack trace does not hide the error below it', () => {
  const bundle = `const e=module;t=Error("cannot",failed);${'x();'.repeat(1_000)}`;
  const output = `/repo/node_modules/esm/esm.js:1\n${bundle}\n    ^\nTypeError: not a Module\n`;
  expect(failureLines(output)).toEqual(['TypeError: not a Module']);
  expect(failureLines(`${bundle}\nno module was loaded\n`)).toEqual(['no module was loaded']);
  expect(failureLines(`${bundle}\n`)).toEqual([expect.stringMatching(/^const e=module/)]);
});

test('enormous output is read from its start and its end', () => {
  const filler = `${'x'.repeat(79)}\n`.repeat(200_000);
  expect(failureLines(`fatal: first\n${filler}Error: last\n`)).toEqual(['fatal: first', 'Error: last']);
  expect(failureLines(`Error: ${'y'.repeat(10_000)}`)[0]).toHaveLength(240);
});

test('how a command ended is told in a few words', () => {
  expect([
    howEnded({ exitCode: 2 }),
    howEnded({ exitCode: null, stopped: 'wall' }),
    howEnded({ exitCode: null, stopped: null }),
  ]).toEqual(['exit code 2', 'stopped at its time limit', 'ended by a signal']);
});

const failed = { tail: '', refusedHosts: [], failedHosts: [], hasNetwork: true };

describe('a set-up that failed because of its registry', () => {
  test('names the hosts that could not be reached', () => {
    const failedHosts = [
      { host: 'registry.test:443', why: 'does not accept connections (ECONNREFUSED)' },
      { host: 'files.test:8443', why: 'has no address' },
    ];
    expect(registryOutage({ ...failed, failedHosts })).toBe(
      'registry.test does not accept connections (ECONNREFUSED), files.test:8443 has no address',
    );
  });

  test.each([
    ['npm', 'npm error code E503\nnpm error 503 Service Unavailable - GET https://registry.test/left-pad'],
    ['npm, slow', 'npm error code ETIMEDOUT\nnpm error errno ETIMEDOUT'],
    ['pnpm', ' ERR_PNPM_FETCH_502  GET https://registry.test/left-pad: Bad Gateway - 502'],
    ['yarn 1', 'error Error: https://registry.test/x: Request failed "503 Service Unavailable"'],
    ['yarn', '➤ YN0035: │   Response Code: 503 (Service Unavailable)'],
    ['pip', 'ERROR: HTTP error 503 while getting https://files.test/a.whl'],
    ['uv', 'error: HTTP status client error (429 Too Many Requests) for url (https://index.test/simple/a/)'],
    ['cargo', 'Caused by:\n  failed to get successful HTTP response from `https://index.test/x`, got 503'],
    ['go', 'go: example.test/m@v1: reading https://proxy.test/m: 502 Bad Gateway'],
    ['go, slow', 'go: example.test/m@v1: Get "https://proxy.test/m": net/http: TLS handshake timeout'],
    ['maven', '[ERROR] Could not transfer artifact a:b from central: status code: 503, reason phrase: x'],
    ['gradle', "> Could not GET 'https://x.test'. Received status code 503 from server: Backend"],
    ['dotnet', 'error : Response status code does not indicate success: 503 (Unavailable).'],
  ])('is recognised by what %s prints', (_client, tail) => {
    expect(registryOutage({ ...failed, tail })).toMatch(/^`.*`$/);
  });

  test.each([
    ['a package that does not exist', 'npm error code E404\nnpm error 404 Not Found - GET https://x.test/a'],
    ['a lock file that does not match', 'npm error code EUSAGE'],
    ['a login that is missing', 'npm error code E401'],
    [
      'a try that was repeated',
      "WARNING: Retrying after 'ReadTimeoutError'\nERROR: No matching distribution",
    ],
    ['a request that succeeded later', 'npm http fetch GET 503 https://x.test/a attempt 1\nnpm error code 1'],
    ['a number', 'src/a.c:503: error: expected ;'],
  ])('is not %s', (_what, tail) => {
    expect(registryOutage({ ...failed, tail })).toBeNull();
  });

  test('is never an outage where a host was refused, nor without a network', () => {
    const tail = 'npm error code E503';
    expect(registryOutage({ ...failed, tail, refusedHosts: ['x.test:443'] })).toBeNull();
    expect(registryOutage({ ...failed, tail, hasNetwork: false })).toBeNull();
  });
});

test('a failure does not repeat what was said before about a missing tool', () => {
  const failed = {
    step: 'set-up',
    command: 'cargo fetch',
    how: 'exit code 127',
    lines: ['sh: 1: cargo: not found'],
  } as const;
  const told = ['The repository needs Rust. Install it on this machine, so that `cargo` is on PATH.'];
  expect(commandFailure(failed)).toContain('`cargo` is missing: install it');
  expect(commandFailure({ ...failed, told })).toMatch(/: `sh: 1: cargo: not found`\.$/);
});
