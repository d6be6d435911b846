import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lendTool } from '../../../src/adapters/sandbox/tools/lend.ts';
import { memoryLog } from '../../server/delivery.ts';
import { tried } from '../../world/tried.ts';

const OWNER = { uid: 64190, gid: 64190 };

// Only where Runoff is root can the user of sandboxes be kept out of a tool.
describe.skipIf(process.getuid?.() !== 0)('the copy of a tool that sandboxes cannot reach', () => {
  let root: string;
  let dir: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'runoff-lend-'));
    dir = join(root, 'lent');
    chmodSync(root, 0o755);
    mkdirSync(join(root, 'closed'), { mode: 0o700 });
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** A toolchain of some thousand files in a closed folder. */
  function closedTool(files: number) {
    const folder = join(root, 'closed/tool');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'bin/tool'), '#!/bin/sh\necho it runs\n', { mode: 0o755 });
    for (let n = 0; n < files; n += 1) writeFileSync(join(folder, `${n}`), `file ${n}\n`);
    return { program: join(folder, 'bin/tool'), root: folder, bin: join(folder, 'bin') };
  }
  /** Ends the first `tar` that works on a folder whose path begins so; false if there is none now. */
  function killTar(folder: string): boolean {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const [program, flag, where] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        if (program !== 'tar' || flag !== '-C' || !where?.startsWith(folder)) continue;
        process.kill(Number(pid), 'SIGKILL');
        return true;
      } catch {
        // It has just ended.
      }
    }
    return false;
  }

  test.each(['reads', 'writes'])('is whole although the tar that %s was killed', async (which) => {
    tried({
      id: 'lend-killed',
      part: 'Child processes are killed',
      what: 'Each of the two `tar` that copy a toolchain for sandboxes.',
      held: 'The copy is made anew, and is whole.',
    });
    const tool = closedTool(4_000);
    const victim = which === 'reads' ? tool.root : dir;
    // It takes some milliseconds, so that it can be over before it is found.
    for (let kills = 0, tries = 0; kills === 0; tries += 1) {
      expect(tries).toBeLessThan(50);
      rmSync(dir, { recursive: true, force: true });
      let over = false;
      const lending = lendTool(tool, { dir, owner: OWNER }).finally(() => {
        over = true;
      });
      while (!over && kills === 0) {
        if (killTar(victim)) kills += 1;
        await setImmediate();
      }
      const from = (await lending)?.mounts[0]?.from ?? '';
      expect(readdirSync(dir)).toHaveLength(1);
      expect(readdirSync(from)).toHaveLength(4_001);
      expect(execFileSync(join(from, 'bin/tool'), OWNER).toString()).toBe('it runs\n');
    }
  });

  test('holds nothing that only its owner may read, and is open to nobody but the sandboxes', async () => {
    const tool = closedTool(2);
    mkdirSync(join(tool.root, 'src/keys'), { recursive: true });
    writeFileSync(join(tool.root, 'src/deploy'), 'a key', { mode: 0o600 });
    chmodSync(join(tool.root, 'src/keys'), 0o700);
    writeFileSync(join(tool.root, 'src/keys/public'), 'x', { mode: 0o644 });
    const log = memoryLog();
    const from = (await lendTool(tool, { dir, owner: OWNER, log }))?.mounts[0]?.from ?? '';
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { toolchain: tool.root, leftOut: 2 } }]);
    expect(readdirSync(from).toSorted()).toEqual(['0', '1', 'bin', 'src']);
    expect(readdirSync(join(from, 'src'))).toEqual([]);
    expect(execFileSync(join(from, 'bin/tool'), OWNER).toString()).toBe('it runs\n');
    const stranger = { uid: 64_199, gid: 64_199, stdio: 'ignore' } as const;
    expect(() => execFileSync(join(from, 'bin/tool'), stranger)).toThrow('EACCES');
  });

  test('is complete where the umask of its owner closes everything', async () => {
    const tool = closedTool(2);
    for (const name of ['bin/tool', '0', '1']) chmodSync(join(tool.root, name), 0o700);
    const log = memoryLog();
    const from = (await lendTool(tool, { dir, owner: OWNER, log }))?.mounts[0]?.from ?? '';
    expect(log.lines).toEqual([]);
    expect(readdirSync(from).toSorted()).toEqual(['0', '1', 'bin']);
    expect(execFileSync(join(from, 'bin/tool'), OWNER).toString()).toBe('it runs\n');
  });

  test('on a full disk is an outage, and nothing of it stays', async () => {
    const tool = closedTool(400);
    mkdirSync(dir);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400k,mode=755', 'tmpfs', dir]);
    try {
      await expect(lendTool(tool, { dir, owner: OWNER })).rejects.toMatchObject({ code: 'DISK_FULL' });
      expect(readdirSync(dir)).toEqual([]);
      execFileSync('mount', ['-o', 'remount,size=8m', dir]);
      expect((await lendTool(tool, { dir, owner: OWNER }))?.mounts).toHaveLength(1);
    } finally {
      execFileSync('umount', ['-l', dir]);
    }
  });
});
