import { afterEach, describe, expect, test } from 'vitest';
import { spentSince } from '../../world/ledger.ts';
import {
  ask,
  json,
  memoryLedger,
  message,
  openRig,
  PRICE,
  PROMPT,
  type Provider,
  startProvider,
} from './rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const CHAT = '/v1/chat/completions';
const DAY = 24 * 60 * 60 * 1000;
/** Dollars of the calls below. */
const CALL = (300 * PRICE.input + 1000 * PRICE.output) / 1e6;
const wordy = () =>
  startProvider((body, response) => json(response, 200, message(300, body.max_tokens as number)));

describe('the cap of a repository for a day', () => {
  test('ends all its runs and no others, with the amounts in its message', async () => {
    provider = await wordy();
    await using rig = await openRig(provider.url, { dayCaps: { repositoryUsd: 0.05, everythingUsd: 9 } });
    const [one, two] = [await rig.open(), await rig.open({ runId: 'r2', spender: 'B' })];
    const statuses: number[] = [];
    for (let call = 0; call < 20; call += 1) statuses.push((await ask(call % 2 ? one : two)).status);
    expect(statuses).toContain(200);
    expect(statuses.slice(-2)).toEqual([402, 402]);
    expect(await spentSince(rig.ledger, 0)).toBeLessThanOrEqual(0.05);
    expect(one.refusal()).toMatch(
      /^The budget of this repository for today \(UTC\) does not suffice for another call: \$0\.0\d+ of \$0\.05 spent, about \$0\.00\d\d needed\. The operator sets it with MAX_BUDGET_REPOSITORY_DAY; it resets at midnight UTC\.$/,
    );
    const elsewhere = await rig.open({ runId: 'r3', repository: 'github-43' });
    expect((await ask(elsewhere)).status).toBe(200);
  });

  test('resets at midnight UTC', async () => {
    provider = await wordy();
    await using rig = await openRig(provider.url, {
      dayCaps: { repositoryUsd: CALL * 1.15, everythingUsd: 9 },
    });
    const lease = await rig.open({ ttlMs: 2 * DAY });
    rig.clock.advance(DAY - 1);
    expect((await ask(lease)).status).toBe(200);
    expect((await ask(lease, { body: { ...PROMPT, max_tokens: 900 } })).status).toBe(402);
    rig.clock.advance(1);
    expect((await ask(lease)).status).toBe(200);
  });
});

describe('the cap of the whole day', () => {
  test('holds over two processes with one ledger that call at the same time', async () => {
    provider = await startProvider((body, response) => {
      setTimeout(() => json(response, 200, message(300, body.max_tokens as number)), 3);
    });
    const ledger = memoryLedger();
    const dayCaps = { repositoryUsd: 9, everythingUsd: 0.1 };
    await using here = await openRig(provider.url, { ledger, dayCaps });
    await using there = await openRig(provider.url, { ledger, dayCaps });
    const leases = [
      await here.open({ runId: 'r1' }),
      await there.open({ runId: 'r2', repository: 'github-43' }),
    ];
    const replies = await Promise.all(
      leases.flatMap((lease) => Array.from({ length: 15 }, () => ask(lease))),
    );
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200, 402]));
    const spent = await spentSince(ledger, 0);
    expect(spent).toBeLessThanOrEqual(0.1);
    expect(spent).toBeGreaterThan(0.05);
    const refusals = leases.map((lease) => lease.refusal()).join();
    expect(refusals).toContain('of everything for today (UTC)');
    expect(refusals).toContain('The operator sets it with MAX_BUDGET_DAY; it resets at midnight UTC.');
    // What was refused was not booked, and went nowhere.
    expect(provider.seen).toHaveLength(ledger.rows.length);
  });
});

test('the cap of a run counts what another process spends on it', async () => {
  provider = await wordy();
  const ledger = memoryLedger();
  await using here = await openRig(provider.url, { ledger });
  await using there = await openRig(provider.url, { ledger });
  const runCapUsd = CALL * 3.5;
  const ours = await here.open({ spender: 'A', runCapUsd });
  const theirs = await there.open({ spender: 'B', runCapUsd });
  for (let call = 0; call < 3; call += 1) expect((await ask(theirs)).status).toBe(200);
  // Short of a whole call: it is cut to what is left.
  expect((await ask(ours)).status).toBe(200);
  expect((await ask(ours)).status).toBe(402);
  expect((await ledger.usage('r1')).usd).toBeLessThanOrEqual(runCapUsd);
  expect(ours.refusal()).toContain('of the run');
});

describe('a model without a known price', () => {
  const models = ['openai/nobody-knows-this'];
  const body = { model: 'nobody-knows-this', messages: [], max_tokens: 1000 };
  const usage = (input: number, output: number) => ({
    choices: [],
    usage: { prompt_tokens: input, completion_tokens: output },
  });

  test('is limited by its input and output tokens, at unknown cost', async () => {
    provider = await startProvider((sent, response) =>
      json(response, 200, usage(600, sent.max_tokens as number)),
    );
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models, capTokens: 5_000 });
    const statuses: number[] = [];
    for (let call = 0; call < 8; call += 1) statuses.push((await ask(lease, { path: CHAT, body })).status);
    expect(statuses).toContain(200);
    expect(statuses.at(-1)).toBe(402);
    const { tokensIn, tokensOut } = lease.usage();
    expect(tokensIn + tokensOut).toBeLessThanOrEqual(5_000 + 600);
    expect(tokensIn + tokensOut).toBeGreaterThan(3_000);
    expect(rig.ledger.rows[0]).toMatchObject({ usd: 0, exact: false, tokensIn: 600, tokensOut: 1000 });
    expect(lease.refusal()).toMatch(
      /^The budget of tokens of A for models without a known price does not suffice for another call: \d+ of 5000 spent, about \d+ needed\.$/,
    );
  });

  test('has its output limited to the remaining tokens', async () => {
    provider = await startProvider((_, response) => json(response, 200, usage(1, 1)));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models, capTokens: 2_000 });
    await ask(lease, { path: CHAT, body: { ...body, max_tokens: 100_000 } });
    const sent = JSON.parse(provider.seen[0]?.body ?? '').max_tokens;
    expect(sent).toBeGreaterThan(1_000);
    expect(sent).toBeLessThan(2_000);
  });

  test('keeps what was booked when its process died', async () => {
    provider = await startProvider((_, response) => json(response, 200, usage(1, 1)));
    const ledger = memoryLedger();
    await using before = await openRig(provider.url, {
      ledger: { ...ledger, settleCall: () => Promise.reject(new Error('killed')) },
    });
    await ask(await before.open({ models, capTokens: 2_000 }), { path: CHAT, body });
    await using after = await openRig(provider.url, { ledger });
    const again = await after.open({ models, capTokens: 2_000 });
    expect(again.usage()).toMatchObject({ tokensOut: 1000 });
    expect((await ask(again, { path: CHAT, body })).status).toBe(402);
  });

  test('is also limited by what others of its run spend', async () => {
    provider = await startProvider((_, response) => json(response, 200, usage(1, 1)));
    await using rig = await openRig(provider.url);
    const poor = await rig.open({ models, capTokens: 9_000, runCapUsd: 0 });
    expect((await ask(poor, { path: CHAT, body })).status).toBe(402);
  });

  test('does not apply to a model with a known price', async () => {
    provider = await wordy();
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capTokens: 1 });
    expect((await ask(lease)).status).toBe(200);
  });
});
