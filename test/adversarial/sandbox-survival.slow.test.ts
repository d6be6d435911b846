import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkbench, shell, type Workbench } from '../adapters/sandbox/workbench.ts';
import { tried } from '../world/tried.ts';

const ADAPTER = new URL('../../src/adapters/sandbox/index.ts', import.meta.url).pathname;

/** An app with one running sandbox, to be killed. It says "up" when the command in the sandbox does. */
const APP = `
  import { openBubblewrap } from ${JSON.stringify(ADAPTER)};
  const { options, spec } = JSON.parse(process.env.JOB);
  const sandbox = openBubblewrap(options);
  await sandbox.probe();
  console.log('starting');
  await sandbox.exec({ ...spec, onLine: (line) => console.log(line) });`;

const processesWith = (mark: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    });

/** The first one to go may take the next ones with it. */
function endIfThere(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'ESRCH' });
  }
}

/** As a service manager does before it kills. */
function terminateLauncher(mark: string): void {
  for (const pid of processesWith(mark)) {
    if (['bwrap', 'unshare'].includes(nameOf(pid))) endIfThere(pid, 'SIGTERM');
  }
}

/** Empty when it is gone. */
function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

describe('when the App is killed', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench.close());

  const mark = (): string => `8${randomBytes(4).readUInt32LE()}`;
  const startApp = (line: string) => {
    const job = JSON.stringify({ options: bench.options, spec: shell(bench.area(), line) });
    const app = spawn(process.execPath, ['--input-type=module', '-e', APP], {
      env: { ...process.env, JOB: job },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    app.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    return { app, says: (word: string) => expect.poll(() => said).toContain(word) };
  };
  const nobodyLeft = (id: string) => expect.poll(() => processesWith(id)).toEqual([]);

  test('[r22] with SIGKILL, its sandboxes and their daemons end', async () => {
    tried({
      id: 'sandboxes-of-killed-app',
      part: 'The App is killed',
      what: 'The process that started sandboxes whose daemons ignore signals.',
      held: 'Nothing of the sandboxes remains.',
    });
    const id = mark();
    const line = `(setsid sh -c 'trap "" TERM HUP INT; sleep ${id}' &); echo up; trap "" TERM; sleep ${id}`;
    const { app, says } = startApp(line);
    await says('up\n');
    expect(processesWith(id).length).toBeGreaterThanOrEqual(2);
    app.kill('SIGKILL');
    await once(app, 'close');
    await nobodyLeft(id);
  });

  /** The shell that waits for the death of the App, to end the sandbox. */
  const watchers = (): readonly number[] =>
    processesWith('read -r _ <&').filter(
      (pid) => nameOf(pid) === 'sh' && processesWith(bench.root).includes(pid),
    );

  test.each(['SIGKILL', 'SIGSTOP'] as const)(
    'and the watcher of its sandbox got %s before, its sandbox ends',
    async (signal) => {
      tried({
        id: 'watcher-and-app-killed',
        part: 'The App is killed',
        what: 'The process that watches over a sandbox is killed or frozen, and then the App is killed.',
        held: 'Nothing of the sandbox remains.',
      });
      const id = mark();
      const { app, says } = startApp(`echo up; sleep ${id}`);
      await says('up\n');
      const [watcher = 0, ...more] = watchers();
      expect([watcher, more]).toEqual([expect.any(Number), []]);
      expect(process.kill(watcher, signal)).toBe(true);
      app.kill('SIGKILL');
      await once(app, 'close');
      await expect.poll(() => processesWith(id).filter((pid) => pid !== watcher)).toEqual([]);
      // A frozen process ends when it goes on.
      endIfThere(watcher, 'SIGCONT');
      await nobodyLeft(id);
    },
  );

  /** Forks twice, leaves its session, ignores every signal that can be ignored and holds the output open. */
  const daemon = (id: string): string =>
    `(setsid setsid sh -c 'trap "" TERM HUP INT QUIT USR1; sleep ${id}' &) ; echo up; sleep ${id}`;

  test.each([
    ['[r19] asked to stop', 'SIGTERM'],
    ['[r20] killed at once', 'SIGKILL'],
  ] as const)(
    'as when a sandbox is %s, its daemons end, which a process group alone would not achieve',
    async (_title, signal) => {
      const free = mark();
      const loose = spawn('sh', ['-c', daemon(free)], {
        detached: true,
        stdio: 'ignore',
        ...(bench.owner ?? {}),
      });
      // Its own sleep and that of the daemon, which has left the group by then.
      const sleeping = () => processesWith(free).filter((pid) => nameOf(pid) === 'sleep');
      await expect.poll(() => sleeping().length).toBe(2);
      process.kill(-(loose.pid ?? 0), signal);
      await once(loose, 'close');
      const left = processesWith(free);
      expect(left).not.toEqual([]);
      for (const pid of left) endIfThere(pid);

      const held = mark();
      const stop = new AbortController();
      const end = (): void => {
        if (signal === 'SIGTERM') terminateLauncher(held);
        stop.abort();
      };
      const running = bench.sandbox.exec(
        shell(bench.area(), daemon(held), { signal: stop.signal, onLine: end }),
      );
      expect(await running).toMatchObject({ exitCode: null, stopped: 'cancelled' });
      expect(processesWith(held)).toEqual([]);
    },
  );

  test("at any moment of a sandbox's start, nothing survives", async () => {
    tried({
      id: 'sandbox-start-killed',
      part: 'The App is killed',
      what: 'The process that starts a sandbox, at eleven moments.',
      held: 'Nothing of the sandbox remains.',
    });
    for (const ms of [0, 2, 4, 6, 8, 10, 12, 14, 17, 20, 25]) {
      const id = mark();
      const { app, says } = startApp(`sleep ${id}`);
      await says('starting\n');
      await sleep(ms);
      app.kill('SIGKILL');
      await once(app, 'close');
      await nobodyLeft(id);
    }
  });

  test('[r21] or only a launcher, its sandbox ends and the others do not', async () => {
    const [id, other] = [mark(), mark()];
    const stop = new AbortController();
    const survivor = bench.sandbox.exec(shell(bench.area(), `sleep ${other}`, { signal: stop.signal }));
    const onLine = (): void => {
      for (const pid of processesWith(id)) endIfThere(pid);
    };
    const killed = bench.sandbox.exec(shell(bench.area(), `echo up; sleep ${id}`, { onLine }));
    await expect(killed).rejects.toMatchObject({ code: 'PROGRAM_KILLED' });
    await nobodyLeft(id);
    expect(processesWith(other)).not.toEqual([]);
    stop.abort();
    expect(await survivor).toMatchObject({ stopped: 'cancelled' });
  });
});
