import { beforeEach, expect, test } from 'vitest';
import type { InstallationFacts, Viewer } from '../../src/web/index.ts';
import { githubOrigin } from '../world/origin.ts';
import { mona, type WebWorld, webWorld } from './web-world.ts';

const kim: Viewer = { kind: 'github', id: 6, login: 'kim', operator: true };
const AT = Date.UTC(2026, 0, 2, 3, 4);

let world: WebWorld;
let facts: InstallationFacts;
let read: number;

beforeEach(async () => {
  read = 0;
  world = webWorld({
    installation: async () => {
      read += 1;
      return facts;
    },
  });
  await world.run('r111111111');
  facts = {
    census: { ...(await world.store.census()), queuedRuns: 3, codersWaiting: 4 },
    queue: ['r444444444', 'r555555555'],
    executors: [
      {
        ...{ id: 'worker-1', role: 'worker', host: '<b>north</b>', version: '0.1.0' },
        ...{ coders: 7, examinations: 2, startedAt: AT, silentMs: 3_000 },
      },
      {
        ...{ id: 'app-1', role: 'app', host: 'south', version: '0.1.0' },
        ...{ coders: 1, examinations: 1, startedAt: AT, silentMs: null },
      },
    ],
    spentToday: 1.5,
    capDay: 20,
    capRepositoryDay: 8,
    failed: [
      {
        ...{ id: 'r222222222', origin: githubOrigin({ name: 'secret' }), state: 'failed', usd: 0 },
        ...{ title: 'A title that only readers see', createdAt: AT, updatedAt: AT },
        trouble: { code: 'BASE_BROKEN', message: 'npm test failed in /srv/secret', advice: 'Mend it.' },
      },
    ],
    disk: { free: 12_340_000_000, size: 50_000_000_000 },
    shortage: 'No further run starts: 0.5 GB are free.',
    unclaimed: ['No process codes.'],
    version: '0.1.0',
  };
});

const page = async (viewer: Viewer | null) => {
  const response = await world.get('/installation', viewer);
  return { status: response.status, text: await response.text() };
};

test('the status page shows operators what their installation does, and no text of repositories', async () => {
  const { status, text } = await page(kim);
  expect(status).toBe(200);
  for (const shown of [
    '$1.50 of $20.00 spent; at most $8.00 for one repository',
    '<dt>queued</dt><dd>1</dd>',
    '<dt>in the run queue</dt><dd>3</dd>',
    '<dt>coders that wait</dt><dd>4</dd>',
    '<code>r444444444</code> <code>r555555555</code>',
    '&lt;b&gt;north&lt;/b&gt;',
    '3.0 s ago',
    'has left',
    '12.3 GB of 50.0 GB free',
    '<code>r222222222</code></td><td>BASE_BROKEN</td>',
    '2026-01-02 03:04 UTC',
    '<li>No further run starts: 0.5 GB are free.</li><li>No process codes.</li>',
  ])
    expect(text).toContain(shown);
  expect(text).not.toMatch(/only readers|secret/);
});

test('says what it does not know, and that there is nothing to tell', async () => {
  facts = {
    ...facts,
    ...{ disk: null, executors: [], failed: [], queue: [], shortage: null, unclaimed: [] },
  };
  const { text } = await page(kim);
  expect(text).toContain('The disk of the data folder could not be read.');
  expect(text).toContain('No process shares the work.');
  expect(text).toContain('No run that is kept has failed.');
  expect(text).not.toMatch(/Next in line|class="warnings"/);
});

test('for all others there is no such page, and nothing is read for them', async () => {
  const missing = await (await world.get('/installations', mona)).text();
  expect(await page(mona)).toEqual({ status: 404, text: missing });
  expect((await page({ kind: 'local' })).status).toBe(404);
  expect((await page(null)).status).toBe(401);
  expect(read).toBe(0);
  // Being an operator gives no right to a run.
  expect((await world.get('/runs/r111111111', kim)).status).toBe(404);
  const link = 'href="/installation"';
  expect(await (await world.get('/runs', mona)).text()).not.toContain(link);
  expect(await (await world.get('/runs', kim)).text()).toContain(link);
});
