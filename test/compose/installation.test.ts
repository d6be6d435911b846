import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openExecutors, openStore } from '../../src/adapters/store/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { watchDiskSpace } from '../../src/compose/disk-space.ts';
import { readOperator } from '../../src/compose/operator-settings.ts';
import { installationFacts } from '../../src/compose/pages.ts';
import type { Store } from '../../src/ports/index.ts';
import type { Viewer } from '../../src/web/index.ts';
import { webWorld } from '../web/web-world.ts';
import { freshDatabase, type TestDatabase } from '../world/database.ts';
import { bookRow, ledgerRow } from '../world/ledger.ts';
import { githubOrigin } from '../world/origin.ts';
import { silent } from '../world/silent-log.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4);
const operator: Viewer = { kind: 'github', id: 6, login: 'kim', operator: true };
const clock = { ...systemClock, now: () => NOW };

let home: string;
let database: TestDatabase;
let store: Store;
const closing: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'runoff-installation-'));
  database = await freshDatabase();
  store = await openStore(database.url);
  closing.push(store);
});
afterEach(async () => {
  for (const one of closing.splice(0).toReversed()) await one.close();
  await database.drop();
  await rm(home, { recursive: true, force: true });
});

/** The operator's settings and the installation's own parts; only the clock stands still. */
function parts(env: Readonly<Record<string, string>> = {}) {
  const settings = { RUNOFF_DATA: home, MAX_BUDGET_DAY: '20', MAX_BUDGET_REPOSITORY_DAY: '8', ...env };
  return readOperator({ env: settings, cwd: home, installation: home });
}

async function queue(id: string, at: number): Promise<void> {
  await store.createRun({
    id,
    origin: githubOrigin(),
    title: 'A title that only readers see',
    request: {},
    at,
  });
  await store.updateRun(id, { queueEntry: { share: 'github-42', priority: 1, since: at } }, at);
}

async function enter(id: string, coders: number, examinations: number) {
  const self = openExecutors(database.url, { id, incarnation: 'first' }, systemClock);
  closing.push(self);
  await self.join({ role: 'worker', host: 'box', version: '1', coders, examinations }, NOW);
  return self;
}

test('the status page shows the queue, the processes, the money of the day, the faults and the disk as they are', async () => {
  await queue('r222222222', NOW - 2);
  await queue('r333333333', NOW - 1);
  const failed = {
    code: 'BASE_BROKEN',
    message: 'npm test failed in /srv/secret',
    advice: 'Mend it.',
  } as const;
  await store.createRun({ id: 'r444444444', origin: githubOrigin(), title: 'Secret', request: {}, at: NOW });
  await store.updateRun('r444444444', { trouble: failed }, NOW);
  await store.transition('r444444444', 'failed', 'BASE_BROKEN', NOW);
  // The day begins at midnight UTC.
  await bookRow(store, ledgerRow('r444444444', 1.25, NOW));
  await bookRow(store, ledgerRow('r444444444', 0.5, Date.UTC(2026, 0, 2)));
  await bookRow(store, ledgerRow('r444444444', 4, Date.UTC(2026, 0, 2) - 1));
  await enter('worker-north', 4, 0);
  const left = await enter('worker-south', 2, 3);
  await left.leave();
  const settings = await parts();
  const diskSpace = await watchDiskSpace(home, Number.MAX_SAFE_INTEGER, silent);
  closing.push(diskSpace);

  const facts = await installationFacts(settings, { store, clock, diskSpace });
  expect(facts).toMatchObject({
    census: { runs: { queued: 2, failed: 1 }, queuedRuns: 2, executors: { worker: 1 } },
    queue: ['r222222222', 'r333333333'],
    executors: [
      { id: 'worker-north', coders: 4, silentMs: expect.any(Number) },
      { id: 'worker-south', coders: 2, silentMs: null },
    ],
    ...{ spentToday: 1.75, capDay: 20, capRepositoryDay: 8 },
    failed: [{ id: 'r444444444', trouble: failed }],
    unclaimed: [
      expect.stringContaining('EXAMINATIONS_PER_WORKER'),
      expect.stringContaining('ARTIFACTS_URL is not set here'),
    ],
    shortage: expect.stringContaining('nearly full'),
  });
  expect(facts.disk?.size).toBeGreaterThan(facts.disk?.free ?? Number.POSITIVE_INFINITY);

  const world = webWorld({ installation: () => installationFacts(settings, { store, clock, diskSpace }) });
  const page = await (await world.get('/installation', operator)).text();
  for (const shown of [
    '$1.75 of $20.00 spent',
    '<dd>2</dd>',
    '<code>r222222222</code> <code>r333333333</code>',
    'BASE_BROKEN',
    'has left',
    'nearly full',
  ])
    expect(page).toContain(shown);
  expect(page).not.toMatch(/only readers|[Ss]ecret/);
});

test('a data folder that is not there is said, and a new installation has nothing to tell', async () => {
  const settings = await parts({ RUNOFF_DATA: join(home, 'gone') });
  const facts = await installationFacts(settings, { store, clock });
  expect(facts).toMatchObject({
    disk: null,
    shortage: null,
    spentToday: 0,
    queue: [],
    failed: [],
    executors: [],
  });
  expect(facts.unclaimed).toHaveLength(2);
});
