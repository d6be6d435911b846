import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openUnsandboxed } from '../../../src/adapters/sandbox/index.ts';
import { onHost } from '../../../src/adapters/sandbox/unsandboxed/index.ts';
import type { Sandbox } from '../../../src/ports/index.ts';
import { limited, markedSleep, processesWith } from '../../contracts/sandbox.limits.ts';
import { sandboxContract } from '../../contracts/sandbox.suite.ts';
import { gone, startKilledApp, untilDead } from './killed-app.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const open = (bench: Workbench): Sandbox => {
  const { toolchain, owner } = bench.options;
  return openUnsandboxed({ toolchain, owner, scratch: join(bench.root, 'scratch') });
};

sandboxContract(
  'plain processes',
  async () => {
    const bench = await openWorkbench();
    return { ...bench, sandbox: open(bench) };
  },
  { isolates: false },
);

describe('without a sandbox', () => {
  let bench: Workbench;
  let sandbox: Sandbox;
  beforeAll(async () => {
    bench = await openWorkbench();
    sandbox = open(bench);
  });
  afterAll(() => bench.close());
  const sh = (line: string) =>
    sandbox.exec({ area: bench.area(), argv: ['sh', '-c', line], limits: limited() });

  test('is named as such in every report', async () => {
    const probe = await sandbox.probe();
    expect(probe).toMatchObject({ kind: 'ready', backend: 'none' });
    expect(probe.kind === 'ready' && probe.weaker[0]).toMatch(/^Candidates are not isolated: /);
  });

  // A file system that can be filled takes a mount, and so root.
  test.runIf(process.getuid?.() === 0)('what only reads an area is not blamed for a full disk', async () => {
    const area = bench.area();
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=4m,uid=${bench.owner?.uid ?? 0}`, 'tmpfs', area.upper]);
    onTestFinished(() => void execFileSync('umount', ['-l', area.upper]));
    const fill = ['sh', '-c', 'cat /dev/zero > big'] as const;
    const filling = (readOnly: boolean) =>
      sandbox.exec({ area, argv: fill, limits: limited({ diskBytes: 1e9 }), readOnly });
    expect(await filling(false)).toMatchObject({ exitCode: null, stopped: 'disk' });
    rmSync(join(area.upper, 'big'));
    await expect(filling(true)).rejects.toMatchObject({ code: 'DISK_FULL' });
  });

  test("a command has its user's access and is never root", async () => {
    const result = await sh('head -n 1 /etc/passwd; id -u');
    const [first] = readFileSync('/etc/passwd', 'utf8').split('\n');
    expect(result.stdout).toBe(`${first}\n${bench.owner?.uid ?? process.getuid?.()}\n`);
    const asRoot = openUnsandboxed({ ...bench.options, owner: null });
    if (process.getuid?.() === 0) expect(await asRoot.probe()).toMatchObject({ kind: 'missing' });
  });

  test('two commands with the same gateway port get one each', async () => {
    const call =
      'const { GW_URL, ALSO } = process.env; console.log(ALSO === GW_URL + "/v1", await (await fetch(GW_URL)).text())';
    const ask = async (answer: string): Promise<string> => {
      const socket = join(bench.folder(), 'gateway.sock');
      const server = createServer((_, response) => response.end(answer));
      await new Promise<void>((resolve) => server.listen(socket, resolve));
      spawnSync('chmod', ['666', socket]);
      const { stdout, stderr } = await sandbox.exec({
        area: bench.area(),
        argv: ['/opt/toolchain/bin/node', '--input-type=module', '-e', `${call}; process.exit()`],
        env: { ALSO: 'http://127.0.0.1:4712/v1' },
        gateway: { socket, port: 4712 },
        limits: limited(),
      });
      server.close();
      server.closeAllConnections();
      return stdout + stderr;
    };
    expect(await Promise.all([ask('one'), ask('two')])).toEqual(['true one\n', 'true two\n']);
  });

  test('a process without its first thread ends with its command', async () => {
    const exit = process.arch === 'arm64' ? 93 : 60;
    const daemon = `use threads; threads->create(sub { sleep 300 })->detach; sleep 1; syscall ${exit}, 0`;
    const { stdout } = await sh(
      `setsid perl -e '${daemon}' > /dev/null 2>&1 & sleep 2; echo $!; grep -c '(zombie)' /proc/$!/status`,
    );
    const [pid, zombies] = stdout.split('\n');
    expect(zombies).toBe('1');
    // What nobody has collected yet is still there, with no thread that runs.
    expect(existsSync(`/proc/${pid}`) ? readdirSync(`/proc/${pid}/task`) : [pid]).toEqual([pid]);
  });

  test('a folder of temporary files that is too deep for any path is removed', async () => {
    const deep = `cd $TMPDIR && perl -e 'for (1..3000) { mkdir "abcdefgh"; chdir "abcdefgh" or die } print "deep"'`;
    expect(await sh(deep)).toMatchObject({ exitCode: 0, stdout: 'deep' });
    // Removal goes on in the background.
    await expect.poll(() => readdirSync(join(bench.root, 'scratch', 'tmp'))).toEqual([]);
  });

  test('processes that a killed Runoff left are ended, daemons included', async () => {
    const mark = markedSleep();
    const line = `(setsid setsid sh -c "trap '' TERM HUP INT; sleep ${mark}" &) ; sleep ${mark}`;
    const app = await startKilledApp('openUnsandboxed', bench, line, mark);
    await expect.poll(() => processesWith(mark)).toBeGreaterThan(1);
    process.kill(app, 'SIGKILL');
    expect(await untilDead(mark)).toBe(gone);
  });
});

describe('paths of a sandbox on a host without one', () => {
  const places = [
    ['/repo', '/data/a1/upper'],
    ['/home/agent', '/data/a1/home'],
    ['/opt/toolchain', '/data/tools'],
    ['/run/bridge/in', '/data/in'],
    ['/run/bridge', '/data/run'],
    ['127.0.0.1:4711', '127.0.0.1:5000'],
  ] as const;
  test.each([
    ['/repo', '/data/a1/upper'],
    ['cd /repo; ls /repo/src', 'cd /data/a1/upper; ls /data/a1/upper/src'],
    ['x=/repo:/home/agent/.cache', 'x=/data/a1/upper:/data/a1/home/.cache'],
    ['{"dir":"/home/agent"}', '{"dir":"/data/a1/home"}'],
    ['cat</run/bridge/in/a >/run/bridge/x', 'cat</data/in/a >/data/run/x'],
    ['Look into /repo.', 'Look into /data/a1/upper.'],
    ['http://127.0.0.1:4711/v1', 'http://127.0.0.1:5000/v1'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's.
    ['/repository /srv/repo ./repo ~/repo $HOME/repo ${HOME}/repo /repo.git /repo-2', null],
    ['http://127.0.0.1:47110 https://example.org/repo', null],
  ])('%s', (text, expected) => {
    expect(onHost(text, places)).toBe(expected ?? text);
  });
});
