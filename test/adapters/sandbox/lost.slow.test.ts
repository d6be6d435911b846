import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyTree } from '../../../src/adapters/git/trees.ts';
import { bytesIn } from '../../../src/adapters/sandbox/usage.ts';
import type { ExecResult, Limits } from '../../../src/ports/index.ts';
import { tried } from '../../world/tried.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const LIMITS: Limits = {
  wallMs: 60_000,
  memoryBytes: 1e9,
  diskBytes: 1e9,
  processes: 50,
  outputBytes: 10_000,
};

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly line: string;
}

/** Processes whose command line holds the mark. */
function marked(mark: string): readonly Process[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      if (!/^\d+$/.test(pid) || !line.includes(mark)) return [];
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return [{ pid: Number(pid), parent, line }];
    } catch {
      // It has just ended.
      return [];
    }
  });
}

describe('a sandbox that is killed from outside', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
    await bench.sandbox.probe();
  });
  afterAll(() => bench.close());

  let count = 0;

  /** Starts a command that says when it is there, and kills one of the processes around it. */
  function killed(which: (all: readonly Process[]) => Process | undefined): Promise<ExecResult> {
    count += 1;
    const mark = `mark-${process.pid}-${count}`;
    return bench.sandbox.exec({
      area: bench.area(),
      argv: ['sh', '-c', `echo up; sleep 20; echo end ${mark}`],
      limits: LIMITS,
      onLine(line) {
        if (line !== 'up') return;
        const found = which(marked(mark));
        if (found === undefined) throw new Error('There is no such process.');
        process.kill(found.pid, 'SIGKILL');
      },
    });
  }

  const isBwrap = ({ line }: Process): boolean => line.startsWith('bwrap\0');
  const outer = (all: readonly Process[]): Process | undefined =>
    all.find((one) => isBwrap(one) && !all.some((other) => other.pid === one.parent && isBwrap(other)));

  test('through unshare or bwrap is distinguished from the end of its command', async () => {
    tried({
      id: 'launcher-killed',
      part: 'Child processes are killed',
      what: 'The launcher of a sandbox (unshare or bwrap) while its command runs.',
      held: 'Runoff distinguishes this from the end of the command, and the fault names the killed program.',
    });
    await expect(killed((all) => all.find(({ line }) => line.startsWith('unshare\0')))).rejects.toMatchObject(
      {
        code: 'PROGRAM_KILLED',
        message: expect.stringMatching(/^unshare, which starts a sandbox, was killed/),
      },
    );
    await expect(killed(outer)).rejects.toMatchObject({
      code: 'PROGRAM_KILLED',
      message: expect.stringMatching(/^bwrap, which makes a sandbox, was killed/),
    });
  });

  test.each(['--block-size=1', '--inodes'])('during du %s measures the folder again', async (kind) => {
    tried({
      id: 'du-killed',
      part: 'Child processes are killed',
      what: "Each of the two `du` processes that measure a coder's disk use.",
      held: 'The folder is measured again.',
    });
    const folder = await mkdtemp(join(tmpdir(), 'runoff-du-killed-'));
    try {
      for (let n = 0; n < 15_000; n += 1) writeFileSync(join(folder, `${n}`), 'x');
      // Some file systems allocate blocks later, and the sum would change in between.
      execFileSync('sync', ['--file-system', folder]);
      const bytes = await bytesIn([folder], null);
      // It takes a few milliseconds, so that it can be over before it is found.
      for (let kills = 0, tries = 0; kills === 0; tries += 1) {
        expect(tries).toBeLessThan(200);
        let over = false;
        const measured = bytesIn([folder], null).finally(() => {
          over = true;
        });
        while (!over && kills === 0) {
          const du = marked(folder).find(({ line }) => line.startsWith('du\0') && line.includes(kind));
          if (du) kills += kill(du.pid);
          await setImmediate();
        }
        expect(await measured).toBe(bytes);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('during cp copies the folder again', async () => {
    tried({
      id: 'cp-killed',
      part: 'Child processes are killed',
      what: 'The `cp` inside a shell that copies the packages of a working tree.',
      held: 'The folder is copied again, and is not taken for one that cannot be copied.',
    });
    const folder = await mkdtemp(join(tmpdir(), 'runoff-cp-killed-'));
    try {
      const from = join(folder, 'from');
      mkdirSync(from);
      for (let n = 0; n < 15_000; n += 1) writeFileSync(join(from, `${n}`), 'x');
      for (let kills = 0, tries = 0; kills === 0; tries += 1) {
        expect(tries).toBeLessThan(50);
        const into = await mkdtemp(join(folder, 'into-'));
        let over = false;
        const copied = copyTree(from, into, 'copy', null).finally(() => {
          over = true;
        });
        while (!over && kills === 0) {
          const cp = marked(from).find(({ line }) => line.startsWith('cp\0'));
          if (cp) kills += kill(cp.pid);
          await setImmediate();
        }
        expect(await copied).toBeNull();
        expect(readdirSync(join(into, 'copy'))).toHaveLength(15_000);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  /** How many processes that killed. */
  function kill(pid: number): number {
    try {
      process.kill(pid, 'SIGKILL');
      return 1;
    } catch {
      // It has just ended.
      return 0;
    }
  }

  const run = (line: string, limits: Partial<Limits> = {}) =>
    bench.sandbox.exec({ area: bench.area(), argv: ['sh', '-c', line], limits: { ...LIMITS, ...limits } });

  test.each([
    ['kills itself', 'kill -KILL $$'],
    ['is killed by its child', '(kill -KILL $$); sleep 20'],
    [
      'kills the first process of its namespace, and then itself',
      'kill -KILL 1; kill -TERM 1; kill -KILL $$',
    ],
    ['is ended by a fault of memory', 'kill -SEGV $$'],
    ['imitates a launcher that was killed', 'echo "unshare: child exit failed" >&2; exit 137'],
  ])('is told from a command that %s, which ended by itself', async (_, line) => {
    expect(await run(line)).toMatchObject({ exitCode: null, stopped: null });
  });

  test('before it began, because its lower folder was missing, runs when the folder is back', async () => {
    const area = bench.area();
    const [lower = ''] = area.lowers;
    await rename(lower, `${lower}.aside`);
    const spec = { area, argv: ['true'], limits: LIMITS } as const;
    await expect(bench.sandbox.exec(spec)).rejects.toMatchObject({
      code: 'PROGRAM_KILLED',
      message: expect.stringContaining('a folder that it stands on is gone'),
    });
    await rename(`${lower}.aside`, lower);
    expect(await bench.sandbox.exec(spec)).toMatchObject({ exitCode: 0 });
  });

  test('cannot be faked by a command that imitates the launcher', async () => {
    const line =
      'echo "bwrap: killed" >&2; for fd in 3 4 5 6 7 8; do echo "{ \\"exit-code\\": 0 }" 2>/dev/null >&$fd; done; exit 3';
    expect(await run(line)).toMatchObject({ exitCode: 3, stopped: null });
  });

  test('is told from a command that exceeds its memory limit', async () => {
    const eat = "node -e 'const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))'";
    expect(await run(eat, { memoryBytes: 2e8 })).toMatchObject({ exitCode: null, stopped: 'memory' });
  });
});
