import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/adapters/database/index.ts';
import { openDbosEngine, openFence } from '../../../src/adapters/engine/index.ts';
import { openExecutors, openStore } from '../../../src/adapters/store/index.ts';
import { systemClock } from '../../../src/adapters/system/index.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';

test('an engine whose server dies restarts it, and active and waiting runs continue', async () => {
  tried({
    id: 'database-dies-under-engine',
    part: 'The database is killed or unavailable',
    what: 'The server stops under a running engine.',
    held: 'It is restarted; the active run and the waiting run continue in the same process.',
  });
  const home = await mkdtemp(join(tmpdir(), 'runoff-outage-'));
  await chmod(home, 0o755);
  const dir = join(home, 'pg');
  const server = await startEmbeddedPostgres({ dir });
  await server.ensureDatabase('runoff');
  const databaseUrl = server.url('runoff');
  const store = await openStore(databaseUrl);
  const executors = openExecutors(databaseUrl, { id: 'box-1', incarnation: 'a' });
  const fence = openFence({
    executors,
    clock: systemClock,
    log: silent,
    heartbeat: { everyMs: 100, staleMs: 60_000 },
    onExpired: () => expect.unreachable('nobody takes over'),
  });
  const engine = openDbosEngine({
    databaseUrl,
    executorId: 'box-1',
    queue: { name: 'coders', perWorker: 2, perPartition: 2 },
    among: {
      fence,
      facts: { host: 'here', version: '0' },
    },
    log: silent,
  });
  const coding = Promise.withResolvers<void>();
  const back = Promise.withResolvers<void>();
  let begun = 0;
  await engine.launch({
    run: ({ fanOut }) => fanOut([{ key: 'A', partition: 'p', input: null }]),
    examination: async () => null,
    candidate: ({ step }) =>
      step('code', async () => {
        begun += 1;
        coding.resolve();
        await back.promise;
        return 'a patch';
      }),
  });
  await engine.start('r1', null);
  const settled = engine.settled('r1');
  await coding.promise;

  const pid = Number((await readFile(join(dir, 'pg18', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  process.kill(pid, 'SIGKILL');
  back.resolve();

  expect(await settled).toEqual({ kind: 'done', value: [{ kind: 'done', value: 'a patch' }] });
  expect(begun).toBe(1);
  expect(await store.runs(1)).toEqual([]);
  await engine.shutdown();
  await executors.close();
  await store.close();
  await server.stop();
  await rm(home, { recursive: true, force: true });
});
