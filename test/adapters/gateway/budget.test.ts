import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { openAccounts } from '../../../src/adapters/gateway/budgets.ts';
import { tried } from '../../world/tried.ts';
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

const CHAT = '/v1/chat/completions';

describe('a cap', () => {
  test('ends an endless loop of calls, and is not exceeded', async () => {
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
    provider = await startProvider((_, response) =>
      json(response, 200, {
        choices: [],
        usage: { prompt_tokens: 1, completion_tokens: 1, input_tokens: 1, output_tokens: 1 },
      }),
    );
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.005 });
    await ask(lease, { path: '/v1/chat/completions', body: { model: 'm', messages: [] } });
    await ask(lease, { path: '/v1/responses', body: { model: 'm', input: [] } });
    expect(JSON.parse(provider.seen[0]?.body ?? '').max_tokens).toBeLessThan(500);
    expect(JSON.parse(provider.seen[1]?.body ?? '').max_output_tokens).toBeLessThan(500);
  });

  const text = 'x'.repeat(1000);
  test.each<[string, string, object, object]>([
    ['anthropic', '/v1/messages', { ...PROMPT, stream: true }, { delta: { text } }],
    ['openai-chat', CHAT, { ...PROMPT, stream: true }, { choices: [{ delta: { content: text } }] }],
    [
      'openai-responses',
      '/v1/responses',
      { model: 'm', input: 'hi', max_output_tokens: 1000, stream: true },
      { type: 'response.output_text.delta', delta: text },
    ],
    [
      'gemini',
      '/v1beta/models/m:streamGenerateContent?alt=sse',
      { contents: [], generationConfig: { maxOutputTokens: 1000 } },
      { candidates: [{ content: { parts: [{ text: 'xxxx' }, { functionCall: { args: { text } } }] } }] },
    ],
  ])('stops an answer of %s that is much longer than requested', async (_, path, body, event) => {
    const line = `data: ${JSON.stringify(event)}\n\n`;
    provider = await startProvider((_body, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = () => {
        if (!response.destroyed) response.write(line, () => setImmediate(more));
      };
      more();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const reply = await ask(lease, { path, body });
    // The client can read the answer up to where it was cut, and then an error in its own protocol.
    const events = reply.text.split('\n').filter((line) => line.startsWith('data:'));
    const read = events.map((line) => JSON.parse(line.slice(5)));
    expect(read.length).toBeGreaterThan(1);
    expect(JSON.stringify(read.at(-1))).toContain('more than the output limit of this call allows');
    await provider.aborted;
    expect(lease.refusal()).toContain('more than the output limit');
    await lease.close();
    expect(rig.ledger.rows).toMatchObject([{ exact: false }]);
    expect(rig.ledger.rows[0]?.tokensOut).toBeLessThan(5_000);
    expect(rig.ledger.rows[0]?.tokensOut).toBeGreaterThanOrEqual(1_000);
  });

  const endless: [string, string, (stream: boolean) => object][] = [
    ['anthropic', '/v1/messages', (stream) => ({ ...PROMPT, stream })],
    ['openai-chat', CHAT, (stream) => ({ ...PROMPT, stream })],
    ['openai-responses', '/v1/responses', (stream) => ({ model: 'm', input: 'hi', stream })],
    ['gemini', '/v1beta/models/m:generateContent', () => ({ contents: [] })],
  ];
  test.each(
    endless.flatMap(([name, path, body]) => [
      { name, path, body: body(false), stream: false },
      {
        name,
        path: path.replace(':generateContent', ':streamGenerateContent?alt=sse'),
        body: body(true),
        stream: true,
      },
    ]),
  )('ends an endless client as $name (stream: $stream), and is not exceeded', async (call) => {
    provider = await startProvider((body, response) => {
      const config = (body.generationConfig ?? {}) as { maxOutputTokens?: number };
      const output = body.max_tokens ?? body.max_output_tokens ?? config.maxOutputTokens;
      const answer = {
        usage: {
          input_tokens: 300,
          output_tokens: output,
          prompt_tokens: 300,
          completion_tokens: output,
        },
        usageMetadata: { promptTokenCount: 300, candidatesTokenCount: output },
      };
      if (!call.stream) return json(response, 200, answer);
      sse(response, answer);
      response.end();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.03 });
    const statuses: number[] = [];
    for (let turn = 0; turn < 12; turn += 1) statuses.push((await ask(lease, call)).status);
    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(402);
    expect(lease.usage().usd).toBeGreaterThan(0.02);
    expect(lease.usage().usd).toBeLessThanOrEqual(0.03);
    expect(rig.ledger.rows.every((row) => row.exact)).toBe(true);
    // One line, however often it asks.
    expect(rig.log.lines.filter((line) => line.includes('refused'))).toHaveLength(1);
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

  test('lets a call wait for money that another call has booked', async () => {
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

  test('lets a long answer wait rather than shorten it for money that others have booked', async () => {
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

  test('tells a call that waited too long for booked money to retry', async () => {
    const first = Promise.withResolvers<void>();
    provider = await startProvider(async (_, response) => {
      if (provider?.seen.length === 1) await first.promise;
      json(response, 200, message(10, 10));
    });
    await using rig = await openRig(provider.url, { budgetWaitMs: 20 });
    const lease = await rig.open({ capUsd: 0.015 });
    const holding = ask(lease);
    await expect.poll(() => provider?.seen.length).toBe(1);
    const late = await ask(lease);
    expect(late.status).toBe(503);
    expect(late.headers['x-should-retry']).toBe('true');
    expect(late.text).toContain('Try again when they have ended');
    first.resolve();
    expect((await holding).status).toBe(200);
    expect((await ask(lease)).status).toBe(200);
  });

  test('lets parallel calls pass while their maximum fits, and the others in turn', async () => {
    let atOnce = 0;
    let most = 0;
    provider = await startProvider(async (_, response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 10));
      atOnce -= 1;
      json(response, 200, message(600, 100));
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ capUsd: 0.06 });
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(lease)));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    // One costs up to $0.0141, of which four fit, and a fifth with what it probably costs.
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(5);
  });

  test('charges nothing for an error of the provider', async () => {
    provider = await startProvider((_, response) =>
      json(response, 529, { error: { message: 'overloaded' } }),
    );
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    expect((await ask(lease)).status).toBe(529);
    // Each try is in the ledger.
    expect(lease.usage()).toMatchObject({ usd: 0, calls: 3 });
    expect(lease.refusal()).toContain('529');
  });

  test('of zero allows a free model only until it is reached', async () => {
    provider = await startProvider((_, response) => json(response, 200, message(10, 10)));
    await using rig = await openRig(provider.url);
    const body = { ...PROMPT, model: 'free' };
    expect((await ask(await rig.open(), { body })).status).toBe(200);
    expect((await ask(await rig.open({ capUsd: 0 }), { body })).status).toBe(402);
  });
});

test('a removed ledger row does not block later calls', async () => {
  provider = await startProvider((_, response) => {
    rig.ledger.lose();
    json(response, 200, message(10, 10));
  });
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  expect((await ask(lease)).status).toBe(200);
  expect(rig.log.lines.join()).toContain('could not be settled');
  expect((await ask(lease)).status).toBe(200);
});

describe('an unavailable ledger', () => {
  test('blocks all calls until it works again', async () => {
    tried({
      id: 'ledger-away',
      part: 'Model calls break off',
      what: 'The ledger is unavailable when a call starts.',
      held: 'No call is sent until it is back.',
    });
    provider = await startProvider((_, response) => json(response, 200, message(10, 10)));
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    rig.ledger.break(true);
    expect((await ask(lease)).status).toBe(503);
    expect(provider.seen).toEqual([]);
    expect(lease.usage()).toMatchObject({ calls: 0, usd: 0 });
    expect(rig.log.lines.join()).toContain('A model call cannot be booked');
    rig.ledger.break(false);
    expect((await ask(lease)).status).toBe(200);
    expect(rig.ledger.rows).toHaveLength(1);
  });

  test('keeps a booking until the actual cost can be written', async () => {
    tried({
      id: 'ledger-away-in-call',
      part: 'Model calls break off',
      what: 'The ledger becomes unavailable during a call.',
      held: 'The booking stays until the actual cost can be written.',
    });
    provider = await startProvider((_, response) => {
      rig.ledger.break(true);
      json(response, 200, message(10, 10));
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    expect((await ask(lease)).status).toBe(200);
    expect(rig.log.lines.join()).toContain('The ledger cannot be written');
    const [booked] = rig.ledger.rows;
    expect(booked).toMatchObject({ status: 0, exact: false });
    expect(booked?.usd).toBeGreaterThan(lease.usage().usd);
    expect((await ask(lease)).status).toBe(503);
    expect(provider.seen).toHaveLength(1);
    rig.ledger.break(false);
    expect((await ask(lease)).status).toBe(200);
    expect(rig.ledger.rows[0]).toMatchObject({ status: 200, exact: true, tokensOut: 10 });
  });
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

describe('a budget', () => {
  const payer = (spender: string, capUsd: number) => ({
    runId: 'r',
    spender,
    repository: 'github-42',
    capUsd,
    runCapUsd: capUsd * 1.5,
  });
  const row = (spender: string, usd: number) => ({
    runId: 'r',
    spender,
    repository: 'github-42',
    model: 'm',
    usd,
    tokensIn: 0,
    tokensOut: 0,
    tokensCached: 0,
    tokensReasoning: 0,
    exact: true,
    status: 200,
    ms: 0,
    at: 1,
  });
  const open = (ledger: ReturnType<typeof memoryLedger>) =>
    openAccounts({
      ledger,
      log: memoryLog(),
      clock: { now: () => 1 },
      dayCaps: { repositoryUsd: 1000, everythingUsd: 1000 },
      waitMs: 60_000,
      underWayMs: 60_000,
    });
  const never = new AbortController().signal;

  test('never promises more than the caps in any order of calls, and always settles', async () => {
    const calls = fc.array(
      fc.record({
        spender: fc.constantFrom('A', 'B', 'C'),
        wants: fc.integer({ min: 1, max: 60 }),
        uses: fc.double({ min: 0, max: 1, noNaN: true }),
        turns: fc.integer({ min: 0, max: 4 }),
      }),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 0, max: 100 }), async (plan, capUsd) => {
        const ledger = memoryLedger();
        const accounts = open(ledger);
        const held = new Map<string, number>();
        const sum = (key: string, by: number) => held.set(key, (held.get(key) ?? 0) + by);
        await Promise.all(
          plan.map(async ({ spender, wants, uses, turns }) => {
            const account = await accounts.open(payer(spender, capUsd));
            const got = await account.reserve(
              (left) => (left.usd >= wants ? { usd: wants, tokens: 0 } : null),
              (reservation) => ({ ...row(spender, reservation.usd), status: 0 }),
              never,
            );
            if (got.kind === 'reserved') {
              for (const key of [spender, 'run']) sum(key, wants);
              expect(held.get(spender)).toBeLessThanOrEqual(capUsd + 1e-6);
              expect(held.get('run')).toBeLessThanOrEqual(capUsd * 1.5 + 1e-6);
              for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
              const usd = wants * uses;
              for (const key of [spender, 'run']) sum(key, usd - wants);
              await account.settle(got, row(spender, usd));
            }
            await account.close();
          }),
        );
        const spent = await ledger.usage('r');
        expect(spent.usd).toBeLessThanOrEqual(capUsd * 1.5 + 1e-6);
      }),
      { numRuns: 60 },
    );
  });

  test('ends a waiting call when its client disconnects', async () => {
    const account = await open(memoryLedger()).open(payer('A', 10));
    const reserve = (signal: AbortSignal) =>
      account.reserve(
        (left) => (left.usd >= 8 ? { usd: 8, tokens: 0 } : null),
        ({ usd }) => ({ ...row('A', usd), status: 0 }),
        signal,
      );
    expect(await reserve(never)).toMatchObject({ kind: 'reserved' });
    const gone = new AbortController();
    const waiting = reserve(gone.signal);
    gone.abort();
    expect(await waiting).toEqual({ kind: 'gone' });
  });
});
