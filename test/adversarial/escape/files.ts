import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkArea } from '../../../src/ports/index.ts';
import {
  both,
  boxed,
  DIRT,
  type EscapeWorld,
  isRoot,
  line,
  type OpenWorld,
  perl,
  userInside,
} from './world.ts';

const CANARY = 'canary-7f3a91';
const OWN = 'own-2c55d0';

const HANDLE = process.arch === 'arm64' ? { name: 264, open: 265 } : { name: 303, open: 304 };
/** Asks the kernel for a handle of a file and opens the file by it; prints what came of each, and the content. */
const BY_HANDLE = `
  my ($path, $folder) = @ARGV;
  my $handle = pack("Ii", 128, 0) . "\\0" x 128;
  my $mount = pack("i", 0);
  print "named ", (syscall(${HANDLE.name}, -100, $path, $handle, $mount, 0) == -1 ? $!+0 : "it"), "\\n";
  require POSIX; my $at = POSIX::open($folder, 0);
  my $fd = syscall(${HANDLE.open}, $at, $handle, 0);
  if ($fd < 0) { print "open ", $!+0, "\\n" } else { open(my $f, "<&=", $fd); print <$f> }`;

/** Attacks on files of the host and of other candidates. */
export function filesSuite(name: string, open: OpenWorld): void {
  describe(`files of the host, from ${name}`, () => {
    let world: EscapeWorld;
    let host: string;
    let neighbour: WorkArea;
    beforeAll(async () => {
      world = await open();
      host = world.folder();
      // Everything here belongs to the sandboxes' user: only the sandbox stands between.
      await world.unboxed(
        line(
          `umask 022; cd "$1"; mkdir .ssh; for f in .ssh/id_ed25519 app.pem; do printf ${CANARY} > $f; done`,
          host,
        ),
      );
      neighbour = world.area({ 'secret.txt': CANARY });
      await boxed(world, neighbour, line(`echo ${CANARY} > mine.txt`));
    });
    afterAll(() => world.close());

    const withOwn = (): WorkArea => world.area({ 'own.txt': OWN });
    /** On the host against the target, in the sandbox against it, and in the sandbox against a file of its own. */
    const thrice = async (text: string, target: string) => {
      const shown = await both(world, line(text, target), withOwn());
      const allowed = await boxed(world, withOwn(), line(text, '/repo/own.txt'));
      return { ...shown, allowed: allowed.stdout };
    };

    test.each([
      ['[f02] a private key', 'cat "$1"', () => `${host}/.ssh/id_ed25519`],
      ['[f03] the app’s key', 'cat -- "$(dirname "$1")"/*.pem "$1"', () => `${host}/app.pem`],
      ['[f04] what another candidate wrote', 'cat "$1"', () => `${neighbour.upper}/mine.txt`],
      [
        '[f07] a key behind a symbolic link',
        'd=$(mktemp -d); ln -s "$1" $d/l; cat $d/l; rm -r $d',
        () => `${host}/app.pem`,
      ],
      [
        '[f09] a key behind a hard link',
        'cd "$(dirname "$1")"; ln "$1" hard; cat hard; rm -f hard',
        () => `${host}/app.pem`,
      ],
      [
        '[f10] a key behind the root of another process',
        'for p in /proc/[0-9]*/root /proc/[0-9]*/cwd/../../../../..; do cat "$p$1"; done 2>/dev/null',
        () => `${host}/app.pem`,
      ],
    ] as const)('%s is not read', async (_title, text, target) => {
      const { free, held, allowed } = await thrice(text, target());
      expect(free).toContain(CANARY);
      expect(held).not.toContain(CANARY);
      expect(allowed).toContain(OWN);
    });

    test.each([
      ['[f05] another candidate’s work', 'echo evil > "$1"', () => `${neighbour.upper}/mine.txt`],
      ['[f06] a file outside', 'echo evil > "$1"', () => `${host}/app.pem`],
      [
        '[f08] a file behind a symbolic link',
        'd=$(mktemp -d); ln -s "$1" $d/l; echo evil > $d/l; rm -r $d',
        () => `${host}/app.pem`,
      ],
    ] as const)('%s is not written', async (_title, text, target) => {
      const path = target();
      const before = readFileSync(path, 'utf8');
      await world.unboxed(line(text, path));
      expect(readFileSync(path, 'utf8')).toBe('evil\n');
      writeFileSync(path, before);
      await boxed(world, world.area(), line(text, path));
      expect(readFileSync(path, 'utf8')).toBe(before);
      const own = await boxed(world, withOwn(), line(`${text}; cat "$1"`, '/repo/own.txt'));
      expect(own.stdout).toBe('evil\n');
    });

    test('[f01] the accounts of the host are not there, nor its passwords', async () => {
      const { free, held } = await both(
        world,
        line('stat -c there:%n /etc/shadow /etc/gshadow; cat /etc/passwd'),
      );
      expect(free).toContain('there:/etc/shadow');
      expect(free).toMatch(/^(daemon|bin):/m);
      expect(held).not.toMatch(/there:|^(daemon|bin):/m);
      expect(held.match(/^\w+(?=:x:)/gm)).toEqual(world.answers.accounts);
    });

    test('[f11] no descriptor and no folder of the app is passed on', async () => {
      const look = line(
        'for f in /proc/self/fd/* /proc/1/fd/* /proc/self/cwd; do readlink "$f"; [ -d "$f/" ] && ls "$f/"; [ -p "$f" ] || cat "$f"; done </dev/null 2>/dev/null',
      );
      const leaky = await world.unboxed([
        'bash',
        '-c',
        `cd ${world.dirty}; exec 77<. 78<app.pem; exec "$@"`,
        'bash',
        ...look,
      ]);
      expect(leaky.stdout).toContain(DIRT);
      expect(leaky.stdout).toContain('app.pem');
      const held = await boxed(world, withOwn(), look);
      expect(held.stdout).not.toContain(DIRT);
      expect(held.stdout).not.toContain('app.pem');
      expect(held.stdout).toContain('/repo');
    });

    test('[f12] no file is named or opened by its handle', async () => {
      const attack = perl(BY_HANDLE, `${host}/app.pem`, host);
      expect((await world.unboxed(attack)).stdout).toContain('named it');
      if (isRoot) expect((await unboxedAsRoot(attack)).stdout).toContain(CANARY);
      const held = await boxed(world, withOwn(), perl(BY_HANDLE, '/repo/own.txt', '/repo'));
      // The filter answers before a path is looked at: "not permitted", where the host gave a name.
      expect(held.stdout).toBe('named 1\nopen 1\n');
    });

    test('[f13] no disk, memory or other device of the host is there', async () => {
      const list = line('cd /dev; for f in *; do [ -b $f ] && echo block; [ -c $f ] && echo $f; done; true');
      const { free, held } = await both(world, list);
      const harmless = [
        'full',
        'null',
        'ptmx',
        'random',
        'tty',
        'urandom',
        'zero',
        'stderr',
        'stdin',
        'stdout',
      ];
      const others = (text: string) =>
        text.split('\n').filter((one) => one !== '' && !harmless.includes(one));
      // A host without any other device (some containers) has nothing to lose: the list inside is closed all the same.
      if (!existsSync('/.dockerenv')) expect(others(free)).not.toEqual([]);
      expect(others(held)).toEqual([]);
      expect((await boxed(world, withOwn(), line('head -c 3 /dev/zero | wc -c'))).stdout).toBe('3\n');
    });

    test('[f14] no device is made', async () => {
      const make = (folder: string) =>
        line('cd "$1"; mknod w c 0 0; mknod b b 7 0; mknod c c 1 1; mkfifo pipe; ls', folder);
      const free = await world.unboxed(make(world.folder()));
      // An ordinary user may make the overlay's own deletion mark; root may make any.
      expect(free.stdout).toBe('pipe\nw\n');
      if (isRoot) expect((await unboxedAsRoot(make(world.folder()))).stdout).toBe('b\nc\npipe\nw\n');
      expect((await boxed(world, world.area(), make('/repo'))).stdout).toBe('pipe\n');
    });

    test('[f15] the temporary folders are others than the host’s', async () => {
      const names = [`/tmp/${CANARY}`, `/dev/shm/${CANARY}`];
      for (const path of names) writeFileSync(path, CANARY);
      const attack = line(
        `cat /tmp/${CANARY} /dev/shm/${CANARY}; touch /tmp/${CANARY}.2 /dev/shm/${CANARY}.2 && echo made`,
      );
      try {
        expect((await world.unboxed(attack)).stdout).toBe(`${CANARY}${CANARY}made\n`);
        for (const path of names) rmSync(`${path}.2`);
        expect((await boxed(world, world.area(), attack)).stdout).toBe('made\n');
        for (const path of names) expect(existsSync(`${path}.2`)).toBe(false);
      } finally {
        for (const path of names) rmSync(path);
      }
    });

    test('[f16] nothing but the promised folders is to be seen', async () => {
      const absent = ['root', 'srv', 'mnt', 'media', 'sys', 'boot', 'run'].filter(
        (folder) => !world.answers.besides.includes(folder),
      );
      // What a /sys that is there shows is another attack.
      const list = line(
        `ls -A / /home /opt /var /etc/ssl; ls -A /data /tmp /run ${absent.map((one) => `/${one}`).join(' ')} 2>&1`,
      );
      const { free, held } = await both(world, list);
      expect(free).toMatch(/^srv$/m);
      const names = held.split('\n').filter((one) => /^[\w.-]+$/.test(one));
      const system = [
        'bin',
        'lib',
        'lib32',
        'lib64',
        'libx32',
        'sbin',
        'usr',
        'dev',
        'proc',
        'etc',
        'tmp',
        'var',
        'opt',
      ];
      const ours = ['repo', 'home', 'agent', 'toolchain', 'certs', 'openssl.cnf'];
      expect(names.filter((one) => ![...system, ...ours, ...world.answers.besides].includes(one))).toEqual(
        [],
      );
      for (const folder of absent) expect(held).toContain(`'/${folder}'`);
      expect(names).toContain('repo');
    });

    test('[f17] a set-user-id file belongs to the sandboxes’ user, and raises nobody', async () => {
      const user = world.owner ?? { uid: process.getuid?.(), gid: process.getgid?.() };
      const self = await userInside(world);
      const make = (folder: string) =>
        line('cd "$1"; cp /usr/bin/id raise; chown 0:0 raise; chmod 6755 raise; ./raise -u', folder);
      if (isRoot) {
        const folder = world.folder();
        await unboxedAsRoot(make(folder));
        expect((await world.unboxed([join(folder, 'raise'), '-u'])).stdout).toBe('0\n');
        const inside = { binds: [{ from: folder, to: '/opt/raise' }] };
        expect((await boxed(world, world.area(), ['/opt/raise/raise', '-u'], inside)).stdout).toBe(self);
      }
      const area = world.area();
      expect((await boxed(world, area, make('/repo'))).stdout).toBe(self);
      const { uid, gid } = statSync(join(area.upper, 'raise'));
      expect({ uid, gid }).toEqual(user);
    });

    test('[f19] the layer under two candidates is changed by neither', async () => {
      const area: WorkArea = { ...world.area(), lowers: neighbour.lowers };
      const lower = neighbour.lowers[0] ?? '';
      const spoil = 'cd "$1"; echo evil > secret.txt; rm -f secret.txt; mkdir secret.txt; chmod -R 777 .';
      await boxed(world, area, line(spoil, '/repo'));
      expect(readFileSync(join(lower, 'secret.txt'), 'utf8')).toBe(CANARY);
      expect((await boxed(world, neighbour, line('cat secret.txt'))).stdout).toBe(CANARY);
      // The same on the host does spoil it.
      const copy = world.folder();
      await world.unboxed(line(`cp ${lower}/secret.txt ${copy}/`));
      await world.unboxed(line(spoil, copy));
      expect(statSync(join(copy, 'secret.txt')).isDirectory()).toBe(true);
    });

    test('[p24] the launcher’s own files are not written', async () => {
      const targets = [
        '/opt/toolchain/bin/node',
        '/opt/toolchain/bridge.mjs',
        '/etc/passwd',
        '/etc/gitconfig',
        '/usr/bin/git',
        '/bin/sh',
      ];
      const attack = `for f in ${targets.join(' ')} "$1" /usr/x /etc/x /x /dev/x /opt/toolchain/x /var/x; do
        { chmod u+w $f; rm -f $f; echo evil >> $f; } 2>/dev/null && echo wrote $f; done; true`;
      const mine = join(world.folder(), 'mine');
      expect(
        (await world.unboxed(line(`f=$1; { echo evil >> $f; } && echo wrote $f`, mine))).stdout,
      ).toContain('wrote');
      expect((await boxed(world, world.area(), line(attack, mine))).stdout).toBe('');
      expect((await boxed(world, world.area(), line(attack, '/repo/mine'))).stdout).toBe(
        'wrote /repo/mine\n',
      );
      expect(existsSync('/usr/x') || existsSync('/etc/x') || existsSync('/x')).toBe(false);
    });

    /** What an attack does where even the sandboxes' user is no hindrance; only for tests that run as root. */
    const unboxedAsRoot = async (argv: readonly [string, ...string[]]) => {
      const { execFile } = await import('node:child_process');
      const [file, ...args] = argv;
      return new Promise<{ stdout: string }>((resolve) => {
        execFile(file, args, { env: { PATH: '/usr/bin:/bin:/usr/sbin' } }, (_error, stdout) =>
          resolve({ stdout }),
        );
      });
    };

    test('afterwards the host holds what it held', () => {
      expect(readdirSync(host).toSorted()).toEqual(['.ssh', 'app.pem']);
      expect(readFileSync(join(host, 'app.pem'), 'utf8')).toBe(CANARY);
    });
  });
}
