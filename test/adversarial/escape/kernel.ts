import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRNO } from './answers.ts';
import {
  both,
  boxed,
  call,
  type EscapeWorld,
  isRoot,
  line,
  type OpenWorld,
  perl,
  weaknesses,
} from './world.ts';

/** System call numbers, written down apart from the product's own. */
const NR =
  process.arch === 'arm64'
    ? {
        ...{
          mount: 40,
          umount: 39,
          chroot: 51,
          setns: 268,
          unshare: 97,
          bpf: 280,
          userfaultfd: 282,
          perf: 241,
        },
        ...{ addKey: 217, syslog: 116, memfd: 279, clone: 220 },
      }
    : {
        ...{
          mount: 165,
          umount: 166,
          chroot: 161,
          setns: 308,
          unshare: 272,
          bpf: 321,
          userfaultfd: 323,
          perf: 298,
        },
        ...{ addKey: 248, syslog: 103, memfd: 319, clone: 56 },
      };
const SHARED = { ioUring: 425, openTree: 428, moveMount: 429, fsopen: 430, mountSetattr: 442, clone3: 435 };

/** Attacks on the kernel that sandboxes and host share. */
export function kernelSuite(name: string, open: OpenWorld): void {
  describe(`the kernel, from ${name}`, () => {
    let world: EscapeWorld;
    beforeAll(async () => {
      world = await open();
    });
    afterAll(() => world.close());

    const inside = async (text: string) => (await boxed(world, world.area(), line(text))).stdout;
    const outside = async (text: string) => (await world.unboxed(line(text))).stdout;

    test('[p11] no namespace is opened', async () => {
      const attack =
        'unshare --user --map-root-user id -u; unshare --user id -u; bwrap --ro-bind / / id -u; echo end';
      expect(await outside(attack)).toMatch(/^0\n/);
      expect(await inside(attack)).toBe('end\n');
      const flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80];
      const each = perl(
        `for my $flag (${flags.join(', ')}) { for my $nr (${NR.unshare}, ${NR.clone}) { my $r = syscall($nr, $flag, 0, 0, 0, 0); exit if $r == 0 && $nr == ${NR.clone}; print $r == -1 ? $!+0 : 0, " " } }`,
      );
      const { free, held } = await both(world, each);
      expect(free).toContain('0 ');
      // First the answer to `unshare`, then that to `clone`, where the filter has to look at an argument.
      const refused = ['1', ERRNO[world.answers.argument]];
      expect(held.trim().split(' ')).toEqual(flags.flatMap(() => refused));
    });

    test('[p12 p13] nothing is mounted, and nothing mounted is opened for writing', async () => {
      const attack = `d=$(mktemp -d); mount -t tmpfs none $d && echo mounted; mount --bind $d /mnt && echo bound
        mount -o remount,rw,bind /usr && echo remounted; umount -l /proc && echo unmounted; mount -t overlay o -o lowerdir=/usr,upperdir=$d,workdir=$d $d && echo over; true`;
      // Any user may do so in namespaces of its own; there the kernel, and not the file modes, is asked.
      const free = await outside(`unshare --user --map-root-user --mount sh -c '${attack}'`);
      expect(free).toContain('mounted\nbound\n');
      expect(await inside(`(${attack}) 2>/dev/null`)).toBe('');
      expect(
        await inside('findmnt -no OPTIONS --target /usr | grep -c "^ro,"; touch /repo/x && echo own'),
      ).toBe('1\nown\n');
    });

    test('[p14] the kernel’s keyring is out of reach', async () => {
      // KEY_SPEC_SESSION_KEYRING is -3.
      const add = perl(
        `my ($t, $d, $p) = ("user", "canary", "x"); my $r = syscall(${NR.addKey}, $t, $d, $p, 1, -3); print $r == -1 ? $!+0 : 0`,
      );
      expect(await both(world, add)).toEqual({ free: '0', held: '1' });
    });

    test('[p15] shared memory of the host is not found', async () => {
      const id = /\d+/.exec(await outside('ipcmk --shmem 4096 --mode 0666'))?.[0] ?? '';
      const row = new RegExp(`\\s${id}\\s+\\S+\\s+666`);
      try {
        expect(await outside('ipcs --shmems')).toMatch(row);
        expect(await inside('ipcs --shmems')).not.toMatch(row);
        expect(await inside('ipcmk --shmem 4096 --mode 0666 >/dev/null; ipcs --shmems')).toMatch(/\s666\s/);
      } finally {
        await outside(`ipcrm --shmem-id ${id}`);
      }
    });

    test('[p16] calls that open other doors are closed by the filter', async () => {
      const doors: Readonly<Record<string, readonly number[]>> = {
        mount: [NR.mount, 0, 0, 0, 0, 0],
        umount: [NR.umount, 0, 0],
        chroot: [NR.chroot, 0],
        setns: [NR.setns, 0, 0],
        bpf: [NR.bpf, 0, 0, 0],
        userfaultfd: [NR.userfaultfd, 1],
        perf: [NR.perf, 0, 0, -1, -1, 0],
        io_uring: [SHARED.ioUring, 1, 0],
        open_tree: [SHARED.openTree, -100, 0, 0],
        mount_setattr: [SHARED.mountSetattr, 0, 0, 0, 0, 0],
        clone3: [SHARED.clone3, 0, 0],
        memfd: [NR.memfd, 0, 0],
      };
      const all = perl(
        Object.entries(doors)
          .map(
            ([door, args]) =>
              `{ $! = 0; my $r = syscall(${args.join(', ')}); print "${door} ", ($r == -1 ? $!+0 : 0), "\\n" }`,
          )
          .join('\n'),
      );
      const read = (text: string) =>
        Object.fromEntries(
          text
            .trim()
            .split('\n')
            .map((one) => one.split(' ')),
        );
      const { free, held } = await both(world, all);
      const answers = read(free);
      expect(read(held)).toEqual(
        Object.fromEntries(
          Object.keys(doors).map((door) => [door, door === 'clone3' || door === 'memfd' ? '38' : '1']),
        ),
      );
      // The kernel itself says something else to these, so that it is the filter which answers. Some hosts close a few.
      const sameAsClosed = Object.keys(doors).filter((door) => answers[door] === read(held)[door]);
      expect(
        sameAsClosed.filter((door) => !['bpf', 'userfaultfd', 'io_uring', 'perf'].includes(door)),
      ).toEqual([]);
      expect(await inside('echo $(getconf ARG_MAX)')).toMatch(/^\d+\n$/);
    });

    test('[p17] the kernel’s log is not read', async () => {
      // SYSLOG_ACTION_SIZE_BUFFER is 10, and refused even where the log is open to everyone.
      const size = call(NR.syslog, 10, 0, 0);
      if (readFileSync('/proc/sys/kernel/dmesg_restrict', 'utf8').trim() === '0')
        expect((await world.unboxed(size)).stdout).toBe('0');
      if (isRoot) expect(execFileSync('dmesg').length).toBeGreaterThan(0);
      expect((await boxed(world, world.area(), size)).stdout).toBe('1');
      expect(await inside('dmesg 2>/dev/null; cat /dev/kmsg 2>/dev/null; true')).toBe('');
    });

    test('[p18] the kernel’s settings stay as they are', async () => {
      const file = '/proc/sys/kernel/core_pattern';
      const before = readFileSync(file, 'utf8');
      const files = [file, '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger', '/proc/sys/kernel/shmall'];
      // Opened for writing, and nothing written.
      const attack = `for f in ${files.join(' ')}; do (: >> $f) 2>/dev/null && echo $f; done; true`;
      if (isRoot) expect(execFileSync('sh', ['-c', attack], { encoding: 'utf8' })).toContain(file);
      const own = await outside(`unshare --user --map-root-user --ipc --uts sh -c '${attack}'`);
      expect(own).toContain('shmall');
      expect(await inside(attack)).toBe('');
      expect(await inside('find /proc/sys -type f -writable 2>/dev/null; true')).toBe('');
      expect(readFileSync(file, 'utf8')).toBe(before);
      expect(await inside(`cat ${file}`)).toBe(before);
    });

    test('[p19] no control group of the host is seen or entered', async () => {
      const attack = `cat /proc/self/cgroup; ls /sys/fs/cgroup
        for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do echo 0 > $f && echo entered; done
        ls -d /sys/fs/cgroup/*/*/cgroup.procs; find /sys -type f -writable; true`;
      const { free, held } = await both(world, line(attack));
      expect(free).toContain(readFileSync('/proc/self/cgroup', 'utf8').split('\n')[0] ?? '');
      expect(held).not.toMatch(/^entered/m);
      if (world.answers.sys === 'absent') expect(held).toContain("cannot access '/sys/fs/cgroup'");
      // Its own may show, without any beside or below it, and with nothing to write.
      expect(held).not.toMatch(/^\/sys/m);
      // Each line ends in the path that its own namespace begins at.
      for (const one of held.split('\n').filter((text) => /^\d+:/.test(text))) expect(one).toMatch(/:\/$/);
    });

    test('[p20] the host’s devices and modules are not listed', async () => {
      const list =
        'find /sys -mindepth 2 -not -path "/sys/fs/*" 2>/dev/null | head -3; find /sys/fs -mindepth 2 -not -path "/sys/fs/cgroup/*" 2>/dev/null | head -3';
      expect(await outside(list)).not.toBe('');
      const held = await inside(list);
      if (world.answers.sys === 'absent') expect(held).toBe('');
      else if (held !== '') expect(await weaknesses(world)).toMatch(/show.*the \/sys of this host/);
      expect(await inside('ls /proc/self/status')).toBe('/proc/self/status\n');
    });
  });
}
