import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ControlGroups,
  findControlGroups,
  type GroupHost,
} from '../../../src/adapters/sandbox/control-groups.ts';
import { startedAt } from '../../../src/adapters/sandbox/processes.ts';
import { type PretendGroups, pretendGroups } from './fake-control-groups.ts';
import { openWorkbench, shell, type Workbench } from './workbench.ts';

const LIMITS = { memoryBytes: 300e6, processes: 40 };

describe('a delegated control group', () => {
  let kernel: PretendGroups;
  beforeEach(() => {
    kernel = pretendGroups();
  });
  afterEach(() => kernel.close());

  const text = (...path: string[]): string => readFileSync(join(kernel.root, ...path), 'utf8');
  const boxes = (): readonly string[] => readdirSync(kernel.root).filter((name) => name.startsWith('box-'));
  const groups = async (): Promise<ControlGroups> => {
    const found = await findControlGroups(kernel.host);
    if (found.kind === 'none') throw new Error(found.why);
    return found.groups;
  };

  test('is divided: Runoff moves into a leaf group, and commands get limits', async () => {
    const child = spawn('sleep', ['60']);
    writeFileSync(join(kernel.root, 'cgroup.procs'), `${process.pid}\n${child.pid}\n`);
    await groups();
    child.kill();
    expect(text('cgroup.procs')).toBe('');
    expect(kernel.writes).toEqual([
      `app/cgroup.procs=${process.pid}`,
      `app/cgroup.procs=${child.pid}`,
      'unit/cgroup.subtree_control=+memory +pids',
    ]);
  });

  test('is recognised by a process that is already in the leaf group', async () => {
    await groups();
    writeFileSync(join(kernel.host.proc, 'cgroup'), '0::/unit/app\n');
    const group = (await groups()).open(LIMITS);
    expect(boxes()).toHaveLength(1);
    expect(readdirSync(join(kernel.root, 'app'))).not.toContain('app');
    await group.close();
  });

  test.each([
    [
      'control groups of version 1 only',
      () => writeFileSync(join(kernel.host.proc, 'cgroup'), '4:memory:/x\n1:name=systemd:/\n'),
      'none of version 2',
    ],
    [
      'a group outside of what is mounted',
      () => writeFileSync(join(kernel.host.proc, 'mountinfo'), '3 2 0:2 /pod /sys rw - cgroup2 cgroup2 rw\n'),
      'none of version 2',
    ],
    [
      'no limit of memory',
      () => writeFileSync(join(kernel.root, 'cgroup.controllers'), 'cpu pids hugetlb\n'),
      "no memory controller in Runoff's control group",
    ],
    [
      'control files that we cannot write',
      () => rmSync(join(kernel.root, 'cgroup.subtree_control')),
      "Runoff's control group is not delegated",
    ],
    [
      'somebody else in it',
      () => writeFileSync(join(kernel.root, 'cgroup.procs'), `${process.pid}\n${process.ppid}\n`),
      "other programs are in Runoff's control group",
    ],
    [
      'a process of another namespace in it',
      () => writeFileSync(join(kernel.root, 'cgroup.procs'), `${process.pid}\n0\n`),
      "other programs are in Runoff's control group",
    ],
  ])('is not recognised with %s, and nothing changes', async (_what, arrange, why) => {
    arrange();
    expect(await findControlGroups(kernel.host)).toEqual({ kind: 'none', why: expect.stringContaining(why) });
    expect(kernel.writes).toEqual([]);
  });

  test('that cannot be divided is a reason, not an error', async () => {
    const host = {
      ...kernel.host,
      put() {
        throw new Error('EBUSY: resource busy');
      },
    };
    expect(await findControlGroups(host)).toEqual({ kind: 'none', why: 'EBUSY: resource busy' });
  });

  test('holds a command to memory without swap, dies as one, and counts processes', async () => {
    const group = (await groups()).open(LIMITS);
    const [box = ''] = boxes();
    expect(kernel.writes.slice(-4)).toEqual([
      `${box}/memory.max=300000000`,
      `${box}/memory.swap.max=0`,
      `${box}/memory.oom.group=1`,
      // Five of them are the launcher's own.
      `${box}/pids.max=45`,
    ]);
    await group.close();
  });

  test('whose limits cannot be set opens no group, and leaves none', async () => {
    const opened = await groups();
    const mkdir = kernel.host.mkdir;
    kernel.host.mkdir = (path) => {
      mkdir(path);
      rmSync(join(path, 'memory.max'));
    };
    expect(() => opened.open(LIMITS)).toThrow('No control group');
    expect(boxes()).toEqual([]);
  });

  test('says whether memory ran out, and waits for processes on their way out', async () => {
    const opened = await groups();
    kernel.starve(1);
    kernel.linger(3);
    expect(await opened.open(LIMITS).close()).toEqual({ outOfMemory: true });
    expect(await opened.open(LIMITS).close()).toEqual({ outOfMemory: false });
    expect(boxes()).toEqual([]);
  });

  test("is cleared of a killed Runoff's groups, and of nothing else", async () => {
    const gone = spawn('true');
    await new Promise((resolve) => gone.on('close', resolve));
    const alive = `box-${process.pid}-${startedAt(process.pid)}-abc`;
    const names = [`box-${gone.pid}-1-abc`, `box-${process.pid}-1-reused`, alive, 'box-of-others', 'other'];
    for (const name of names) {
      mkdirSync(join(kernel.root, name));
      writeFileSync(join(kernel.root, name, 'cgroup.kill'), '');
    }
    await groups();
    const left = names.filter((name) => readdirSync(kernel.root).includes(name));
    expect(left).toEqual([alive, 'box-of-others', 'other']);
    expect(new Set(kernel.writes.filter((write) => write.includes('kill')))).toEqual(
      new Set([`box-${gone.pid}-1-abc/cgroup.kill=1`, `box-${process.pid}-1-reused/cgroup.kill=1`]),
    );
  });
});

describe('a sandbox in a control group', () => {
  let kernel: PretendGroups;
  let bench: Workbench;
  const open = async (options: { door?: string; put?: GroupHost['put'] } = {}): Promise<void> => {
    kernel = pretendGroups(options);
    bench = await openWorkbench({
      groupHost: { ...kernel.host, ...(options.put ? { put: options.put } : {}) },
    });
  };
  afterEach(() => {
    bench.close();
    kernel.close();
  });
  const boxes = (): readonly string[] => readdirSync(kernel.root).filter((name) => name.startsWith('box-'));

  test('joins it first, and cannot see it', async () => {
    await open();
    let joined: readonly string[] = [];
    const onLine = (): void => {
      joined = boxes().map((name) => readFileSync(join(kernel.root, name, 'cgroup.procs'), 'utf8'));
    };
    const line = 'echo up; sleep 0.3; ls -l /proc/*/fd 2>/dev/null | grep -c cgroup';
    const result = await bench.sandbox.exec(shell(bench.area(), line, { onLine }));
    expect(result).toMatchObject({ stdout: 'up\n0\n', stopped: null });
    // To the kernel, 0 is whoever writes it.
    expect(joined).toEqual(['0\n']);
    expect(boxes()).toEqual([]);
    expect(await bench.sandbox.probe()).toMatchObject({
      detail: expect.stringMatching(/limits by control groups$/),
    });
  });

  test('was stopped for its memory when the kernel says so, and otherwise not', async () => {
    await open();
    await bench.sandbox.probe();
    kernel.starve(1);
    const killed = shell(bench.area(), 'kill -KILL $$');
    expect(await bench.sandbox.exec(killed)).toMatchObject({ exitCode: null, stopped: 'memory' });
    expect(await bench.sandbox.exec(killed)).toMatchObject({ exitCode: null, stopped: null });
  });

  test('is ended through it as well', async () => {
    await open();
    const result = await bench.sandbox.exec(
      shell(bench.area(), 'echo up; sleep 60', { signal: AbortSignal.timeout(1500) }),
    );
    expect(result).toMatchObject({ stopped: 'cancelled' });
    const kills = kernel.writes.filter((write) => write.endsWith('cgroup.kill=1'));
    expect(kills.length).toBeGreaterThanOrEqual(2);
  });

  test('is ended although no file can be opened at that moment, and ends no more than the command', async () => {
    let refusals = 1;
    await open({
      put(file, text) {
        if (file.endsWith('/cgroup.kill') && refusals < 1) {
          refusals += 1;
          throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
        }
        kernel.host.put(file, text);
      },
    });
    await bench.sandbox.probe();
    refusals = 0;
    const endless = shell(bench.area(), 'echo up; sleep 60');
    const limits = { ...endless.limits, wallMs: 1_000 };
    expect(await bench.sandbox.exec({ ...endless, limits })).toMatchObject({ stopped: 'wall' });
    expect(refusals).toBe(1);
    expect(boxes()).toEqual([]);
  });

  test('that cannot be joined runs with watchdogs, and the probe says why', async () => {
    await open({ door: '/dev/full' });
    expect(await bench.sandbox.probe()).toMatchObject({
      kind: 'ready',
      detail: expect.stringMatching(/limits by watchdogs \(no control groups: .*(I\/O|write) error/i),
    });
    expect(await bench.sandbox.exec(shell(bench.area(), 'echo runs'))).toMatchObject({ stdout: 'runs\n' });
    expect(boxes()).toEqual([]);
  });
});
