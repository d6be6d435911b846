import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { openAccounts } from '../../../src/adapters/gateway/accounts.ts';
import {
  ask,
  json,
  memoryLedger,
  memoryLog,
  message,
  openRig,
  PRICE,
  PROMPT,
  type Provider,
  sse,
  startProvider,
} from './rig.ts';

let provider: Provider | undefined;
afterEach(async () => {
  await provider?.close();
  provider = undefined;
});

describe('a cap', () => {
  test('ends a model that calls for ever, and is not passed', async () => {
    provider = await startProvider((body, response) =>
      json(response, 200, message(300, body.max_tokens as number)),
    );
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.05 });
    const statuses: number[] = [];
    for (let call = 0; call < 50; call += 1) statuses.push((await ask(lease)).status);
    expect(statuses).toContain(200);
    expect(statuses.at(-1)).toBe(402);
    // Once refused, always refused: nothing trickles on.
    expect(statuses.lastIndexOf(200)).toBeLessThan(statuses.indexOf(402));
    expect(lease.usage().usd).toBeLessThanOrEqual(0.05);
    expect(provider.seen).toHaveLength(statuses.filter((status) => status === 200).length);
  });

  test('shortens the last answers instead of refusing them at once', async () => {
    provider = await startProvider((body, response) =>
      json(response, 200, message(10, body.max_tokens as number)),
    );
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.005 });
    await ask(lease, {
      body: { ...PROMPT, max_tokens: 100_000, thinking: { type: 'enabled', budget_tokens: 50_000 } },
    });
    const sent = JSON.parse(provider.seen[0]?.body ?? '{}');
    expect(sent.max_tokens).toBeLessThan((0.005 / PRICE.output) * 1e6);
    expect(sent.thinking).toBeUndefined();
    expect(lease.usage().usd).toBeLessThanOrEqual(0.005);
  });

  test('bounds a request that states no limit of its own', async () => {
    provider = await startProvider((_, response) => json(response, 200, { choices: [], usage: {} }));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.005 });
    await ask(lease, { path: '/v1/chat/completions', body: { model: 'm', messages: [] } });
    await ask(lease, { path: '/v1/responses', body: { model: 'm', input: [] } });
    expect(JSON.parse(provider.seen[0]?.body ?? '').max_tokens).toBeLessThan(500);
    expect(JSON.parse(provider.seen[1]?.body ?? '').max_output_tokens).toBeLessThan(500);
  });

  test('stops an answer that is much longer than what was asked for', async () => {
    const line = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(1000) } }] })}\n\n`;
    provider = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = () => {
        if (!response.destroyed) response.write(line, () => setImmediate(more));
      };
      more();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const body = { ...PROMPT, max_tokens: 1000, stream: true };
    await expect(ask(lease, { path: '/v1/chat/completions', body })).rejects.toThrow();
    await provider.aborted;
    expect(rig.ledger.rows).toMatchObject([{ exact: false }]);
    expect(rig.ledger.rows[0]?.tokensOut).toBeLessThan(5_000);
  });

  test('does not cut an answer of a single token', async () => {
    provider = await startProvider((body, response) => {
      if (!body.stream) return json(response, 200, message(10, 1));
      sse(response, message(10, 1), { delta: { text: 'internationalisation' } });
      response.end();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    for (const stream of [true, false]) {
      expect((await ask(lease, { body: { ...PROMPT, max_tokens: 1, stream } })).status).toBe(200);
    }
  });

  test('holds over all leases of a run that call at the same time', async () => {
    provider = await startProvider((body, response) => {
      setTimeout(() => json(response, 200, message(100, body.max_tokens as number)), 5);
    });
    await using rig = await openRig(provider.url);
    const leases = await Promise.all(
      ['A', 'B', 'C', 'D'].map((spender) => rig.open({ spender, capUsd: 1, runCapUsd: 0.05 })),
    );
    const replies = await Promise.all(leases.flatMap((lease) => Array.from({ length: 5 }, () => ask(lease))));
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200, 402]));
    const spent = leases.reduce((sum, lease) => sum + lease.usage().usd, 0);
    expect(spent).toBeLessThanOrEqual(0.05);
    // What is reserved but not used comes back: most of the money was spent.
    expect(spent).toBeGreaterThan(0.035);
    expect((await rig.ledger.usage('r1')).usd).toBeCloseTo(spent, 9);
  });

  test('lets a call wait for money that another one holds and will give back', async () => {
    const first = Promise.withResolvers<void>();
    provider = await startProvider(async (_, response) => {
      if (provider?.seen.length === 1) await first.promise;
      json(response, 200, message(10, 10));
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.012 });
    const holding = ask(lease);
    await expect.poll(() => provider?.seen.length).toBe(1);
    const waiting = ask(lease);
    first.resolve();
    expect([(await holding).status, (await waiting).status]).toEqual([200, 200]);
  });

  test('lets a long answer wait rather than cut it short for money that others hold', async () => {
    const first = Promise.withResolvers<void>();
    provider = await startProvider(async (_, response) => {
      if (provider?.seen.length === 1) await first.promise;
      json(response, 200, message(10, 10));
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.09 });
    const holding = ask(lease, { body: { ...PROMPT, max_tokens: 2_000 } });
    await expect.poll(() => provider?.seen.length).toBe(1);
    const waiting = ask(lease, { body: { ...PROMPT, max_tokens: 20_000 } });
    // A small one has room beside it and passes.
    expect((await ask(lease, { body: { ...PROMPT, max_tokens: 500 } })).status).toBe(200);
    expect(provider.seen).toHaveLength(2);
    first.resolve();
    await Promise.all([holding, waiting]);
    expect(JSON.parse(provider.seen[2]?.body ?? '').max_tokens).toBeGreaterThan(8_000);
  });

  test('charges nothing for an error of the provider', async () => {
    provider = await startProvider((_, response) =>
      json(response, 529, { error: { message: 'overloaded' } }),
    );
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    expect((await ask(lease)).status).toBe(529);
    expect(lease.usage()).toMatchObject({ usd: 0, calls: 1 });
    expect(lease.refusal()).toContain('529');
  });

  test('of nothing lets a free model pass only while it is not reached', async () => {
    provider = await startProvider((_, response) => json(response, 200, message(10, 10)));
    await using rig = await openRig(provider.url);
    const body = { ...PROMPT, model: 'free' };
    expect((await ask(await rig.open(), { body })).status).toBe(200);
    expect((await ask(await rig.open({ capUsd: 0 }), { body })).status).toBe(402);
  });
});

test('a call that cannot be booked bars the next until the ledger works again', async () => {
  provider = await startProvider((_, response) => json(response, 200, message(10, 10)));
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  rig.ledger.break(true);
  expect((await ask(lease)).status).toBe(200);
  expect((await ask(lease)).status).toBe(503);
  expect(provider.seen).toHaveLength(1);
  expect(lease.usage().calls).toBe(1);
  rig.ledger.break(false);
  expect((await ask(lease)).status).toBe(200);
  expect(rig.ledger.rows).toHaveLength(2);
  expect(rig.log.lines.join()).toContain('The ledger cannot be written');
});

test('counting tokens costs nothing and leaves no row', async () => {
  provider = await startProvider((_, response) => json(response, 200, { input_tokens: 5 }));
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  expect(JSON.parse((await ask(lease, { path: '/v1/messages/count_tokens' })).text)).toEqual({
    input_tokens: 5,
  });
  expect(rig.ledger.rows).toEqual([]);
});

describe('accounts', () => {
  test('never promise more than the caps, whatever the order of calls, and always come to an end', async () => {
    const calls = fc.array(
      fc.record({
        spender: fc.constantFrom('A', 'B', 'C'),
        wants: fc.integer({ min: 1, max: 60 }),
        uses: fc.double({ min: 0, max: 1, noNaN: true }),
        turns: fc.integer({ min: 0, max: 4 }),
      }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 0, max: 100 }), async (plan, capUsd) => {
        const ledger = memoryLedger();
        const accounts = openAccounts(ledger, memoryLog());
        const caps = { capUsd, runCapUsd: capUsd * 1.5 };
        const held = new Map<string, number>();
        const sum = (key: string, by: number) => held.set(key, (held.get(key) ?? 0) + by);
        await Promise.all(
          plan.map(async ({ spender, wants, uses, turns }, index) => {
            const purse = await accounts.open('r', spender);
            const asked = (left: number) => (left >= wants ? { usd: wants } : null);
            const got = await purse.reserve(caps, asked, new AbortController().signal);
            if (got.kind === 'reserved') {
              for (const key of [spender, 'run']) sum(key, wants);
              expect(held.get(spender)).toBeLessThanOrEqual(caps.capUsd + 1e-6);
              expect(held.get('run')).toBeLessThanOrEqual(caps.runCapUsd + 1e-6);
              for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
              const usd = wants * uses;
              for (const key of [spender, 'run']) sum(key, usd - wants);
              const row = { runId: 'r', spender, usd, tokensIn: 0, tokensOut: 0, tokensCached: 0 };
              await purse.settle(got.reservation, {
                ...row,
                model: 'm',
                exact: true,
                status: 200,
                ms: 0,
                at: index,
              });
            }
            await purse.close();
          }),
        );
        const spent = await ledger.usage('r');
        expect(spent.usd).toBeLessThanOrEqual(caps.runCapUsd + 1e-6);
      }),
      { numRuns: 150 },
    );
  });

  test('a call that waits ends when its client goes', async () => {
    const accounts = openAccounts(memoryLedger(), memoryLog());
    const purse = await accounts.open('r', 'A');
    const caps = { capUsd: 10, runCapUsd: 10 };
    const all = (left: number) => (left >= 8 ? { usd: 8 } : null);
    await purse.reserve(caps, all, new AbortController().signal);
    const gone = new AbortController();
    const waiting = purse.reserve(caps, all, gone.signal);
    gone.abort();
    expect(await waiting).toEqual({ kind: 'gone' });
  });
});
