import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testNotes } from '../../src/core/reports/index.ts';
import { NODE_TEST, openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

/** The compiler of this repository, mounted where the sandbox can read it. */
const FOLDER = new URL(
  `../../node_modules/@typescript/typescript-${process.platform}-${process.arch}`,
  import.meta.url,
).pathname;
const TSC = '/opt/typescript/lib/tsc --noEmit';
const binds = [{ from: FOLDER, to: '/opt/typescript' }];

const CONFIG =
  '{ "compilerOptions": { "strict": true, "checkJs": true, "noEmit": true, "types": [] }, "include": ["src"] }\n';
const TEST = `const assert = require('node:assert/strict');
const { test } = require('node:test');
const { width } = require('../src/width.js');
test('measures', () => assert.equal(width('abc'), 3));
`;
const FILES = {
  'tsconfig.json': CONFIG,
  // An old error, which the base has had for long.
  'src/old.js': '/** @type {number} */\nexports.old = "text";\n',
  'src/width.js': '/** @param {string} text */\nexports.width = (text) => text.length;\n',
  'test/width.test.js': TEST,
};

test('candidates answer for new type errors only, wherever the old ones move to', async () => {
  const fixture = await shared.fixture({ files: FILES, types: TSC, binds });
  const onBase = await fixture.base();
  expect(onBase.types).toMatchObject([
    {
      name: TSC,
      exitCode: 1,
      findings: [{ file: 'src/old.js', message: expect.stringContaining('TS2322') }],
    },
  ]);
  const { A, B, C } = await fixture.examine(onBase, {
    // Moves the old error down and renames nothing.
    A: {
      'src/width.js':
        '/** @param {string | undefined} text */\nexports.width = (text) => text?.length ?? 0;\n',
      'src/old.js': `// Kept for old callers.\n\n${FILES['src/old.js']}`,
    },
    // Passes every test, but the parameter may be undefined.
    B: {
      'src/width.js':
        '/** @param {string | undefined} text */\nexports.width = (text) => text.trim().length;\n',
    },
    // Fixes the old error, too.
    C: {
      'src/width.js':
        '/** @param {string | null} text */\nexports.width = (text) => (text === null ? 0 : text.length);\n',
      'src/old.js': '/** @type {number} */\nexports.old = 1;\n',
    },
  });
  expect(A).toMatchObject({ survivor: true, types: { addedCount: 0, onBase: 1, gone: 0 } });
  expect(C).toMatchObject({ survivor: true, types: { addedCount: 0, onBase: 1, gone: 1 } });
  expect(B).toMatchObject({ survivor: false, baseTests: { regressions: [] }, types: { addedCount: 1 } });
  expect(B?.gates.find(({ gate }) => gate === 'types')).toMatchObject({
    passed: false,
    because: expect.stringMatching(
      /^The type check has 1 finding that the base commit lacks: src\/width\.js:2: TS/,
    ),
  });
});

test('a type checker in the test command is a type check, of the tree with the candidate’s tests', async () => {
  const files = {
    ...FILES,
    'tsconfig.json': CONFIG.replace('"src"', '"src", "test"'),
    'src/node.d.ts': 'declare function require(name: string): any;\n',
  };
  const fixture = await shared.fixture({ files, test: `${TSC} && ${NODE_TEST}`, binds });
  const onBase = await fixture.base();
  expect(Object.keys(onBase.tests)).toEqual(['test/width.test.js > measures']);
  const { A } = await fixture.examine(onBase, {
    A: {
      'src/width.js':
        '/** @param {string} text @param {number} [more] */\nexports.width = (text, more = 0) => text.length + more;\n',
      'test/more.test.js':
        "const { width } = require('../src/width.js');\n/** @type {number} */\nconst n = 'no number';\nwidth('a', 1);\n",
    },
  });
  expect(A?.gates.find(({ gate }) => gate === 'types')?.because).toMatch(/test\/more\.test\.js:3: TS2322/);
});

test('each step of a type check counts, not the last one alone', async () => {
  const project = (folder: string) => CONFIG.replace('"src"', `"../${folder}"`);
  const files = {
    ...FILES,
    'package.json': JSON.stringify({
      scripts: { typecheck: `${TSC} -p configs/a.json && ${TSC} -p configs/b.json` },
    }),
    'configs/a.json': project('src'),
    'configs/b.json': project('lib'),
    'lib/depth.js': '/** @param {string} text */\nexports.depth = (text) => text.length;\n',
  };
  const fixture = await shared.fixture({ files, types: 'npm run typecheck', binds });
  const onBase = await fixture.base();
  expect(onBase.types?.map(({ exitCode }) => exitCode)).toEqual([1, 0]);
  const { A, B } = await fixture.examine(onBase, {
    // A new error in the first step, while the last one succeeds.
    A: {
      'src/width.js':
        '/** @param {string | undefined} text */\nexports.width = (text) => text.trim().length;\n',
    },
    B: {
      'lib/depth.js':
        '/** @param {string | undefined} text */\nexports.depth = (text) => text.trim().length;\n',
    },
  });
  expect(A).toMatchObject({ survivor: false, types: { addedCount: 1, added: [{ file: 'src/width.js' }] } });
  expect(B).toMatchObject({ survivor: false, types: { addedCount: 1, added: [{ file: 'lib/depth.js' }] } });
});

test('candidates control neither scripts nor the records of the type checker', async () => {
  const script =
    'if [ ! -e checked.tsbuildinfo ] && cat src/*.js | grep -q TODO; then cat message.txt; exit 1; fi';
  const files = {
    ...FILES,
    'package.json': JSON.stringify({ scripts: { typecheck: script } }),
    'message.txt': 'src/width.js(1,1): error TS1: unfinished\n',
  };
  const fixture = await shared.fixture({ files, types: 'npm run typecheck' });
  const onBase = await fixture.base();
  expect(onBase.types).toMatchObject([{ exitCode: 0, findings: [] }]);
  const wrong = { 'src/width.js': `${FILES['src/width.js']}exports.more = 'TODO';\n` };
  const evidence = await fixture.examine(onBase, {
    A: wrong,
    B: { ...wrong, 'package.json': JSON.stringify({ scripts: { typecheck: 'true' } }) },
    C: { ...wrong, 'checked.tsbuildinfo': '{}' },
  });
  for (const one of Object.values(evidence)) expect(one.types).toMatchObject({ addedCount: 1 });
});

/** A module that Python can start, which objects to each file that contains TODO. */
const CHECKER = `import pathlib, sys
found = [f for f in pathlib.Path('.').glob('*.py') if 'TODO' in f.read_text()]
for f in found: print(f'{f}:1: error: unfinished  [misc]')
sys.exit(1 if found else 0)
`;

test('a planted module is not started instead of the type checker', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runoff-checker-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'mypy'));
  writeFileSync(join(folder, 'mypy/__init__.py'), '');
  writeFileSync(join(folder, 'mypy/__main__.py'), CHECKER);
  try {
    const fixture = await shared.fixture({
      files: { ...FILES, 'a.py': 'a = 1\n' },
      types: 'PYTHONPATH=/opt/checker python3 -m mypy .',
      binds: [{ from: folder, to: '/opt/checker' }],
    });
    const onBase = await fixture.base();
    expect(onBase.types).toMatchObject([{ exitCode: 0 }]);
    const { A, B } = await fixture.examine(onBase, {
      A: { 'a.py': 'a = 1  # TODO\n' },
      // It shadows a module that the checker imports.
      B: { 'a.py': 'a = 1  # TODO\n', 'runpy.py': 'def run_module(*args, **options):\n    pass\n' },
    });
    expect(A).toMatchObject({ types: { addedCount: 1 } });
    expect(B).toMatchObject({ types: { addedCount: 1 } });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a type checker that is not installed is left out with a sentence', async () => {
  const fixture = await shared.fixture({ files: FILES, types: 'node_modules/.bin/tsc --noEmit' });
  const onBase = await fixture.base();
  const { A } = await fixture.examine(onBase, {
    A: { 'src/width.js': '/** @param {string} text */\nexports.width = (text) => [...text].length;\n' },
  });
  expect(A).toMatchObject({ survivor: true });
  expect(A).not.toHaveProperty('types');
  expect(testNotes({ evidence: A ? [A] : [] }).join('\n')).toMatch(
    /The type check `node_modules\/\.bin\/tsc --noEmit` ends with exit code \d+ without findings that can be compared \(.+\) on the base commit, so it was left out\./,
  );
});
