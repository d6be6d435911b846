import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openContainer } from '../../src/adapters/sandbox/index.ts';
import type { Sandbox } from '../../src/ports/index.ts';
import { gone, startKilledApp, untilDead } from '../adapters/sandbox/killed-app.ts';
import { openWorkbench, shell, type Workbench } from '../adapters/sandbox/workbench.ts';
import { markedSleep, processesWith } from '../contracts/sandbox.limits.ts';
import { CONTAINER } from './escape/answers.ts';
import { importEscapeImage } from './escape/container-image.ts';
import { openDirtyContainer } from './escape/dirty.ts';
import { resourcesSuite } from './escape/resources.ts';
import { escapeSuite } from './escape/suite.ts';

const ENGINES = ['podman', 'docker'] as const;
type EngineName = (typeof ENGINES)[number];

for (const engine of ENGINES) {
  const info = spawnSync(engine, ['info'], { encoding: 'utf8' });
  if (info.status === 0) describe(`with ${engine}`, () => attacks(engine));
  else {
    const why = info.error?.message ?? info.stderr.trim().split('\n').at(-1);
    test.skip(`containers of ${engine}: not tried, ${engine} does not work here (${why})`, () => undefined);
  }
}

function attacks(engine: EngineName): void {
  const image = `localhost/runoff-escape-test:${process.pid}`;
  beforeAll(() => importEscapeImage(engine, image), 120_000);
  afterAll(() => void spawnSync(engine, ['image', 'rm', image]));
  const open = async (): Promise<Workbench> => {
    const bench = await openWorkbench();
    const { toolchain, owner } = bench.options;
    const scratch = join(bench.root, 'scratch');
    return { ...bench, sandbox: openContainer({ engine, image, toolchain, owner, scratch }) };
  };

  escapeSuite(`containers of ${engine}`, () => openDirtyContainer(engine, image));
  resourcesSuite(`containers of ${engine}`, CONTAINER, open);

  describe('what a container leaves running', () => {
    let bench: Workbench;
    let sandbox: Sandbox;
    beforeAll(async () => {
      bench = await open();
      ({ sandbox } = bench);
    });
    afterAll(() => bench.close());

    /** Forks twice, leaves its session, ignores every signal that can be ignored and holds the output open. */
    const daemon = (mark: string): string =>
      `(setsid setsid sh -c 'trap "" TERM HUP INT QUIT USR1; sleep ${mark}' &) ; echo up; sleep ${mark}`;
    const clients = (): readonly number[] =>
      spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
        .stdout.split('\n')
        .filter((one) => one.includes(` ${engine} `) && one.includes(' run ') && one.includes(bench.root))
        .map((one) => Number(one.trim().split(' ')[0]));

    test('again [r19 r20] ends with it when it is stopped', async () => {
      const mark = markedSleep();
      const stop = new AbortController();
      const onLine = (): void => {
        expect(processesWith(mark)).toBeGreaterThanOrEqual(2);
        stop.abort();
      };
      const running = sandbox.exec(shell(bench.area(), daemon(mark), { signal: stop.signal, onLine }));
      expect(await running).toMatchObject({ exitCode: null, stopped: 'cancelled' });
      expect(processesWith(mark)).toBe(0);
    });

    test('again [r21] ends when the engine’s client is killed', async () => {
      const mark = markedSleep();
      let killing = false;
      const onLine = (): void => {
        // What was written before its death may come in several pieces.
        if (killing) return;
        killing = true;
        const found = clients();
        expect(found).not.toEqual([]);
        for (const pid of found) process.kill(pid, 'SIGKILL');
      };
      const killed = await sandbox.exec(shell(bench.area(), daemon(mark), { onLine }));
      expect(killed).toMatchObject({ exitCode: null, stopped: null });
      expect(processesWith(mark)).toBe(0);
    });

    test('again [r22] ends when Runoff is killed', async () => {
      const mark = markedSleep();
      const app = await startKilledApp('openContainer', bench, daemon(mark), mark, { engine, image });
      process.kill(app, 'SIGKILL');
      expect(await untilDead(mark)).toBe(gone);
    });
  });
}
