import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBubblewrap } from '../../../src/adapters/sandbox/index.ts';
import { openWorkbench, shell, type Workbench } from './workbench.ts';

describe('the probe', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench.close());

  test('names backend, version and how areas are made', async () => {
    const copies = openBubblewrap({ ...bench.options, overlay: false });
    expect(await bench.sandbox.probe()).toEqual({
      kind: 'ready',
      backend: 'bubblewrap',
      detail: expect.stringMatching(/^bubblewrap \d+\.\d+\.\d+, overlay mounts, limits by \w+/),
      weaker: [],
    });
    expect(await copies.probe()).toMatchObject({
      kind: 'ready',
      detail: expect.stringContaining('full copies'),
    });
  });

  test('counts what commands must not read in /usr, and they find it empty', async () => {
    const hidden = ['/usr/lib/os-release', '/usr/share/doc', '/usr/local/etc/none'];
    const sandbox = openBubblewrap({ ...bench.options, hidden });
    expect(await sandbox.probe()).toMatchObject({
      kind: 'ready',
      detail: expect.stringContaining('3 files of /usr hidden'),
      weaker: [],
    });
    const look = 'cat /usr/lib/os-release && ls -A /usr/share/doc && touch /usr/share/doc/x';
    const end = await sandbox.exec(shell(bench.area(), look));
    expect(end).toMatchObject({ stdout: '', stderr: expect.stringContaining('Read-only file system') });
    expect((await bench.sandbox.exec(shell(bench.area(), look))).stdout).toContain('NAME=');
  });

  test('leaves nothing behind', async () => {
    await bench.sandbox.probe();
    const left = readdirSync(join(bench.root, 'scratch')).filter((name) => name.startsWith('probe'));
    expect(left).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)(
    'refuses to run sandboxes as root, and so does every command',
    async () => {
      const asRoot = openBubblewrap({ ...bench.options, owner: null });
      expect(await asRoot.probe()).toMatchObject({
        kind: 'missing',
        remedy: 'Start Runoff as an ordinary user.',
      });
      await expect(asRoot.exec(shell(bench.area(), 'true'))).rejects.toMatchObject({
        code: 'SANDBOX_UNAVAILABLE',
      });
    },
  );

  test('reports when its folder cannot be created, and tries again', async () => {
    writeFileSync(join(bench.root, 'file'), '');
    const blocked = openBubblewrap({ ...bench.options, scratch: join(bench.root, 'file/scratch') });
    const remedy = 'Set RUNOFF_DATA to a folder that Runoff can write.';
    expect(await blocked.probe()).toMatchObject({
      kind: 'missing',
      why: expect.stringContaining('ENOTDIR'),
      remedy,
    });
    expect(await blocked.probe()).toMatchObject({ kind: 'missing' });
  });

  test.runIf(process.getuid?.() === 0)('says so when sandboxes cannot reach its folder', async () => {
    const closed = join(bench.root, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const blocked = openBubblewrap({ ...bench.options, scratch: join(closed, 'scratch') });
    expect(await blocked.probe()).toMatchObject({
      kind: 'missing',
      why: expect.stringContaining(`cannot reach ${closed}/scratch`),
      remedy: expect.stringContaining('RUNOFF_DATA'),
    });
  });

  /** What a program prints as root without some capabilities, as in most containers. */
  const asRootWithout = (capabilities: readonly string[], source: string): unknown => {
    const dropped = capabilities.map((name) => `-${name}`).join(',');
    const argv = [`--bounding-set=${dropped}`, `--inh-caps=${dropped}`, process.execPath];
    const said = execFileSync('setpriv', [...argv, '--input-type=module', '--eval', source], {
      env: { PATH: process.env.PATH, OPTIONS: JSON.stringify(bench.options) },
      encoding: 'utf8',
    });
    return JSON.parse(said);
  };
  const from = (file: string): string =>
    JSON.stringify(new URL(`../../../src/adapters/sandbox/${file}`, import.meta.url).pathname);

  test.runIf(process.getuid?.() === 0)(
    'has no sandbox as root that can neither look at nor end the processes of its sandboxes',
    () => {
      const probe = `
        import { openBubblewrap } from ${from('index.ts')};
        console.log(JSON.stringify(await openBubblewrap(JSON.parse(process.env.OPTIONS)).probe()));`;
      expect(asRootWithout(['sys_ptrace', 'kill'], probe)).toMatchObject({
        kind: 'missing',
        why: expect.stringMatching(/without the capability SYS_PTRACE and KILL/),
        remedy: expect.stringMatching(/^Start Runoff as an ordinary user, or /),
      });
    },
  );

  test.runIf(process.getuid?.() === 0)('a process that cannot be watched has not ended', () => {
    const look = `
      import { spawn } from 'node:child_process';
      import { findInit } from ${from('processes.ts')};
      const child = spawn('sleep', ['60'], { uid: 64190, gid: 64190 });
      let code = null;
      try { code = findInit(child.pid); } catch (fault) { code = fault.code; }
      const ended = findInit(2 ** 22 + 1);
      console.log(JSON.stringify({ code, ended }));
      process.exit(child.kill() ? 0 : 1);`;
    expect(asRootWithout(['sys_ptrace'], look)).toEqual({ code: 'SANDBOX_UNAVAILABLE', ended: null });
  });

  test.runIf(process.getuid?.() === 0)('a process that hides belongs to the sandbox of its parent', () => {
    // Of another user, as for an ordinary user one whose program may only be executed.
    const hide =
      'setpriv --reuid=64190 --clear-groups sleep 60 & sleep 0.5; echo $!; readlink /proc/self/ns/ipc; wait';
    const look = `
      import { spawn } from 'node:child_process';
      import { once } from 'node:events';
      import { readlinkSync } from 'node:fs';
      import { openProcessTable } from ${from('processes.ts')};
      const parent = spawn('unshare', ['--ipc', 'sh', '-c', ${JSON.stringify(hide)}], { detached: true });
      let said = '';
      parent.stdout.on('data', (text) => (said += text));
      while (!said.includes(']')) await once(parent.stdout, 'data');
      const [pid, namespace] = said.split('\\n');
      const within = openProcessTable(() => 0).within(namespace).map(Number);
      let refused = null;
      try { readlinkSync('/proc/' + pid + '/ns/ipc'); } catch ({ code }) { refused = code; }
      console.log(JSON.stringify({ refused, ids: [parent.pid, Number(pid)], within }));
      process.kill(-parent.pid, 'SIGKILL');`;
    const found = asRootWithout(['sys_ptrace'], look) as {
      refused: unknown;
      ids: number[];
      within: number[];
    };
    expect(found.refused).toBe('EACCES');
    expect(found.within.toSorted()).toEqual(found.ids.toSorted());
  });
});
