import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openOnDesktop } from '../../../src/adapters/system/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'desktop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}
const open = (path: string, startedMs?: number) =>
  openOnDesktop(path, 'page.html', {
    env: { PATH: process.env.PATH },
    ...(startedMs === undefined ? {} : { startedMs }),
  });

test.each([
  ['its first line, if it fails', 'echo "no display" >&2; echo more >&2; exit 4', 'no display'],
  ['its exit code, if it says nothing', 'exit 3', 'it ended with 3'],
  ['nothing, if it succeeds', 'echo "a warning" >&2', null],
  ['nothing, if it leaves a browser with its standard error', 'sleep 20 & echo $! > "$0.pid"', null],
])('a program of the desktop that ends says why the file is not open: %s', async (name, script, why) => {
  const path = program(name, script);
  expect(await open(path)).toBe(why);
  if (existsSync(`${path}.pid`)) process.kill(Number(readFileSync(`${path}.pid`, 'utf8')));
});

test('a program that is not there is named', async () => {
  expect(await open(join(folder, 'gone'))).toMatch(/gone ENOENT/);
});

test('a process whose browser stays in the foreground ends', () => {
  const path = program('stays', 'echo $$ > "$0.pid"; exec sleep 60');
  const module = new URL('../../../src/adapters/system/index.ts', import.meta.url).href;
  const script = `
    import { openOnDesktop } from ${JSON.stringify(module)};
    const why = await openOnDesktop(${JSON.stringify(path)}, 'page.html', { env: process.env, startedMs: 300 });
    console.log(why);`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  const pid = Number(readFileSync(`${path}.pid`, 'utf8'));
  // Its own process group: Ctrl-C at the terminal does not reach it.
  const group = spawnSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  process.kill(pid);
  expect([stdout, status, group]).toEqual(['null\n', 0, String(pid)]);
});
