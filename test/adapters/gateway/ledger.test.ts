import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../../src/adapters/store/index.ts';
import type { Task } from '../../../src/core/model/index.ts';
import type { Store } from '../../../src/ports/index.ts';
import { freshDatabase, type TestDatabase } from '../../world/database.ts';
import { spentSince } from '../../world/ledger.ts';
import { githubOrigin } from '../../world/origin.ts';
import { tried } from '../../world/tried.ts';
import { ask, json, message, openRig, PROMPT, type Provider, startProvider } from './rig.ts';

/** The gateway on the real ledger, which other processes share. */
let database: TestDatabase;
let store: Store;
let provider: Provider;
beforeEach(async () => {
  database = await freshDatabase();
  store = await openStore(database.url);
});
afterEach(async () => {
  await provider.close();
  await store.close();
  await database.drop();
});

const clock = { now: () => Date.now(), elapsed: () => performance.now(), sleep: async () => {} };

test('the maximum cost of a call counts after its process is killed', async () => {
  tried({
    id: 'ledger-killed',
    part: 'Model calls break off',
    what: "The gateway's process, during a call.",
    held: 'The maximum cost of the call counts against the caps.',
  });
  provider = await startProvider(() => {});
  await using rig = await openRig(provider.url, { ledger: store, clock, budgetWaitMs: 20 });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'killed-gateway.ts')], {
    env: { DATABASE: database.url, PROVIDER: provider.url, DIR: join(rig.dir, 'd') },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await expect.poll(() => provider.seen.length).toBe(1);
  child.kill('SIGKILL');
  await once(child, 'exit');

  const booked = await store.usage('r1', 'A');
  // A thousand tokens of output at ten dollars a million, and each byte of the input as a token that is newly cached.
  expect(booked).toMatchObject({ calls: 1, tokensOut: 1000, usd: expect.closeTo(0.01415, 4) });
  expect(await spentSince(store, Date.now() - 60_000, 'github-42')).toBe(booked.usd);
  const again = await rig.open({ capUsd: booked.usd + 0.0005 });
  expect(again.usage()).toEqual(booked);
  expect((await ask(again)).status).toBe(402);
  const sibling = await rig.open({ spender: 'B', runCapUsd: booked.usd + 0.0005 });
  // For all that a sibling knows the call may still be under way, and come to less.
  expect((await ask(sibling)).status).toBe(503);
  expect(sibling.refusal()).toContain('Other active calls');
  expect(provider.seen).toHaveLength(1);
});

test('two processes together keep a daily cap to the cent', async () => {
  tried({
    id: 'ledger-two-processes',
    part: 'Several processes',
    what: 'Two processes spend from the same daily cap at the same time.',
    held: 'The cap holds to the cent.',
  });
  provider = await startProvider((body, response) => {
    setTimeout(() => json(response, 200, message(300, body.max_tokens as number)), 5);
  });
  const other = await openStore(database.url);
  const options = { clock, dayCaps: { repositoryUsd: 9, everythingUsd: 0.1 } };
  await using here = await openRig(provider.url, { ...options, ledger: store });
  await using there = await openRig(provider.url, { ...options, ledger: other });
  const leases = [await here.open({ runId: 'r1' }), await there.open({ runId: 'r2' })];
  const replies = await Promise.all(leases.flatMap((lease) => Array.from({ length: 12 }, () => ask(lease))));
  expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200, 402]));
  const spent = await spentSince(store, 0);
  expect(spent).toBeLessThanOrEqual(0.1 + 1e-9);
  expect(spent).toBeGreaterThan(0.05);
  const [row] = await database.query('select count(*)::int as n from runoff.gateway_call where status = 0');
  expect(row).toEqual({ n: 0 });
  await other.close();
});

test('a changed budget of a run applies to its open and later leases, in every process', async () => {
  provider = await startProvider((_, response) => json(response, 200, message(1, 1)));
  await using here = await openRig(provider.url, { ledger: store, clock });
  await using there = await openRig(provider.url, { ledger: store, clock });
  for (const id of ['r1', 'r2'])
    await store.createRun({ id, origin: githubOrigin(), title: id, request: null, at: 1 });
  const budget = (run: number) =>
    store.updateRun('r1', { task: { settings: { budget: { run } } } as Task }, 2);
  await budget(1);
  const [lease, elsewhere, other] = [
    await here.open({ runId: 'r1', runCapUsd: 1 }),
    await there.open({ runId: 'r1', spender: 'B', runCapUsd: 1 }),
    await here.open({ runId: 'r2', runCapUsd: 1 }),
  ];
  await budget(0);
  const later = await here.open({ runId: 'r1', spender: 'C', runCapUsd: 1 });
  const ofRun = [lease, elsewhere, later];
  for (const one of ofRun) expect((await ask(one)).status).toBe(402);
  expect((await ask(other)).status).toBe(200);
  await budget(2);
  for (const one of ofRun) expect((await ask(one)).status).toBe(200);
});

test('a call leaves one complete row, or none if it cannot be booked', async () => {
  provider = await startProvider((_, response) =>
    json(response, 200, message(100, 20, { output_tokens_details: { thinking_tokens: 7 } })),
  );
  await using rig = await openRig(provider.url, { ledger: store, clock });
  const lease = await rig.open();
  expect((await ask(lease)).status).toBe(200);
  const rows = await database.query('select * from runoff.gateway_call');
  expect(rows).toMatchObject([
    { run_id: 'r1', spender: 'A', repository: 'github-42', model: 'anthropic/m', status: 200, exact: true },
  ]);
  expect(rows[0]).toMatchObject({ tokens_in: '100', tokens_out: '20', tokens_reasoning: '7' });

  await database.query('alter table runoff.gateway_call rename to gone');
  expect((await ask(lease, { body: PROMPT })).status).toBe(503);
  expect(provider.seen).toHaveLength(1);
  await database.query('alter table runoff.gone rename to gateway_call');
  expect((await ask(lease)).status).toBe(200);
});
