import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecResult, Limits, SandboxProbe } from '../../../src/ports/index.ts';
import { openWorkbench, shell, type Workbench, withLimits } from './workbench.ts';

const ADAPTER = new URL('../../../src/adapters/sandbox/index.ts', import.meta.url).pathname;

/** An app on a host of its own: what it is given in JOB, it does; what it found and what was left, it prints. */
const APP = `
  import { readdirSync, readFileSync } from 'node:fs';
  import { openBubblewrap } from ${JSON.stringify(ADAPTER)};
  const { options, spec, suicide } = JSON.parse(process.env.JOB);
  const sandbox = openBubblewrap(options);
  const probe = await sandbox.probe();
  const onLine = () => suicide && process.kill(process.pid, 'SIGKILL');
  const result = probe.kind === 'ready' ? await sandbox.exec({ ...spec, onLine }) : null;
  const commandOf = (pid) => { try { return readFileSync('/proc/' + pid + '/cmdline', 'utf8'); } catch { return ''; } };
  const left = readdirSync('/proc').filter((name) => Number(name) > 1 && Number(name) !== process.pid)
    .filter((pid) => commandOf(pid).includes('slee' + 'p'));
  console.log(JSON.stringify({ probe, result, left }));`;

/** As container engines leave /proc: some files covered. */
const COVERED = 'mount --bind /dev/null /proc/keys';
/** And, as a rule, no kernel setting to be changed. */
const READ_ONLY_SETTINGS = 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys';

const SECRET = 'for-the-app-alone';

interface Found {
  readonly probe: SandboxProbe;
  readonly result: ExecResult | null;
  /** Processes whose command line speaks of sleep, as the one that is to be ended does. */
  readonly left: readonly string[];
}

describe('a host that covers parts of /proc, as containers do', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench.close());

  /** Starts the app in namespaces in which `mounts` were made, and hands on what is said there. */
  const say = (mounts: readonly string[], job: object, then = 'exit'): Promise<string> => {
    const namespaces = ['--mount', '--pid', '--fork', '--propagation', 'private'];
    const arrange = ['mount -t proc proc /proc', ...mounts].join(' && ');
    // An ordinary user is root while it mounts, and then itself again.
    const asUser = bench.owner === null ? ['--user', '--map-root-user'] : [];
    const again = bench.owner === null ? 'unshare --user --map-user=1000 --map-group=1000 --' : '';
    const app = [process.execPath, '--input-type=module', '-e', APP];
    const script = `${arrange} || exit 1; ${again} "$@"; ${then}`;
    const child = spawn('unshare', [...asUser, ...namespaces, 'sh', '-c', script, 'sh', ...app], {
      env: { PATH: process.env.PATH, JOB: JSON.stringify(job), SECRET },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
      });
    }
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => (code === 0 ? resolve(said.stdout) : reject(new Error(said.stderr))));
    });
  };
  const optionsWith = (allowWeaker: boolean) => ({ ...bench.options, scratch: bench.folder(), allowWeaker });
  const on = async (
    mounts: readonly string[],
    line: string,
    allowWeaker: boolean,
    limits: Partial<Limits> = {},
  ): Promise<Found> => {
    const spec = shell(bench.area(), line, { limits: withLimits(limits) });
    return JSON.parse(await say(mounts, { options: optionsWith(allowWeaker), spec })) as Found;
  };

  test('has no sandbox, and the report says how to get one', async () => {
    const { probe } = await on([COVERED], 'true', false);
    expect(probe).toEqual({
      kind: 'missing',
      why: expect.stringContaining('/proc of its own'),
      remedy: expect.stringMatching(/(systempaths=unconfined|ProtectProc).*RUNOFF_SANDBOX_WEAKER=true/),
    });
  });

  test('has the full sandbox when nothing is covered, whatever the operator allows', async () => {
    const { probe, result } = await on([], 'ls -d /proc/[0-9]* | wc -l', true);
    expect(probe).toMatchObject({ kind: 'ready', weaker: [] });
    expect(Number(result?.stdout)).toBeLessThan(5);
  });

  test('has a weaker sandbox if the operator allows it, which says what is weaker', async () => {
    const look = [
      'grep -l input-type /proc/1/cmdline',
      `for f in /proc/*/environ; do grep -l ${SECRET} $f; done 2>/dev/null`,
      'ls /proc/1/root/ /proc/1/cwd/ 2>/dev/null; readlink /proc/1/fd/* /proc/1/exe; cat /proc/1/maps 2>/dev/null',
      'head -c 1 /proc/1/mem 2>/dev/null',
      '{ echo 1000 > /proc/1/oom_score_adj; } 2>/dev/null && echo wrote',
      'unshare --user true 2>/dev/null && echo unshared',
      'grep -lz ^HOME= /proc/self/environ',
    ].join('\n');
    const { probe, result } = await on([COVERED], look, true);
    expect(probe).toMatchObject({
      kind: 'ready',
      weaker: [expect.stringContaining('names and arguments of other processes')],
    });
    // The sentence is true: others' arguments show. Nothing more does.
    expect(result?.stdout).toBe('/proc/1/cmdline\n/proc/self/environ\n');
  });

  test('ends a command with everything that it started', async () => {
    const line = `(setsid sh -c 'trap "" TERM HUP INT; sleep 600' &); sleep 0.2; echo up`;
    const done = await on([COVERED], line, true);
    expect(done).toMatchObject({ result: { exitCode: 0, stdout: 'up\n' }, left: [] });
    const stopped = await on([COVERED], `${line}; sleep 600`, true, { wallMs: 1500 });
    expect(stopped).toMatchObject({ result: { stopped: 'wall', stdout: 'up\n' }, left: [] });
  });

  test('ends a command when the App is killed', async () => {
    const line = `(setsid sh -c 'trap "" TERM HUP INT; sleep 600' &); sleep 0.2; pgrep -x sleep; sleep 600`;
    const spec = shell(bench.area(), line);
    const look =
      'for i in $(seq 100); do pgrep -x sleep > /dev/null || { echo gone; exit; }; sleep 0.1; done; ps -e';
    const said = await say([COVERED], { options: optionsWith(true), spec, suicide: true }, look);
    expect(said).toBe('gone\n');
  });

  test('reports read-only kernel settings too, and still allows no namespaces', async () => {
    const { probe, result } = await on([COVERED, READ_ONLY_SETTINGS], 'unshare --user true; echo end', true);
    expect(probe).toMatchObject({
      kind: 'ready',
      weaker: [expect.stringContaining('other processes'), expect.stringContaining('system call filter')],
    });
    expect(result).toMatchObject({ stdout: 'end\n', stderr: expect.stringContaining('not permitted') });
  });
});
