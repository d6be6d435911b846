import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createMeter } from '../../../src/adapters/gateway/meter.ts';
import { tried } from '../../world/tried.ts';
import {
  ask,
  begin,
  json,
  message,
  openRig,
  PRICE,
  PROMPT,
  type Provider,
  sse,
  startProvider,
} from './rig.ts';

let provider: Provider;
afterEach(() => provider.close());

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';
const usd = (input: number, output: number, read = 0, written = 0) =>
  ((input - read - written) * PRICE.input +
    read * PRICE.cacheRead +
    written * PRICE.cacheWrite +
    output * PRICE.output) /
  1e6;

const GEMINI = '/v1beta/models/m';

describe('usage is read from', () => {
  test('an Anthropic answer', async () => {
    const extra = { cache_read_input_tokens: 400, cache_creation_input_tokens: 60 };
    provider = await startProvider((_, response) => json(response, 200, message(100, 20, extra)));
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    expect(JSON.parse((await ask(lease)).text).content).toEqual([{ type: 'text', text: 'ok' }]);
    expect(rig.ledger.rows).toEqual([
      {
        runId: 'r1',
        spender: 'A',
        repository: 'github-42',
        model: 'anthropic/m',
        tokensIn: 560,
        tokensOut: 20,
        tokensCached: 400,
        tokensReasoning: 0,
        usd: expect.closeTo(usd(560, 20, 400, 60), 9),
        exact: true,
        status: 200,
        ms: 0,
        at: rig.clock.now(),
      },
    ]);
  });

  test('an Anthropic stream, where later figures win', async () => {
    provider = await startProvider((_, response) => {
      sse(response, { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1 } } });
      sse(response, { type: 'content_block_delta', delta: { type: 'text_delta', text: 'hello' } });
      sse(response, { type: 'message_delta', delta: {}, usage: { output_tokens: 7 } });
      sse(
        response,
        { type: 'message_delta', delta: {}, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      );
      response.end();
    });
    await using rig = await openRig(provider.url);
    const reply = await ask(await rig.open(), { body: { ...PROMPT, stream: true } });
    expect(reply.headers['content-type']).toBe('text/event-stream');
    expect(reply.text.match(/^data:/gm)).toHaveLength(5);
    expect(rig.ledger.rows).toMatchObject([{ tokensIn: 100, tokensOut: 9, exact: true }]);
  });

  test.each([
    ['repeats the sums only', { input_tokens: 10, cache_creation_input_tokens: 1_000_000 }],
    ['has no figures of the cache', { input_tokens: 10 }],
    ['has no figures of the input', {}],
    ['leaves them empty', { input_tokens: null, cache_creation_input_tokens: null, cache_creation: null }],
    [
      'has an entry for each step, without the split',
      { iterations: [{ input_tokens: 11, cache_creation_input_tokens: 1_000_000, output_tokens: 5 }] },
    ],
  ])('an Anthropic stream that wrote a one-hour cache, when its last event %s', async (_, last) => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 1_000_000,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 1_000_000 },
      output_tokens: 1,
    };
    provider = await startProvider((_body, response) => {
      sse(
        response,
        { type: 'message_start', message: { usage } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...last, output_tokens: 5 } },
        { type: 'message_stop' },
      );
      response.end();
    });
    await using rig = await openRig(provider.url, {
      prices: { 'anthropic/m': { input: 4, output: 10, cacheWrite: 5 } },
    });
    const lease = await rig.open({ models: ['anthropic/m'], capUsd: 100, runCapUsd: 100 });
    await ask(lease, { body: { ...PROMPT, stream: true } });
    expect(lease.usage().usd).toBeCloseTo(8 + (10 * 4 + 5 * 10) / 1e6, 4);
    expect(rig.ledger.rows).toMatchObject([{ tokensOut: 5, exact: true }]);
  });

  test.each([
    [
      'chat',
      CHAT,
      { ...PROMPT, stream: true },
      [
        { choices: [], usage: { prompt_tokens: 50, prompt_tokens_details: { cached_tokens: 40 } } },
        { choices: [], usage: { prompt_tokens: 50, completion_tokens: 25, prompt_tokens_details: null } },
      ],
    ],
    [
      'Gemini',
      `${GEMINI}:streamGenerateContent?alt=sse`,
      { contents: [] },
      [
        {
          usageMetadata: { promptTokenCount: 50, cachedContentTokenCount: 40, thoughtsTokenCount: 20 },
        },
        { usageMetadata: { promptTokenCount: 50, candidatesTokenCount: 5 } },
      ],
    ],
  ])(
    'a %s stream whose later figures are incomplete: the earlier ones count',
    async (_, path, body, said) => {
      provider = await startProvider((_body, response) => {
        sse(response, ...said);
        response.end();
      });
      await using rig = await openRig(provider.url);
      await ask(await rig.open(), { path, body });
      expect(rig.ledger.rows).toMatchObject([{ tokensIn: 50, tokensCached: 40, tokensOut: 25, exact: true }]);
    },
  );

  test('an Anthropic answer whose conversation was shortened first, which stands beside the sum', async () => {
    const iterations = [
      { type: 'compaction', input_tokens: 180, output_tokens: 35, cache_read_input_tokens: 20 },
      { type: 'message', input_tokens: 23, output_tokens: 10 },
    ];
    provider = await startProvider((_, response) => json(response, 200, message(23, 10, { iterations })));
    await using rig = await openRig(provider.url);
    await ask(await rig.open());
    expect(rig.ledger.rows).toMatchObject([{ tokensIn: 223, tokensOut: 45, tokensCached: 20, exact: true }]);
  });

  test('a chat answer and a chat stream', async () => {
    const usage = { prompt_tokens: 50, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 40 } };
    provider = await startProvider((body, response) => {
      if (!body.stream) return json(response, 200, { choices: [{ message: { content: 'ok' } }], usage });
      sse(response, { choices: [{ delta: { content: 'ok' } }], usage: null });
      if ((body.stream_options as { include_usage?: boolean })?.include_usage)
        sse(response, { choices: [], usage });
      sse(response, '[DONE]');
      response.end();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    await ask(lease, { path: CHAT });
    await ask(lease, { path: CHAT, body: { ...PROMPT, stream: true, stream_options: { other: 1 } } });
    const row = { tokensIn: 50, tokensOut: 5, tokensCached: 40, exact: true, model: 'openai/m' };
    expect(rig.ledger.rows).toMatchObject([row, row]);
    expect(lease.usage()).toMatchObject({ tokensIn: 100, tokensOut: 10, calls: 2 });
  });

  test('a Responses answer and stream', async () => {
    const usage = { input_tokens: 50, output_tokens: 5, input_tokens_details: { cached_tokens: 40 } };
    provider = await startProvider((body, response) => {
      if (!body.stream) return json(response, 200, { output: [], usage });
      sse(response, { type: 'response.created', response: { usage: null } });
      sse(response, { type: 'response.output_text.delta', delta: 'ok' });
      sse(response, { type: 'response.completed', response: { usage } });
      response.end();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    await ask(lease, { path: RESPONSES, body: { model: 'm', input: 'hi' } });
    await ask(lease, { path: RESPONSES, body: { model: 'm', input: 'hi', stream: true } });
    const row = { tokensIn: 50, tokensOut: 5, tokensCached: 40, exact: true };
    expect(rig.ledger.rows).toMatchObject([row, row]);
  });

  const usageMetadata = {
    promptTokenCount: 50,
    cachedContentTokenCount: 40,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 20,
  };

  test('a Gemini answer and stream, thoughts included', async () => {
    const parts = (text: string) => [{ content: { role: 'model', parts: [{ text }] } }];
    provider = await startProvider((_, response, request) => {
      if (request.url === `${GEMINI}:generateContent`) {
        return json(response, 200, { candidates: parts('ok'), usageMetadata });
      }
      expect(request.url).toBe(`${GEMINI}:streamGenerateContent?alt=sse`);
      sse(response, { candidates: parts('o'), usageMetadata: { promptTokenCount: 50 } });
      sse(response, { candidates: parts('k'), usageMetadata });
      response.end();
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const body = { contents: [{ parts: [{ text: 'hi' }] }] };
    expect((await ask(lease, { path: `${GEMINI}:generateContent`, body })).status).toBe(200);
    const stream = await ask(lease, { path: `${GEMINI}:streamGenerateContent?alt=sse&$alt=media`, body });
    expect(stream.text.match(/^data:/gm)).toHaveLength(2);
    const row = {
      model: 'google/m',
      tokensIn: 50,
      tokensOut: 25,
      tokensCached: 40,
      tokensReasoning: 20,
      usd: expect.closeTo(usd(50, 25, 40), 9),
      exact: true,
    };
    expect(rig.ledger.rows).toMatchObject([row, row]);
  });

  test('the list of events that Google sends where no stream was asked for', async () => {
    provider = await startProvider((_, response, request) => {
      expect(request.url).toBe(`${GEMINI}:streamGenerateContent`);
      json(response, 200, [{ usageMetadata: { promptTokenCount: 50 } }, { usageMetadata }]);
    });
    await using rig = await openRig(provider.url);
    await ask(await rig.open(), { path: `${GEMINI}:streamGenerateContent`, body: { contents: [] } });
    expect(rig.ledger.rows).toMatchObject([{ tokensIn: 50, tokensOut: 25, exact: true }]);
  });

  test('reasoning, as each protocol reports it', async () => {
    provider = await startProvider((_, response, request) => {
      if (request.url === '/v1/messages')
        return json(response, 200, message(1, 30, { output_tokens_details: { thinking_tokens: 11 } }));
      if (request.url === RESPONSES) {
        const usage = { input_tokens: 1, output_tokens: 30, output_tokens_details: { reasoning_tokens: 12 } };
        return json(response, 200, { output: [], usage });
      }
      const usage = {
        prompt_tokens: 1,
        completion_tokens: 30,
        completion_tokens_details: { reasoning_tokens: 13 },
      };
      json(response, 200, { choices: [], usage });
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    await ask(lease);
    await ask(lease, { path: RESPONSES, body: { model: 'm', input: 'hi' } });
    await ask(lease, { path: CHAT });
    expect(rig.ledger.rows.map((row) => [row.tokensOut, row.tokensReasoning])).toEqual([
      [30, 11],
      [30, 12],
      [30, 13],
    ]);
  });

  test('reasoning that an imitator counts in the total only', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 115,
      completion_tokens_details: { reasoning_tokens: 100 },
    };
    provider = await startProvider((_, response) => json(response, 200, { choices: [], usage }));
    await using rig = await openRig(provider.url);
    await ask(await rig.open(), { path: CHAT });
    expect(rig.ledger.rows).toMatchObject([{ tokensIn: 10, tokensOut: 105, tokensReasoning: 100 }]);
  });

  test('figures and characters that are split between two chunks', async () => {
    const whole = Buffer.from(
      `data: ${JSON.stringify({ type: 'message_start', message: { usage: { input_tokens: 9 } } })}\r\n\r\n` +
        `data: ${JSON.stringify({ delta: { text: 'ä€😀' } })}\r\n\r\n` +
        `data: ${JSON.stringify({ type: 'message_delta', usage: { output_tokens: 3 } })}\r\n\r\n`,
    );
    provider = await startProvider(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of whole) {
        response.write(Buffer.of(byte));
        await turn();
      }
      response.end();
    });
    await using rig = await openRig(provider.url);
    const reply = await ask(await rig.open());
    expect(reply.text).toBe(whole.toString());
    expect(rig.ledger.rows).toMatchObject([{ tokensIn: 9, tokensOut: 3, exact: true }]);
  });
});

test('usage in a last line without an end counts', async () => {
  const usage = { prompt_tokens: 9, completion_tokens: 3 };
  provider = await startProvider((_, response) => {
    sse(response, { choices: [{ delta: { content: 'ok' }, finish_reason: 'stop' }] });
    response.end(`data: ${JSON.stringify({ choices: [], usage })}`);
  });
  await using rig = await openRig(provider.url);
  await ask(await rig.open(), { path: CHAT, body: { ...PROMPT, stream: true } });
  expect(rig.ledger.rows).toMatchObject([{ tokensIn: 9, tokensOut: 3, exact: true }]);
});

test('a line of many MiB that arrives in small parts does not take time that grows with its square', () => {
  const meter = createMeter('openai-chat', true);
  const part = Buffer.alloc(16_384, 'a');
  const began = performance.now();
  meter.see(Buffer.from('data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3},"pad":"'));
  for (let parts = 0; parts < 16 * 64; parts += 1) meter.see(part);
  // Linear, it takes a fraction of a second; quadratic, more than half a minute.
  expect(performance.now() - began).toBeLessThan(5_000);
  meter.see(Buffer.from('"}\n\n'));
  expect(meter.reading()).toMatchObject({ output: 3, input: { input: 9 } });
});

describe('unreported usage is settled at its maximum and marked as estimated', () => {
  test.each([
    ['Chat', { path: CHAT }, { choices: [], usage: { prompt_tokens: 9 } }],
    [
      'Responses',
      { path: RESPONSES, body: { model: 'm', input: 'hi', max_output_tokens: 700 } },
      { output: [], usage: { input_tokens: 9 } },
    ],
    [
      'Gemini',
      {
        path: `${GEMINI}:generateContent`,
        body: { contents: [], generationConfig: { maxOutputTokens: 700 } },
      },
      { usageMetadata: { promptTokenCount: 9 } },
    ],
  ])('when a provider reports the input only: %s', async (_, request, answer) => {
    provider = await startProvider((_, response) => json(response, 200, answer));
    await using rig = await openRig(provider.url);
    await ask(await rig.open(), request);
    const [row] = rig.ledger.rows;
    expect(row).toMatchObject({ tokensIn: 9, exact: false });
    expect(row?.tokensOut).toBeGreaterThanOrEqual(700);
  });

  test('when a provider reports none', async () => {
    provider = await startProvider((_, response) => {
      sse(response, { choices: [{ delta: { content: 'x'.repeat(300) } }] }, '[DONE]');
      response.end();
    });
    await using rig = await openRig(provider.url);
    await ask(await rig.open(), { path: CHAT, body: { ...PROMPT, stream: true } });
    const [row] = rig.ledger.rows;
    expect(row).toMatchObject({ exact: false, tokensOut: PROMPT.max_tokens, status: 200 });
    expect(row?.tokensIn).toBe(rig.ledger.booked[0]?.tokensIn);
  });

  test('when a stream ends without its last figures: the first are a placeholder', async () => {
    provider = await startProvider((_, response) => {
      sse(response, { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1 } } });
      sse(response, { type: 'content_block_delta', delta: { text: 'x'.repeat(60) } });
      response.end();
    });
    await using rig = await openRig(provider.url);
    await ask(await rig.open());
    expect(rig.ledger.rows).toMatchObject([
      { tokensIn: 100, tokensOut: PROMPT.max_tokens, exact: false, status: 200 },
    ]);
  });

  test('when the provider breaks off, except what it reported before', async () => {
    tried({
      id: 'stream-breaks',
      part: 'Model calls break off',
      what: 'The provider breaks off during an answer.',
      held: 'Reported usage counts as reported, the rest at its maximum, marked as estimated.',
    });
    provider = await startProvider((_, response) => {
      sse(response, { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1 } } });
      sse(response, { delta: { text: 'x'.repeat(90) } });
      setImmediate(() => response.destroy());
    });
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    await expect(ask(lease)).rejects.toThrow();
    await lease.close();
    expect(rig.ledger.rows).toMatchObject([
      { tokensIn: 100, tokensOut: PROMPT.max_tokens, exact: false, status: 502 },
    ]);
    expect(lease.refusal()).toContain('broke off');
  });

  test('when the agent disconnects, because the provider may continue and bill it', async () => {
    provider = await startProvider((_, response) =>
      sse(response, { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 1 } } }),
    );
    await using rig = await openRig(provider.url);
    const lease = await rig.open();
    const answer = await begin(lease);
    await new Promise((resolve) => answer.once('data', resolve));
    answer.destroy();
    await provider.aborted;
    await lease.close();
    expect(rig.ledger.rows).toMatchObject([
      { tokensIn: 100, tokensOut: PROMPT.max_tokens, exact: false, status: 499 },
    ]);
  });

  test('when the agent disconnects before the answer begins', async () => {
    provider = await startProvider(() => {});
    await using rig = await openRig(provider.url);
    for (const stream of [false, true]) {
      const lease = await rig.open();
      const hanging = begin(lease, { body: { ...PROMPT, stream } }).catch(() => {});
      await expect.poll(() => provider.seen.length).toBe(stream ? 2 : 1);
      rig.clock.advance(1_000);
      await lease.close();
      await hanging;
    }
    expect(rig.ledger.rows).toMatchObject([
      { tokensOut: PROMPT.max_tokens, exact: false, status: 499 },
      { tokensOut: PROMPT.max_tokens, exact: false, status: 499 },
    ]);
  });
});

test('closing the gateway settles active calls and ends them upstream', async () => {
  provider = await startProvider((_, response) => sse(response, { delta: { text: 'x'.repeat(30) } }));
  await using rig = await openRig(provider.url);
  const answer = await begin(await rig.open());
  answer.on('error', () => {});
  await new Promise((resolve) => answer.once('data', resolve));
  await rig.gateway.close();
  await provider.aborted;
  expect(rig.ledger.rows).toMatchObject([{ tokensOut: PROMPT.max_tokens, exact: false }]);
});

test('a call is booked at its maximum cost before it is sent', async () => {
  const seen: unknown[] = [];
  provider = await startProvider((_, response) => {
    seen.push(...structuredClone(rig.ledger.rows));
    json(response, 200, message(1, 1));
  });
  await using rig = await openRig(provider.url);
  await ask(await rig.open());
  expect(seen).toMatchObject([
    { spender: 'A', repository: 'github-42', model: 'anthropic/m', status: 0, exact: false, tokensOut: 1000 },
  ]);
  expect(seen[0]).toMatchObject({ usd: expect.closeTo(usd(2_075, 1000, 0, 2_075), 4) });
  expect(rig.ledger.rows).toMatchObject([{ tokensOut: 1, status: 200, usd: expect.closeTo(usd(1, 1), 9) }]);
});

test('a lease knows when a model last sent anything except errors and refusals', async () => {
  const more = Promise.withResolvers<void>();
  provider = await startProvider(async (body, response) => {
    if (!body.stream) return json(response, 529, { error: { message: 'overloaded' } });
    sse(response, { delta: { text: 'a' } });
    await more.promise;
    sse(response, { type: 'ping' });
    response.end();
  });
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  await ask(lease);
  await ask(lease, { key: 'no' });
  expect(lease.lastActivity()).toBeNull();
  rig.clock.advance(1_000);
  const started = rig.clock.elapsed();
  const answer = await begin(lease, { body: { ...PROMPT, stream: true } });
  await new Promise((resolve) => answer.once('data', resolve));
  expect(lease.lastActivity()).toBe(started);
  rig.clock.advance(5_000);
  expect(lease.lastActivity()).toBe(started);
  more.resolve();
  answer.resume();
  await new Promise((resolve) => answer.once('end', resolve));
  expect(lease.lastActivity()).toBe(started + 5_000);
});

test('an answer ends only after it is in the ledger', async () => {
  provider = await startProvider((_, response) => json(response, 200, message(1, 1)));
  await using rig = await openRig(provider.url);
  await ask(await rig.open());
  expect(rig.ledger.rows).toHaveLength(1);
});

test('an answer that is read slowly does not fill memory', async () => {
  const size = 64 * 2 ** 20;
  let written = 0;
  provider = await startProvider(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const line = Buffer.from(`: ${'x'.repeat(64 * 1024)}\n`);
    while (written < size && !response.destroyed) {
      written += line.length;
      if (!response.write(line)) {
        const drained = new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
        await drained;
      }
    }
    response.end();
  });
  await using rig = await openRig(provider.url);
  const answer = await begin(await rig.open());
  let before = -1;
  await expect
    .poll(
      () => {
        const still = before === written;
        before = written;
        return still;
      },
      { interval: 200 },
    )
    .toBe(true);
  expect(written).toBeLessThan(size / 2);
  let read = 0;
  for await (const chunk of answer) read += chunk.length;
  expect(read).toBeGreaterThanOrEqual(size);
});

describe('the table of prices', () => {
  test('knows cached and long-lived input, and its figures reach the ledger', async () => {
    const extra = {
      cache_read_input_tokens: 1_000_000,
      cache_creation_input_tokens: 500_000,
      cache_creation: { ephemeral_1h_input_tokens: 500_000 },
    };
    provider = await startProvider((_, response) => json(response, 200, message(0, 100_000, extra)));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: ['anthropic/claude-sonnet-5'], capUsd: 100, runCapUsd: 100 });
    await ask(lease, { body: { ...PROMPT, model: 'claude-sonnet-5' } });
    // A million read at 0.20, half a million kept for an hour at 4, a tenth of a million written at 10.
    expect(lease.usage().usd).toBeCloseTo(0.2 + 2 + 1, 6);
  });

  test('reserves the price of a one-hour cache if a request asks for one', async () => {
    provider = await startProvider((_, response) => json(response, 200, message(1, 1)));
    await using rig = await openRig(provider.url);
    const lease = await rig.open({ models: ['anthropic/claude-sonnet-5'], capUsd: 100, runCapUsd: 100 });
    const text = 'x'.repeat(3_000_000);
    for (const ttl of ['5m', '1h']) {
      const content = [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl } }];
      const body = { model: 'claude-sonnet-5', max_tokens: 1, messages: [{ role: 'user', content }] };
      expect((await ask(lease, { body })).status).toBe(200);
    }
    const [short, hour] = rig.ledger.booked.map(({ usd }) => usd);
    // 2.50 and 4 dollars for a million tokens.
    expect((hour ?? 0) / (short ?? 1)).toBeCloseTo(4 / 2.5, 3);
  });

  test("charges a one-hour cache more also at the operator's price", async () => {
    provider = await startProvider((_, response) => {
      const cache = { ephemeral_1h_input_tokens: 1_000_000 };
      const written = { cache_creation_input_tokens: 1_000_000, cache_creation: cache };
      json(response, 200, message(0, 0, written));
    });
    await using rig = await openRig(provider.url, {
      prices: { 'anthropic/m': { input: 4, output: 1, cacheWrite: 5 } },
    });
    const lease = await rig.open({ models: ['anthropic/m'], capUsd: 100, runCapUsd: 100 });
    await ask(lease);
    expect(lease.usage().usd).toBeCloseTo(8, 6);
  });

  test('is not used if the operator set a price', async () => {
    provider = await startProvider((_, response) => json(response, 200, message(1_000_000, 0)));
    await using rig = await openRig(provider.url, {
      prices: { 'anthropic/claude-sonnet-5': { input: 7, output: 1 } },
    });
    const lease = await rig.open({ models: ['anthropic/claude-sonnet-5'], capUsd: 100, runCapUsd: 100 });
    await ask(lease, { body: { ...PROMPT, model: 'claude-sonnet-5' } });
    expect(lease.usage().usd).toBeCloseTo(7, 6);
  });
});

describe('providers that differ from the others with their protocol', () => {
  const openAt = async (name: string, official: boolean) => {
    provider = await startProvider((_, response) =>
      json(response, 200, { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
    );
    const access = { baseUrl: `${provider.url}/v1`, key: 'a-key-of-a-test', official };
    const rig = await openRig(provider.url, {
      providers: { [name]: { ...access, protocols: ['openai-chat'] } },
      prices: { [`${name}/m`]: PRICE },
    });
    return { rig, lease: await rig.open({ models: [`${name}/m`] }) };
  };
  const sent = () => JSON.parse(provider.seen[0]?.body ?? '');
  const body = { model: 'm', messages: [], stream: true };

  test('get no field that they reject', async () => {
    const { rig, lease } = await openAt('mistral', true);
    await using _ = rig;
    await ask(lease, {
      path: CHAT,
      body: { ...body, stream_options: { include_usage: true }, max_completion_tokens: 500 },
    });
    expect(sent()).toEqual({ ...body, max_tokens: 500 });
  });

  test('get a shorter limit if theirs is unknown', async () => {
    const { rig, lease } = await openAt('groq', true);
    await using _ = rig;
    await ask(lease, { path: CHAT, body });
    expect(sent()).toEqual({ ...body, stream_options: { include_usage: true }, max_tokens: 8_192 });
  });

  test("do not include the protocol's own vendor, which gets a limit", async () => {
    const { rig, lease } = await openAt('openai', true);
    await using _ = rig;
    await ask(lease, { path: CHAT, body });
    expect(sent()).toEqual({
      ...body,
      stream_options: { include_usage: true },
      max_completion_tokens: 32_000,
    });
  });
});
