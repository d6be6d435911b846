import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '..', 'src');

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runoff-start-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Starts a process as Runoff starts, which then prints the pager that it would use. */
function start(options: { readonly env?: Readonly<Record<string, string>>; readonly deleted?: boolean }) {
  const program = join(home, 'program.mjs');
  const main = `import '${SRC}/process-start.ts';
    import { pagerOf } from '${SRC}/adapters/system/pager.ts';
    console.log(pagerOf(process.env), process.env.LOG_LEVEL);\n`;
  const folder = join(home, 'folder');
  mkdirSync(folder);
  writeFileSync(program, main);
  const { status, stdout, stderr } = spawnSync(
    '/bin/sh',
    ['-c', `${options.deleted ? 'rmdir "$PWD" && ' : ''}exec "$0" "$1"`, process.execPath, program],
    { cwd: folder, env: options.env ?? {}, encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

test('an empty pager variable switches the pager off; other empty variables count as not set', () => {
  const { stdout } = start({ env: { RUNOFF_PAGER: '', PAGER: 'more', LOG_LEVEL: '' } });
  expect(stdout).toBe('null undefined\n');
});

test('a start in a deleted folder ends with a sentence instead of a stack', () => {
  const { status, stdout, stderr } = start({ deleted: true });
  expect(stderr).toBe(
    'The current folder was deleted, or this user may not enter it.\n→ Start Runoff in another folder.\n',
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
});
