import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createClip,
  editRepoFile,
  runShell,
  type ShellOptions,
  writeRepoFile,
} from '../../../src/adapters/coders/builtin/tools.ts';

let home: string;
let root: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'coder-'));
  root = join(home, 'repo');
  await mkdir(join(root, 'src'), { recursive: true });
  await writeFile(join(home, 'secret'), 'outside');
});
afterEach(() => rm(home, { recursive: true, force: true }));

const text = (path: string) => readFile(join(home, path), 'utf8');

describe('write', () => {
  test('makes folders and overwrites', async () => {
    expect(await writeRepoFile(root, 'a/b/c.txt', 'one')).toBe('wrote a/b/c.txt');
    await writeRepoFile(root, join(root, 'a/b/c.txt'), 'two');
    expect(await text('repo/a/b/c.txt')).toBe('two');
  });

  test('keeps to the repository, also where links lead out of it', async () => {
    await symlink(home, join(root, 'out'));
    await symlink(join(home, 'secret'), join(root, 'link'));
    await symlink(join(home, 'new'), join(root, 'dangling'));
    await mkdir(join(home, 'repo-beside'));
    for (const path of [
      '../secret',
      '/etc/passwd',
      'out/secret',
      'out/a/b',
      'link',
      'dangling',
      '.',
      '../repo-beside/x',
    ]) {
      expect(await writeRepoFile(root, path, 'changed')).toContain('outside of the repository');
      expect(await editRepoFile(root, path, 'outside', 'changed')).toContain('outside of the repository');
    }
    expect(await text('secret')).toBe('outside');
  });

  test('follows links that stay inside, and works where the repository is reached by a link', async () => {
    await symlink('src', join(root, 'lib'));
    await symlink(root, join(home, 'alias'));
    await writeRepoFile(join(home, 'alias'), 'lib/x.js', 'ok');
    expect(await text('repo/src/x.js')).toBe('ok');
  });
});

describe('edit', () => {
  test('replaces one exact occurrence, taking nothing for a pattern', async () => {
    await writeRepoFile(root, 'a.js', 'const a = 1; // $&\n');
    expect(await editRepoFile(root, 'a.js', '1; // $&', "2; // $' $1 $&")).toBe('edited a.js');
    expect(await text('repo/a.js')).toBe("const a = 2; // $' $1 $&\n");
  });

  test('changes no other byte, whatever the encoding of the file', async () => {
    const before = Buffer.from('/* Gr\xf6\xdfe */\nint a = 1;\r\n// caf\xe9\0', 'latin1');
    await writeFile(join(root, 'a.c'), before);
    expect(await editRepoFile(root, 'a.c', 'a = 1', 'ä = 22')).toBe('edited a.c');
    const after = Buffer.from('/* Gr\xf6\xdfe */\nint \xc3\xa4 = 22;\r\n// caf\xe9\0', 'latin1');
    expect(await readFile(join(root, 'a.c'))).toEqual(after);
  });

  test('says that lines end with CRLF where a text of several lines is not found', async () => {
    await writeRepoFile(root, 'dos.txt', 'one\r\ntwo\r\n');
    expect(await editRepoFile(root, 'dos.txt', 'one\ntwo', 'x')).toContain('end with CRLF');
    expect(await editRepoFile(root, 'dos.txt', 'three', 'x')).not.toContain('CRLF');
  });

  test.each([
    ['nowhere', 'c', '0 times'],
    ['twice', 'a', '2 times'],
    ['as nothing', '', 'old is empty'],
  ])('refuses a text that occurs %s', async (_, old, why) => {
    await writeRepoFile(root, 'a.txt', 'a b a');
    expect(await editRepoFile(root, 'a.txt', old, 'x')).toContain(why);
    expect(await text('repo/a.txt')).toBe('a b a');
  });
});

describe('bash', () => {
  const shell = (command: string, options: Partial<ShellOptions> = {}) =>
    runShell(command, {
      cwd: root,
      timeoutSeconds: 20,
      outputCharacters: 200,
      signal: new AbortController().signal,
      onOutput: () => {},
      ...options,
    });

  test('gives output of both streams and the exit code', async () => {
    expect(await shell('pwd; echo oops >&2; exit 3')).toMatch(/repo\noops\n\n\[exit code 3\]$/);
  });

  test('has what a script writes to /dev/stderr', async () => {
    expect(await shell('echo one > /dev/stderr; echo two | tee -a /dev/stdout')).toBe(
      'one\ntwo\ntwo\n\n[exit code 0]',
    );
  });

  test('leaves nothing open if a command cannot be started', async () => {
    const count = () => readdirSync('/proc/self/fd').length;
    const before = count();
    for (const command of ['a\0b', `: ${'x'.repeat(200_000)}`])
      await expect(shell(command)).rejects.toThrow();
    await expect.poll(count).toBeLessThanOrEqual(before);
  });

  test('has the last output of a command that is stopped, or that leaves a program behind', async () => {
    expect(await shell('echo last; sleep 60', { timeoutSeconds: 3 })).toBe('last\n\n[stopped after 3 s]');
    expect(await shell('sleep 60 & seq 1 30; kill -TERM $$')).toMatch(/\n30\n\n\[killed by SIGTERM\]$/);
  });

  test('keeps the first and the last part of long output', async () => {
    const output = await shell('echo BEGIN; seq 1 10000; echo END');
    expect(output).toMatch(/^BEGIN[\s\S]*characters left out[\s\S]*END\n\n?\[exit code 0\]$/);
    expect(output.length).toBeLessThan(400);
  });

  test('does not pass the gateway’s key or address to commands', async () => {
    process.env.GW_KEY = 'gw-canary';
    process.env.GW_URL = 'http://canary.example';
    try {
      expect(await shell('env', { outputCharacters: 100_000 })).not.toContain('canary');
    } finally {
      delete process.env.GW_KEY;
      delete process.env.GW_URL;
    }
  });

  test('ends a command that takes too long, with all that it started', async () => {
    const output = await shell('sleep 300 & echo $!; wait', { timeoutSeconds: 1 });
    expect(output).toContain('stopped after 1 s');
    await expectDead(Number.parseInt(output, 10));
  });

  test('leaves nothing running in the background', async () => {
    const output = await shell('sleep 300 & echo $!');
    expect(output).toContain('exit code 0');
    await expectDead(Number.parseInt(output, 10));
  });

  test('does not wait for a daemon that keeps the output open', async () => {
    const output = await shell('setsid sleep 300 & echo $!');
    expect(output).toContain('exit code 0');
    process.kill(Number.parseInt(output, 10), 'SIGKILL');
  });

  test("ends when the task's time is over", async () => {
    const stop = new AbortController();
    const running = shell('echo up; sleep 300', { signal: stop.signal, onOutput: () => stop.abort() });
    expect(await running).toContain('the time for the whole task is over');
  });
});

async function expectDead(pid: number): Promise<void> {
  await expect
    .poll(async () => {
      const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') X');
      return state.split(') ')[1]?.[0];
    })
    .toMatch(/[XZ]/);
}

test('a clipped text keeps both ends within its limit, however it arrives', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.integer({ min: 2, max: 40 }), (parts, most) => {
      const clip = createClip(most);
      for (const part of parts) clip.add(part);
      const whole = parts.join('');
      const half = Math.floor(most / 2);
      const clipped = clip.text();
      if (whole.length <= half * 2) {
        expect(clipped).toBe(whole);
        return;
      }
      expect(clipped.startsWith(whole.slice(0, half))).toBe(true);
      expect(clipped.endsWith(whole.slice(-half))).toBe(true);
      expect(clipped).toContain(`${whole.length - half * 2} characters left out`);
    }),
  );
});
