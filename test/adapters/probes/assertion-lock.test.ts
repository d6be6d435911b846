import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AssertionRecords, readAssertionRecords } from '../../../src/core/evidence/index.ts';

const FOLDER = join(import.meta.dirname, '../../../src/adapters/probes/assertions');
const has = (...argv: readonly string[]) =>
  spawnSync(argv[0] ?? '', argv.slice(1), { stdio: 'ignore' }).status === 0;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'runoff-lock-'));
  mkdirSync(join(root, 'home/.cache/checks'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

interface Ran {
  readonly status: number | null;
  readonly output: string;
  readonly records: AssertionRecords;
}

function run(argv: readonly string[], files: Readonly<Record<string, string>>, env: object = {}): Ran {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { status, stdout, stderr } = spawnSync(argv[0] ?? '', argv.slice(1), {
    cwd: root,
    encoding: 'utf8',
    timeout: 250_000,
    env: { PATH: process.env.PATH, HOME: join(root, 'home'), PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
  const folder = join(root, 'home/.cache/checks');
  const lines = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return { status, output: `${stdout}${stderr}`, records: readAssertionRecords(lines.join('\n')) };
}

const LOCK = `--require=${join(FOLDER, 'load.cjs')}`;
const node = (files: Readonly<Record<string, string>>, env?: object, ...options: readonly string[]) =>
  run([process.execPath, ...options, LOCK, 'a.test.js'], files, env);

describe('the lock of Node', () => {
  const HARMLESS = "const assert = require('node:assert');\nassert.equal(1, 1);\nconsole.log('done');\n";

  test.each(['/dev/null', '/does/not/exist', '/proc/nope'])(
    'does not end a program whose home is %s',
    (HOME) => {
      expect(node({ 'a.test.js': HARMLESS }, { HOME })).toMatchObject({ status: 0, output: 'done\n' });
    },
  );

  test('starts without the global `performance`, as in old versions', () => {
    const ran = node(
      { 'old.js': 'delete globalThis.performance;\n', 'a.test.js': HARMLESS },
      {},
      '--require=./old.js',
    );
    expect(ran).toMatchObject({ status: 0, output: 'done\n' });
    expect(ran.records.used).toEqual([{ library: 'assert', file: join(root, 'a.test.js') }]);
  });

  test('that cannot start at all leaves the program as it is', () => {
    const ran = node(
      { 'broken.js': 'Reflect.ownKeys = undefined;\n', 'a.test.js': HARMLESS },
      {},
      '--require=./broken.js',
    );
    expect(ran).toMatchObject({ status: 0, output: 'done\n' });
  });

  test('does not fail the assertions of a program that freezes errors or removes the folder of records', () => {
    const ran = node({
      'a.test.js': `Object.freeze(Error);\nrequire('node:fs').rmSync(process.env.HOME + '/.cache/checks/', { recursive: true });\n${HARMLESS}require('node:fs').mkdirSync(process.env.HOME + '/.cache/checks/');\n`,
    });
    expect(ran).toMatchObject({ status: 0, output: 'done\n', records: { capped: ['all'] } });
  });

  test('says that its records are not complete when production code asserts often', () => {
    const { records } = node({
      'sum.js':
        "const assert = require('node:assert');\nfor (let i = 0; i < 1_500; i += 1) assert.ok(true);\n",
      'a.test.js': `require('./sum.js');\n${HARMLESS}`,
    });
    expect(records).toMatchObject({ used: [{ file: join(root, 'sum.js') }], capped: ['used'] });
  });

  test('records what is replaced without code of the repository on the stack', () => {
    const { records } = node({
      'node_modules/put/index.js': 'exports.put = (target, key, value) => {\n  target[key] = value;\n};\n',
      'a.test.js': `${HARMLESS}setTimeout(require('put').put, 0, assert, 'strictEqual', () => 'mine');\nassert.deepEqual = () => {};\n`,
    });
    expect(records.wrote).toEqual([{ name: 'assert.strictEqual', text: "() => 'mine'" }]);
    expect(records.changed).toMatchObject([{ name: 'assert.deepEqual', locked: true }]);
  });
});

describe.skipIf(!has('python3', '--version'))('the lock of Python', () => {
  const TEST = `import sys
import unittest

module = sys.modules.get("assertion_lock")
if module:
    module.watched.clear()
unittest.TestCase.assertEqual = lambda *_: None


class Sums(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(1, 2)
`;
  const unittest = (env: object = {}) =>
    run(['python3', '-m', 'unittest', 'test_sum'], { 'test_sum.py': TEST }, { PYTHONPATH: FOLDER, ...env });

  test('is not found by its name', () => {
    const { status, records, output } = unittest();
    expect(status, output).not.toBe(0);
    expect(records.changed).toMatchObject([{ name: 'unittest.TestCase.assertEqual', locked: true }]);
  });

  test('works without a folder for records', () => {
    const { output } = unittest({ HOME: '/dev/null' });
    expect(output).toContain('1 != 2');
    expect(output).not.toContain('sitecustomize');
  });

  test.skipIf(!has('python3', '-m', 'pytest', '--version'))('is the same in pytest', () => {
    const { records, output } = run(
      ['python3', '-m', 'pytest', '-q', '-p', 'assertion_lock', '-p', 'no:cacheprovider'],
      {
        'test_sum.py': `${TEST}\n\ndef test_no_module():\n    assert "assertion_lock" not in sys.modules\n`,
      },
      { PYTHONPATH: FOLDER },
    );
    expect(output).toContain('1 != 2');
    expect(output).toContain('1 failed, 1 passed');
    expect(records.changed).toMatchObject([{ name: 'unittest.TestCase.assertEqual', locked: true }]);
    expect(records.ended).toEqual(['pytest']);
  });
});
