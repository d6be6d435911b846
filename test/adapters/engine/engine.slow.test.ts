import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DbosEngineOptions, openDbosEngine } from '../../../src/adapters/engine/index.ts';
import {
  CANDIDATES_AT_A_TIME,
  type EngineWorld,
  engineContract,
  RUNS_AT_A_TIME,
} from '../../contracts/engine.suite.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { memoryEngine, newJournal } from '../../world/memory-engine.ts';
import { silent } from '../../world/silent-log.ts';

const SHARED = {
  executorId: 'box-1',
  queue: { name: 'coders', perWorker: CANDIDATES_AT_A_TIME, perPartition: 12 },
} as const;
const ALONE = { executorId: 'cli-r1', queue: null } as const;

const openEngine = (databaseUrl: string, options: Pick<DbosEngineOptions, 'executorId' | 'queue'>) =>
  openDbosEngine({
    databaseUrl,
    directConcurrency: CANDIDATES_AT_A_TIME,
    runsAtOnce: RUNS_AT_A_TIME,
    log: silent,
    ...options,
  });

/** Holds the engine's schema and nothing else: it takes long to build and moments to copy. */
let pattern: TestDatabase;
beforeAll(async () => {
  pattern = await freshDatabase();
  const engine = openEngine(pattern.url, SHARED);
  await engine.launch({ run: async () => null, candidate: async () => null, examination: async () => null });
  await engine.shutdown();
});
afterAll(() => pattern.drop());

async function dbosWorld(options: Pick<DbosEngineOptions, 'executorId' | 'queue'>): Promise<EngineWorld> {
  const { url, drop } = await freshDatabase({ copyOf: pattern });
  return { engine: () => openEngine(url, options), close: drop };
}

engineContract('memory', async () => {
  const journal = newJournal();
  return {
    engine: () => memoryEngine({ journal, concurrency: CANDIDATES_AT_A_TIME, runsAtOnce: RUNS_AT_A_TIME }),
    close: async () => {},
  };
});
engineContract('DBOS in a process of its own', () => dbosWorld(ALONE));
engineContract('DBOS on a shared queue', () => dbosWorld(SHARED));

test('an App forgets the runs of processes that never come back, and those processes', async () => {
  const database = await freshDatabase({ copyOf: pattern });
  const flows = { run: async () => null, candidate: async () => null, examination: async () => null };
  for (const id of ['r1', 'r2']) {
    const local = openEngine(database.url, { ...ALONE, executorId: `cli-${id}` });
    await local.launch(flows);
    await local.start(id, null);
    await local.settled(id);
    await local.shutdown();
  }
  await database.query(
    "update dbos.workflow_status set status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED' where workflow_uuid = 'r2'",
  );
  const app = openEngine(database.url, SHARED);
  await app.launch(flows);
  expect(await app.forget(Date.now() - 60_000)).toBe(0);
  expect(await app.forget(Date.now() + 60_000)).toBe(2);
  expect(await database.query('select from dbos.workflow_status')).toEqual([]);
  expect(await database.query('select application_name as name from dbos.application_versions')).toEqual([
    { name: 'runoff' },
  ]);
  await app.shutdown();
  await database.drop();
});
