import { afterAll, beforeAll } from 'vitest';
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
