import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type GroupHost, THIS_HOST } from '../../../src/adapters/sandbox/control-groups.ts';

/** A folder of plain files that behaves as the kernel's control groups do, as far as Runoff relies on it. */
export interface PretendGroups {
  readonly host: GroupHost;
  /** The group that we are in at first. */
  readonly root: string;
  /** What was written, as `folder/file=text`, in order. */
  readonly writes: readonly string[];
  /** The next so many groups that are made lost a process to their memory limit. */
  starve(groups: number): void;
  /** The next so many removals find processes on their way out. */
  linger(removals: number): void;
  close(): void;
}

const FILES: Readonly<Record<string, string>> = {
  'cgroup.procs': '',
  'cgroup.controllers': 'cpu memory pids\n',
  'cgroup.subtree_control': '',
  'cgroup.kill': '',
  'memory.max': 'max\n',
  'memory.swap.max': 'max\n',
  'memory.oom.group': '0\n',
  'memory.events': 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n',
  'pids.max': 'max\n',
};

export function pretendGroups(options: { pid?: number; door?: string } = {}): PretendGroups {
  const top = mkdtempSync(join(tmpdir(), 'runoff-groups-'));
  const [proc, root] = [join(top, 'proc'), join(top, 'fs/unit')];
  const pid = options.pid ?? process.pid;
  const writes: string[] = [];
  let starving = 0;
  let lingering = 0;
  const fill = (folder: string): void => {
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  };
  mkdirSync(proc);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(proc, 'cgroup'), '4:memory:/elsewhere\n0::/unit\n');
  writeFileSync(
    join(proc, 'mountinfo'),
    `25 20 0:22 / / rw - ext4 /dev/vda rw\n30 25 0:26 / ${dirname(root)} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n`,
  );
  fill(root);
  writeFileSync(join(root, 'cgroup.procs'), `${pid}\n`);
  const move = (moved: string): void => {
    const from = join(root, 'cgroup.procs');
    const left = readFileSync(from, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && line !== moved);
    writeFileSync(from, left.map((line) => `${line}\n`).join(''));
  };
  const host: GroupHost = {
    proc,
    pid,
    mkdir(path) {
      mkdirSync(path);
      fill(path);
      const box = basename(path).startsWith('box-');
      if (box && options.door !== undefined) {
        rmSync(join(path, 'cgroup.procs'));
        symlinkSync(options.door, join(path, 'cgroup.procs'));
      }
      if (!box || starving === 0) return;
      starving -= 1;
      writeFileSync(join(path, 'memory.events'), 'oom 1\noom_kill 3\n');
    },
    rmdir(path) {
      statSync(path);
      if (lingering > 0) {
        lingering -= 1;
        throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      }
      rmSync(path, { recursive: true });
    },
    put(file, text) {
      if (existsSync(file) && basename(file) === 'cgroup.procs') move(text);
      writes.push(`${basename(dirname(file))}/${basename(file)}=${text}`);
      THIS_HOST.put(file, text);
    },
  };
  return {
    host,
    root,
    writes,
    starve(groups) {
      starving = groups;
    },
    linger(removals) {
      lingering = removals;
    },
    close: () => rmSync(top, { recursive: true, force: true }),
  };
}
