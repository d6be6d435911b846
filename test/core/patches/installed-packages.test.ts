import { expect, test } from 'vitest';
import { packageFolders, staleNpmPackage } from '../../../src/core/patches/index.ts';

const lock = (packages: object) => JSON.stringify({ lockfileVersion: 3, packages });

test('packages of a workspace may be beside each of its manifests', () => {
  const folders = packageFolders(['package.json', 'packages/a/package.json', 'node_modules/x/package.json']);
  expect(folders).toEqual(['node_modules', '.venv', 'venv', 'vendor', 'packages/a/node_modules']);
});

test('packages that npm installed from this lock file are current', () => {
  const wanted = {
    '': { name: 'root' },
    'packages/a': { version: '1.0.0' },
    'node_modules/a': { link: true },
    'node_modules/ms': { version: '2.1.3' },
    'node_modules/fsevents': { version: '2.3.3', optional: true },
    'node_modules/react': { version: '18.0.0', peer: true },
  };
  expect(staleNpmPackage(lock(wanted), lock({ 'node_modules/ms': { version: '2.1.3' } }))).toBeNull();
});

test.each([
  [{ version: '2.0.0' }, 'the lock file names ms 2.1.3, and 2.0.0 is installed'],
  [undefined, 'the lock file names ms 2.1.3, which is not installed'],
])('another version, or none, is named', (installed, why) => {
  const wanted = { 'node_modules/x/node_modules/ms': { version: '2.1.3' } };
  const record = { 'node_modules/x/node_modules/ms': installed };
  expect(staleNpmPackage(lock(wanted), lock(record))).toBe(why);
});

test.each(['', '[]', '{"packages":[]}', '{"packages":{"a":1}}', '['.repeat(10_000)])(
  'a text that is not npm’s says nothing: %s',
  (text) => {
    expect(staleNpmPackage(text, lock({}))).toBeNull();
    expect(staleNpmPackage(lock({ 'node_modules/a': { version: '1.0.0' } }), text)).toBeNull();
  },
);
