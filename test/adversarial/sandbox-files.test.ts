import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkArea } from '../../src/ports/index.ts';
import { openWorkbench, shell, type Workbench } from '../adapters/sandbox/workbench.ts';

const CANARY = 'canary-7f3a91';

describe('files of the host', { timeout: 60_000 }, () => {
  let bench: Workbench;
  let secrets: string;
  let neighbour: WorkArea;
  beforeAll(async () => {
    bench = await openWorkbench();
    // Everything here is open to the sandboxes' user: only the sandbox stands between.
    secrets = bench.folder();
    mkdirSync(join(secrets, '.ssh'));
    for (const name of ['.ssh/id_ed25519', 'app.pem']) writeFileSync(join(secrets, name), CANARY);
    neighbour = bench.area({ 'secret.txt': CANARY });
    await bench.sandbox.exec(shell(neighbour, `echo ${CANARY} > mine.txt`));
  }, 60_000);
  afterAll(() => bench.close());

  const boxed = (line: string, area = bench.area()) => bench.sandbox.exec(shell(area, line));
  const both = async (line: string) => {
    const free = await bench.unboxed(['sh', '-c', line]);
    const held = await boxed(line);
    return { free: free.stdout + free.stderr, held: held.stdout + held.stderr };
  };

  test.each([
    ['a private key', () => `cat ${secrets}/.ssh/id_ed25519`],
    ['the app’s key', () => `cat ${secrets}/app.pem`],
    ['another candidate’s new file', () => `cat ${neighbour.upper}/mine.txt`],
    ['another candidate’s checkout', () => `cat ${neighbour.lowers[0]}/secret.txt`],
    [
      'a key behind a symbolic link',
      () => `d=$(mktemp -d); ln -s ${secrets}/app.pem $d/l; cat $d/l; rm -r $d`,
    ],
    [
      'a key behind the first process’s root',
      () => `cat /proc/1/root${secrets}/app.pem /proc/self/root${secrets}/app.pem`,
    ],
    ['a key behind a climb', () => `cat ../../../../../../../../../..${secrets}/app.pem`],
    [
      'a key behind a hard link',
      () =>
        `d=$(mktemp -d); ln ${secrets}/app.pem $d/l || ln -P ${secrets}/app.pem $d/l; cat $d/l ${secrets}/app.pem; rm -r $d`,
    ],
    [
      'a key by searching',
      () => `find /tmp /home /opt /var -xdev -name app.pem -exec cat {} + 2>/dev/null; cat ${secrets}/*.pem`,
    ],
  ] as const)('%s cannot be read', async (_what, line) => {
    const { free, held } = await both(line());
    expect(free).toContain(CANARY);
    expect(held).not.toContain(CANARY);
  });

  test('the accounts and the passwords are not the host’s', async () => {
    const { stdout, stderr } = await boxed('cat /etc/passwd; cat /etc/shadow; cat /etc/hostname; hostname');
    expect(stdout.match(/^\w+/gm)).toEqual(['root', 'agent', 'nobody', 'sandbox']);
    expect(stderr).toContain('/etc/shadow: No such file');
  });

  test('nothing but the promised folders is there', async () => {
    const line =
      'ls -A /; ls -A /home /opt /var /etc/ssl; ls -A /root /srv /mnt /media /sys /boot /data /tmp 2>&1';
    const { stdout } = await boxed(line);
    const names = new Set(stdout.split('\n').filter((name) => /^[\w.-]+$/.test(name)));
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
    const ours = ['repo', 'home', 'agent', 'runoff', 'certs', 'openssl.cnf'];
    expect([...names].filter((name) => ![...system, ...ours].includes(name))).toEqual([]);
    for (const folder of ['root', 'srv', 'mnt', 'media', 'sys', 'boot'])
      expect(stdout).toContain(`'/${folder}'`);
  });

  test('nothing can be written but its own area', async () => {
    const targets = [
      '/usr/x',
      '/etc/x',
      '/x',
      '/dev/x',
      '/opt/runoff/x',
      '/opt/runoff/bin/node',
      '/var/x',
      `${secrets}/x`,
    ];
    const line = targets.map((path) => `(echo evil >> ${path}) 2>/dev/null && echo wrote ${path}`).join('; ');
    const { stdout } = await boxed(`${line}; true`);
    expect(stdout).toBe('');
    expect(readdirSync(secrets).toSorted()).toEqual(['.ssh', 'app.pem']);
    expect(existsSync('/usr/x') || existsSync('/etc/x')).toBe(false);
  });

  test('a link out of the checkout is written inside or not at all', async () => {
    const area = bench.area();
    const line = `ln -s ${secrets}/app.pem link; echo evil > link; ln -s ${secrets} dir; echo evil > dir/x; ls`;
    expect((await boxed(line, area)).stdout).toBe('dir\nlink\n');
    expect(readFileSync(join(secrets, 'app.pem'), 'utf8')).toBe(CANARY);
    expect(existsSync(join(secrets, 'x'))).toBe(false);
  });

  test('the shared layer under two candidates cannot be changed by either', async () => {
    const area: WorkArea = { ...bench.area(), lowers: neighbour.lowers };
    const line =
      'echo evil > secret.txt; rm -f secret.txt; mkdir secret.txt; chmod -R 777 .; find . -exec touch {} +';
    await boxed(line, area);
    expect(readFileSync(join(neighbour.lowers[0] ?? '', 'secret.txt'), 'utf8')).toBe(CANARY);
    expect((await boxed('cat secret.txt', neighbour)).stdout).toBe(CANARY);
  });

  test('a trap laid where things are mounted makes nothing on the host', async () => {
    const area = bench.area();
    const tools = bench.folder();
    const trap = bench.folder();
    await boxed(
      `for n in run out opt etc usr tmp node_modules; do rm -rf $n ~/$n; ln -s /oldroot${trap} $n; ln -s ../../../..${trap} ~/$n; done`,
      area,
    );
    const more = { binds: [{ from: tools, to: '/opt/tools' }], out: bench.folder() };
    expect(await bench.sandbox.exec(shell(area, 'true', more))).toMatchObject({ exitCode: 0 });
    expect(readdirSync(trap)).toEqual([]);
  });

  test('the host’s temporary folders are others than the sandbox’s', async () => {
    const mine = [join('/tmp', CANARY), join('/dev/shm', CANARY)];
    for (const path of mine) writeFileSync(path, CANARY);
    try {
      const { stdout } = await boxed(
        `ls -A /tmp /dev/shm; touch /tmp/${CANARY}-boxed /dev/shm/${CANARY}-boxed`,
      );
      expect(stdout).not.toContain(CANARY);
      for (const path of mine) expect(existsSync(`${path}-boxed`)).toBe(false);
    } finally {
      for (const path of mine) rmSync(path);
    }
  });

  test('a descriptor that Runoff itself was started with is not passed on', async () => {
    const line = `for f in /proc/self/fd/*; do [ -d "$f" ] && ls "$f"; readlink "$f"; done; ls /proc/1/fd /proc/self/fd`;
    // Started through a shell that leaves two descriptors open, as a careless service manager would.
    const program = `
      import { openBubblewrap } from ${JSON.stringify(new URL('../../src/adapters/sandbox/index.ts', import.meta.url).pathname)};
      import { readdirSync } from 'node:fs';
      const { options, spec } = JSON.parse(process.env.JOB);
      const result = await openBubblewrap(options).exec(spec);
      console.log(JSON.stringify({ held: result.stdout, own: readdirSync('/proc/self/fd/77').concat(readdirSync('/proc/self/fd/8')) }));`;
    const job = JSON.stringify({ options: bench.options, spec: shell(bench.area(), line) });
    const started = spawnSync(
      'bash',
      [
        '-c',
        `exec 77<${secrets} 8<${secrets}; exec "$0" --input-type=module -e "$1"`,
        process.execPath,
        program,
      ],
      { env: { ...process.env, JOB: job }, encoding: 'utf8' },
    );
    const { held, own } = JSON.parse(started.stdout);
    expect(own).toContain('app.pem');
    expect(held).not.toContain('app.pem');
    expect(held).not.toContain(secrets);
    expect(held).toContain('/dev/null');
  });

  test.runIf(process.getuid?.() === 0)(
    'a set-user-id file it makes belongs to no one but its user',
    async () => {
      const area = bench.area();
      await boxed('cp /usr/bin/id ./id; chmod 6755 ./id; chown 0:0 ./id', area);
      const { uid, gid } = statSync(join(area.upper, 'id'));
      expect({ uid, gid }).toEqual(bench.owner);
    },
  );

  test('a device cannot be made', async () => {
    const { stdout, stderr } = await boxed('mknod d b 8 0; mknod c c 1 1; mknod w c 0 0; mkfifo ok; ls');
    expect(stdout).toBe('ok\n');
    expect(stderr.match(/Operation not permitted/g)).toHaveLength(3);
  });
});
